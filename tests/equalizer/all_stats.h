/* Statistics of a frame with room for all arrays. */
#ifndef LUMEQ_TESTS_ALL_STATS_H
#define LUMEQ_TESTS_ALL_STATS_H

#include <string.h>

#include "lumeq/lumeq.h"

/* In a copy, the pointers of `values` still point to the original's arrays. */
typedef struct FrameStats {
    LumeqFrameStats values;
    uint32_t hist_in[LUMEQ_MAX_BINS], hist_out[LUMEQ_MAX_BINS], curve[LUMEQ_MAX_BINS];
} FrameStats;

/* Prepares statistics for a function that fills them; NULL stays NULL. */
static inline LumeqFrameStats *ask_stats(FrameStats *stats)
{
    if (!stats)
        return NULL;
    stats->values = (LumeqFrameStats){
        .size = sizeof(stats->values),
        .hist_in = stats->hist_in,
        .hist_out = stats->hist_out,
        .curve = stats->curve,
    };
    return &stats->values;
}

/* Compares all statistics except times, `previous`, `lift`, `dark`, `filtered` and `cleared`. */
static inline int same_stats(const FrameStats *a, const FrameStats *b)
{
    const LumeqFrameStats *s = &a->values, *t = &b->values;
    const size_t bytes = (size_t)s->bins * sizeof(a->curve[0]);
    return s->bins == t->bins && !memcmp(a->hist_in, b->hist_in, bytes) &&
           !memcmp(a->hist_out, b->hist_out, bytes) && !memcmp(a->curve, b->curve, bytes) &&
           s->mean_in == t->mean_in && s->mean_out == t->mean_out &&
           s->curve_speed == t->curve_speed && s->scene_cut == t->scene_cut &&
           s->strength == t->strength && s->noise_gain == t->noise_gain && s->noise == t->noise &&
           !memcmp(&s->active, &t->active, sizeof(s->active));
}

#endif
