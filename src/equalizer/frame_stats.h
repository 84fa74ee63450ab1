/* Statistics of a frame, from its curve and histogram. */
#ifndef LUMEQ_FRAME_STATS_H
#define LUMEQ_FRAME_STATS_H

#include "equalizer/backend.h"
#include "lumeq/lumeq.h"

typedef struct FrameSummary {
    const CurveParams *params;
    const CurveResult *result;
    uint32_t tiles; /* number of tiles; 0: not mode CLAHE */
    const TileSums *sums;
    uint64_t moved; /* curve speed: sum over bins of the smoothed curve's change, Q16 codes */
} FrameSummary;

/* The change of the smoothed curve; 0 without a history and with the reference. */
uint64_t lumeq_curve_moved(const CurveParams *params, const CurveResult *before,
                           const CurveResult *result);

/* Fills in `stats` except times; arrays only if they are not NULL. */
void lumeq_fill_stats(LumeqFrameStats *stats, const FrameSummary *summary);

#endif
