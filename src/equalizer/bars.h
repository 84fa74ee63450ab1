/*
 * Black bars at the edges of a video's pictures, letterbox, pillarbox or both: where a picture
 * lies in its frame. The arithmetic of every backend, in the common subset of C and CUDA.
 *
 * A line is a row or a column; on each side lines are looked at from the edge inwards until one is
 * picture. What decides is the share of a line's samples that are not black: text and logos in a
 * bar light less than half of it, a picture more. Bars come in pairs of about one size, and the
 * picture begins abruptly; what fades in from black or is dark on one side only is picture.
 *
 * A frame is looked at once, by a profile: of each line how many of its samples are lit, of some of
 * them. What lies in bars of the other direction counts as unlit, as bars are.
 */
#ifndef LUMEQ_BARS_H
#define LUMEQ_BARS_H

#include <stdint.h>

#include "lumeq/lumeq.h"

/* The profile of a row is of all its samples, or of so many blocks at even distances. */
#define BARS_BLOCK 16
#define BARS_BLOCKS 15
#define BARS_ROW_SAMPLES (BARS_BLOCK * BARS_BLOCKS)

/* That of a column is of one row in so many: about as many as this, 255 at most. */
#define BARS_COLUMN_SAMPLES 128

#define BARS_BLACK_MARGIN 8 /* codes of 8 bits: what compression and grain leave in bars */

/* Percent of a line's samples that are lit. */
#define BARS_PICTURE 50 /* from here on it is picture */
#define BARS_TEXT 25    /* up to here it is of a bar, perhaps one with text */
#define BARS_BUSY 15    /* more than most of a bar's lines have, even with text or a logo in it */
#define BARS_CLEAN 5    /* up to here it is of a bar without */

#define BARS_LARGEST 45 /* percent of the side that a bar may take */

#define BARS_TEXT_HEIGHT 8 /* percent of the side: the largest line of text */

/* Lines of a side that are looked at, but to find the edge itself: about as many as this. */
#define BARS_LINES 256

#define BARS_SAME 2 /* lines by which an edge wobbles */

/* Nanoseconds until new bars are believed. One on one side only is more often a dark part of the
 * picture. */
#define BARS_HOLD_PAIR 500000000
#define BARS_HOLD_LONE 5000000000

#define BARS_ALIGNMENT 4 /* every chroma sample lies over at most as many columns and rows */

enum { BARS_COLUMNS, BARS_ROWS, BARS_DIRECTIONS };

/* A frame's; each has as many entries as the frame has columns or rows. */
typedef struct BarsProfile {
    uint8_t lit[BARS_DIRECTIONS][LUMEQ_MAX_SIDE + 1];
} BarsProfile;

/* The two sides that face each other: left and right, or top and bottom. */
typedef struct BarsPair {
    int32_t known;    /* a frame has told where the picture begins on both sides */
    int32_t held[2];  /* size of the bars, 0: none */
    int32_t found[2]; /* bars that are not held yet */
    int64_t since;    /* nanoseconds for which they have been found */
} BarsPair;

/* What a frame leaves behind: the history, and what was made of this one. Zero: none yet. */
typedef struct BarsState {
    int32_t width, height, depth, range;
    BarsPair pair[BARS_DIRECTIONS];
    LumeqRect active; /* the picture: edges at multiples of 4, or the frame's own */
    uint32_t area;    /* samples of the bars */
    int32_t grew;     /* with this frame there are more of them */
} BarsState;

/* All that the bars depend on besides the profile and the history. */
typedef struct BarsParams {
    int32_t width, height, depth, shift, range;
    int32_t ignore; /* the active picture is the frame, and the history stays */
    int64_t step;   /* nanoseconds since the frame before */
} BarsParams;

#ifndef BARS_FN
#define BARS_FN static inline

/* What follows is for one thread for each of the two sides, `far`; all others pass by. Before and
 * after it all wait for each other. */
#define BARS_EACH_SIDE(far) for (int far = 0; far < 2; far++)
#define BARS_WAIT()

/* The number of the lowest bit that is set, and how many are. */
#define BARS_LOWEST(bits) __builtin_ctz(bits)
#define BARS_POPULATION(bits) __builtin_popcount(bits)
#endif

/* The lowest sample that is not black. */
BARS_FN uint32_t bars_lit(const BarsParams *p)
{
    const uint32_t black = p->range == LUMEQ_RANGE_FULL ? 0 : 16;
    return (((black + BARS_BLACK_MARGIN) << (p->depth - 8)) + 1) << p->shift;
}

/* ---- what the profile is of ---------------------------------------------------------------- */

BARS_FN int bars_blocks(int width)
{
    return width > BARS_ROW_SAMPLES ? BARS_BLOCKS : (width + BARS_BLOCK - 1) / BARS_BLOCK;
}

/* The first sample of a block, and how many it has. */
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

/* Which lines are looked at: one in so many. Odd, so that no pattern of even period, interlacing
 * above all, is seen at one phase only. */
BARS_FN int bars_one_in(int size, int wanted)
{
    return (size / wanted) | 1;
}

