/* Allocates frames with undefined content, and returns the size of a frame's components. */
#ifndef LUMEQ_TESTS_NEW_FRAME_H
#define LUMEQ_TESTS_NEW_FRAME_H

#include <stdlib.h>

#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>

static inline AVFrame *new_frame(int format, int width, int height)
{
    AVFrame *frame = av_frame_alloc();
    if (!frame)
        abort();
    frame->format = format;
    frame->width = width;
    frame->height = height;
    if (av_frame_get_buffer(frame, 0) < 0)
        abort();
    return frame;
}

static inline int samples_across(const AVFrame *frame, int component)
{
    const int is_chroma = component == 1 || component == 2;
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(frame->format);
    return AV_CEIL_RSHIFT(frame->width, is_chroma ? desc->log2_chroma_w : 0);
}

static inline int samples_down(const AVFrame *frame, int component)
{
    const int is_chroma = component == 1 || component == 2;
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(frame->format);
    return AV_CEIL_RSHIFT(frame->height, is_chroma ? desc->log2_chroma_h : 0);
}

#endif
