/* Replaces gpu_device.c in builds without CUDA. */
#include "media/gpu_frame.h"

int gpu_device_open(AVBufferRef **device, void *context, void *stream)
{
    (void)context;
    (void)stream;
    *device = NULL;
    return AVERROR(ENOSYS);
}

void *gpu_frame_stream(const AVFrame *frame)
{
    (void)frame;
    return NULL;
}