/* The rows that columns are looked at in: one in so many, from this one on. */
BARS_FN int bars_row_step(int height)
{
    return bars_one_in(height, BARS_COLUMN_SAMPLES);
}

BARS_FN int bars_first_row(int height)
{
    return bars_row_step(height) / 2;
}

/* How many of them lie above a row. */
BARS_FN int bars_rows_above(int height, int row)
{
    const int step = bars_row_step(height), first = bars_first_row(height);
    return row <= first ? 0 : (row - first + step - 1) / step;
}

/* Samples that the profile counts of a row's columns, or a column's rows, from `from` to before
 * `to`. */
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

/* ---- one side ------------------------------------------------------------------------------ */

/* The lines of one direction. */
typedef struct BarsLines {
    const uint8_t *lit; /* of the profile */
    int count, samples;
    int stride;   /* one in so many lines is looked at */
    int end;      /* lines that a bar may have */
    int looked;   /* how many of them are looked at */
    int smallest; /* size of a bar that counts */
    int rings;    /* lines over which scaling smears an edge */
} BarsLines;

/* A bit for each line that is looked at, from the edge inwards. */
#define BARS_WORDS 8

typedef struct BarsMarks {
    uint32_t picture[BARS_WORDS]; /* of BARS_PICTURE and more */
    uint32_t text[BARS_WORDS];    /* of more than BARS_TEXT */
    uint32_t quiet[BARS_WORDS];   /* of BARS_BUSY at most */
    uint32_t clean[BARS_WORDS];   /* of BARS_CLEAN at most */
} BarsMarks;

/* What one side looks like. */
typedef struct BarsSide {
    int edge;    /* the first line that is picture; -1: there is none */
    int abrupt;  /* what lies before it may be a bar */
    int clear;   /* and hardly anything else */
    int opened;  /* the held bar has picture from `edge` on */
    int crowded; /* too much of the held bar is lit for text */
} BarsSide;

/* Working memory: on a GPU, what the threads share. */
typedef struct BarsWork {
    BarsMarks marks[2];
    BarsSide sides[BARS_DIRECTIONS][2];
} BarsWork;

BARS_FN int bars_larger(int a, int b)
{
    return a > b ? a : b;
}

/* The columns or rows, of which what lies between `beside` is looked at. */
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

/* Percent of the lit samples in line number i from the edge. */
BARS_FN int bars_percent(const BarsLines *lines, int far, int i)
{
    return lines->lit[far ? lines->count - 1 - i : i] * 100 / lines->samples;
}

/* Marks the lines of one side. For all threads. */
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

/* The bits of word number `word` that lie from `from` to before `to`. */
BARS_FN uint32_t bars_bits(const uint32_t *marks, int word, int from, int to)
{
    const int first = from - 32 * word, end = to - 32 * word;
    if (first >= 32 || end <= 0 || first >= end)
        return 0;
    return marks[word] & (first > 0 ? ~0u << first : ~0u) & (end < 32 ? (1u << end) - 1 : ~0u);
}

/* The first one that is marked; `to` where none is. */
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

/* Line i is picture, the one looked at before it was not. */
BARS_FN int bars_exact_edge(const BarsLines *lines, int far, int i)
{
    const int before = bars_larger(i - lines->stride, -1);
    while (i - 1 > before && bars_percent(lines, far, i - 1) >= BARS_PICTURE)
        i--;
    return i;
}

/* Of the lines next to the edge that scaling does not reach all of. */
BARS_FN int bars_darkest_before(const BarsLines *lines, int far, int edge)
{
    int darkest = 100;
    for (int i = edge - 1 - lines->rings; i < edge; i++) {
        const int percent = bars_percent(lines, far, i);
        darkest = percent < darkest ? percent : darkest;
    }
    return darkest;
}

/* How many of the lines looked at lie before line i. */
BARS_FN int bars_looked_before(const BarsLines *lines, int i)
{
    const int looked = (i + lines->stride - 1) / lines->stride;
    return looked < lines->looked ? looked : lines->looked;
}

/* The lines looked at, up to which number what begins at `edge` may turn out to be text: bold
 * letters over the whole width light more than half of some rows, and soon behind them it is dark
 * again. Text does not begin at the frame's own edge. */
BARS_FN int bars_doubtful(const BarsLines *lines, int edge)
{
    if (edge < lines->smallest)
        return 0;
    return bars_looked_before(lines, edge + lines->count * BARS_TEXT_HEIGHT / 100 + 1);
}

