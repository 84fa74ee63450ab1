#include "media/input/deinterlacer.h"

#include <stdio.h>

#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/pixdesc.h>

#include "media/compat.h"

/* Frames that are inside at most; a power of two. */
#define INSIDE 8

/* What the filter does not keep: it counts in another time base. */
typedef struct FrameTime {
    int64_t pts, duration;
} FrameTime;

struct Deinterlacer {
    AVFilterGraph *graph;
    AVFilterContext *in, *out;
    AVRational time_base;
    FrameTime times[INSIDE];
    unsigned sent, received;
};

static int build(Deinterlacer *d, const AVFrame *first, int all, int threads)
{
    AVFilterInOut *inputs = NULL, *outputs = NULL;
    const char *format = av_get_pix_fmt_name(first->format);
    char text[320];
    d->graph = avfilter_graph_alloc();
    if (!d->graph)
        return AVERROR(ENOMEM);
    d->graph->nb_threads = threads;
    /* Formats that bwdif does not know (nv12) go through one with the same samples, and back. */
    snprintf(text, sizeof(text),
             "buffer@in=video_size=%dx%d:pix_fmt=%s:time_base=%d/%d,"
             "bwdif=mode=send_frame:parity=auto:deint=%s,format=pix_fmts=%s,buffersink@out",
             first->width, first->height, format, first->time_base.num, first->time_base.den,
             all ? "all" : "interlaced", format);
    int ret = avfilter_graph_parse2(d->graph, text, &inputs, &outputs);
    avfilter_inout_free(&inputs);
    avfilter_inout_free(&outputs);
    if (ret >= 0)
        ret = avfilter_graph_config(d->graph, NULL);
    if (ret < 0)
        return ret;
    d->in = avfilter_graph_get_filter(d->graph, "buffer@in");
    d->out = avfilter_graph_get_filter(d->graph, "buffersink@out");
    return d->in && d->out ? 0 : AVERROR_BUG;
}

int deinterlacer_open(Deinterlacer **deinterlacer, const AVFrame *first, int all, int threads)
{
    *deinterlacer = NULL;
    Deinterlacer *d = av_mallocz(sizeof(*d));
    if (!d)
        return AVERROR(ENOMEM);
    d->time_base = first->time_base;
    const int ret = build(d, first, all, threads);
    if (ret < 0)
        deinterlacer_close(&d);
    *deinterlacer = d;
    return ret;
}

int deinterlacer_send(Deinterlacer *d, AVFrame *frame)
{
    if (frame)
        d->times[d->sent++ % INSIDE] = (FrameTime){frame->pts, FRAME_DURATION(frame)};
    return av_buffersrc_add_frame_flags(d->in, frame, AV_BUFFERSRC_FLAG_PUSH);
}

int deinterlacer_receive(Deinterlacer *d, AVFrame *frame)
{
    const int ret = av_buffersink_get_frame(d->out, frame);
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
    avfilter_graph_free(&(*deinterlacer)->graph);
    av_freep(deinterlacer);
}
