/*
 * Mode CLAHE: how a picture is divided into tiles, the curve of a tile, and the output of a code
 * anywhere between tiles. The arithmetic of all backends, in the common subset of C and CUDA (see
 * curve_types.h).
 *
 * A tile's curve comes from its histogram of 256 cells, each the equivalent of an 8-bit code, by
 * the arithmetic of curve.h. A pixel interpolates the curves of the four tiles around it: along y
 * at the curve's nodes, then between nodes by the code's position in its cell, then along x.
 * Weights have 8 bits and results 8 fraction bits, so that 32 bits suffice.
 */
#ifndef LUMEQ_TILES_H
#define LUMEQ_TILES_H

#include "equalizer/curve.h"

#define TILE_CELLS CURVE_CELLS
#define TILES_MAX (LUMEQ_MAX_TILES * LUMEQ_MAX_TILES)

/* One node per cell and one past the last, padded so that each tile's nodes are aligned to 16
 * bytes. */
#define TILE_NODES (TILE_CELLS + 4)

/*
 * Division of the columns, or of the rows. A piece is the space between the middles of neighbouring
 * tiles, or between a tile's middle and the edge: all its samples have the same tiles on both
 * sides. There is one more piece than tiles.
 */
typedef struct TileAxis {
    int32_t size;   /* of the picture, in samples */
    int32_t padded; /* of all tiles; larger than `size` only in the reference */
    int32_t tiles;
    uint32_t step; /* half a sample in units of tiles, 32 fraction bits, rounded up */
    float inverse; /* reference: 1 / samples of a tile; otherwise 0 */
    int32_t piece[LUMEQ_MAX_TILES + 2]; /* the first sample of each, then `size` */
} TileAxis;

typedef struct TileGrid {
    TileAxis x, y;
    CurveParams curve; /* the frame's, with 256 bins */
    int32_t haze;      /* tile_haze() makes the curves */
    uint32_t limit;    /* reference: clip limit of a cell */
} TileGrid;

/* Result of a frame's tiles, and history of the next frame. Zero is an empty history. */
typedef struct TileResult {
    uint32_t tiles_x, tiles_y;
    uint32_t depth, white;          /* of the history, as in CurveResult */
    uint32_t hist_out[TILE_CELLS];  /* output histogram: each tile's cells after its own curve */
    uint32_t curve_sum[TILE_CELLS]; /* sum of all tiles' curves, with 8 fraction bits */
    /* Smoothed curve of each tile before strength, tiles row by row, in Q16 codes. Undefined
     * without a history and past the last tile. */
    uint32_t smooth[TILES_MAX][TILE_CELLS];
} TileResult;

/* The active picture: its origin, and the tiles that lie in it by at least half. Only their curves
 * are used. */
typedef struct TileInside {
    int32_t x, y, first_x, last_x, first_y, last_y;
    int32_t unused[2]; /* padding: aligns the nodes */
} TileInside;

/* Lookup tables: output codes with 8 fraction bits. */
typedef struct __attribute__((aligned(16))) TileTables {
    TileInside inside;
    uint32_t nodes[TILES_MAX][TILE_NODES];
} TileTables;

/*
 * Divides a frame into tiles: at most as many as columns and rows, except in the reference, which
 * pads the picture instead. Uses depth, shift, black, white, clip, reference, dither and frame of
 * `curve`; `clip` is LumeqParams.clip, for the reference.
 */
void lumeq_tile_grid(TileGrid *grid, int width, int height, int tiles_x, int tiles_y,
                     const CurveParams *curve, double clip);

typedef struct ClaheWork {
    TileTables tables;
    uint32_t hist[TILES_MAX][TILE_CELLS]; /* of the picture without padding */
} ClaheWork;

/* Computes a tile's curve from its counts in work->hist and those of its padding (NULL: no
 * padding): its table and its part of the history. Leaves the counts without bars in work->hist.
 * `frame` is the result of the whole picture. Threads may work on different tiles. */
void lumeq_tile_find(const TileGrid *grid, int tile, const uint32_t *padding,
                     const CurveResult *frame, const TileResult *before, TileResult *result,
                     ClaheWork *work);

/* After all tiles: computes the rest of the result, and which tiles are used. */
void lumeq_tile_sum(const TileGrid *grid, const BarsState *bars, TileResult *result,
                    ClaheWork *work);

