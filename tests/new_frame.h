/* A frame with memory, whose content is unknown. */
#ifndef LUMEQ_TESTS_NEW_FRAME_H
#define LUMEQ_TESTS_NEW_FRAME_H

#include <stdlib.h>

#include <libavutil/frame.h>

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

#endif
