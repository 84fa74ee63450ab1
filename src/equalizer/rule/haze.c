/* The haze of a picture, its colour, and how to clear it, from the cells (haze.h). */
#include "equalizer/haze.h"

#include <stdlib.h>
#include <string.h>

#include "equalizer/rule/arithmetic.h"

#define HAZE_SPAN 6   /* distance of a cell's percentiles from which on it has detail, codes */
#define HAZE_LEAST 9  /* minimum number of cells to judge a picture */
#define HAZE_LIT 16   /* minimum light of a cell to judge its colour, codes above black */
#define HAZE_PALER 30 /* percent of the cells that may have less of the colour than the haze */
#define HAZE_APART 16 /* minimum difference of light to tell dark cells from light ones, codes */

/* True if a cell's samples are in [first, end). All cells have `size` samples from `from` on. */
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

/* Returns the value that sorting would put at `rank`. Reorders the values (Hoare's quickselect). */
static int32_t ranked(int32_t *values, size_t count, size_t rank)
{
    const int at = (int)rank;
    for (int from = 0, to = (int)count - 1; from < to;) {
        const int32_t pivot = values[at];
        int i = from, j = to;
        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i <= j) {
                const int32_t value = values[i];
                values[i++] = values[j];
                values[j--] = value;
            }
        }
        from = j < at ? i : from;
        to = at < i ? j : to;
    }
    return values[at];
}

int32_t haze_common(int32_t *values, size_t count, size_t percent, int32_t to)
{
    const size_t out = count * percent / 100;
    const int32_t low = ranked(values, count, out), high = ranked(values, count, count - 1 - out);
    return low > to ? low : high < to ? high : to;
}

/* A cell's light above black; Cb and Cr per code of light, Q16. */
typedef int32_t Colour[3];

static int compare_colours(const void *a, const void *b)
{
    const int32_t *first = a, *second = b;
    int i = 0;
    while (i < 2 && first[i] == second[i])
        i++;
    return (first[i] > second[i]) - (first[i] < second[i]);
}

/* Stores the median colour in `shared`, weakened to at most HAZE_TINT_MOST, and so that at most
 * HAZE_PALER percent of the cells have less of it. */
static void find_shared(Colour *cells, size_t count, int32_t shared[2])
{
    int32_t values[MEASURE_CELLS] = {0};
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < count; i++)
            values[i] = cells[i][1 + k];
        shared[k] = ranked(values, count, count / 2);
    }
    const int64_t b = shared[0], r = shared[1], square = b * b + r * r;
    for (size_t i = 0; i < count; i++)
        values[i] = (int32_t)((cells[i][1] * b + cells[i][2] * r) * 256 / (square | !square));
    const int32_t larger = abs(shared[0]) > abs(shared[1]) ? abs(shared[0]) : abs(shared[1]);
    const int32_t part = haze_common(values, count, HAZE_PALER, 0);
    const int32_t limit = 256 * HAZE_TINT_MOST / (larger | !larger);
    for (int k = 0; k < 2; k++)
        shared[k] = shared[k] * (part < limit ? part : limit) / 256;
}

HazeTint haze_tint(const HazeCell *cells, int width, int height, const LumeqRect *meter, int black,
                   const LumeqRect *active)
{
    const LumeqRect all = {0, 0, width, height}, *in = meter->width ? meter : &all;
    Colour colours[MEASURE_CELLS];
    HazeTint tint = {.lost = 0};
    int32_t dark[2], light[2];
    size_t count = 0;
    for (int i = 0; i < MEASURE_CELLS; i++) {
        const int lit = (cells[i].low + cells[i].high) / 2 - black;
        if (lit < HAZE_LIT || !is_active(i, in, active))
            continue;
        colours[count][0] = lit;
        for (int k = 0; k < 2; k++)
            colours[count][1 + k] = (cells[i].chroma[k] - HAZE_GRAY) * 256 / lit;
        count++;
    }
    if (count < HAZE_LEAST)
        return tint;
    qsort(colours, count, sizeof(colours[0]), compare_colours);
    const int32_t high = colours[count * 3 / 4][0], dim = colours[count / 4][0];
    const int apart = high - dim >= HAZE_APART;
    const size_t darker = apart ? count / 2 : 0; /* light cells follow */
    const int32_t low = apart ? dim : 0;         /* 0: one colour for all */
    find_shared(colours, apart ? count / 2 : count, dark);
    find_shared(colours + darker, count - darker, light);
    for (int k = 0; k < 2; k++) {
        tint.of[k] = limited((light[k] * high - dark[k] * low) / (high - low), HAZE_TINT_MOST);
        tint.base[k] = limited((dark[k] - tint.of[k]) * low / 512, HAZE_BASE_MOST);
    }
    return tint;
}

