/*
 * Finds black bars at the edges of video frames (letterbox, pillarbox or both), and so the active
 * picture. The arithmetic of all backends, in the common subset of C and CUDA.
 *
 * A line is a row or a column. On each side, lines are checked from the edge inwards until one
 * belongs to the picture. The criterion is the share of lit (not black) samples: text and logos
 * light less than half of a bar's line, a picture lights more. Bars come in pairs of about equal
 * size, and the picture begins abruptly: a gradual edge, or darkness on one side only, is picture.
 *
 * The input is a profile of the frame: the number of lit samples in each line, counted in a subset
 * of its samples. Samples inside the bars of the other direction are excluded from the totals.
 */
#ifndef LUMEQ_BARS_H
#define LUMEQ_BARS_H

#include <stdint.h>

#include "lumeq/lumeq.h"

/* The profile of a row counts all its samples, or, in wide frames, this many evenly spaced blocks.
 */
#define BARS_BLOCK 16
#define BARS_BLOCKS 15
#define BARS_ROW_SAMPLES (BARS_BLOCK * BARS_BLOCKS)

/* The profile of a column counts every n-th row, so that about this many, at most 255, are counted.
 */
#define BARS_COLUMN_SAMPLES 128

#define BARS_BLACK_MARGIN 8 /* in codes of 8 bits: compression and grain in bars stay below */

/* Percent of a line's samples that are lit. */
#define BARS_PICTURE 50 /* at least: picture */
#define BARS_TEXT 25    /* at most: a bar, perhaps with text */
#define BARS_BUSY 15    /* more than most lines of a bar have, even with text or a logo */
#define BARS_CLEAN 5    /* at most: a bar without text */

#define BARS_LARGEST 45 /* maximum size of a bar, in percent of the side */

#define BARS_TEXT_HEIGHT 8 /* maximum height of a line of text, in percent of the side */

/* About this many lines per direction are checked; the exact edge is then searched between them. */
#define BARS_LINES 256

#define BARS_SAME 2 /* edges within this many lines count as equal */

/* Nanoseconds for which new bars must persist. A bar on one side only is more often a dark part of
 * the picture. */
#define BARS_HOLD_PAIR 500000000
#define BARS_HOLD_LONE 5000000000

#define BARS_ALIGNMENT 4 /* a multiple of any chroma subsampling */

enum { BARS_COLUMNS, BARS_ROWS, BARS_DIRECTIONS };

/* Lit samples by line; the arrays have as many entries as the frame has columns or rows. */
typedef struct BarsProfile {
    uint8_t lit[BARS_DIRECTIONS][LUMEQ_MAX_SIDE + 1];
} BarsProfile;

/* State of two opposite sides: left and right, or top and bottom. */
typedef struct BarsPair {
    int32_t known;    /* the edges have been seen on both sides */
    int32_t held[2];  /* size of the confirmed bars; 0: no bar */
    int32_t found[2]; /* candidate bars, not confirmed yet */
    int64_t since;    /* nanoseconds since the candidates appeared */
} BarsPair;

/* History for the next frame, and result of this one. Zero: empty history. */
typedef struct BarsState {
    int32_t width, height, depth, range;
    BarsPair pair[BARS_DIRECTIONS];
    LumeqRect active; /* the picture; its edges are multiples of 4, or the frame's own */
    uint32_t area;    /* number of samples in bars */
    int32_t grew;     /* the bars grew with this frame */
} BarsState;

typedef struct BarsParams {
    int32_t width, height, depth, shift, range;
    int32_t ignore; /* ignore bars: the active picture is the whole frame, and the history stays */
    int64_t step;   /* nanoseconds since the previous frame */
} BarsParams;

#ifndef BARS_FN
#ifdef __CUDACC__
#define BARS_FN static inline __host__ __device__
#else
#define BARS_FN static inline
#endif

/* BARS_EACH_SIDE runs its body in one thread per side, `far` = 0 and 1; other threads skip it.
 * BARS_WAIT is a barrier. */
#define BARS_EACH_SIDE(far) for (int far = 0; far < 2; far++)
#define BARS_WAIT()

