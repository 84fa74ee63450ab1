/*
 * A line is a row or a column; on each side lines are looked at from the edge inwards until one is
 * picture. What decides is the share of a line's samples that are not black: text and logos in a
 * bar light less than half of it, a picture more. Bars come in pairs of about one size, and the
 * picture begins abruptly; what fades in from black or is dark on one side only is picture.
 */
#include "equalizer/bars.h"

#include <stdlib.h>
#include <string.h>

#define BLACK_MARGIN 8 /* codes of 8 bits: what compression and grain leave in bars */

/* Percent of a line's samples that are lit. */
#define PICTURE 50 /* from here on it is picture */
#define TEXT 25    /* up to here it is of a bar, perhaps one with text */
#define BUSY 15    /* more than most of a bar's lines have, even with text or a logo in it */
#define CLEAN 5    /* up to here it is of a bar without */

#define LARGEST 45 /* percent of the side that a bar may take */

#define TEXT_HEIGHT 8 /* percent of the side: the largest line of text */

/* Samples looked at in a line and lines in a side, about: enough to tell the shares apart (their
 * standard error is 4 percent), and the largest picture costs no more than others. */
#define SAMPLES 128
#define LINES 256

#define SAME 2 /* lines by which an edge wobbles */
/* Nanoseconds until new bars are believed. One on one side only is more often a dark part of the
 * picture. */
#define HOLD_PAIR 500000000
#define HOLD_LONE 5000000000
#define ALIGNMENT 4 /* every chroma sample lies over at most as many columns and rows */

/* One direction of a picture: all rows or all columns, and the part of each that is looked at. */
typedef struct Lines {
    const uint8_t *first;  /* first sample of line 0 */
    ptrdiff_t line, along; /* bytes from one line, one sample to the next */
    int count, samples;
    int deep;     /* samples of 16 bits */
    unsigned lit; /* the lowest sample that is not black */
    int stride;   /* one in so many lines is looked at */
    int smallest; /* size of a bar that counts */
    int rings;    /* lines over which scaling smears an edge */
} Lines;

/* What one side looks like. */
typedef struct Side {
    int edge;    /* the first line that is picture; -1: there is none */
    int abrupt;  /* what lies before it may be a bar */
    int clear;   /* and hardly anything else */
    int opened;  /* the held bar has picture from `edge` on */
    int crowded; /* too much of the held bar is lit for text */
} Side;

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* Which ones are looked at: one in so many. Odd, so that no pattern of even period, interlacing
 * above all, is seen at one phase only. */
static int one_in(int size, int wanted)
{
    return (size / wanted) | 1;
}

/* The columns (direction 0) or rows (1), each from sample `from` to before `to`. */
static Lines get_lines(const LumeqImage *image, int direction, int from, int to)
{
    const ptrdiff_t step[2] = {image->depth > 8 ? 2 : 1, image->stride[0]};
    const int side = direction ? image->height : image->width;
    const int every = one_in(to - from, SAMPLES), start = from + every / 2;
    const unsigned black = image->range == LUMEQ_RANGE_FULL ? 0 : 16;
    const uint8_t *plane = image->plane[0];
    return (Lines){
        .first = plane + start * step[!direction],
        .line = step[direction],
        .along = every * step[!direction],
        .count = side,
        .samples = (to - start + every - 1) / every,
        .deep = image->depth > 8,
        .lit = (((black + BLACK_MARGIN) << (image->depth - 8)) + 1) << image->shift,
        .stride = one_in(side, LINES),
        .smallest = larger(4, (side + 99) / 100),
        .rings = larger(3, side / 360),
    };
}

/* Percent of the lit samples in line number i from the edge. */
static int lit_percent(const Lines *lines, int far, int i)
{
    const uint8_t *first = lines->first + (far ? lines->count - 1 - i : i) * lines->line;
    const ptrdiff_t along = lines->along;
    int lit = 0;
    if (lines->deep)
        for (int k = 0; k < lines->samples; k++)
            lit += (unsigned)(first[k * along] | first[k * along + 1] << 8) >= lines->lit;
    else
        for (int k = 0; k < lines->samples; k++)
            lit += first[k * along] >= lines->lit;
    return lit * 100 / lines->samples;
}

