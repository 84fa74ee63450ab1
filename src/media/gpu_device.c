/* Connects FFmpeg's CUDA device with lumeq's CUDA context. */
#include <stdatomic.h>

#include <libavutil/hwcontext.h>
#include <libavutil/hwcontext_cuda.h>

#include "media/gpu_frame.h"

static void free_flag(AVHWDeviceContext *device)
{
    av_freep(&device->user_opaque);
}

/* Keeps lumeq's CUDA context: av_hwdevice_ctx_create() would create another one. */
int gpu_device_open(AVBufferRef **device, void *context, void *stream)
{
    *device = av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_CUDA);
    if (!*device)
        return AVERROR(ENOMEM);
    AVHWDeviceContext *made = (AVHWDeviceContext *)(*device)->data;
    AVCUDADeviceContext *cuda = made->hwctx;
    cuda->cuda_ctx = context;
    cuda->stream = stream;
    made->user_opaque = av_mallocz(sizeof(atomic_int)); /* becomes 1 when the GPU is lost */
    made->free = free_flag;
    const int ret = made->user_opaque ? av_hwdevice_ctx_init(*device) : AVERROR(ENOMEM);
    if (ret < 0)
        av_buffer_unref(device);
    return ret;
}

void *gpu_frame_stream(const AVFrame *frame)
{
    if (!gpu_frame_is(frame))
        return NULL;
    const AVHWFramesContext *frames = (const AVHWFramesContext *)frame->hw_frames_ctx->data;
    return ((const AVCUDADeviceContext *)frames->device_ctx->hwctx)->stream;
}
