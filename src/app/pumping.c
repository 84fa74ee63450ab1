#include "app/pumping.h"

#include <math.h>
#include <stdio.h>

void pumping_add(Pumping *p, const LumeqFrameStats *stats, int depth)
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

int pumping_print(const Pumping *p, char *text, size_t size)
{
    if (!p->count)
        return 0;
    snprintf(text, size,
             "brightness changed by %.3f codes a frame before and %.3f after (MABD, of 256 codes)",
             p->sum_in / (double)p->count, p->sum_out / (double)p->count);
    return 1;
}
