/*
 * Measures how hazy a picture is, and the colour of the haze. Haze lightens shadows: in a clear
 * picture, at least a quarter of the places with detail have samples much darker than their
 * surroundings. Haze also tints everything, so nearly all places share its colour. One definition
 * for C and CUDA.
 *
 * The backends find two percentiles and the means of evenly spaced samples in each cell of a
 * grid over the metered picture. haze_of() and haze_tint() turn them into a few numbers.
 */
#ifndef LUMEQ_HAZE_H
#define LUMEQ_HAZE_H

#include <stddef.h>
#include <stdint.h>

#include "equalizer/samples.h"
#include "lumeq/lumeq.h"

#define MEASURE_COLUMNS 16
#define MEASURE_ROWS 9
#define MEASURE_CELLS (MEASURE_COLUMNS * MEASURE_ROWS)

#define HAZE_SIDE 8 /* samples of a cell across, and down */
#define HAZE_SAMPLES (HAZE_SIDE * HAZE_SIDE)

/* Ranks of a cell's two percentiles: at most this many of its samples are darker. */
#define HAZE_LOW 1
#define HAZE_HIGH 48

/* Percentiles and means of a cell, in codes of 8 bits. */
typedef struct HazeCell {
    uint8_t low, high;
    uint16_t mean;      /* Q8 */
    uint16_t chroma[2]; /* means of Cb and Cr, Q8; HAZE_GRAY without chroma */
} HazeCell;

#define HAZE_GRAY (128 << 8)

/* The mean of a cell, Q8, from the sum of its codes of `depth` bits. */
CURVE_INLINE uint16_t haze_mean(uint32_t sum, int depth)
{
    return (uint16_t)(sum * (256 / HAZE_SAMPLES) >> (depth - 8));
}

typedef struct HazeTint {
    /* The haze's colour, as distances of Cb and Cr from gray: base + of * luma. */
    int32_t of[2];   /* per code of luma, Q16 */
    int32_t base[2]; /* codes of 8 bits, Q7 */
    int32_t lost;    /* to restore other colours, multiply them by 1 + this, Q16, at most 1 */
} HazeTint;

/* The haze of a frame, or its mean over an epoch. */
typedef struct HazeState {
    HazeTint tint;                                    /* to remove */
    uint32_t local;                                   /* share of haze_clear() to apply, Q16 */
    uint32_t low[MEASURE_CELLS], mean[MEASURE_CELLS]; /* as in HazeCell, Q8 */
    uint32_t veil[MEASURE_CELLS];                     /* haze_veil() of the cells, Q8 */
} HazeState;

/* Removes haze cell by cell, after the curve: out = code - (light - code) * gain, where `gain`
 * changes linearly between the middles of cells. */
typedef struct HazeClear {
    int32_t light;                /* code of the haze's light, of the picture's depth; 0: no haze */
    int32_t lift;                 /* for haze_lifted(), applied afterwards to keep the mean */
    uint16_t gain[MEASURE_CELLS]; /* Q10, at most HAZE_GAIN_MOST */
} HazeClear;

#define HAZE_GAIN_MOST 3072
#define HAZE_LIFT_MOST INT16_MAX

/* Clearing keeps at least this share (in 256ths) of a code's distance from black. */
#define HAZE_LEFT 96

CURVE_INLINE int haze_is_cleared(HazeTint tint)
{
    return tint.of[0] || tint.of[1] || tint.base[0] || tint.base[1] || tint.lost;
}

/* The strongest tint to remove. A stronger colour, as in water, is not the haze's alone. */
#define HAZE_TINT_MOST (65536 / 9)
#define HAZE_BASE_MOST (32 << 7)

/* Colours are strengthened up to this distance from gray, in codes of 8 bits. */
#define HAZE_PALE 40

/* The first column or row of a cell; `size` for the cell after the last. */
CURVE_INLINE int measure_cell_start(int size, int cell, int cells)
{
    return (int)((int64_t)size * cell / cells);
}

/* The column or row of sample number `i` of HAZE_SIDE in a cell. */
CURVE_INLINE int haze_place(int size, int cell, int cells, int i)
{
    const int from = measure_cell_start(size, cell, cells);
    const int length = measure_cell_start(size, cell + 1, cells) - from;
    return from + length * (2 * i + 1) / (2 * HAZE_SIDE);
}

/* A place between the middles of two neighbouring cells: the first cell, and the distance from its
 * middle, in 256ths of a cell. */
typedef struct HazePlace {
    int32_t cell, part;
} HazePlace;

/* The change of position from one sample to the next, in cells, Q24. */
CURVE_INLINE uint32_t haze_step(int size, int cells)
{
    return ((uint32_t)cells << 24) / (uint32_t)size;
}

