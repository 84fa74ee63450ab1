/* Frames that were left on a GPU which is lost, decoded once more, in software, from packets that
 * were kept. One thread at a time. */
#ifndef LUMEQ_MEDIA_FRAME_RESCUE_H
#define LUMEQ_MEDIA_FRAME_RESCUE_H

#include <libavcodec/avcodec.h>

typedef struct FrameRescue FrameRescue;

typedef struct FrameRescueOptions {
    /* A decoder that is open, of frames that are numbered as their packets are. NULL: it cannot be.
     */
    AVCodecContext *(*open)(void *opaque);
    /* A reference to the packet of this number, 0: the oldest that is kept, with its own number in
     * *number. NULL: it is not there, or nothing can be decoded from it on. */
    AVPacket *(*packet)(void *opaque, int64_t *number);
    /* The number of a frame that such a decoder gives. */
    int64_t (*number)(void *opaque, const AVFrame *frame);
    void *opaque;
} FrameRescueOptions;

/* NULL: out of memory. */
FrameRescue *frame_rescue_create(const FrameRescueOptions *options);

/* Puts into the place of a frame on a GPU (gpu_frame.h) the same on the host. What it had there is
 * left alone for good. Fast for frames in their order, and for the ones just before. 0;
 * AVERROR(ENOENT): it cannot be had any more, or AVERROR(ENOMEM): the frame is as it was. */
int frame_rescue(FrameRescue *rescue, AVFrame *frame);

/* NULL is allowed inside. */
void frame_rescue_close(FrameRescue **rescue);

#endif
