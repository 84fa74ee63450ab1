/* The haze of a picture, from percentiles of its cells (haze.h). */
#include "equalizer/haze.h"

/* A cell has detail if its percentiles are this many codes apart; fewer cells tell nothing. */
#define HAZE_SPAN 6
#define HAZE_LEAST 9

/* True if a cell's samples, of so many in a row from `from` on, are in [first, end). */
static int is_inside(int from, int size, int cell, int cells, int first, int end)
{
    return from + haze_place(size, cell, cells, 0) >= first &&
           from + haze_place(size, cell, cells, HAZE_SIDE - 1) < end;
}

uint32_t haze_of(const HazeCell *cells, int width, int height, const LumeqRect *meter, int black,
                 const LumeqRect *active)
{
    const LumeqRect all = {0, 0, width, height}, *in = meter->width ? meter : &all;
    uint32_t counts[257] = {0}, counted = 0, below = 0, share = 0;
    for (int i = 0; i < MEASURE_CELLS; i++) {
        const int low = cells[i].low > black ? cells[i].low - black : 0;
        const int high = cells[i].high - black;
        if (high < low + HAZE_SPAN ||
            !is_inside(in->x, in->width, i % MEASURE_COLUMNS, MEASURE_COLUMNS, active->x,
                       active->x + active->width) ||
            !is_inside(in->y, in->height, i / MEASURE_COLUMNS, MEASURE_ROWS, active->y,
                       active->y + active->height))
            continue;
        counts[256 * low / high]++;
        counted++;
    }
    while (counted >= HAZE_LEAST && 4 * (below + counts[share]) < counted)
        below += counts[share++];
    return share << 8;
}