/* ---- clearing by cells ---- */

#define CLEAR_TAKEN 30         /* percent of a cell's light that its own gain takes at most, */
#define CLEAR_TAKEN_BESIDE 80  /* and that the gain of a cell beside it would take at most */
#define CLEAR_PLAIN (4 << 8)   /* Q8: cells whose tones span at most this are not cleared */
#define CLEAR_DETAIL (16 << 8) /* Q8: cells whose tones span at least this are cleared fully */
#define CLEAR_LIGHTER 18       /* number of cells that reach the haze's light */
#define CLEAR_MEAN 123         /* mean of the cells afterwards, in 128ths of the mean before */
#define CLEAR_LIFT 13312       /* the steepest lift, Q14 of the range */

#define CHANGE_PART 16 /* haze_slope() is for changes of 1/16 of the light */

/* Tones of a cell above black, after the curve, Q8. */
typedef struct Tones {
    uint32_t low, high; /* three quarters of the cell are below `high` */
    uint32_t veil;
    uint32_t mean, spread; /* half of the cell is at mean - spread, half at mean + spread */
} Tones;

uint32_t haze_veil(const HazeCell *cell)
{
    const int b = cell->chroma[0] - HAZE_GRAY, r = cell->chroma[1] - HAZE_GRAY; /* Q8 */
    const int red = -359 * r / 256, green = (88 * b + 183 * r) / 256, blue = -454 * b / 256;
    int below = red > green ? red : green;
    below = (below > blue ? below : blue) / 2;
    const int low = cell->low << 8;
    return (uint32_t)(below < 0 ? low : below < low ? low - below : 0);
}

/* The curve's output for a code of 8 bits, both Q8. */
static uint32_t output(const uint32_t nodes[256], uint32_t code)
{
    const uint32_t i = code >> 8, next = i < 255 ? i + 1 : 255;
    return nodes[i] + (((nodes[next] - nodes[i]) * (code & 255)) >> 8);
}

/* How far a code is above black, Q8. */
static uint32_t above(uint32_t code, int black)
{
    const uint32_t least = (uint32_t)black << 8;
    return code > least ? code - least : 0;
}

/* The gain that takes `percent` of the mean. */
static uint32_t gain_that_takes(const Tones *t, uint32_t light, uint32_t percent)
{
    const uint32_t gain =
        light > t->mean ? (t->mean << 10) / (light - t->mean) * percent / 100 : HAZE_GAIN_MOST;
    return least_of(gain, HAZE_GAIN_MOST);
}

/* A cell's own gain. */
static uint32_t own_gain(const Tones *t, uint32_t light)
{
    const uint32_t span = t->high - t->low;
    uint32_t gain = gain_that_takes(t, light, CLEAR_TAKEN);
    if (light > t->veil)
        gain = least_of(gain, (t->veil << 10) / (light - t->veil));
    if (span < CLEAR_DETAIL)
        gain = span <= CLEAR_PLAIN ? 0 : gain * (span - CLEAR_PLAIN) / (CLEAR_DETAIL - CLEAR_PLAIN);
    return gain;
}

/* Replaces each cell by the least or, if `smooth`, by the weighted sum (1, 2, 1) of it and its
 * neighbours in the row (step 1) or column (step MEASURE_COLUMNS). Cells at the edge repeat. */
static void mix_neighbours(uint32_t *cells, int step, int smooth)
{
    const int length = step == 1 ? MEASURE_COLUMNS : MEASURE_ROWS;
    uint32_t was[MEASURE_CELLS];
    memcpy(was, cells, sizeof(was));
    for (int i = 0; i < MEASURE_CELLS; i++) {
        const int at = i / step % length;
        const uint32_t before = was[at ? i - step : i];
        const uint32_t after = was[at < length - 1 ? i + step : i];
        cells[i] = smooth ? before + 2 * was[i] + after : least_of(was[i], least_of(before, after));
    }
}

/* Finds the gains of all cells. The large gain of a light cell also acts on parts of its dark
 * neighbours, so they limit it. Then the gains are smoothed twice, or large, smooth objects would
 * show the cells. */
