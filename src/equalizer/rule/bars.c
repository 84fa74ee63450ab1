/*
 * Finds the black bars of a frame, and so its active picture.
 *
 * A line is a row or a column. On each side, lines are checked from the frame's edge inwards until
 * a line belongs to the picture: at least half of its samples are lit (not black). Text and logos
 * light less of a bar's line. Bars come in pairs of about equal size and end abruptly, unlike most
 * dark parts of a picture. Samples inside the bars of the other direction do not count.
 */
#include "equalizer/bars.h"

#include <stdlib.h>

/* Limits for the percentage of a line's samples that are lit. */
#define PICTURE 50 /* at least this: the line belongs to the picture */
#define TEXT 25    /* at most this: a bar, perhaps with text */
#define BUSY 15    /* most lines of a bar have less, even with text or a logo */
#define CLEAN 5    /* at most this: a bar without text */

#define LARGEST 45 /* maximum size of a bar, in percent of the frame's side */

#define TEXT_HEIGHT 8 /* maximum height of a line of text, in percent of the frame's side */

/* About this many lines per direction are checked first; then the lines just before the edge. */
#define LINES 256

#define SAME 2 /* edges within this many lines count as equal */

/* Nanoseconds for which new bars must persist: a pair, or a bar on one side only, which is more
 * often a dark part of the picture. */
#define HOLD_PAIR 500000000
#define HOLD_LONE 5000000000

typedef struct Lines {
    const uint8_t *lit; /* number of lit samples of each line */
    int count, samples; /* number of lines, and of samples counted in each */
    int stride;         /* step between checked lines */
    int end;            /* maximum size of a bar */
    int checked;        /* number of checked lines within `end` */
    int smallest;       /* minimum size of a bar */
    int rings;          /* lines over which scaling blurs an edge */
} Lines;

typedef struct Side {
    int edge;    /* the first line of the picture; -1: no such line */
    int abrupt;  /* the edge is abrupt, as at a bar */
    int clear;   /* the lines before the edge are clearly a bar */
    int opened;  /* picture appeared in the confirmed bar, from `edge` on */
    int crowded; /* more of the confirmed bar is lit than text would light */
} Side;

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* The number of the profile's rows above a row. */
static int rows_above(int height, int row)
{
    const int step = bars_row_step(height), first = bars_first_row(height);
    return row <= first ? 0 : (row - first + step - 1) / step;
}

/* BARS_ROWS: the number of samples that the profile counts in each row, in the columns [from, to).
 * BARS_COLUMNS: in each column, in the rows [from, to). */
static int samples_in(const BarsParams *p, int direction, int from, int to)
{
    int samples = 0;
    if (direction == BARS_ROWS && !from && to == p->width) {
        samples = to < BARS_ROW_SAMPLES ? to : BARS_ROW_SAMPLES;
    } else if (direction == BARS_COLUMNS) {
        samples = rows_above(p->height, to) - rows_above(p->height, from);
    } else {
        for (int i = 0; i < bars_blocks(p->width); i++) {
            const int first = bars_block(p->width, i);
            const int end = first + bars_block_size(p->width, i);
            samples += larger((end < to ? end : to) - larger(first, from), 0);
        }
    }
    return larger(samples, 1);
}

/* Describes the lines of a direction; `beside`: the bars of the other direction. */
static Lines lines_of(const BarsParams *p, uint8_t *const lit[BARS_DIRECTIONS], int direction,
                      const int32_t beside[2])
{
    const int rows = direction == BARS_ROWS;
    const int count = rows ? p->height : p->width, across = rows ? p->width : p->height;
    Lines lines = {.lit = lit[direction], .count = count};
    lines.samples = samples_in(p, direction, beside[0], across - beside[1]);
    lines.stride = bars_one_in(count, LINES);
    lines.end = (int)((int64_t)count * LARGEST / 100);
    lines.checked = (lines.end + lines.stride - 1) / lines.stride;
    lines.smallest = larger(4, (count + 99) / 100);
    lines.rings = larger(3, count / 360);
    return lines;
}

/* Percentage of lit samples in line number i from the edge; `far`: the right or bottom edge. */
static int percent_of(const Lines *lines, int far, int i)
{
    return lines->lit[far ? lines->count - 1 - i : i] * 100 / lines->samples;
}

/* The first checked line in [from, to) with a percentage of at least `least`; else `to`. */
static int first_above(const int *percent, int from, int to, int least)
{
    while (from < to && percent[from] < least)
        from++;
    return from < to ? from : to;
}

/* The first checked line in [from, to) with a percentage of at most `most`; else `to`. */
static int first_below(const int *percent, int from, int to, int most)
{
    while (from < to && percent[from] > most)
        from++;
    return from < to ? from : to;
}