/* The number of the lowest set bit, and the number of set bits. */
#define BARS_LOWEST(bits) __builtin_ctz(bits)
#define BARS_POPULATION(bits) __builtin_popcount(bits)
#endif

/* The lowest sample value that counts as lit. */
BARS_FN uint32_t bars_lit(const BarsParams *p)
{
    const uint32_t black = p->range == LUMEQ_RANGE_FULL ? 0 : 16;
    return (((black + BARS_BLACK_MARGIN) << (p->depth - 8)) + 1) << p->shift;
}

BARS_FN int bars_blocks(int width)
{
    return width > BARS_ROW_SAMPLES ? BARS_BLOCKS : (width + BARS_BLOCK - 1) / BARS_BLOCK;
}

/* The first sample of a block; below, its length. */
BARS_FN int bars_block(int width, int block)
{
    return width > BARS_ROW_SAMPLES ? (width - BARS_BLOCK) * block / (BARS_BLOCKS - 1)
                                    : BARS_BLOCK * block;
}

BARS_FN int bars_block_size(int width, int block)
{
    const int left = width - bars_block(width, block);
    return left < BARS_BLOCK ? left : BARS_BLOCK;
}

/* Sampling step for `wanted` of `size` lines. Odd, so that patterns with an even period, such as
 * interlacing, are not sampled at one phase only. */
BARS_FN int bars_one_in(int size, int wanted)
{
    return (size / wanted) | 1;
}

/* The step and the first row of those that the profile of columns counts. */
BARS_FN int bars_row_step(int height)
{
    return bars_one_in(height, BARS_COLUMN_SAMPLES);
}

BARS_FN int bars_first_row(int height)
{
    return bars_row_step(height) / 2;
}

/* The number of these rows above a row. */
BARS_FN int bars_rows_above(int height, int row)
{
    const int step = bars_row_step(height), first = bars_first_row(height);
    return row <= first ? 0 : (row - first + step - 1) / step;
}

/* The number of samples that the profile counts in a row's columns, or a column's rows, in [from,
 * to). */
BARS_FN int bars_samples(const BarsParams *p, int direction, int from, int to)
{
    int samples = 0;
    if (direction == BARS_ROWS && !from && to == p->width) {
        samples = to < BARS_ROW_SAMPLES ? to : BARS_ROW_SAMPLES;
    } else if (direction == BARS_COLUMNS) {
        samples = bars_rows_above(p->height, to) - bars_rows_above(p->height, from);
    } else {
        for (int i = 0; i < bars_blocks(p->width); i++) {
            const int first = bars_block(p->width, i);
            const int end = first + bars_block_size(p->width, i);
            const int inside = (end < to ? end : to) - (first > from ? first : from);
            samples += inside > 0 ? inside : 0;
        }
    }
    return samples > 0 ? samples : 1;
}

typedef struct BarsLines {
    const uint8_t *lit; /* lit samples of the profile */
    int count, samples;
    int stride;   /* step between checked lines */
    int end;      /* maximum size of a bar in lines */
    int looked;   /* number of checked lines within `end` */
    int smallest; /* minimum size of a bar */
    int rings;    /* lines over which scaling blurs an edge */
} BarsLines;

/* One bit for each checked line, from the edge inwards. */
#define BARS_WORDS 8

typedef struct BarsMarks {
    uint32_t picture[BARS_WORDS]; /* at least BARS_PICTURE */
    uint32_t text[BARS_WORDS];    /* above BARS_TEXT */
    uint32_t quiet[BARS_WORDS];   /* at most BARS_BUSY */
    uint32_t clean[BARS_WORDS];   /* at most BARS_CLEAN */
} BarsMarks;

typedef struct BarsSide {
    int edge;    /* the first line of the picture; -1: no such line */
    int abrupt;  /* the edge is abrupt, as at a bar */
    int clear;   /* it is clearly a bar */
    int opened;  /* picture appeared in the confirmed bar, from `edge` on */
    int crowded; /* too much of the confirmed bar is lit for text */
} BarsSide;

/* Scratch memory; on a GPU, shared by the threads. */
typedef struct BarsWork {
    BarsMarks marks[2];
    BarsSide sides[BARS_DIRECTIONS][2];
} BarsWork;