BARS_FN BarsSide bars_look_at_side(const BarsLines *lines, int far, int held,
                                   const BarsMarks *marks)
{
    BarsSide side = {-1, 0, 0, 0, 0};
    int at = 0, outside = 0, clean = 0, first_text = lines->end; /* of the lines before the edge */
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

/* ---- both sides, in time ------------------------------------------------------------------- */

BARS_FN int bars_apart(int a, int b)
{
    return a > b ? a - b : b - a;
}

BARS_FN int bars_about_equal(const BarsLines *lines, const int32_t bars[2])
{
    return bars_apart(bars[0], bars[1]) <= bars_larger(4, lines->count / 50);
}

/* Picture in a held bar ends it at once. So it does the other one: both go together, also where a
 * dark scene shows it on one side only, or on neither as clearly as that. */
BARS_FN void bars_let_go(BarsPair *pair, const BarsLines *lines, const BarsSide sides[2])
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

/* The bars that the frame shows. Answers for how many nanoseconds it has to show them until they
 * are believed; -1: there are none, or none but those that are held. */
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
    bars_let_go(pair, lines, sides);
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

/* Looks at the rows between two columns, or the other way round. For all threads. Where picture is
 * at both edges, and was before, as in most frames, there is nothing more to see. */
BARS_FN void bars_look(const BarsLines *lines, const BarsPair *pair, BarsMarks marks[2],
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
    sides[far] = bars_look_at_side(lines, far, pair->held[far], &marks[far]);
    BARS_WAIT();
}

/* The bars that count for what lies between them: those that the frame shows, else the held. */
BARS_FN void bars_seen(const BarsPair *pair, const BarsLines *lines, const BarsSide sides[2],
                       int32_t bars[2])
{
    BarsPair now = *pair;
    now.known = 0;
    bars_follow(&now, lines, sides, 0);
    bars[0] = now.held[0];
    bars[1] = now.held[1];
}

/* From the bars of one direction to a rectangle's side. */
BARS_FN void bars_outward(const int32_t bars[2], int size, int *start, int *length)
{
    const int end = (size - bars[1] + BARS_ALIGNMENT - 1) / BARS_ALIGNMENT * BARS_ALIGNMENT;
    *start = bars[0] / BARS_ALIGNMENT * BARS_ALIGNMENT;
    *length = (end < size ? end : size) - *start;
}

/* The history before a frame: another size, depth or range than before starts anew. */
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

/* Whether picture is at both edges of a direction. */
BARS_FN int bars_picture_at_edges(const BarsParams *p, const BarsProfile *profile, int direction)
{
    const int rows = direction == BARS_ROWS;
    const int last = (rows ? p->height : p->width) - 1, across = rows ? p->width : p->height;
    const int least = BARS_PICTURE * bars_samples(p, direction, 0, across);
    const uint8_t *lit = profile->lit[direction];
    return lit[0] * 100 >= least && lit[last] * 100 >= least;
}

/* Whether picture is at all four edges. */
BARS_FN int bars_edges(const BarsParams *p, const BarsProfile *profile)
{
    return bars_picture_at_edges(p, profile, BARS_COLUMNS) &&
           bars_picture_at_edges(p, profile, BARS_ROWS);
}

/* Whether a history knows of bars, held or found. */
BARS_FN int bars_any(const BarsState *state)
{
    int32_t any = 0;
    for (int i = 0; i < BARS_DIRECTIONS; i++) {
        const BarsPair *pair = &state->pair[i];
        any |= pair->held[0] | pair->held[1] | pair->found[0] | pair->found[1];
    }
    return any != 0;
}

/* A frame's state with its active picture. */
BARS_FN BarsState bars_settled(const BarsParams *p, const BarsState *before, BarsState state)
{
    const uint32_t active = (uint32_t)state.active.width * (uint32_t)state.active.height;
    const uint32_t was = (uint32_t)before->active.width * (uint32_t)before->active.height;
    state.area = (uint32_t)p->width * (uint32_t)p->height - active;
    state.grew = active < was;
    return state;
}

/* The next frame's state where bars_edges() says so and bars_any() does not of the one before, as
 * with most frames: what bars_update() would say after a while. */
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
    return bars_settled(p, before, state);
}

/* Finds the bars of a frame, and the picture between them. */
BARS_FN void bars_find(const BarsParams *p, BarsState *state, const BarsProfile *profile,
                       BarsWork *w)
{
    BarsPair *columns = &state->pair[BARS_COLUMNS], *rows = &state->pair[BARS_ROWS];
    int32_t beside[2], above[2];
    BarsLines high = bars_lines(p, profile, BARS_ROWS, columns->held);
    bars_look(&high, rows, w->marks, w->sides[BARS_ROWS]);
    bars_seen(rows, &high, w->sides[BARS_ROWS], above);
    const BarsLines wide = bars_lines(p, profile, BARS_COLUMNS, above);
    bars_look(&wide, columns, w->marks, w->sides[BARS_COLUMNS]);
    bars_seen(columns, &wide, w->sides[BARS_COLUMNS], beside);
    /* A picture that is narrow in its frame lights less than half of a whole row. */
    if (beside[0] != columns->held[0] || beside[1] != columns->held[1]) {
        high = bars_lines(p, profile, BARS_ROWS, beside);
        bars_look(&high, rows, w->marks, w->sides[BARS_ROWS]);
    }
    bars_follow(columns, &wide, w->sides[BARS_COLUMNS], p->step);
    bars_follow(rows, &high, w->sides[BARS_ROWS], p->step);
    bars_outward(columns->held, p->width, &state->active.x, &state->active.width);
    bars_outward(rows->held, p->height, &state->active.y, &state->active.height);
}

/* The next frame's state, from that before it and the frame's profile. For all threads; each has
 * the answer. */
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
    return bars_settled(p, before, state);
}

#endif
