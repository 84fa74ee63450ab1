/* Blending: every sample against the mean of what its pixels would become, in double precision. */
#include <math.h>

#include <libavutil/pixdesc.h>

#include "check.h"
#include "media/blend.h"

#define MAX_SIDE 64

typedef struct Case {
    enum AVPixelFormat format;
    int width, height;
    BlendPlace place;
    enum AVColorSpace space;
    enum AVColorRange range;
} Case;

static uint8_t pixels[MAX_SIDE][MAX_SIDE][4];

static AVFrame *make_frame(CheckRandom *random, const Case *c)
{
    AVFrame *frame = av_frame_alloc();
    frame->format = c->format;
    frame->width = c->width;
    frame->height = c->height;
    frame->colorspace = c->space;
    frame->color_range = c->range;
    if (!CHECK(av_frame_get_buffer(frame, 0) >= 0, "no memory"))
        exit(1);
    for (int i = 0; i < AV_NUM_DATA_POINTERS && frame->buf[i]; i++)
        for (size_t k = 0; k < frame->buf[i]->size; k++)
            frame->buf[i]->data[k] = (uint8_t)check_random(random);
    return frame;
}