/* Line i is picture, the one looked at before it was not. */
static int exact_edge(const Lines *lines, int far, int i)
{
    const int before = larger(i - lines->stride, -1);
    while (i - 1 > before && lit_percent(lines, far, i - 1) >= PICTURE)
        i--;
    return i;
}

/* Of the lines next to the edge that scaling does not reach all of. */
static int darkest_before(const Lines *lines, int far, int edge)
{
    int darkest = 100;
    for (int i = edge - 1 - lines->rings; i < edge; i++) {
        const int percent = lit_percent(lines, far, i);
        darkest = percent < darkest ? percent : darkest;
    }
    return darkest;
}

/* Bold letters over the whole width light more than half of some rows: what is taken for the edge
 * may be text, if it is dark again soon behind it. Text does not begin at the frame's own edge. */
static int is_doubtful(const Lines *lines, int edge, int i)
{
    return edge >= lines->smallest && i <= edge + lines->count * TEXT_HEIGHT / 100;
}

static Side look_at_side(const Lines *lines, int far, int held)
{
    const int end = (int)((int64_t)lines->count * LARGEST / 100);
    Side side = {.edge = -1};
    int outside = 0, clean = 0, first_text = end; /* of the lines before the edge */
    int behind = 0, lit = 0;                      /* of those between it and the held bar's */
    int inside = 0, used = 0;                     /* of those in the held bar */
    for (int i = 0; i < end && (side.edge < 0 || i < held || is_doubtful(lines, side.edge, i));
         i += lines->stride) {
        const int percent = lit_percent(lines, far, i);
        if (side.edge < 0 && percent >= PICTURE) {
            side.edge = exact_edge(lines, far, i);
        } else if (is_doubtful(lines, side.edge, i) && percent <= BUSY) {
            first_text = side.edge < first_text ? side.edge : first_text;
            side.edge = -1;
            behind = lit = 0;
        }
        if (side.edge < 0) {
            outside++;
            clean += percent <= CLEAN;
            if (percent > TEXT && first_text == end)
                first_text = i;
        }
        if (i < held) {
            inside++;
            used += percent > BUSY;
            behind += side.edge >= 0;
            lit += side.edge >= 0 && percent >= PICTURE;
        }
    }
    side.opened = side.edge >= 0 && side.edge < held && 2 * lit >= behind;
    side.crowded = 2 * used > inside;
    if (side.edge >= lines->smallest) {
        const int percent = darkest_before(lines, far, side.edge);
        side.abrupt = percent <= TEXT;
        side.clear =
            percent <= CLEAN && first_text >= side.edge - lines->rings && 2 * clean >= outside;
    }
    return side;
}

static int about_equal(const Lines *lines, const int *bars)
{
    return abs(bars[0] - bars[1]) <= larger(4, lines->count / 50);
}

/* Picture in a held bar ends it at once. So it does the other one: both go together, also where a
 * dark scene shows it on one side only, or on neither as clearly as that. */
static void let_go(LumeqBarsPair *pair, const Lines *lines, const Side *sides)
{
    const int were_equal = about_equal(lines, pair->held);
    if (pair->held[0] && pair->held[1] && sides[0].crowded && sides[1].crowded)
        pair->held[0] = pair->held[1] = 0;
    for (int i = 0; i < 2; i++) {
        if (!sides[i].opened || sides[i].edge >= pair->held[i])
            continue;
        const int edge = sides[i].edge < lines->smallest ? 0 : sides[i].edge;
        const int now[2] = {edge, pair->held[!i]};
        pair->held[i] = edge;
        if (were_equal && edge < now[1] && !about_equal(lines, now))
            pair->held[!i] = edge;
    }
}

/* The bars that the frame shows. Answers for how many nanoseconds it has to show them until they
 * are believed; -1: there are none, or none but those that are held. */
