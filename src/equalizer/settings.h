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

/* A member of more than 4 bytes. */
typedef struct LumeqMember {
    uint16_t begin, size;
} LumeqMember;

/* For each public struct, the last one of size 0. */
extern const LumeqMember lumeq_members_config[], lumeq_members_params[], lumeq_members_sync[],
    lumeq_members_frame[], lumeq_members_stats[], lumeq_members_gpu[], lumeq_members_memory_use[],
    lumeq_members_moment[];

#define LUMEQ_MEMBERS(to)                                                                          \
    _Generic(*(to), LumeqConfig                                                                    \
             : lumeq_members_config, LumeqParams                                                   \
             : lumeq_members_params, LumeqSync                                                     \
             : lumeq_members_sync, LumeqFrame                                                      \
             : lumeq_members_frame, LumeqFrameStats                                                \
             : lumeq_members_stats, LumeqGpu                                                       \
             : lumeq_members_gpu, LumeqMemoryUse                                                   \
             : lumeq_members_memory_use, LumeqMoment                                               \
             : lumeq_members_moment)

/*
 * Copies a struct that begins with its size into one of this version, `to_size` bytes: what the
 * caller's lacks becomes 0. ARGUMENT if it ends inside a member, or if it has more, and that is not
 * 0: a later version's.
 */
#define lumeq_take_struct(to, to_size, from)                                                       \
    lumeq_take_members(to, to_size, from, LUMEQ_MEMBERS(to))
int lumeq_take_members(void *to, size_t to_size, const void *from, const LumeqMember *members);

/* The other way: as many bytes as the caller's struct has room for, whose size it keeps. ARGUMENT
 * if that cannot be a size. */
#define lumeq_give_struct(to, from, from_size)                                                     \
    lumeq_give_members(to, from, from_size, LUMEQ_MEMBERS(to))
int lumeq_give_members(void *to, const void *from, size_t from_size, const LumeqMember *members);

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

/* Whether the mode divides the picture into tiles. */
int lumeq_has_tiles(const LumeqParams *params);

/* Whether there are tiles, and their grid. */
int lumeq_tiles_params(TileGrid *grid, const LumeqParams *params, const LumeqImage *image,
                       const CurveParams *curve);

#endif
