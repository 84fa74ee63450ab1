#include "report/report_measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Statistics use bins and codes of the frame's depth; a report uses 8-bit codes. */
#define CODES 256

/* The first bin of an 8-bit code. */
static int bin_of(int code, int bins)
{
    return code * (bins / CODES);
}

static void measure_histogram(ReportFrame *frame, int side, const uint32_t *hist, int bins,
                              int full_range)
{
    const double codes = (double)CODES / bins;
    const int black = full_range ? 0 : bin_of(16, bins);
    const int white = full_range ? bins - 1 : bin_of(235, bins);
    int64_t(*value)[REPORT_SIDES] = frame->value.of;
    value[REPORT_CONTRAST][side] = report_fixed(codes * histogram_deviation(hist, bins));
    value[REPORT_ENTROPY][side] = report_fixed(histogram_entropy(hist, bins));
    value[REPORT_BLACK][side] = report_fixed(100 * histogram_share(hist, bins, 0, black));
    value[REPORT_WHITE][side] = report_fixed(100 * histogram_share(hist, bins, white, bins - 1));
}

static void measure_blocks(ReportMeasure *m, const AVFrame *in, const AVFrame *out,
                           const LumeqFrameStats *stats, ReportFrame *frame)
{
    const ReportSamples *then = &m->samples[m->frames % 2];
    ReportSamples *now = &m->samples[++m->frames % 2];
    report_samples_take(now, in, out, stats->active);
    report_samples_noise(now, then, frame);
    for (int side = 0; side < REPORT_SIDES; side++) {
        const double contrast = block_samples_contrast(&now->of[side]);
        if (isfinite(contrast))
            frame->value.of[REPORT_LOCAL][side] = report_fixed(contrast);
    }
}

const ReportSamples *report_measure_samples(const ReportMeasure *m)
{
    return &m->samples[m->frames % 2];
}

void report_measure_frame(ReportMeasure *m, const AVFrame *in, const AVFrame *out,
                          const LumeqFrameStats *stats, ReportFrame *frame)
{
    const int depth = convert_layout((enum AVPixelFormat)in->format).depth;
    const double code = ldexp(1, 8 - depth);
    const int full_range = in->color_range == AVCOL_RANGE_JPEG;
    frame->cut = stats->scene_cut != 0;
    frame->width = in->width;
    frame->height = in->height;
    frame->depth = depth;
    for (int i = 0; i < REPORT_FIGURES; i++)
        frame->value.of[i][REPORT_BEFORE] = frame->value.of[i][REPORT_AFTER] = REPORT_UNKNOWN;
    frame->value.of[REPORT_MEAN][REPORT_BEFORE] = report_fixed(stats->mean_in * code);
    frame->value.of[REPORT_MEAN][REPORT_AFTER] = report_fixed(stats->mean_out * code);
    measure_histogram(frame, REPORT_BEFORE, stats->hist_in, stats->bins, full_range);
    measure_histogram(frame, REPORT_AFTER, stats->hist_out, stats->bins, full_range);
    measure_blocks(m, in, out, stats, frame);
}

static void shrink_histogram(uint32_t *to, const uint32_t *hist, int bins)
{
    const int each = bins / REPORT_HISTOGRAM;
    for (int i = 0; i < REPORT_HISTOGRAM; i++)
        to[i] = (uint32_t)lrint(1e6 * histogram_share(hist, bins, i * each, (i + 1) * each - 1));
}

ReportPicture *report_measure_picture(ReportMeasure *m, const AVFrame *in, const AVFrame *out,
                                      const LumeqFrameStats *stats, const ReportFrame *frame,
                                      const char *words)
{
    const AVFrame *const frames[REPORT_SIDES] = {in, out};
    ReportPicture *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->number = frame->number;
    p->time_us = frame->begin_us;
    p->entropy = frame->value.of[REPORT_ENTROPY][REPORT_BEFORE];
    p->words = strdup(words);
    for (int i = 0; i < REPORT_CURVE; i++) /* from 16 fraction bits of a code of the depth */
        p->curve[i] = (uint16_t)(stats->curve[bin_of(i, stats->bins)] >> frame->depth);
    shrink_histogram(p->histogram[REPORT_BEFORE], stats->hist_in, stats->bins);
    shrink_histogram(p->histogram[REPORT_AFTER], stats->hist_out, stats->bins);
    for (int side = 0; side < REPORT_SIDES; side++)
        p->jpeg[side] = small_picture_jpeg(&m->pictures, frames[side], REPORT_PICTURE_SIDE,
                                           &p->width, &p->height);
    if (p->words && p->jpeg[REPORT_BEFORE] && p->jpeg[REPORT_AFTER])
        return p;
    report_picture_free(p);
    return NULL;
}
