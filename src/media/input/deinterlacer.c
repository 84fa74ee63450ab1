#include "media/input/deinterlacer.h"

#include <stdio.h>

#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/pixdesc.h>

#include "media/compat.h"
#include "media/filter_graph.h"

/* Maximum number of frames inside the filter; a power of two, since the counters wrap around. */
#define INSIDE 8

/* Original times, since the filter uses another time base. */
typedef struct FrameTime {
    int64_t pts, duration;
} FrameTime;

struct Deinterlacer {
    FilterGraph filters;
    AVRational time_base;
    FrameTime times[INSIDE];
    unsigned sent, received;
};

int deinterlacer_open(Deinterlacer **deinterlacer, const AVFrame *first, int all, int threads)
{
    *deinterlacer = NULL;
    Deinterlacer *d = av_mallocz(sizeof(*d));
    if (!d)
        return AVERROR(ENOMEM);
    d->time_base = first->time_base;
    /* The format filter restores formats that bwdif does not support, such as nv12. */
    char text[128];
    snprintf(text, sizeof(text), "bwdif=mode=send_frame:parity=auto:deint=%s,format=pix_fmts=%s",
             all ? "all" : "interlaced", av_get_pix_fmt_name(first->format));
    const int ret = filter_graph_open_video(&d->filters, first, first->format, text, threads);
    if (ret < 0)
        deinterlacer_close(&d);
    *deinterlacer = d;
    return ret;
}

int deinterlacer_send(Deinterlacer *d, AVFrame *frame)
{
    if (frame)
        d->times[d->sent++ % INSIDE] = (FrameTime){frame->pts, FRAME_DURATION(frame)};
    return av_buffersrc_add_frame_flags(d->filters.in, frame, AV_BUFFERSRC_FLAG_PUSH);
}

int deinterlacer_receive(Deinterlacer *d, AVFrame *frame)
{
    const int ret = av_buffersink_get_frame(d->filters.out, frame);
    if (ret < 0)
        return ret;
    if (d->received == d->sent)
        return AVERROR_BUG;
    const FrameTime *time = &d->times[d->received++ % INSIDE];
    frame->pts = time->pts;
    FRAME_DURATION(frame) = time->duration;
    frame->time_base = d->time_base;
    return 0;
}

void deinterlacer_close(Deinterlacer **deinterlacer)
{
    if (!*deinterlacer)
        return;
    filter_graph_close(&(*deinterlacer)->filters);
    av_freep(deinterlacer);
}