/* The number of checked lines in [from, to) with at most this percentage. */
static int count_below(const int *percent, int from, int to, int most)
{
    int count = 0;
    for (int i = from; i < to; i++)
        count += percent[i] <= most;
    return count;
}

/* Finds the exact edge: line i is picture, the previous checked line is not. */
static int exact_edge(const Lines *lines, int far, int i)
{
    const int before = larger(i - lines->stride, -1);
    while (i - 1 > before && percent_of(lines, far, i - 1) >= PICTURE)
        i--;
    return i;
}

/* The lowest percentage of lit samples in the lines just before the edge. Scaling can blur all of
 * them but one. */
static int darkest_before(const Lines *lines, int far, int edge)
{
    int darkest = 100;
    for (int i = edge - 1 - lines->rings; i < edge; i++) {
        const int percent = percent_of(lines, far, i);
        darkest = percent < darkest ? percent : darkest;
    }
    return darkest;
}

/* The number of checked lines before line i. */
static int checked_before(const Lines *lines, int i)
{
    const int checked = (i + lines->stride - 1) / lines->stride;
    return checked < lines->checked ? checked : lines->checked;
}

/* The checked line before which darkness must follow if text, not the picture, begins at `edge`.
 * Bold text lights more than half of some rows. No text begins at the frame's own edge. */
static int doubtful_until(const Lines *lines, int edge)
{
    if (edge < lines->smallest)
        return 0;
    return checked_before(lines, edge + lines->count * TEXT_HEIGHT / 100 + 1);
}

static Side find_edge(const Lines *lines, int far, int held)
{
    int percent[LINES];
    for (int i = 0; i < lines->checked; i++)
        percent[i] = percent_of(lines, far, i * lines->stride);
    Side side = {.edge = -1};
    int at = 0, outside = 0, clean = 0, first_text = lines->end;
    while (side.edge < 0 && at < lines->checked) {
        const int picture = first_above(percent, at, lines->checked, PICTURE);
        const int text = first_above(percent, at, picture, TEXT + 1);
        if (text < picture && first_text == lines->end)
            first_text = text * lines->stride;
        outside += picture - at;
        clean += count_below(percent, at, picture, CLEAN);
        at = picture;
        if (picture == lines->checked)
            break;
        side.edge = exact_edge(lines, far, picture * lines->stride);
        const int doubtful = doubtful_until(lines, side.edge);
        const int dark = first_below(percent, picture + 1, doubtful, BUSY);
        if (dark < doubtful) {
            first_text = side.edge < first_text ? side.edge : first_text;
            side.edge = -1;
            at = dark;
        }
    }
    const int inside = checked_before(lines, held);
    const int behind = side.edge >= 0 && at < inside ? inside - at : 0;
    const int lit = behind ? behind - count_below(percent, at, inside, PICTURE - 1) : 0;
    side.opened = side.edge >= 0 && side.edge < held && 2 * lit >= behind;
    side.crowded = 2 * (inside - count_below(percent, 0, inside, BUSY)) > inside;
    if (side.edge >= lines->smallest) {
        const int darkest = darkest_before(lines, far, side.edge);
        side.abrupt = darkest <= TEXT;
        side.clear =
            darkest <= CLEAN && first_text >= side.edge - lines->rings && 2 * clean >= outside;
    }
    return side;
}

static int about_equal(const Lines *lines, const int32_t bars[2])
{
    return abs(bars[0] - bars[1]) <= larger(4, lines->count / 50);
}

/* Removes both confirmed bars if both are crowded. Otherwise narrows or removes a bar that contains
 * picture. The opposite bar follows if both were equal, as a dark scene may show one side only. */
static void release(BarsPair *pair, const Lines *lines, const Side sides[2])
{
    const int were_equal = about_equal(lines, pair->held);
    if (pair->held[0] && pair->held[1] && sides[0].crowded && sides[1].crowded)
        pair->held[0] = pair->held[1] = 0;
    for (int i = 0; i < 2; i++) {
        if (!sides[i].opened || sides[i].edge >= pair->held[i])
            continue;
        const int edge = sides[i].edge < lines->smallest ? 0 : sides[i].edge;
        const int32_t now[2] = {edge, pair->held[!i]};
        pair->held[i] = edge;
        if (were_equal && edge < now[1] && !about_equal(lines, now))
            pair->held[!i] = edge;
    }
}

/* Finds the bars that the frame shows. Returns the nanoseconds for which bars must be shown before
 * they are confirmed; -1: no new bars. */
static int64_t new_bars(const BarsPair *pair, const Lines *lines, const Side sides[2],
                        int32_t bars[2])
{
    for (int i = 0; i < 2; i++)
        bars[i] = larger(sides[i].edge < lines->smallest ? 0 : sides[i].edge, pair->held[i]);
    if (bars[0] <= pair->held[0] + SAME && bars[1] <= pair->held[1] + SAME)
        return -1;
    if (sides[0].abrupt && sides[1].abrupt && (sides[0].clear || sides[1].clear) &&
        about_equal(lines, bars))
        return pair->known ? HOLD_PAIR : 0;
    for (int i = 0; i < 2; i++)
        if (bars[i] > pair->held[i] + SAME && !sides[i].clear)
            return -1;
    return HOLD_LONE;
}

