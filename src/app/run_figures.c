#include "app/run_figures.h"

#include <math.h>
#include <string.h>

#include "app/terminal.h"

#define COLUMNS 64

/* ---- overlap of stages on the GPU ---- */

static double window_begin(const TimelineFrame *frames)
{
    double begin = frames[0].begin_us[0];
    for (int i = 1; i < TIMELINE_FRAMES; i++)
        begin = frames[i].begin_us[0] < begin ? frames[i].begin_us[0] : begin;
    return begin;
}

static double window_length(const TimelineFrame *frames)
{
    double end = 0;
    for (int i = 0; i < TIMELINE_FRAMES; i++)
        for (int stage = 0; stage < LUMEQ_STAGES; stage++)
            end = frames[i].end_us[stage] > end ? frames[i].end_us[stage] : end;
    return end - window_begin(frames);
}

static double window_work(const TimelineFrame *frames)
{
    double work = 0;
    for (int i = 0; i < TIMELINE_FRAMES; i++)
        for (int stage = 0; stage < LUMEQ_STAGES; stage++)
            work += frames[i].end_us[stage] - frames[i].begin_us[stage];
    return work;
}

static void add_times(Timeline *t, int64_t number, const LumeqFrameStats *stats)
{
    TimelineFrame *frame = &t->last[TIMELINE_FRAMES - 1];
    if (stats->stage_end_us[LUMEQ_STAGE_UPLOAD] <= 0)
        return; /* the CPU has one stage only */
    memmove(t->last, t->last + 1, sizeof(t->last) - sizeof(t->last[0]));
    frame->number = number;
    memcpy(frame->begin_us, stats->stage_begin_us, sizeof(frame->begin_us));
    memcpy(frame->end_us, stats->stage_end_us, sizeof(frame->end_us));
    if (++t->count < TIMELINE_FRAMES)
        return;
    const double overlap = window_work(t->last) / window_length(t->last);
    if (overlap > t->overlap) {
        t->overlap = overlap;
        memcpy(t->best, t->last, sizeof(t->best));
    }
}

static void say_frame(const TimelineFrame *frame, double begin, double column)
{
    char bar[COLUMNS + 1] = "";
    memset(bar, ' ', COLUMNS);
    for (int stage = 0; stage < LUMEQ_STAGES; stage++) {
        const int from = (int)((frame->begin_us[stage] - begin) / column);
        const int to = (int)((frame->end_us[stage] - begin) / column);
        for (int i = from; i <= to && i < COLUMNS; i++)
            bar[i] = "UED"[stage];
    }
    say(SAY_DETAILS, "  frame %6lld |%s|", (long long)frame->number, bar);
}

/* How long two stages worked at the same time, on any two frames. */
static double together(const TimelineFrame *frames, int stage, int other)
{
    double sum = 0;
    for (int i = 0; i < TIMELINE_FRAMES; i++)
        for (int k = 0; k < TIMELINE_FRAMES; k++) {
            const double begin = fmax(frames[i].begin_us[stage], frames[k].begin_us[other]);
            const double end = fmin(frames[i].end_us[stage], frames[k].end_us[other]);
            sum += fmax(end - begin, 0);
        }
    return sum;
}

/* The busiest frames of a run. */
static void say_timeline(const Timeline *t)
{
    if (t->count < TIMELINE_FRAMES)
        return;
    const double begin = window_begin(t->best), length = window_length(t->best);
    say(SAY_DETAILS,
        "the busiest %d frames in a row: %.0f us of upload (U), equalize (E) and download (D) "
        "within %.0f us, %.2f at a time; a column is %.1f us",
        TIMELINE_FRAMES, window_work(t->best), length, t->overlap, length / COLUMNS);
    say(SAY_DETAILS, "at the same time: U and E %.1f us, E and D %.1f us, U and D %.1f us",
        together(t->best, LUMEQ_STAGE_UPLOAD, LUMEQ_STAGE_EQUALIZE),
        together(t->best, LUMEQ_STAGE_EQUALIZE, LUMEQ_STAGE_DOWNLOAD),
        together(t->best, LUMEQ_STAGE_UPLOAD, LUMEQ_STAGE_DOWNLOAD));
    for (int i = 0; i < TIMELINE_FRAMES; i++)
        say_frame(&t->best[i], begin, length / COLUMNS);
}

/* ---- each frame ---- */

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

static void decide(RunFigures *r, Frame *f)
{
    const AVFrame *frame = f->out;
    const Decision decision = decision_find(&f->stats, r->params, equalizer_depth(frame),
                                            frame->color_range == AVCOL_RANGE_JPEG);
    decision_text(&decision, NULL, r->words, sizeof(r->words));
    decisions_add(&r->decisions, &decision);
    f->words = r->words;
}

static int count_frame(void *self, Frame *f)
{
    RunFigures *r = self;
    const LumeqFrameStats *stats = &f->stats;
    if (f->arrays)
        decide(r, f);
    r->filtered += stats->filtered;
    r->noise_gain = FFMAX(r->noise_gain, stats->noise_gain);
    if (stats->noise >= 0) {
        r->noise += stats->noise;
        r->noise_count++;
    }
    add_pumping(&r->pumping, stats, equalizer_depth(f->out));
    add_times(&r->timeline, f->number, stats);
    return 0;
}

Sink figures_sink(RunFigures *r)
{
    return (Sink){.self = r, .frame = count_frame};
}

/* ---- at the end ---- */

static void say_pumping(const RunFigures *r)
{
    const Pumping *p = &r->pumping;
    if (p->count)
        say(r->params->deflicker > 0 ? SAY_NORMAL : SAY_DETAILS,
            "brightness changed by %.3f codes a frame before and %.3f after (MABD, of 256 codes)",
            p->sum_in / (double)p->count, p->sum_out / (double)p->count);
}

void figures_say_details(const RunFigures *r, int planned)
{
    say_timeline(&r->timeline);
    if (planned)
        say_pumping(r);
    if (r->noise_count)
        say(SAY_DETAILS, "noise of %.2f codes of 8 bits in dark areas that stand still",
            r->noise / (double)r->noise_count);
    if (r->params->mode != LUMEQ_MODE_OFF)
        say(SAY_DETAILS,
            "differences in dark areas grew by %.1f times at most, noise by no more than that",
            r->noise_gain);
}
