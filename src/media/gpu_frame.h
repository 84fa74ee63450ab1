/*
 * Frames that a decoder has left in the memory of a GPU, or an encoder finds there:
 * AV_PIX_FMT_CUDA, as FFmpeg has them, with the samples of NV12, P010 or P016, or of their planar
 * relatives with 4:4:4.
 *
 * What decodes in software would give the same codes in a planar format; that is what a frame is
 * said to be, and what becomes of it on the host.
 */
#ifndef LUMEQ_MEDIA_GPU_FRAME_H
#define LUMEQ_MEDIA_GPU_FRAME_H

#include <libavcodec/avcodec.h>

#include "media/convert.h"

/* Not 0: its planes are in a GPU's memory. */
static inline int gpu_frame_is(const AVFrame *frame)
{
    return frame->format == AV_PIX_FMT_CUDA;
}

/* The format of a frame on the host; of one on a GPU, that in software, which is direct. */
enum AVPixelFormat gpu_frame_format(const AVFrame *frame);

/* How the samples of a direct frame lie, wherever it is. */
SampleLayout gpu_frame_layout(const AVFrame *frame);

/* The first sample of a plane of a direct frame that is not in a black margin (crop_*). */
uint8_t *gpu_frame_picture(const AVFrame *frame, int plane);

/* How the samples of a frame on a GPU lie there: NV12 and so on. */
enum AVPixelFormat gpu_frame_stored(const AVFrame *frame);

/* Brings the samples of a frame on a GPU to the planes of `host`, which is of the format in
 * software, with one copy: by way of those of `stored`, where they lie as they do there. Planes of
 * the two may be the same where their samples are as many. Waits for the GPU. 0 or AVERROR, which a
 * lost one is not asked for. */
int gpu_frame_download(AVFrame *host, AVFrame *stored, const AVFrame *frame);

/* FFmpeg's device for decoding in this CUDA context (a CUcontext), on this stream (a CUstream),
 * which both must outlive it. AVERROR(ENOSYS): this build has no CUDA. */
int gpu_device_open(AVBufferRef **device, void *context, void *stream);

/* Its GPU is lost: what is called here makes no call to it any more. Any thread. */
void gpu_device_lose(AVBufferRef *device);

/* NULL is allowed. Any thread. */
int gpu_device_is_lost(const AVBufferRef *device);

/* The same of an AVHWFramesContext on such a device. Any thread. */
int gpu_surfaces_are_lost(const AVBufferRef *surfaces);

/* The stream that a frame on a GPU was made on; NULL: it is on the host. */
void *gpu_frame_stream(const AVFrame *frame);

/* Who counts what a decoder takes of the GPU's memory: reserve() answers 0 where there is room for
 * so many bytes more, and takes those below 0 back. NULL: nobody does. Any thread. */
typedef struct GpuBudget {
    int (*reserve)(void *opaque, int64_t bytes);
    void *opaque;
} GpuBudget;

/* A decoder's get_format for such a device: takes what decodes on it, with so many frames beyond
 * what the codec needs. AV_PIX_FMT_NONE: it does not decode this there, or there is no room.
 * *reserved: what its surfaces before had of the budget, and those that it gets now have. */
enum AVPixelFormat gpu_device_choose(AVCodecContext *codec, const enum AVPixelFormat *formats,
                                     AVBufferRef *device, int frames, const GpuBudget *budget,
                                     int64_t *reserved);

/* Gives it back. */
void gpu_budget_release(const GpuBudget *budget, int64_t *reserved);

/* For an encoder on that device: a frame like `in`, which is direct, wherever it is, with samples
 * that such encoders take and planes that are not yet written. *surfaces is where frames of this
 * size and format come from: NULL inside at first, then the caller's. AVERROR(ENOSYS): they take no
 * such samples, or no odd sides, or it may have to be turned first; another AVERROR: there is no
 * room. The caller frees it. */
int gpu_frame_make(AVFrame **made, AVBufferRef **surfaces, AVBufferRef *device, const AVFrame *in);

/* Of a GPU that is lost: this is left alone for good, on purpose, as whoever looks for leaks can
 * tell. Any thread. */
void gpu_leave(void *object);

/* Of a GPU that is lost: leaves the frame blank, and what it had there alone for good, since to
 * give it back is a call to the GPU, too. */
void gpu_frame_leave(AVFrame *frame);

/* The GPU that the frame is on is lost; of one on the host nothing is done. Any thread. */
void gpu_frame_lose(const AVFrame *frame);

/* Not 0: it is on a GPU that is lost. Any thread. */
int gpu_frame_is_lost(const AVFrame *frame);

/* As av_frame_unref() and av_frame_free(), of any frame; one on a GPU that is lost is left alone.
 */
void gpu_frame_unref(AVFrame *frame);
void gpu_frame_free(AVFrame **frame);

/* Crops a frame on a GPU as libavcodec crops one on the host. */
void gpu_frame_crop(AVFrame *frame);

#endif