CURVE_INLINE int tile_count(const TileGrid *grid)
{
    return grid->x.tiles * grid->y.tiles;
}

/* The number of bytes of a TileResult to copy. `grid` is that of its frame. */
CURVE_INLINE size_t tile_result_size(const TileGrid *grid)
{
    const int kept = grid->curve.reference ? 0 : tile_count(grid);
    return offsetof(TileResult, smooth) + (size_t)kept * TILE_CELLS * sizeof(uint32_t);
}

/* True if a result can be the history of such tiles. */
CURVE_INLINE int tile_has_history(const TileGrid *grid, const TileResult *before)
{
    return before->depth == (uint32_t)grid->curve.depth &&
           before->white == (uint32_t)grid->curve.white &&
           before->tiles_x == (uint32_t)grid->x.tiles && before->tiles_y == (uint32_t)grid->y.tiles;
}

/* The first sample of a tile; samples from `size` on are mirrored. */
CURVE_INLINE int tile_start(const TileAxis *axis, int tile)
{
    return (int)((int64_t)axis->padded * tile / axis->tiles);
}

/* The sample at a place that may lie past the last one: mirrored as often as necessary, without
 * repeating the edges. */
CURVE_INLINE int tile_mirror(const TileAxis *axis, int at)
{
    if (at < axis->size)
        return at;
    if (axis->size == 1)
        return 0;
    const int period = 2 * axis->size - 2, in = at % period;
    return in < axis->size ? in : period - in;
}

/* The piece of a sample, and below it its phase: the position between the middles of its two tiles,
 * 32 fraction bits. */
CURVE_INLINE int tile_piece(const TileAxis *axis, int at)
{
    if (axis->inverse > 0)
        return (int)floorf((float)at * axis->inverse - 0.5f) + 1;
    return (int)(((uint64_t)(2 * (uint32_t)at + 1) * axis->step + (1u << 31)) >> 32);
}

CURVE_INLINE uint32_t tile_phase(const TileAxis *axis, int at)
{
    return (2 * (uint32_t)at + 1) * axis->step + (1u << 31);
}

/* The phase in the reference, 0..1. */
CURVE_INLINE float tile_part(const TileAxis *axis, int at, int piece)
{
    return (float)at * axis->inverse - 0.5f - (float)(piece - 1);
}

/* The weight of the second tile, from a phase. */
CURVE_INLINE uint32_t tile_weight(uint32_t phase)
{
    return phase >> 24;
}

/* The tiles on both sides of a piece, clamped to the first and last. */
CURVE_INLINE int tile_before(int piece, int first, int last)
{
    return piece - 1 < first ? first : piece - 1 > last ? last : piece - 1;
}

CURVE_INLINE int tile_after(int piece, int first, int last)
{
    return tile_before(piece + 1, first, last);
}

/* The number of a tile's samples in [from, to). */
CURVE_INLINE int tile_overlap(const TileAxis *axis, int tile, int from, int to)
{
    const int start = tile_start(axis, tile), end = tile_start(axis, tile + 1);
    const int common = (end < to ? end : to) - (start > from ? start : from);
    return common > 0 ? common : 0;
}

/* The first and the last tile that lie in [from, to) by at least half. */
CURVE_INLINE void tile_range(const TileAxis *axis, int from, int to, int32_t *first, int32_t *last)
{
    *first = axis->tiles;
    *last = 0;
    for (int i = 0; i < axis->tiles; i++) {
        const int size = tile_start(axis, i + 1) - tile_start(axis, i);
        if (2 * tile_overlap(axis, i, from, to) >= size) {
            *first = i < *first ? i : *first;
            *last = i;
        }
    }
    if (*first > *last) /* no tile does: use the one in the picture's middle */
        *first = *last = tile_piece(axis, from + (to - from) / 2) < axis->tiles
                             ? tile_piece(axis, from + (to - from) / 2)
                             : axis->tiles - 1;
}

