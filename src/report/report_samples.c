#include "report/report_samples.h"

#include <math.h>

#define LIMITED_BLACK 16

void report_samples_take(ReportSamples *s, const AVFrame *in, const AVFrame *out, LumeqRect active)
{
    s->black = in->color_range == AVCOL_RANGE_JPEG ? 0 : LIMITED_BLACK;
    block_samples_take(&s->of[REPORT_BEFORE], in, active);
    block_samples_take(&s->of[REPORT_AFTER], out, active);
}

void report_samples_clear(ReportSamples *s)
{
    s->of[REPORT_BEFORE].count = s->of[REPORT_AFTER].count = 0;
}

void report_samples_noise(const ReportSamples *now, const ReportSamples *then, ReportFrame *frame)
{
    const BlockPair here = {&now->of[REPORT_BEFORE], &now->of[REPORT_AFTER]};
    const BlockPair earlier = {&then->of[REPORT_BEFORE], &then->of[REPORT_AFTER]};
    double noise[REPORT_SIDES];
    const int known = !frame->cut && block_samples_noise(&here, &earlier, now->black, noise) == 0;
    for (int side = 0; side < REPORT_SIDES; side++)
        frame->value.of[REPORT_NOISE][side] = known ? report_fixed(noise[side]) : REPORT_UNKNOWN;
}
