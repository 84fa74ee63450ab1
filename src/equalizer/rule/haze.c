/* The haze of a picture and its colour, from the cells (haze.h). */
#include "equalizer/haze.h"

#include <stdlib.h>

/* A cell has detail if its percentiles are this many codes apart; fewer cells tell nothing. */
#define HAZE_SPAN 6
#define HAZE_LEAST 9

/* Cells with less light have no colour. */
#define HAZE_LIT 16

/* True if a cell's samples, of so many in a row from `from` on, are in [first, end). */
static int is_inside(int from, int size, int cell, int cells, int first, int end)
{
    return from + haze_place(size, cell, cells, 0) >= first &&
           from + haze_place(size, cell, cells, HAZE_SIDE - 1) < end;
}

/* True if cell number `i` of the metered part is in the active picture. */
static int is_active(int i, const LumeqRect *in, const LumeqRect *active)
{
    return is_inside(in->x, in->width, i % MEASURE_COLUMNS, MEASURE_COLUMNS, active->x,
                     active->x + active->width) &&
           is_inside(in->y, in->height, i / MEASURE_COLUMNS, MEASURE_ROWS, active->y,
                     active->y + active->height);
}

uint32_t haze_of(const HazeCell *cells, int width, int height, const LumeqRect *meter, int black,
                 const LumeqRect *active)
{
    const LumeqRect all = {0, 0, width, height}, *in = meter->width ? meter : &all;
    uint32_t counts[257] = {0}, counted = 0, below = 0, share = 0;
    for (int i = 0; i < MEASURE_CELLS; i++) {
        const int low = cells[i].low > black ? cells[i].low - black : 0;
        const int high = cells[i].high - black;
        if (high < low + HAZE_SPAN || !is_active(i, in, active))
            continue;
        counts[256 * low / high]++;
        counted++;
    }
    while (counted >= HAZE_LEAST && 4 * (below + counts[share]) < counted)
        below += counts[share++];
    return share << 8;
}

static int compare(const void *a, const void *b)
{
    const int32_t first = *(const int32_t *)a, second = *(const int32_t *)b;
    return (first > second) - (first < second);
}

HazeTint haze_tint(const HazeCell *cells, int width, int height, const LumeqRect *meter, int black,
                   const LumeqRect *active)
{
    const LumeqRect all = {0, 0, width, height}, *in = meter->width ? meter : &all;
    HazeTint tint = {{0, 0}, 0};
    for (int k = 0; k < 2; k++) {
        int32_t tints[MEASURE_CELLS];
        size_t count = 0;
        for (int i = 0; i < MEASURE_CELLS; i++) {
            const int light = (cells[i].low + cells[i].high) / 2 - black;
            if (light >= HAZE_LIT && is_active(i, in, active))
                tints[count++] = (cells[i].chroma[k] - HAZE_GRAY) * 65536 / light;
        }
        if (count < HAZE_LEAST)
            return tint;
        qsort(tints, count, sizeof(tints[0]), compare);
        const int32_t low = tints[count / 5], high = tints[count - 1 - count / 5];
        const int32_t common = low > 0 ? low : high < 0 ? high : 0;
        tint.of[k] = common > HAZE_TINT_MOST    ? HAZE_TINT_MOST
                     : common < -HAZE_TINT_MOST ? -HAZE_TINT_MOST
                                                : common;
    }
    return tint;
}