CURVE_INLINE TileInside tile_inside(const TileGrid *grid, const BarsState *bars)
{
    TileInside inside = {0, 0, 0, grid->x.tiles - 1, 0, grid->y.tiles - 1, {0, 0}};
    if (bars->area) {
        const LumeqRect *a = &bars->active;
        inside.x = a->x;
        inside.y = a->y;
        tile_range(&grid->x, a->x, a->x + a->width, &inside.first_x, &inside.last_x);
        tile_range(&grid->y, a->y, a->y + a->height, &inside.first_y, &inside.last_y);
    }
    return inside;
}

/* The number of a tile's samples that lie in bars. */
CURVE_INLINE uint32_t tile_bars(const TileGrid *grid, const BarsState *bars, int tile)
{
    if (!bars->area)
        return 0;
    const int x = tile % grid->x.tiles, y = tile / grid->x.tiles;
    const LumeqRect *a = &bars->active;
    const int width = tile_overlap(&grid->x, x, a->x, a->x + a->width);
    const int height = tile_overlap(&grid->y, y, a->y, a->y + a->height);
    return (uint32_t)tile_overlap(&grid->x, x, 0, grid->x.size) *
               (uint32_t)tile_overlap(&grid->y, y, 0, grid->y.size) -
           (uint32_t)width * (uint32_t)height;
}

/* Interpolates values below 2^24. Differences may be negative and wrap around; the sum is right. */
CURVE_INLINE uint32_t tile_lerp(uint32_t from, uint32_t to, uint32_t weight)
{
    return ((from << 8) + (to - from) * weight + 128) >> 8;
}

/* Interpolates code number `part` of a cell's 2^fraction codes, between its node and the next. */
CURVE_INLINE uint32_t tile_between(uint32_t node, uint32_t next, uint32_t part, int fraction)
{
    return ((node << fraction) + (next - node) * part + ((1u << fraction) >> 1)) >> fraction;
}

/* Rounds a value to an output code; `add` as in curve_between(). */
CURVE_INLINE uint32_t tile_code(uint32_t value, uint32_t add, uint32_t last)
{
    const uint32_t code = (value + add) >> 8;
    return code < last ? code : last;
}

/* Interpolates between the curves of the tiles above and below. */
CURVE_INLINE uint32_t tile_column(const uint32_t *above, const uint32_t *below, uint32_t weight,
                                  uint32_t code, int fraction)
{
    const uint32_t cell = code >> fraction;
    const uint32_t node = tile_lerp(above[cell], below[cell], weight);
    if (fraction == 0)
        return node;
    return tile_between(node, tile_lerp(above[cell + 1], below[cell + 1], weight),
                        code & ((1u << fraction) - 1), fraction);
}

/* The output of a code at a place, with 8 fraction bits, neither rounded nor dithered. Not for the
 * reference. */
CURVE_INLINE uint32_t tile_value(const TileGrid *grid, const TileTables *tables, int x, int y,
                                 uint32_t code)
{
    const int column = tile_piece(&grid->x, x), row = tile_piece(&grid->y, y);
    const uint32_t weight = tile_weight(tile_phase(&grid->y, y));
    const TileInside in = tables->inside;
    const int upper = tile_before(row, in.first_y, in.last_y) * grid->x.tiles;
    const int lower = tile_after(row, in.first_y, in.last_y) * grid->x.tiles;
    const uint32_t(*above)[TILE_NODES] = &tables->nodes[upper];
    const uint32_t(*below)[TILE_NODES] = &tables->nodes[lower];
    const int left = tile_before(column, in.first_x, in.last_x);
    const int right = tile_after(column, in.first_x, in.last_x);
    return tile_lerp(tile_column(above[left], below[left], weight, code, grid->curve.fraction),
                     tile_column(above[right], below[right], weight, code, grid->curve.fraction),
                     tile_weight(tile_phase(&grid->x, x)));
}

/* The gain of chroma over this luma code, at the place of its first sample. */
CURVE_INLINE CurveGain tile_gain(const TileGrid *grid, const TileTables *tables, int x, int y,
                                 uint32_t code)
{
    const uint32_t out = grid->curve.chroma ? tile_value(grid, tables, x, y, code) : code << 8;
    return curve_gain_over(&grid->curve, code << 16, out << 8, curve_gain_rule());
}

/*
 * OpenCV's interpolation of four tiles (upper left, upper right, lower left, lower right) in
 * float32, in this order of additions, rounded half to even.
 *
 * Source: OpenCV 4.x, modules/imgproc/src/clahe.cpp, CLAHE_Interpolation_Body.
 */