static int64_t new_bars(const LumeqBarsPair *pair, const Lines *lines, const Side *sides, int *bars)
{
    for (int i = 0; i < 2; i++)
        bars[i] = larger(sides[i].edge < lines->smallest ? 0 : sides[i].edge, pair->held[i]);
    if (sides[0].edge < 0 || sides[1].edge < 0 ||
        (bars[0] <= pair->held[0] + SAME && bars[1] <= pair->held[1] + SAME))
        return -1;
    if (sides[0].abrupt && sides[1].abrupt && (sides[0].clear || sides[1].clear) &&
        about_equal(lines, bars))
        return pair->known ? HOLD_PAIR : 0;
    for (int i = 0; i < 2; i++)
        if (bars[i] > pair->held[i] + SAME && !sides[i].clear)
            return -1;
    return HOLD_LONE;
}

static void follow(LumeqBarsPair *pair, const Lines *lines, const Side *sides, int64_t step)
{
    int bars[2];
    let_go(pair, lines, sides);
    if (sides[0].edge < 0 || sides[1].edge < 0)
        return;
    const int64_t hold = new_bars(pair, lines, sides, bars);
    const int same = pair->found[0] + pair->found[1] > 0 && abs(bars[0] - pair->found[0]) <= SAME &&
                     abs(bars[1] - pair->found[1]) <= SAME;
    pair->since = !same ? 0 : step < HOLD_LONE ? pair->since + step : HOLD_LONE;
    if (!same)
        memcpy(pair->found, bars, sizeof(bars));
    if (hold < 0) {
        pair->found[0] = pair->found[1] = 0;
    } else if (pair->since >= hold) {
        memcpy(pair->held, bars, sizeof(bars));
        pair->found[0] = pair->found[1] = 0;
    }
    pair->known = 1;
}

/* Looks at the rows between the columns `from` and before `to`, or the other way round. */
static void look(LumeqBarsPair *pair, const LumeqImage *in, int direction, const int *bars,
                 Side *sides, Lines *lines)
{
    const int across = direction ? in->width : in->height;
    *lines = get_lines(in, direction, bars[0], across - bars[1]);
    for (int i = 0; i < 2; i++)
        sides[i] = look_at_side(lines, i, pair->held[i]);
}

/* The bars that count for what lies between them: those that the frame shows, else the held. */
static void seen_bars(const LumeqBarsPair *pair, const Lines *lines, const Side *sides, int *bars)
{
    LumeqBarsPair now = *pair;
    now.known = 0;
    follow(&now, lines, sides, 0);
    memcpy(bars, now.held, sizeof(now.held));
}

static void start_anew(LumeqBarsState *state, const LumeqImage *in)
{
    if (state->width == in->width && state->height == in->height && state->depth == in->depth &&
        state->range == in->range)
        return;
    *state = (LumeqBarsState){
        .width = in->width, .height = in->height, .depth = in->depth, .range = in->range};
}

/* From the bars of one direction to a rectangle's side. */
static void outward(const int *bars, int size, int *start, int *length)
{
    const int end = (size - bars[1] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    *start = bars[0] / ALIGNMENT * ALIGNMENT;
    *length = (end < size ? end : size) - *start;
}

LumeqRect lumeq_bars_update(LumeqBarsState *state, const LumeqImage *in, int64_t step)
{
    start_anew(state, in);
    LumeqBarsPair *columns = &state->pair[0], *rows = &state->pair[1];
    Side sides[2][2];
    Lines lines[2];
    int beside[2], above[2];
    look(rows, in, 1, columns->held, sides[1], &lines[1]);
    seen_bars(rows, &lines[1], sides[1], above);
    look(columns, in, 0, above, sides[0], &lines[0]);
    seen_bars(columns, &lines[0], sides[0], beside);
    /* A picture that is narrow in its frame lights less than half of a whole row. */
    if (memcmp(beside, columns->held, sizeof(beside)) != 0)
        look(rows, in, 1, beside, sides[1], &lines[1]);
    for (int i = 0; i < 2; i++)
        follow(&state->pair[i], &lines[i], sides[i], step);

    LumeqRect active;
    outward(columns->held, in->width, &active.x, &active.width);
    outward(rows->held, in->height, &active.y, &active.height);
    return active;
}
