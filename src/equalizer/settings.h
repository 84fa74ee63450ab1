/* Converts the caller's structs (of any version), parameters and times for the arithmetic. */
#ifndef LUMEQ_SETTINGS_H
#define LUMEQ_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "equalizer/bars.h"
#include "equalizer/curve_types.h"
#include "equalizer/tiles.h"
#include "lumeq/lumeq.h"

/* Copies the caller's struct, which begins with its size, into this version's of `to_size` bytes.
 * Missing members become 0. Error: ARGUMENT if the size is invalid or unknown members are not 0. */
int lumeq_take_struct(void *to, size_t to_size, const void *from, const char *name);

#define LUMEQ_TAKE(Struct, to, from) lumeq_take_struct((to), sizeof(Struct), (from), #Struct)

/* Copies to the caller's struct, as far as it reaches. Error: ARGUMENT if its size is invalid. */
int lumeq_give_struct(void *to, const void *from, size_t from_size);

/* Position in a stream. Zero: its beginning. */
typedef struct LumeqClock {
    int64_t last_time; /* of the previous frame */
    int64_t step;      /* time step to that frame, in nanoseconds */
    int64_t number;    /* of the previous frame */
    int32_t started;   /* there was a previous frame */
} LumeqClock;

/* The clock after a frame. `number` 0: one more than the previous frame's. */
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