static void follow(BarsPair *pair, const Lines *lines, const Side sides[2], int64_t step)
{
    int32_t bars[2];
    release(pair, lines, sides);
    if (sides[0].edge < 0 || sides[1].edge < 0)
        return;
    const int64_t hold = new_bars(pair, lines, sides, bars);
    const int same = pair->found[0] + pair->found[1] > 0 && abs(bars[0] - pair->found[0]) <= SAME &&
                     abs(bars[1] - pair->found[1]) <= SAME;
    pair->since = !same ? 0 : step < HOLD_LONE ? pair->since + step : HOLD_LONE;
    for (int i = 0; i < 2; i++) {
        if (!same)
            pair->found[i] = bars[i];
        if (hold >= 0 && pair->since >= hold)
            pair->held[i] = bars[i];
    }
    if (hold < 0 || pair->since >= hold)
        pair->found[0] = pair->found[1] = 0;
    pair->known = 1;
}

/* Finds the edges of one direction. Most frames need no search: they have no confirmed bars, and
 * the picture reaches both edges. */
static void find_edges(const Lines *lines, const BarsPair *pair, Side sides[2])
{
    const int none = !pair->held[0] && !pair->held[1] && percent_of(lines, 0, 0) >= PICTURE &&
                     percent_of(lines, 1, 0) >= PICTURE;
    for (int far = 0; far < 2; far++)
        sides[far] = none ? (Side){0} : find_edge(lines, far, pair->held[far]);
}

/* Finds the bars to exclude in the other direction: the confirmed bars, updated by this frame, with
 * new pairs confirmed at once. */
static void shown(const BarsPair *pair, const Lines *lines, const Side sides[2], int32_t bars[2])
{
    BarsPair now = *pair;
    now.known = 0;
    follow(&now, lines, sides, 0);
    bars[0] = now.held[0];
    bars[1] = now.held[1];
}

/* Converts bars to the start and length of the picture between them, aligned outwards. */
static void outward(const int32_t bars[2], int size, int *start, int *length)
{
    const int end = (size - bars[1] + BARS_ALIGNMENT - 1) / BARS_ALIGNMENT * BARS_ALIGNMENT;
    *start = bars[0] / BARS_ALIGNMENT * BARS_ALIGNMENT;
    *length = (end < size ? end : size) - *start;
}

static void find(const BarsParams *p, BarsState *state, uint8_t *const lit[BARS_DIRECTIONS])
{
    BarsPair *columns = &state->pair[BARS_COLUMNS], *rows = &state->pair[BARS_ROWS];
    Side sides[BARS_DIRECTIONS][2];
    int32_t beside[2], above[2];
    Lines high = lines_of(p, lit, BARS_ROWS, columns->held);
    find_edges(&high, rows, sides[BARS_ROWS]);
    shown(rows, &high, sides[BARS_ROWS], above);
    const Lines wide = lines_of(p, lit, BARS_COLUMNS, above);
    find_edges(&wide, columns, sides[BARS_COLUMNS]);
    shown(columns, &wide, sides[BARS_COLUMNS], beside);
    /* With bars at the sides, the picture may light less than half of a whole row. */
    if (beside[0] != columns->held[0] || beside[1] != columns->held[1]) {
        high = lines_of(p, lit, BARS_ROWS, beside);
        find_edges(&high, rows, sides[BARS_ROWS]);
    }
    follow(columns, &wide, sides[BARS_COLUMNS], p->step);
    follow(rows, &high, sides[BARS_ROWS], p->step);
    outward(columns->held, p->width, &state->active.x, &state->active.width);
    outward(rows->held, p->height, &state->active.y, &state->active.height);
}

BarsState bars_update(const BarsParams *p, const BarsState *before,
                      uint8_t *const lit[BARS_DIRECTIONS])
{
    BarsState state = *before;
    const int same = state.width == p->width && state.height == p->height &&
                     state.depth == p->depth && state.range == p->range;
    if (!p->ignore && !same)
        state = (BarsState){
            .width = p->width, .height = p->height, .depth = p->depth, .range = p->range};
    state.active = (LumeqRect){0, 0, p->width, p->height};
    if (!p->ignore)
        find(p, &state, lit);
    state.area = (uint32_t)p->width * (uint32_t)p->height -
                 (uint32_t)state.active.width * (uint32_t)state.active.height;
    state.grew = (uint32_t)state.active.width * (uint32_t)state.active.height <
                 (uint32_t)before->active.width * (uint32_t)before->active.height;
    return state;
}