CURVE_INLINE HazePlace haze_between(int at, uint32_t step, int cells)
{
    const uint32_t half = 1u << 23, most = (uint32_t)(cells - 1) << 24;
    uint32_t place = (uint32_t)at * step + step / 2;
    place = place < half ? 0 : place - half < most ? place - half : most;
    HazePlace found = {(int32_t)(place >> 24), 0};
    found.cell -= found.cell == cells - 1;
    found.part = (int32_t)((place - ((uint32_t)found.cell << 24)) >> 16);
    return found;
}

CURVE_INLINE int32_t haze_gain(int32_t from, int32_t to, int32_t part)
{
    return (256 * from + (to - from) * part) >> 8;
}

/* Removes haze from a luma code. */
CURVE_INLINE int32_t haze_lined(int32_t code, int32_t black, int32_t light, int32_t gain)
{
    const int32_t far = code < light ? light - code : 0, above = code > black ? code - black : 0;
    const int32_t cleared = code - ((far * gain + 512) >> 10),
                  least = black + (above * HAZE_LEFT >> 8);
    const int32_t kept = cleared > least ? cleared : least;
    return code > black ? kept : code;
}

/* Lifts a code of `depth` bits, mostly in the middle between black and white. `range`: codes from
 * black to white. `lift`: Q14. */
CURVE_INLINE int32_t haze_lifted(int32_t code, int32_t black, int32_t range, int32_t lift,
                                 int depth)
{
    const int32_t above = code > black ? code - black : 0, left = above < range ? range - above : 0;
    const uint32_t shares = (((uint32_t)above << 15 >> depth) * ((uint32_t)left << 15 >> depth));
    const int32_t product = (int32_t)((shares >> 14) + 1) >> 1; /* Q15; rounds like vector code */
    const int32_t more = ((product * lift >> 14) + 1) >> 1;
    return code + (((more << depth) + (1 << 13)) >> 14);
}

/* Returns the light of shadows as a share of the light around them, Q16: the first quartile of the
 * cells with detail, or 0 if few cells have detail. `cells` cover the part `meter` (width 0: all)
 * of a frame of this size; only cells in `active` count. `black` is a code of 8 bits. */
uint32_t haze_of(const HazeCell *cells, int width, int height, const LumeqRect *meter, int black,
                 const LumeqRect *active);

/* Returns the colour that changes linearly with luma from the one that most dark cells share to the
 * one that light cells share. Arguments as above. */
HazeTint haze_tint(const HazeCell *cells, int width, int height, const LumeqRect *meter, int black,
                   const LumeqRect *active);

/* Clamps `to` to the range between two percentiles of the values, `percent` (at most 50) and 100 -
 * `percent`. Reorders the values. */
int32_t haze_common(int32_t *values, size_t count, size_t percent, int32_t to);

/* Returns the darkest code that haze leaves in a cell, Q8: half way from `low` to the darkest
 * component of R'G'B'. */
uint32_t haze_veil(const HazeCell *cell);

/* Returns how to clear a frame by cells. `share`: part of the gain to apply, Q16; `nodes`: the
 * curve's output for each code of 8 bits, Q8; black, white: codes of 8 bits. */
HazeClear haze_clear(const HazeState *haze, uint32_t share, const uint32_t nodes[256], int black,
                     int white, int depth);

/* Returns the lift that adds `wanted` to the sum of some tones, or the steepest one. `room`: the
 * sum of tone * (range - tone) / range. `range`: black to white, in codes of 8 bits, Q8. */
int32_t haze_lift(int64_t wanted, int64_t room, int32_t range);

/* Returns the factor, Q16, by which the curve and clearing amplify a change of the picture's light.
 * Arguments as above. */
uint32_t haze_slope(const HazeState *haze, const HazeClear *clear, const uint32_t nodes[256],
                    int black, int white, int depth);

/* Removes haze from a code of Cb (k = 0) or Cr (1) whose luma is `luma` codes above black. A colour
 * does not turn into its opposite. */
CURVE_INLINE int32_t haze_cleared(int32_t code, int depth, int32_t luma, HazeTint tint, int k)
{
    const int32_t middle = 1 << (depth - 1), pale = HAZE_PALE << (depth - 8), off = code - middle;
    const int32_t more = (luma * tint.of[k] + tint.base[k] * (2 << depth) + 32768) >> 16;
    const int32_t high = off > 0 ? off : 0, low = off < 0 ? off : 0;
    const int32_t left = off - (more > high ? high : more < low ? low : more);
    const int32_t wide = left + ((left * tint.lost + 32768) >> 16);
    const int32_t most = off > pale ? off : pale, least = off < -pale ? off : -pale;
    return middle + (wide > most ? most : wide < least ? least : wide);
}

/* HDR: keeps a part of chroma's `code` where luma is close to white, and all of it above. `luma`,
 * `white`: codes above black. */
CURVE_INLINE int32_t haze_kept(int32_t code, int32_t cleared, int32_t luma, int32_t white,
                               int depth)
{
    const int32_t width = 1 << (depth - 4), below = white - luma;
    const int32_t part = below > width ? width : below > 0 ? below : 0;
    return code + ((cleared - code) * part >> (depth - 4));
}

#endif