static void find_gains(const Tones *tones, uint32_t light, uint32_t *gain)
{
    for (int i = 0; i < MEASURE_CELLS; i++)
        gain[i] = gain_that_takes(&tones[i], light, CLEAR_TAKEN_BESIDE);
    mix_neighbours(gain, 1, 0);
    mix_neighbours(gain, MEASURE_COLUMNS, 0);
    for (int i = 0; i < MEASURE_CELLS; i++)
        gain[i] = least_of(gain[i], own_gain(&tones[i], light));
    for (int round = 0; round < 2; round++) {
        mix_neighbours(gain, 1, 1);
        mix_neighbours(gain, MEASURE_COLUMNS, 1);
        for (int i = 0; i < MEASURE_CELLS; i++)
            gain[i] = (gain[i] + 8) / 16;
    }
}

int32_t haze_lift(int64_t wanted, int64_t room, int32_t range)
{
    const int64_t lift = wanted > 0 ? (wanted << 14) / (room > 0 ? room : 1) : 0;
    return (int32_t)((lift < CLEAR_LIFT ? lift : CLEAR_LIFT) * (256 << 8) / range);
}

/* The lift that restores the light that clearing takes from cells. `range`: black to white, Q8. */
static int32_t lift_back(const Tones *tones, const HazeClear *clear, uint32_t light, uint32_t range)
{
    int64_t before = 0, after = 0, room = 0;
    for (int i = 0; i < MEASURE_CELLS; i++) {
        const Tones *t = &tones[i];
        const int32_t halves[2] = {(int32_t)(t->mean - t->spread), (int32_t)(t->mean + t->spread)};
        before += 2 * t->mean;
        for (int k = 0; k < 2; k++) {
            const int64_t code = haze_lined(halves[k], 0, (int32_t)light, clear->gain[i]);
            after += code;
            room += code < range ? code * (range - code) / range : 0;
        }
    }
    return haze_lift(before * CLEAR_MEAN / 128 - after, room, (int32_t)range);
}

HazeClear haze_clear(const HazeState *haze, uint32_t share, const uint32_t nodes[256], int black,
                     int white, int depth)
{
    HazeClear clear = {0};
    Tones tones[MEASURE_CELLS];
    uint32_t gain[MEASURE_CELLS];
    int32_t values[MEASURE_CELLS];
    const uint32_t range = (uint32_t)(white - black) << 8;
    if (!share)
        return clear;
    for (int i = 0; i < MEASURE_CELLS; i++) {
        const uint32_t low = above(output(nodes, haze->low[i]), black);
        const uint32_t mean = above(output(nodes, haze->mean[i]), black);
        const uint32_t more = mean > low ? mean - low : 0;
        tones[i] = (Tones){.low = low,
                           .high = low + more * 8 / 5,
                           .veil = above(output(nodes, haze->veil[i]), black),
                           .mean = mean,
                           .spread = more};
        values[i] = (int32_t)tones[i].high;
    }
    const uint32_t reached = (uint32_t)ranked(values, MEASURE_CELLS, MEASURE_CELLS - CLEAR_LIGHTER);
    const uint32_t light = least_of(most_of(reached, 256), range);
    find_gains(tones, light, gain);
    for (int i = 0; i < MEASURE_CELLS; i++)
        clear.gain[i] = (uint16_t)((uint64_t)gain[i] * share >> 16);
    clear.lift = lift_back(tones, &clear, light, range);
    clear.light = (int32_t)((light + ((uint32_t)black << 8)) << (depth - 8) >> 8);
    return clear;
}

uint32_t haze_slope(const HazeState *haze, const HazeClear *clear, const uint32_t nodes[256],
                    int black, int white, int depth)
{
    const uint32_t range = (uint32_t)(white - black) << 8;
    const int32_t light = (int32_t)above((uint32_t)clear->light << 8 >> (depth - 8), black);
    int64_t from = 1, to = 1;
    for (int i = 0; i < MEASURE_CELLS; i++) {
        const uint32_t less = above(haze->mean[i], black) / CHANGE_PART;
        for (int k = 0; k < 2; k++) {
            const uint32_t code = above(output(nodes, haze->mean[i] - k * less), black);
            int32_t out = (int32_t)code;
            if (clear->light) {
                out = haze_lined(out, 0, light, clear->gain[i]);
                out = haze_lifted(out, 0, (int32_t)range, clear->lift, 16);
            }
            to += k ? -out : out;
        }
        from += less;
    }
    return to > 0 ? (uint32_t)((to << 16) / from) : 0;
}
