/* Converts the caller's structs (of any version), parameters and times for the arithmetic. */
#ifndef LUMEQ_SETTINGS_H
#define LUMEQ_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "equalizer/bars.h"
#include "equalizer/curve_types.h"
#include "equalizer/tiles.h"
#include "lumeq/lumeq.h"

/* Copies the caller's struct, which begins with its size, to this version's (`to_size` bytes).
 * Missing members become 0. Error: ARGUMENT if the size is invalid or unknown members are not 0. */
int lumeq_take_struct(void *to, size_t to_size, const void *from, const char *name);

#define LUMEQ_TAKE(Struct, to, from) lumeq_take_struct((to), sizeof(Struct), (from), #Struct)

/* Copies to the caller's struct what fits its size. Error: ARGUMENT if that size is invalid. */
int lumeq_give_struct(void *to, const void *from, size_t from_size);

/* A frame's position in a stream. Zero: before the first frame. */
typedef struct LumeqClock {
    int64_t last_time; /* time of the frame */
    int64_t step;      /* nanoseconds since the previous frame */
    int64_t number;    /* of the frame */
    int32_t started;   /* 0 before the first frame */
} LumeqClock;

/* The next frame's clock. `number` 0: one more than in `clock`. */
LumeqClock lumeq_clock_next(const LumeqClock *clock, int64_t number, int64_t time,
                            int64_t duration);

/* Sets only what the image's format defines: depth, shift, bins, fraction, black and white. */
CurveParams lumeq_sample_params(const LumeqImage *image);

CurveParams lumeq_curve_params(const LumeqParams *params, const LumeqImage *image,
                               const LumeqClock *clock);
BarsParams lumeq_bars_params(const LumeqParams *params, const LumeqImage *image, int64_t step);

int lumeq_has_tiles(const LumeqParams *params);

/* Makes the grid of tiles; returns 0 if the mode has no tiles. */
int lumeq_tiles_params(TileGrid *grid, const LumeqParams *params, const LumeqImage *image,
                       const CurveParams *curve);

#endif