BARS_FN int bars_larger(int a, int b)
{
    return a > b ? a : b;
}

/* Describes the columns or rows; only the part between the bars `beside` counts. */
BARS_FN BarsLines bars_lines(const BarsParams *p, const BarsProfile *profile, int direction,
                             const int32_t beside[2])
{
    const int rows = direction == BARS_ROWS;
    const int count = rows ? p->height : p->width, across = rows ? p->width : p->height;
    BarsLines lines;
    lines.lit = profile->lit[direction];
    lines.count = count;
    lines.samples = bars_samples(p, direction, beside[0], across - beside[1]);
    lines.stride = bars_one_in(count, BARS_LINES);
    lines.end = (int)((int64_t)count * BARS_LARGEST / 100);
    lines.looked = (lines.end + lines.stride - 1) / lines.stride;
    lines.smallest = bars_larger(4, (count + 99) / 100);
    lines.rings = bars_larger(3, count / 360);
    return lines;
}

/* Percentage of lit samples in line number i from the edge. */
BARS_FN int bars_percent(const BarsLines *lines, int far, int i)
{
    return lines->lit[far ? lines->count - 1 - i : i] * 100 / lines->samples;
}

/* Marks the lines of one side. All threads call it. */
#ifdef BARS_OWN_MARK
BARS_FN void bars_mark(const BarsLines *lines, int far, BarsMarks *marks);
#else
BARS_FN void bars_mark(const BarsLines *lines, int far, BarsMarks *marks)
{
    *marks = (BarsMarks){{0}, {0}, {0}, {0}};
    for (int k = 0; k < lines->looked; k++) {
        const int percent = bars_percent(lines, far, k * lines->stride);
        const uint32_t bit = 1u << k % 32;
        marks->picture[k / 32] |= percent >= BARS_PICTURE ? bit : 0;
        marks->text[k / 32] |= percent > BARS_TEXT ? bit : 0;
        marks->quiet[k / 32] |= percent <= BARS_BUSY ? bit : 0;
        marks->clean[k / 32] |= percent <= BARS_CLEAN ? bit : 0;
    }
}
#endif

/* The bits of word number `word` in [from, to). */
BARS_FN uint32_t bars_bits(const uint32_t *marks, int word, int from, int to)
{
    const int first = from - 32 * word, end = to - 32 * word;
    if (first >= 32 || end <= 0 || first >= end)
        return 0;
    return marks[word] & (first > 0 ? ~0u << first : ~0u) & (end < 32 ? (1u << end) - 1 : ~0u);
}

/* The first marked line in [from, to); `to` if no line is marked. */
BARS_FN int bars_first(const uint32_t *marks, int from, int to)
{
    for (int word = from / 32; 32 * word < to; word++) {
        const uint32_t bits = bars_bits(marks, word, from, to);
        if (bits)
            return 32 * word + BARS_LOWEST(bits);
    }
    return to;
}

BARS_FN int bars_count(const uint32_t *marks, int from, int to)
{
    int count = 0;
    for (int word = from / 32; 32 * word < to; word++)
        count += BARS_POPULATION(bars_bits(marks, word, from, to));
    return count;
}

/* Finds the exact edge: line i is picture, the previous checked line is not. */
BARS_FN int bars_exact_edge(const BarsLines *lines, int far, int i)
{
    const int before = bars_larger(i - lines->stride, -1);
    while (i - 1 > before && bars_percent(lines, far, i - 1) >= BARS_PICTURE)
        i--;
    return i;
}

/* The lowest percentage of lit samples in the lines just before the edge; as many lines as scaling
 * cannot blur entirely. */
BARS_FN int bars_darkest_before(const BarsLines *lines, int far, int edge)
{
    int darkest = 100;
    for (int i = edge - 1 - lines->rings; i < edge; i++) {
        const int percent = bars_percent(lines, far, i);
        darkest = percent < darkest ? percent : darkest;
    }
    return darkest;
}

/* The number of checked lines before line i. */
BARS_FN int bars_looked_before(const BarsLines *lines, int i)
{
    const int looked = (i + lines->stride - 1) / lines->stride;
    return looked < lines->looked ? looked : lines->looked;
}

