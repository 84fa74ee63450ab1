/*
 * Mode CLAHE: divides a picture into tiles, and finds the output of a code at any place between
 * tiles. All backends use this arithmetic, in the common subset of C and CUDA.
 *
 * A tile's curve comes from its histogram of 256 cells, each the equivalent of an 8-bit code
 * (rule/tiles.c). A pixel's output is interpolated between the curves of the four tiles around it:
 * first along y, then between the curve's nodes, then along x. Weights have 8 bits and results 8
 * fraction bits, so that 32 bits suffice.
 */
#ifndef LUMEQ_TILES_H
#define LUMEQ_TILES_H

#include <math.h>
#include <stddef.h>

#include "equalizer/curve_types.h"

#define TILE_CELLS CURVE_CELLS
#define TILES_MAX (LUMEQ_MAX_TILES * LUMEQ_MAX_TILES)

/* One node per cell and one past the last, padded so that each tile's nodes are aligned to 16
 * bytes. */
#define TILE_NODES (TILE_CELLS + 4)

/* Division of a picture's columns, or of its rows, into tiles. A piece is the space between the
 * middles of neighbouring tiles, or between a tile's middle and the edge. */
typedef struct TileAxis {
    int32_t size;   /* of the picture, in samples */
    int32_t padded; /* of all tiles; larger than `size` only in the reference */
    int32_t tiles;
    uint32_t step; /* half a sample in units of tiles, 32 fraction bits, rounded up */
    float inverse; /* reference: 1 / (samples of a tile); otherwise 0 */
    int32_t piece[LUMEQ_MAX_TILES + 2]; /* the first sample of each piece, then `size` */
} TileAxis;

typedef struct TileGrid {
    TileAxis x, y;
    CurveParams curve; /* the frame's, with 256 bins */
    uint32_t limit;    /* reference: clip limit of a cell */
} TileGrid;

/* Sums over a frame's tiles. */
typedef struct TileSums {
    uint32_t hist_out[TILE_CELLS];  /* output histogram: each tile's cells after its own curve */
    uint32_t curve_sum[TILE_CELLS]; /* sum of all tiles' curves, with 8 fraction bits */
} TileSums;

/* Result of a frame's tiles, and history of the next frame. Zero is an empty history. */
typedef struct TileResult {
    uint32_t tiles_x, tiles_y;
    uint32_t depth, white; /* of the history, as in CurveResult */
    TileSums sums;
    /* Tiles row by row, as in CurveBin. Undefined without a history, and after the last tile. */
    struct {
        uint32_t target[TILE_CELLS], smooth[TILE_CELLS];
    } tile[TILES_MAX];
} TileResult;

/* The origin of the active picture, and the range of tiles with at least half of their samples in
 * it. Only the curves of these tiles are used. */
typedef struct TileInside {
    int32_t x, y, first_x, last_x, first_y, last_y;
    int32_t unused[2]; /* padding: aligns the nodes */
} TileInside;

/* Lookup tables: output codes with 8 fraction bits. */
typedef struct __attribute__((aligned(16))) TileTables {
    TileInside inside;
    uint32_t nodes[TILES_MAX][TILE_NODES];
} TileTables;

/* Divides a frame into tiles: at most as many as it has columns and rows, except in the reference,
 * which pads the picture instead. `clip`: LumeqParams.clip, used by the reference alone. */
void lumeq_tile_grid(TileGrid *grid, int width, int height, int tiles_x, int tiles_y,
                     const CurveParams *curve, double clip);

/* Computes all tiles' curves from their counts and the counts of their padding (NULL: no padding).
 * Fills in the tables and the result. `frame` is the result of the whole picture. */
void lumeq_tile_curves(const TileGrid *grid, uint32_t (*hist)[TILE_CELLS],
                       uint32_t (*padding)[TILE_CELLS], const CurveResult *frame,
                       const TileResult *before, TileResult *result, TileTables *tables);

/* For tiles whose curves (Q16 codes) the caller has made: lumeq_tile_begin() begins a frame, and
 * lumeq_tile_add() adds a tile's curve to tables and sums. `left`: the tile's counts without bars.
 * Neither changes result->tile, the history. */
void lumeq_tile_begin(const TileGrid *grid, const BarsState *bars, TileResult *result,
                      TileTables *tables);
void lumeq_tile_add(const TileGrid *grid, int tile, const uint32_t *left, const uint32_t *curve,
                    TileResult *result, TileTables *tables);

/* The tiles that are used with these bars. */
TileInside tile_inside(const TileGrid *grid, const BarsState *bars);

/* The number of a tile's samples that lie in bars. */
uint32_t tile_bars(const TileGrid *grid, const BarsState *bars, int tile);

CURVE_INLINE int tile_count(const TileGrid *grid)
{
    return grid->x.tiles * grid->y.tiles;
}

/* The first sample of a tile; samples from `size` on are mirrored. */
CURVE_INLINE int tile_start(const TileAxis *axis, int tile)
{
    return (int)((int64_t)axis->padded * tile / axis->tiles);
}

/* The index of the sample to use for index `at`. Indices past the last sample are mirrored as often
 * as necessary, without repeating the edges. */
CURVE_INLINE int tile_mirror(const TileAxis *axis, int at)
{
    if (at < axis->size)
        return at;
    if (axis->size == 1)
        return 0;
    const int period = 2 * axis->size - 2, in = at % period;
    return in < axis->size ? in : period - in;
}

/* The number of the piece that contains a sample. */
CURVE_INLINE int tile_piece(const TileAxis *axis, int at)
{
    if (axis->inverse > 0)
        return (int)floorf((float)at * axis->inverse - 0.5f) + 1;
    return (int)(((uint64_t)(2 * (uint32_t)at + 1) * axis->step + (1u << 31)) >> 32);
}

/* The phase of a sample: its position between the middles of its two tiles, 32 fraction bits. */
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

/* The tile before a piece, clamped to `first` and `last`. */
CURVE_INLINE int tile_before(int piece, int first, int last)
{
    return piece - 1 < first ? first : piece - 1 > last ? last : piece - 1;
}

/* The tile after a piece, clamped likewise. */
CURVE_INLINE int tile_after(int piece, int first, int last)
{
    return tile_before(piece + 1, first, last);
}

/* Interpolates values below 2^24. Negative differences wrap around; the sum is still right. */
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

/* The gain of a chroma sample with this luma code. x, y: the first luma sample under it. */
CURVE_INLINE CurveGain tile_gain(const TileGrid *grid, const TileTables *tables, int x, int y,
                                 uint32_t code)
{
    const uint32_t out = grid->curve.chroma ? tile_value(grid, tables, x, y, code) : code << 8;
    return curve_gain_over(&grid->curve, code << 16, out << 8,
                           curve_gain_rule(grid->curve.transfer));
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

/* An entry of TileTables: truncated, because rounding twice could change the code. */
CURVE_INLINE uint32_t tile_node(uint32_t curve)
{
    return curve >> 8;
}

/* The node past the last code, at most 24 bits. */
CURVE_INLINE uint32_t tile_last_node(int depth)
{
    return depth == 16 ? (1u << 24) - 1 : 256u << depth;
}

#endif