CURVE_INLINE uint32_t tile_reference_code(const uint32_t codes[4], float part_x, float part_y)
{
    const float rest_x = 1.0f - part_x, rest_y = 1.0f - part_y;
    const float upper = (float)(int)codes[0] * rest_x + (float)(int)codes[1] * part_x;
    const float lower = (float)(int)codes[2] * rest_x + (float)(int)codes[3] * part_x;
    const float value = rintf(upper * rest_y + lower * part_y);
    return value >= 255.0f ? 255 : (uint32_t)(int)value;
}

/* An entry of TileTables, truncated, so that rounding it gives the same code as rounding the curve.
 */
CURVE_INLINE uint32_t tile_node(uint32_t curve)
{
    return curve >> 8;
}

/* Sentinel past the last code, clamped to 24 bits. */
CURVE_INLINE uint32_t tile_last_node(int depth)
{
    return depth == 16 ? (1u << 24) - 1 : 256u << depth;
}

/* The output cell of a cell's first code. */
CURVE_INLINE uint32_t tile_cell_out(uint32_t node, int fraction)
{
    const uint32_t cell = (node + 128) >> (8 + fraction);
    return cell < TILE_CELLS ? cell : TILE_CELLS - 1;
}

/*
 * Mode HAZE. Haze adds the same light to all of a tile, the veil, which is about the level of the
 * tile's darkest samples, and leaves a share t of the contrast. The curve is a line that subtracts
 * the veil and keeps the bright end of the whole picture, the light of the haze itself, in its
 * place. The line darkens the tile, so a lift returns some of the mean. A tile that contains black
 * has no veil, and its curve is the identity.
 *
 * The line is steep. With a smoothed curve alone, changes of the source's light would be amplified,
 * by two under water. The frame's own curve counteracts this, as it subtracts more from a lighter
 * frame, so a frame uses a blend of both.
 */
#define HAZE_DARKEST 50                      /* one sample in 50 is darker than the veil */
#define HAZE_BRIGHT (CURVE_ONE * 995 / 1000) /* share of the picture below the haze's own light */
#define HAZE_TAKEN LIFT_PERCENT(88)          /* share of the veil to subtract; 1 looks harsh */
#define HAZE_STEEPEST (16 * CURVE_ONE)       /* maximum slope if there is no clip limit */
#define HAZE_KEPT (CURVE_ONE / 4)            /* share of the lost mean to return */
#define HAZE_DARK LIFT_PERCENT(28)           /* tiles up to this mean do not get darker */
#define HAZE_MOST_LIFT (6 * CURVE_ONE)
#define HAZE_OWN LIFT_PERCENT(65) /* weight of the own curve against the smoothed one */

/* A tile's line. `range` and `light` in 256ths of cells above black, the others Q16. */
typedef struct TileHaze {
    uint32_t range;
    uint32_t light;
    uint32_t left; /* t */
    uint32_t lift; /* a of (1 + a) x / (1 + a x) */
} TileHaze;

/* The place, in 256ths of cells, of a value in a cell that spans `from` to `to`. */
CURVE_FN uint32_t tile_cell_place(int cell, uint32_t value, uint32_t from, uint32_t to)
{
    const uint32_t part = to > from ? curve_quotient((uint64_t)(value - from) << 8, to - from) : 0;
    return ((uint32_t)cell << 8) + part;
}

CURVE_FN uint32_t tile_above(uint32_t place, uint32_t black)
{
    return place > black ? place - black : 0;
}

/* The share of the frame at or below a cell, Q16. */
CURVE_FN uint32_t tile_frame_cdf(const CurveResult *frame, int cell)
{
    const int width = (int)frame->bins / TILE_CELLS;
    return cell < 0 ? 0 : frame->bin[(cell + 1) * width - 1].cdf;
}

CURVE_FN uint32_t tile_without_veil(const TileHaze *h, uint32_t at)
{
    const uint32_t apart = at < h->light ? h->light - at : at - h->light;
    const uint32_t far = curve_divide((uint64_t)apart << 16, h->left);
    if (at < h->light)
        return far < h->light ? h->light - far : 0;
    return far < h->range - h->light ? h->light + far : h->range;
}