/* The checked line up to which something that begins at `edge` may turn out to be text: bold
 * letters across the whole width light more than half of some rows, but darkness follows soon. Text
 * does not begin at the frame's own edge. */
BARS_FN int bars_doubtful(const BarsLines *lines, int edge)
{
    if (edge < lines->smallest)
        return 0;
    return bars_looked_before(lines, edge + lines->count * BARS_TEXT_HEIGHT / 100 + 1);
}

BARS_FN BarsSide bars_find_edge(const BarsLines *lines, int far, int held, const BarsMarks *marks)
{
    BarsSide side = {-1, 0, 0, 0, 0};
    int at = 0, outside = 0, clean = 0, first_text = lines->end; /* for the lines before the edge */
    while (side.edge < 0 && at < lines->looked) {
        const int picture = bars_first(marks->picture, at, lines->looked);
        const int text = bars_first(marks->text, at, picture);
        if (text < picture && first_text == lines->end)
            first_text = text * lines->stride;
        outside += picture - at;
        clean += bars_count(marks->clean, at, picture);
        at = picture;
        if (picture == lines->looked)
            break;
        side.edge = bars_exact_edge(lines, far, picture * lines->stride);
        const int doubtful = bars_doubtful(lines, side.edge);
        const int dark = bars_first(marks->quiet, picture + 1, doubtful);
        if (dark < doubtful) {
            first_text = side.edge < first_text ? side.edge : first_text;
            side.edge = -1;
            at = dark;
        }
    }
    const int inside = bars_looked_before(lines, held);
    const int behind = side.edge >= 0 && at < inside ? inside - at : 0;
    const int lit = behind ? bars_count(marks->picture, at, inside) : 0;
    side.opened = side.edge >= 0 && side.edge < held && 2 * lit >= behind;
    side.crowded = 2 * (inside - bars_count(marks->quiet, 0, inside)) > inside;
    if (side.edge >= lines->smallest) {
        const int percent = bars_darkest_before(lines, far, side.edge);
        side.abrupt = percent <= BARS_TEXT;
        side.clear =
            percent <= BARS_CLEAN && first_text >= side.edge - lines->rings && 2 * clean >= outside;
    }
    return side;
}

BARS_FN int bars_apart(int a, int b)
{
    return a > b ? a - b : b - a;
}

BARS_FN int bars_about_equal(const BarsLines *lines, const int32_t bars[2])
{
    return bars_apart(bars[0], bars[1]) <= bars_larger(4, lines->count / 50);
}

/* Removes or narrows a confirmed bar at once if it contains picture, and also the opposite bar if
 * both were equal: in dark scenes, only one side or neither may show its picture clearly. */
BARS_FN void bars_release(BarsPair *pair, const BarsLines *lines, const BarsSide sides[2])
{
    const int were_equal = bars_about_equal(lines, pair->held);
    if (pair->held[0] && pair->held[1] && sides[0].crowded && sides[1].crowded)
        pair->held[0] = pair->held[1] = 0;
    for (int i = 0; i < 2; i++) {
        if (!sides[i].opened || sides[i].edge >= pair->held[i])
            continue;
        const int edge = sides[i].edge < lines->smallest ? 0 : sides[i].edge;
        const int32_t now[2] = {edge, pair->held[!i]};
        pair->held[i] = edge;
        if (were_equal && edge < now[1] && !bars_about_equal(lines, now))
            pair->held[!i] = edge;
    }
}

/* Finds the bars that the frame shows. Returns the nanoseconds for which it must show them before
 * they are confirmed; -1: no new bars. */
