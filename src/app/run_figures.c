#include "app/run_figures.h"

#include <math.h>
#include <stdio.h>

static void add_pumping(Pumping *p, const LumeqFrameStats *stats, int depth)
{
    const double code = ldexp(1, 8 - depth);
    const double in = stats->mean_in * code, out = stats->mean_out * code;
    if (p->started && !stats->scene_cut) {
        p->sum_in += fabs(in - p->last_in);
        p->sum_out += fabs(out - p->last_out);
        p->count++;
    }
    p->started = 1;
    p->last_in = in;
    p->last_out = out;
}

static void decide(RunFigures *r, SinkFrame *f)
{
    const AVFrame *frame = f->item->message.output;
    const Decision decision = decision_find(&f->item->stats, r->params, equalizer_depth(frame),
                                            frame->color_range == AVCOL_RANGE_JPEG);
    decision_text(&decision, NULL, r->words, sizeof(r->words));
    decisions_add(&r->decisions, &decision);
    f->words = r->words;
}

static int count_frame(void *self, SinkFrame *f)
{
    RunFigures *r = self;
    const LumeqFrameStats *stats = &f->item->stats;
    if (f->item->arrays)
        decide(r, f);
    r->filtered += stats->filtered;
    r->noise_gain = FFMAX(r->noise_gain, stats->noise_gain);
    if (stats->noise >= 0) {
        r->noise += stats->noise;
        r->noise_count++;
    }
    add_pumping(&r->pumping, stats, equalizer_depth(f->item->message.output));
    timeline_add(&r->timeline, f->number, stats);
    return 0;
}

Sink figures_sink(RunFigures *r)
{
    return (Sink){.self = r, .frame = count_frame};
}

int figures_pumping(const RunFigures *r, char *text, size_t size)
{
    const Pumping *p = &r->pumping;
    if (!p->count)
        return 0;
    snprintf(text, size,
             "brightness changed by %.3f codes a frame before and %.3f after (MABD, of 256 codes)",
             p->sum_in / (double)p->count, p->sum_out / (double)p->count);
    return 1;
}
