/* Frames in GPU memory, from a decoder or for an encoder: AV_PIX_FMT_CUDA with samples of NV12,
 * P010, P016 or their planar 4:4:4 counterparts. gpu_frame_format() returns the planar format that
 * software decoding would give. Downloaded frames have that format. */
#ifndef LUMEQ_MEDIA_GPU_FRAME_H
#define LUMEQ_MEDIA_GPU_FRAME_H

#include <stdbool.h>

#include <libavcodec/avcodec.h>

#include "media/convert.h"

/* True for a frame in GPU memory. */
static inline int gpu_frame_is(const AVFrame *frame)
{
    return frame->format == AV_PIX_FMT_CUDA;
}

/* The format of a host frame, or the direct software format of a GPU frame. */
enum AVPixelFormat gpu_frame_format(const AVFrame *frame);

/* The sample layout of a direct frame on the host or a GPU. */
SampleLayout gpu_frame_layout(const AVFrame *frame);

/* The first sample of a plane inside the black margins (crop_*) of a direct frame. */
uint8_t *gpu_frame_picture(const AVFrame *frame, int plane);

/* The format of a GPU frame's samples: NV12 and so on. */
enum AVPixelFormat gpu_frame_stored(const AVFrame *frame);

/* Downloads a GPU frame: first to `stored`, a host frame with the GPU's sample layout, then to
 * `host`, which has the format of gpu_frame_format(). Both may share planes of the same size.
 * Waits for the GPU. Returns 0 or AVERROR; makes no call to a lost GPU. */
int gpu_frame_download(AVFrame *host, AVFrame *stored, const AVFrame *frame);

/* Creates FFmpeg's device for this CUDA context (CUcontext) and stream (CUstream), which must
 * outlive it. AVERROR(ENOSYS): built without CUDA. */
int gpu_device_open(AVBufferRef **device, void *context, void *stream);

/* Marks the device's GPU as lost: downloading and freeing frames no longer calls it. Any thread. */
void gpu_device_mark_lost(AVBufferRef *device);

/* True if the device's GPU is lost; false for NULL. Any thread. */
bool gpu_device_is_lost(const AVBufferRef *device);

/* True if the GPU of this AVHWFramesContext is lost. Any thread. */
bool gpu_surfaces_are_lost(const AVBufferRef *surfaces);

/* The CUDA stream of a GPU frame; NULL for a host frame. */
void *gpu_frame_stream(const AVFrame *frame);

/* Accounts for the GPU memory of decoders. reserve() takes `bytes` and returns 0 if they are
 * available; negative `bytes` give memory back. NULL: memory is not accounted for. Any thread. */
typedef struct GpuBudget {
    int (*reserve)(void *opaque, int64_t bytes);
    void *opaque;
} GpuBudget;

/* Implements a decoder's get_format for a device of gpu_device_open(): sets up hardware decoding
 * with `frames` surfaces more than the codec needs. AV_PIX_FMT_NONE: the GPU cannot decode this
 * video, or has no memory left. Gives the *reserved bytes of the previous surfaces back to the
 * budget, and sets *reserved to the bytes of the new surfaces. */
enum AVPixelFormat gpu_device_choose(AVCodecContext *codec, const enum AVPixelFormat *formats,
                                     AVBufferRef *device, int frames, const GpuBudget *budget,
                                     int64_t *reserved);

/* Gives *reserved bytes back to the budget and sets *reserved to 0. */
void gpu_budget_release(const GpuBudget *budget, int64_t *reserved);

/* Creates a frame like the direct frame `in` for an encoder on this device, in a format that GPU
 * encoders accept, with uninitialized planes. *surfaces is the pool for this size and format: NULL
 * at first, freed by the caller. AVERROR(ENOSYS): GPU encoders do not accept the frame's format, an
 * odd size or a rotation. Other errors: no memory, or `in` and the pool differ in size. The caller
 * frees the frame. */
int gpu_frame_make(AVFrame **made, AVBufferRef **surfaces, AVBufferRef *device, const AVFrame *in);

/* Leaks an object of a lost GPU on purpose. Leak checkers do not report it. Any thread. */
void gpu_abandon(void *object);

/* Blanks a frame of a lost GPU and leaks its GPU memory, since releasing it would call the GPU. */
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
