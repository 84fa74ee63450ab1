/* LumeqCurve: all that a frame is equalized by. */
#ifndef LUMEQ_TONE_CURVE_H
#define LUMEQ_TONE_CURVE_H

#include <stdatomic.h>
#include <stdint.h>

#include "equalizer/backend.h"
#include "equalizer/bytes.h"
#include "lumeq/lumeq.h"

struct LumeqCurve {
    atomic_int references;
    MeasureShape shape; /* of the frame */
    CurveParams params;
    int fields;     /* of an interlaced frame */
    int past;       /* frames before it that may be looked at, LIFT_PAST at most */
    uint64_t moved; /* since the curve of the frame before, summed over bins, Q16 codes */
    CurveTable table;
    /* Of mode CLAHE, else NULL; of the result what tile_sum() makes, no history. */
    TileGrid *grid;
    TileTables *tables;
    uint32_t *tile_hist_out, *tile_curve_sum; /* [TILE_CELLS] each */
    CurveResult *result;                      /* its last bins are not there */
};

/*
 * A curve with one reference, whose members are for the caller to fill but for shape, params and
 * grid. `grid` NULL: no tiles. NULL: out of memory.
 */
LumeqCurve *lumeq_curve_new(const MeasureShape *shape, const CurveParams *params,
                            const TileGrid *grid);

/* Takes a frame's curve, and its tiles' where it has a grid, in. */
void lumeq_curve_take(LumeqCurve *curve, const CurveResult *result, const CurveTable *table,
                      const TileTables *tables, const TileResult *tile_result);

/* Whether a curve is for such an image. ARGUMENT, with the sentence in this thread. */
int lumeq_curve_fits(const LumeqCurve *curve, const LumeqImage *in);

/* Frames before the one that is equalized that it wants. */
int lumeq_curve_previous(const LumeqCurve *curve);

/* The curve's table where so many frames before are used; made in `table`. */
const CurveTable *lumeq_curve_table(const LumeqCurve *curve, int past, CurveTable *table);

/* What a backend needs to apply it: borrows the curve's memory. */
LumeqApplyJob lumeq_curve_job(const LumeqCurve *curve, const LumeqImage *in, const LumeqImage *out);

/* An active picture from bytes; `bad` where it is none of such a frame. */
LumeqRect lumeq_take_active(ByteReader *r, const MeasureShape *shape);

#endif