CURVE_FN uint32_t tile_lifted(const TileHaze *h, uint32_t at)
{
    const uint32_t share = curve_quotient((uint64_t)at << 16, h->range);
    const uint32_t divisor = CURVE_ONE + (uint32_t)((uint64_t)h->lift * share >> 16);
    const uint32_t lifted = curve_divide((uint64_t)at * (CURVE_ONE + h->lift), divisor);
    return lifted < h->range ? lifted : h->range;
}

/* Finds the line from the counts in w->hist and their sums in w->cum. */
CURVE_FN TileHaze tile_find_haze(const CurveParams *p, const CurveResult *frame, uint32_t counted,
                                 CurveWork *w)
{
    const uint32_t black = (uint32_t)curve_black(p) << 8, veiled = counted / HAZE_DARKEST;
    const uint32_t clip = p->clip && p->clip < HAZE_STEEPEST ? p->clip : HAZE_STEEPEST;
    const uint32_t least = curve_divide((uint64_t)CURVE_ONE << 16, clip);
    TileHaze h = {(uint32_t)(p->white - p->black) << 8 >> p->fraction, 0, CURVE_ONE, 0};
    uint32_t sums[2] = {0, 0};
    CURVE_EACH (i, TILE_CELLS) {
        sums[0] += w->cum[i] <= veiled;
        sums[1] += tile_frame_cdf(frame, i) < HAZE_BRIGHT;
    }
    curve_sum2(sums, w->sums[0]);
    const int dark = (int)sums[0], bright = sums[1] < TILE_CELLS ? (int)sums[1] : TILE_CELLS - 1;
    const uint32_t light = tile_cell_place(bright, HAZE_BRIGHT, tile_frame_cdf(frame, bright - 1),
                                           tile_frame_cdf(frame, bright));
    uint32_t veil = tile_above(
        tile_cell_place(dark, veiled, w->cum[dark] - w->hist[dark], w->cum[dark]), black);
    h.light = tile_above(light, black);
    h.light = h.light < h.range ? h.light : h.range;
    veil = veil < h.light ? veil : h.light;
    if (h.light)
        h.left = CURVE_ONE - curve_divide((uint64_t)veil * HAZE_TAKEN, h.light);
    h.left = h.left > least ? h.left : least;
    return h;
}

/* Finds the lift that returns some of the tile's mean. */
CURVE_FN uint32_t tile_find_lift(const CurveParams *p, const TileHaze *h, uint32_t counted,
                                 CurveWork *w)
{
    const uint32_t black = (uint32_t)curve_black(p) << 8;
    uint32_t sums[2] = {0, 0}; /* sums of shares times places */
    CURVE_EACH (i, TILE_CELLS) {
        const uint32_t at = tile_above((uint32_t)i << 8, black);
        const uint64_t share = curve_quotient((uint64_t)w->hist[i] << 16, counted);
        sums[0] += (uint32_t)(share * at >> 8);
        sums[1] += (uint32_t)(share * tile_without_veil(h, at < h->range ? at : h->range) >> 8);
    }
    curve_sum2(sums, w->sums[1]);
    const uint32_t before = curve_quotient((uint64_t)sums[0] << 8, h->range);
    const uint32_t after = curve_quotient((uint64_t)sums[1] << 8, h->range);
    const uint32_t some = before > after ? curve_lerp(after, before, HAZE_KEPT) : after;
    const uint32_t wanted = lift_most(some, lift_least(before, HAZE_DARK));
    /* At least 1/256 of the range, so that the quotient fits 32 bits. */
    const uint32_t lift = lift_reach(lift_most(after, CURVE_ONE / 256), wanted);
    return lift_least(lift, HAZE_MOST_LIFT);
}

