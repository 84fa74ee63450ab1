/* From what the caller says to what the arithmetic takes: structs of any version, parameters and
 * times. */
#ifndef LUMEQ_SETTINGS_H
#define LUMEQ_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "equalizer/bars.h"
#include "equalizer/curve.h"
#include "equalizer/tiles.h"
#include "lumeq/lumeq.h"

/* Time constant of what a lift is decided on, nanoseconds. */
#define LIFT_TIME INT64_C(3000000000)

/*
 * Copies a struct that begins with its size into one of this version, `to_size` bytes: what the
 * caller's lacks becomes 0. ARGUMENT where it has more, and that is not 0: a later version's.
 */
int lumeq_take_struct(void *to, size_t to_size, const void *from);

/* The other way: as many bytes as the caller's struct has room for, whose size it keeps. ARGUMENT
 * where that cannot be a size. */
int lumeq_give_struct(void *to, const void *from, size_t from_size);

/* Where the times of a stream stand. Zero: at its beginning. */
typedef struct LumeqClock {
    int64_t last_time; /* of the frame before */
    int64_t step;      /* nanoseconds between that and the one before it */
    int64_t number;    /* of the frame before */
    int32_t started;   /* there was one */
} LumeqClock;

/* The clock after a frame. `number` 0 goes on from the one before. */
LumeqClock lumeq_clock_next(const LumeqClock *clock, int64_t number, int64_t time,
                            int64_t duration);

/* Whether the first frame of all comes now, with the noise still to be told. */
int lumeq_is_first(const LumeqParams *params, const LumeqClock *before);

/* What of the image is black, white and counted; all else is 0. */
CurveParams lumeq_sample_params(const LumeqImage *image);

CurveParams lumeq_curve_params(const LumeqParams *params, const LumeqImage *image,
                               const LumeqClock *clock);
BarsParams lumeq_bars_params(const LumeqParams *params, const LumeqImage *image, int64_t step);

/* Whether there are tiles, and their grid. */
int lumeq_tiles_params(TileGrid *grid, const LumeqParams *params, const LumeqImage *image,
                       const CurveParams *curve);

#endif
