#include "media/sound/sound_graph.h"

#include <stdio.h>

#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/bprint.h>
#include <libavutil/samplefmt.h>

/* Minimum speed of one atempo filter. */
#define MIN_TEMPO 0.5

/* Its window is the smallest power of two samples at or above this fraction of a second. */
#define WINDOWS_PER_SECOND 24

/* Measured at speeds from 0.25 to 4: sounds begin half a window early and end on time. */
static double tempo_is_early(int rate)
{
    int window = 1;
    while (window * WINDOWS_PER_SECOND < rate)
        window *= 2;
    return 1e6 * window / 4 / rate;
}

/* Appends tempo filters; returns how early sound leaves them. */
static double add_tempo(AVBPrint *text, double speed, int rate)
{
    double early = 0, stretched = 1;
    for (; speed < MIN_TEMPO; speed /= MIN_TEMPO) {
        av_bprintf(text, "atempo=%g,", MIN_TEMPO);
        early += tempo_is_early(rate) * stretched;
        stretched *= MIN_TEMPO;
    }
    if (speed == 1)
        return early;
    av_bprintf(text, "atempo=%.6f,", speed);
    return early + tempo_is_early(rate) * stretched;
}

static void describe(AVBPrint *text, SoundGraph *g, const SoundFormat *to)
{
    AVChannelLayout out;
    char name[64];
    av_channel_layout_default(&out, to->channels);
    av_bprintf(text,
               "abuffer@in=time_base=1/%d:sample_rate=%d:sample_fmt=%s:channel_layout=", g->rate,
               g->rate, av_get_sample_fmt_name(g->format));
    av_channel_layout_describe_bprint(&g->layout, text);
    av_bprintf(text, ",");
    /* Channels without known positions cannot be mixed: keep the first ones. */
    if (g->layout.order == AV_CHANNEL_ORDER_UNSPEC && g->layout.nb_channels > to->channels) {
        av_bprintf(text, "pan=%dc", to->channels);
        for (int i = 0; i < to->channels; i++)
            av_bprintf(text, "|c%d=c%d", i, i);
        av_bprintf(text, ",");
    }
    /* rematrix_maxval keeps downmixed channels within -1..1 */
    av_channel_layout_describe(&out, name, sizeof(name));
    av_bprintf(text,
               "aresample=%d:rematrix_maxval=1,"
               "aformat=sample_fmts=flt:sample_rates=%d:channel_layouts=%s,",
               to->rate, to->rate, name);
    g->early_us = add_tempo(text, to->speed, to->rate);
    av_bprintf(text, "abuffersink@out");
}

int sound_graph_open(SoundGraph *g, const AVFrame *frame, const SoundFormat *to)
{
    sound_graph_close(g);
    if (frame->sample_rate <= 0 || frame->ch_layout.nb_channels <= 0)
        return AVERROR_INVALIDDATA;
    g->rate = frame->sample_rate;
    g->format = frame->format;
    AVBPrint text;
    av_bprint_init(&text, 0, AV_BPRINT_SIZE_UNLIMITED);
    int ret = av_channel_layout_copy(&g->layout, &frame->ch_layout);
    if (ret >= 0) {
        describe(&text, g, to);
        ret = av_bprint_is_complete(&text) ? filter_graph_open(&g->filters, text.str, 1)
                                           : AVERROR(ENOMEM);
    }
    av_bprint_finalize(&text, NULL);
    if (ret >= 0)
        av_buffersink_set_frame_size(g->filters.out, (unsigned)to->block);
    else
        sound_graph_close(g);
    return ret;
}

int sound_graph_fits(const SoundGraph *g, const AVFrame *frame)
{
    return g->filters.graph && frame->sample_rate == g->rate && frame->format == g->format &&
           av_channel_layout_compare(&frame->ch_layout, &g->layout) == 0;
}

int sound_graph_send(SoundGraph *g, AVFrame *frame)
{
    const int ret = av_buffersrc_add_frame_flags(g->filters.in, frame, 0);
    if (frame)
        av_frame_unref(frame);
    return ret;
}

void sound_graph_close(SoundGraph *g)
{
    filter_graph_close(&g->filters);
    av_channel_layout_uninit(&g->layout);
    *g = (SoundGraph){0};
}