BARS_FN int64_t bars_new(const BarsPair *pair, const BarsLines *lines, const BarsSide sides[2],
                         int32_t bars[2])
{
    for (int i = 0; i < 2; i++)
        bars[i] = bars_larger(sides[i].edge < lines->smallest ? 0 : sides[i].edge, pair->held[i]);
    if (sides[0].edge < 0 || sides[1].edge < 0 ||
        (bars[0] <= pair->held[0] + BARS_SAME && bars[1] <= pair->held[1] + BARS_SAME))
        return -1;
    if (sides[0].abrupt && sides[1].abrupt && (sides[0].clear || sides[1].clear) &&
        bars_about_equal(lines, bars))
        return pair->known ? BARS_HOLD_PAIR : 0;
    for (int i = 0; i < 2; i++)
        if (bars[i] > pair->held[i] + BARS_SAME && !sides[i].clear)
            return -1;
    return BARS_HOLD_LONE;
}

BARS_FN void bars_follow(BarsPair *pair, const BarsLines *lines, const BarsSide sides[2],
                         int64_t step)
{
    int32_t bars[2];
    bars_release(pair, lines, sides);
    if (sides[0].edge < 0 || sides[1].edge < 0)
        return;
    const int64_t hold = bars_new(pair, lines, sides, bars);
    const int same = pair->found[0] + pair->found[1] > 0 &&
                     bars_apart(bars[0], pair->found[0]) <= BARS_SAME &&
                     bars_apart(bars[1], pair->found[1]) <= BARS_SAME;
    pair->since = !same ? 0 : step < BARS_HOLD_LONE ? pair->since + step : BARS_HOLD_LONE;
    for (int i = 0; i < 2; i++)
        if (!same)
            pair->found[i] = bars[i];
    for (int i = 0; i < 2 && hold >= 0 && pair->since >= hold; i++)
        pair->held[i] = bars[i];
    if (hold < 0 || pair->since >= hold)
        pair->found[0] = pair->found[1] = 0;
    pair->known = 1;
}

/* Finds the edges of one direction. All threads call it. Most frames have picture at both edges and
 * no confirmed bars, which needs no search. */
BARS_FN void bars_find_edges(const BarsLines *lines, const BarsPair *pair, BarsMarks marks[2],
                             BarsSide sides[2])
{
    if (!pair->held[0] && !pair->held[1] && bars_percent(lines, 0, 0) >= BARS_PICTURE &&
        bars_percent(lines, 1, 0) >= BARS_PICTURE) {
        const BarsSide none = {0, 0, 0, 0, 0};
        BARS_EACH_SIDE(far)
        sides[far] = none;
        BARS_WAIT();
        return;
    }
    for (int far = 0; far < 2; far++)
        bars_mark(lines, far, &marks[far]);
    BARS_WAIT();
    BARS_EACH_SIDE(far)
    sides[far] = bars_find_edge(lines, far, pair->held[far], &marks[far]);
    BARS_WAIT();
}

/* The bars that limit the search in the other direction: those that this frame shows, else the
 * confirmed ones. */
BARS_FN void bars_shown(const BarsPair *pair, const BarsLines *lines, const BarsSide sides[2],
                        int32_t bars[2])
{
    BarsPair now = *pair;
    now.known = 0;
    bars_follow(&now, lines, sides, 0);
    bars[0] = now.held[0];
    bars[1] = now.held[1];
}

/* Converts the bars of one direction to a rectangle's side, aligned outwards. */
BARS_FN void bars_outward(const int32_t bars[2], int size, int *start, int *length)
{
    const int end = (size - bars[1] + BARS_ALIGNMENT - 1) / BARS_ALIGNMENT * BARS_ALIGNMENT;
    *start = bars[0] / BARS_ALIGNMENT * BARS_ALIGNMENT;
    *length = (end < size ? end : size) - *start;
}

/* The history for a frame; a change of size, depth or range resets it. */
BARS_FN BarsState bars_before(const BarsParams *p, const BarsState *before)
{
    BarsState state = *before;
    if (state.width == p->width && state.height == p->height && state.depth == p->depth &&
        state.range == p->range)
        return state;
    for (int i = 0; i < BARS_DIRECTIONS; i++) {
        BarsPair *pair = &state.pair[i];
        pair->known = pair->held[0] = pair->held[1] = pair->found[0] = pair->found[1] = 0;
        pair->since = 0;
    }
    state.width = p->width;
    state.height = p->height;
    state.depth = p->depth;
    state.range = p->range;
    return state;
}

