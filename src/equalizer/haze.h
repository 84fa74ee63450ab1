/*
 * Measures how hazy a picture is. Haze lightens shadows: in a clear picture at least a quarter of
 * all places with detail have samples much darker than most around them. One definition for C and
 * CUDA.
 *
 * The backends find two percentiles of evenly spaced samples in each cell of a grid over the
 * metered picture. haze_of() turns them into one number.
 */
#ifndef LUMEQ_HAZE_H
#define LUMEQ_HAZE_H

#include <stdint.h>

#include "equalizer/samples.h"
#include "lumeq/lumeq.h"

#define MEASURE_COLUMNS 16
#define MEASURE_ROWS 9
#define MEASURE_CELLS (MEASURE_COLUMNS * MEASURE_ROWS)

#define HAZE_SIDE 8 /* samples of a cell across, and down */
#define HAZE_SAMPLES (HAZE_SIDE * HAZE_SIDE)

/* How many of a cell's samples are darker than its percentiles, at most. */
#define HAZE_LOW 1
#define HAZE_HIGH 48

/* Codes of 8 bits. */
typedef struct HazeCell {
    uint8_t low, high;
} HazeCell;

/* The first column or row of a cell; `size` for the one after the last. */
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

/*
 * The light of shadows as a share of the light around them, Q16: a quarter of the cells with detail
 * has less. 0 if few cells have any. `cells`: MEASURE_CELLS of the metered part (width
 * 0: all) of a frame of this size; those in `active` count. `black` is a code of 8 bits.
 */
uint32_t haze_of(const HazeCell *cells, int width, int height, const LumeqRect *meter, int black,
                 const LumeqRect *active);

#endif
