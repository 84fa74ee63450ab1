/* Frames in GPU memory, from a decoder or for an encoder. Their format is AV_PIX_FMT_CUDA. Their
 * samples are stored as NV12, P010, P016 or the planar 4:4:4 counterparts. */
#ifndef LUMEQ_MEDIA_GPU_FRAME_H
#define LUMEQ_MEDIA_GPU_FRAME_H

#include <stdbool.h>

#include <libavcodec/avcodec.h>

#include "media/convert.h"

static inline int gpu_frame_is(const AVFrame *frame)
{
    return frame->format == AV_PIX_FMT_CUDA;
}

/* Returns a host frame's own format, or the planar format that a GPU frame would have if it were
 * decoded in software. Downloaded frames have this format. */
enum AVPixelFormat gpu_frame_format(const AVFrame *frame);

/* The sample layout of a direct frame; for a GPU frame, as stored on the GPU. */
SampleLayout gpu_frame_layout(const AVFrame *frame);

/* A plane's upper left sample inside the black margins (crop_*) of a direct frame. */
uint8_t *gpu_frame_picture(const AVFrame *frame, int plane);

/* The format of a GPU frame's samples: NV12 and so on. */
enum AVPixelFormat gpu_frame_stored(const AVFrame *frame);

/* Downloads a GPU frame to the host frame `stored` with the format of gpu_frame_stored(). Then
 * converts `stored` to `host` with the format of gpu_frame_format(). `stored` and `host` may share
 * planes. Waits for the GPU, but does not call a lost GPU. Returns 0 or AVERROR. */
int gpu_frame_download(AVFrame *host, AVFrame *stored, const AVFrame *frame);

/* Creates FFmpeg's device for this CUcontext and CUstream, which must both outlive the device.
 * AVERROR(ENOSYS): built without CUDA. */
int gpu_device_open(AVBufferRef **device, void *context, void *stream);

/* Marks the GPU as lost, so that downloading and freeing frames no longer call it. Any thread. */
void gpu_device_mark_lost(AVBufferRef *device);

/* True if the device's GPU is lost; false for NULL. Any thread. */
bool gpu_device_is_lost(const AVBufferRef *device);

/* True if the GPU of this AVHWFramesContext is lost. Any thread. */
bool gpu_surfaces_are_lost(const AVBufferRef *surfaces);

/* The CUDA stream of a GPU frame; NULL for a host frame. */
void *gpu_frame_stream(const AVFrame *frame);

/* A limit for the GPU memory of decoders. If `bytes` are free, reserve() counts them as used and
 * returns 0. Negative `bytes` are given back. NULL: no limit. Any thread. */
typedef struct GpuBudget {
    int (*reserve)(void *opaque, int64_t bytes);
    void *opaque;
} GpuBudget;

/* Implements a decoder's get_format for a device of gpu_device_open(). Sets up hardware decoding
 * with `frames` surfaces more than the codec needs. AV_PIX_FMT_NONE: the GPU cannot decode this
 * video, or has no memory left. *reserved is the number of bytes reserved for the decoder's
 * surfaces: 0 at first, updated by this function. */
enum AVPixelFormat gpu_device_choose(AVCodecContext *codec, const enum AVPixelFormat *formats,
                                     AVBufferRef *device, int frames, const GpuBudget *budget,
                                     int64_t *reserved);

/* Gives *reserved bytes back to the budget and sets *reserved to 0. */
void gpu_budget_release(const GpuBudget *budget, int64_t *reserved);

/* Creates an empty frame of the size of `in` for an encoder on this device. Its format is one that
 * GPU encoders accept. The caller frees the frame. *surfaces is the pool for
 * this size and format. It is NULL at first; the caller frees it. AVERROR(ENOSYS): GPU encoders do
 * not accept such a frame (its format, an odd size, a rotation). Other errors: no memory, or `in`
 * and the pool differ in size. */
int gpu_frame_make(AVFrame **made, AVBufferRef **surfaces, AVBufferRef *device, const AVFrame *in);

/* Leaks an object of a lost GPU on purpose. Leak checkers do not report it. Any thread. */
void gpu_abandon(void *object);

/* Blanks a frame of a lost GPU. Leaks the frame's memory, since freeing it would call the GPU. */
void gpu_frame_abandon(AVFrame *frame);

/* Marks the frame's GPU as lost; does nothing for host frames. Any thread. */
void gpu_frame_mark_lost(const AVFrame *frame);

/* True if the frame is on a lost GPU. Any thread. */
bool gpu_frame_is_lost(const AVFrame *frame);

/* Like av_frame_unref() and av_frame_free(), but leak frames of a lost GPU. */
void gpu_frame_unref(AVFrame *frame);
void gpu_frame_free(AVFrame **frame);

/* Crops a GPU frame the way libavcodec crops host frames. */
void gpu_frame_crop(AVFrame *frame);

#endif