/* Replaces curve_target() in mode HAZE. The history keeps the smoothed curve. */
CURVE_FN void tile_haze(const TileGrid *grid, const CurveResult *frame, uint32_t counted,
                        uint32_t flat, uint32_t alpha, const CurveBin *was, CurveBin *now,
                        CurveWork *w)
{
    const CurveParams *p = &grid->curve;
    const uint32_t black = (uint32_t)curve_black(p) << 8;
    TileHaze h = {1, 1, CURVE_ONE, 0};
    if (!flat) {
        h = tile_find_haze(p, frame, counted, w);
        h.lift = tile_find_lift(p, &h, counted, w);
    }
    CURVE_EACH (i, TILE_CELLS) {
        uint32_t target = CURVE_OWN(now, i).curve;
        if (!flat) {
            const uint32_t at = tile_above((uint32_t)i << 8, black);
            const uint32_t to = tile_lifted(&h, tile_without_veil(&h, at < h.range ? at : h.range));
            target = light_is_on(&p->light)
                         ? light_code(p, to, h.range)
                         : ((uint32_t)p->black << 16) + (to << (8 + p->fraction));
        }
        const CurveBin own = curve_towards(p, i, target, CURVE_ONE, frame->strength,
                                           CURVE_OWN(was, i), CURVE_OWN(now, i));
        CurveBin calm = curve_towards(p, i, target, alpha, frame->strength, CURVE_OWN(was, i),
                                      CURVE_OWN(now, i));
        calm.curve = curve_lerp(calm.curve, own.curve, HAZE_OWN);
        CURVE_OWN(now, i) = calm;
    }
}

/* Computes a tile's curve from its counts in `now`. The weight of the target and the strength are
 * those of the whole frame. */
CURVE_FN void tile_video(const TileGrid *grid, int tile, const CurveResult *frame, int has_history,
                         const CurveBin *was, CurveBin *now, CurveWork *w)
{
    const CurveParams *p = &grid->curve;
    uint32_t flat;
    curve_light(p, now);
    curve_exclude(p, tile_bars(grid, &frame->bars, tile), now, w);
    const uint32_t counted = curve_count(p, now, w, &flat);
    const uint32_t alpha = has_history ? frame->alpha : CURVE_ONE;
    flat |= frame->blank;
    if (grid->haze) {
        tile_haze(grid, frame, counted, flat || !counted, alpha, was, now, w);
        return;
    }
    if (!flat)
        curve_shape(p, counted, UINT32_MAX / curve_range(p) + 1, w);
    curve_target(p, counted, flat, alpha, frame->strength, was, now, w);
}

/*
 * OpenCV's curve of a tile: spreads the excess over the limit once, the remainder as one count each
 * to evenly spaced cells; then scales the cumulative sum by a float32 factor, rounded half to even.
 *
 * Source: OpenCV 4.x, modules/imgproc/src/clahe.cpp, CLAHE_CalcLut_Body.
 */
CURVE_FN void tile_reference(const TileGrid *grid, CurveBin *now, CurveWork *w)
{
    const uint32_t limit = grid->limit;
    uint32_t over = 0;
    CURVE_EACH (i, TILE_CELLS) {
        const uint32_t count = CURVE_OWN(now, i).hist;
        over += count > limit ? count - limit : 0;
    }
    const uint32_t excess = curve_sum(over, w->sums[0]);
    const uint32_t rest = excess % TILE_CELLS;
    const uint32_t step = rest ? TILE_CELLS / rest : 1;
    CURVE_EACH (i, TILE_CELLS) {
        const uint32_t count = CURVE_OWN(now, i).hist, number = (uint32_t)i / step;
        w->cum[i] = (count < limit ? count : limit) + excess / TILE_CELLS +
                    (number * step == (uint32_t)i && number < rest);
    }
    curve_scan(w->cum, TILE_CELLS, w->scan);

    const int width = grid->x.padded / grid->x.tiles, height = grid->y.padded / grid->y.tiles;
    const float scale = 255.0f / (float)((uint32_t)width * (uint32_t)height);
    CURVE_EACH (i, TILE_CELLS) {
        const float value = rintf((float)w->cum[i] * scale);
        CURVE_OWN(now, i).curve = value >= 255.0f ? 255u << 16 : (uint32_t)value << 16;
    }
}

/* Computes one tile's curve from its counts in `now`, and removes the counts of bars from them. */
CURVE_FN void tile_curve(const TileGrid *grid, int tile, const CurveResult *frame, int has_history,
                         const CurveBin *was, CurveBin *now, CurveWork *w)
{
    if (grid->curve.reference)
        tile_reference(grid, now, w);
    else
        tile_video(grid, tile, frame, has_history, was, now, w);
}

#endif
