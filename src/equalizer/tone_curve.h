/* LumeqCurve: everything needed to equalize one frame. */
#ifndef LUMEQ_TONE_CURVE_H
#define LUMEQ_TONE_CURVE_H

#include <stdint.h>

#include "equalizer/backend.h"
#include "equalizer/bytes.h"
#include "lumeq/lumeq.h"

struct LumeqCurve {
    MeasureShape shape; /* of the frame */
    CurveParams params;
    int fields;     /* the frame is interlaced */
    int past;       /* number of previous frames that may be used, at most LIFT_PAST */
    uint64_t moved; /* change since the previous curve, summed over bins, Q16 codes */
    /* These three are NULL except in mode CLAHE. */
    TileGrid *grid;
    TileTables *tables;
    TileSums *sums;
    CurveResult *result; /* allocated only up to its last used bin */
    CurveTable table;
};

/* Creates a curve with shape, params and grid (NULL: no tiles). The caller fills in the rest.
 * Returns NULL if out of memory. */
LumeqCurve *lumeq_curve_new(const MeasureShape *shape, const CurveParams *params,
                            const TileGrid *grid);

/* Copies a frame's result and, with a grid, its tiles' sums. The caller fills in the tables. */
void lumeq_curve_take(LumeqCurve *curve, const CurveResult *result, const TileResult *tiles);

/* The change of the smoothed curve, summed over bins; 0 without a history or in the reference. */
uint64_t lumeq_curve_moved(const CurveParams *params, const CurveResult *before,
                           const CurveResult *result);

/* Checks that a curve fits an image. Returns 0, or LUMEQ_ERR_ARGUMENT with a sentence in
 * lumeq_error_text(). */
int lumeq_curve_fits(const LumeqCurve *curve, const LumeqImage *in);

/* The number of previous frames that the curve can use. */
int lumeq_curve_previous(const LumeqCurve *curve);

/* Writes the curve's table for this number of previous frames to `table`, and returns it. */
const CurveTable *lumeq_curve_table(const LumeqCurve *curve, int past, CurveTable *table);

/* The job for a backend. It points into the curve's memory. */
LumeqApplyJob lumeq_curve_job(const LumeqCurve *curve, const LumeqImage *in, const LumeqImage *out);

#endif