BARS_FN int bars_picture_at_edges(const BarsParams *p, const BarsProfile *profile, int direction)
{
    const int rows = direction == BARS_ROWS;
    const int last = (rows ? p->height : p->width) - 1, across = rows ? p->width : p->height;
    const int least = BARS_PICTURE * bars_samples(p, direction, 0, across);
    const uint8_t *lit = profile->lit[direction];
    return lit[0] * 100 >= least && lit[last] * 100 >= least;
}

BARS_FN int bars_edges(const BarsParams *p, const BarsProfile *profile)
{
    return bars_picture_at_edges(p, profile, BARS_COLUMNS) &&
           bars_picture_at_edges(p, profile, BARS_ROWS);
}

/* True if a history has confirmed or candidate bars. */
BARS_FN int bars_any(const BarsState *state)
{
    int32_t any = 0;
    for (int i = 0; i < BARS_DIRECTIONS; i++) {
        const BarsPair *pair = &state->pair[i];
        any |= pair->held[0] | pair->held[1] | pair->found[0] | pair->found[1];
    }
    return any != 0;
}

/* Completes a frame's state from its active picture. */
BARS_FN BarsState bars_complete(const BarsParams *p, const BarsState *before, BarsState state)
{
    const uint32_t active = (uint32_t)state.active.width * (uint32_t)state.active.height;
    const uint32_t was = (uint32_t)before->active.width * (uint32_t)before->active.height;
    state.area = (uint32_t)p->width * (uint32_t)p->height - active;
    state.grew = active < was;
    return state;
}

/* The next state of most frames: bars_edges() holds, and bars_any() does not for the history. The
 * result of bars_update() in that case. */
BARS_FN BarsState bars_none(const BarsParams *p, const BarsState *before)
{
    BarsState state = bars_before(p, before);
    state.active.x = state.active.y = 0;
    state.active.width = p->width;
    state.active.height = p->height;
    for (int i = 0; i < BARS_DIRECTIONS; i++) {
        state.pair[i].known = 1;
        state.pair[i].since = 0;
    }
    return bars_complete(p, before, state);
}

BARS_FN void bars_find(const BarsParams *p, BarsState *state, const BarsProfile *profile,
                       BarsWork *w)
{
    BarsPair *columns = &state->pair[BARS_COLUMNS], *rows = &state->pair[BARS_ROWS];
    int32_t beside[2], above[2];
    BarsLines high = bars_lines(p, profile, BARS_ROWS, columns->held);
    bars_find_edges(&high, rows, w->marks, w->sides[BARS_ROWS]);
    bars_shown(rows, &high, w->sides[BARS_ROWS], above);
    const BarsLines wide = bars_lines(p, profile, BARS_COLUMNS, above);
    bars_find_edges(&wide, columns, w->marks, w->sides[BARS_COLUMNS]);
    bars_shown(columns, &wide, w->sides[BARS_COLUMNS], beside);
    /* With bars at the sides, the picture may light less than half of a whole row: check the rows
     * again. */
    if (beside[0] != columns->held[0] || beside[1] != columns->held[1]) {
        high = bars_lines(p, profile, BARS_ROWS, beside);
        bars_find_edges(&high, rows, w->marks, w->sides[BARS_ROWS]);
    }
    bars_follow(columns, &wide, w->sides[BARS_COLUMNS], p->step);
    bars_follow(rows, &high, w->sides[BARS_ROWS], p->step);
    bars_outward(columns->held, p->width, &state->active.x, &state->active.width);
    bars_outward(rows->held, p->height, &state->active.y, &state->active.height);
}

/* The next state, from the history and the frame's profile. All threads call it, and each gets the
 * result. */
BARS_FN BarsState bars_update(const BarsParams *p, const BarsState *before,
                              const BarsProfile *profile, BarsWork *w)
{
    BarsState state = p->ignore ? *before : bars_before(p, before);
    if (!p->ignore && !bars_any(&state) && bars_edges(p, profile))
        return bars_none(p, before);
    state.active.x = state.active.y = 0;
    state.active.width = p->width;
    state.active.height = p->height;
    if (!p->ignore)
        bars_find(p, &state, profile, w);
    return bars_complete(p, before, state);
}

#endif
