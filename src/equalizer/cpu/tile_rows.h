/* Mode CLAHE: counts of tiles, and rows of output. */
#ifndef LUMEQ_TILE_ROWS_H
#define LUMEQ_TILE_ROWS_H

#include "equalizer/cpu/kernels.h"
#include "equalizer/tiles.h"

/* Tables of a row: for each column of tiles, interpolated between the tiles above and below. */
typedef struct TileRow {
    TileInside inside;
    uint32_t nodes[LUMEQ_MAX_TILES][TILE_NODES];
} TileRow;

static inline void tile_row_weigh(TileRow *row, const TileGrid *grid, const TileTables *tables,
                                  int y)
{
    const TileInside *in = &tables->inside;
    const int piece = tile_piece(&grid->y, y), tiles = grid->x.tiles;
    const int upper = tile_before(piece, in->first_y, in->last_y);
    const int lower = tile_after(piece, in->first_y, in->last_y);
    const uint32_t weight = tile_weight(tile_phase(&grid->y, y));
    row->inside = *in;
    for (int x = in->first_x; x <= in->last_x; x++) {
        const uint32_t *above = tables->nodes[upper * tiles + x];
        const uint32_t *below = tables->nodes[lower * tiles + x];
        uint32_t *restrict nodes = row->nodes[x];
        for (int i = 0; i < TILE_CELLS; i++)
            nodes[i] = tile_lerp(above[i], below[i], weight);
        nodes[TILE_CELLS] = tile_lerp(above[TILE_CELLS], below[TILE_CELLS], weight);
    }
}

/* Samples of a row that lie between the same two columns of tiles. */
typedef struct TilePiece {
    const uint32_t *left, *right; /* nodes of these columns */
    int start, end;
    uint32_t phase, step; /* phase of the first sample; increment per sample */
} TilePiece;

/* Piece number `piece`, clipped to [left, right). Does not set the nodes. */
static inline TilePiece tile_piece_at(const TileGrid *grid, int piece, int left, int right)
{
    const int *bounds = &grid->x.piece[piece];
    TilePiece p = {.start = bounds[0] > left ? bounds[0] : left,
                   .end = bounds[1] < right ? bounds[1] : right,
                   .step = 2 * grid->x.step};
    p.phase = tile_phase(&grid->x, p.start);
    return p;
}

static inline TilePiece tile_piece_of(const TileRow *row, const TileGrid *grid, int piece, int left,
                                      int right)
{
    const TileInside *in = &row->inside;
    TilePiece p = tile_piece_at(grid, piece, left, right);
    p.left = row->nodes[tile_before(piece, in->first_x, in->last_x)];
    p.right = row->nodes[tile_after(piece, in->first_x, in->last_x)];
    return p;
}

/* Dither or rounding of a row's samples, from the active picture's first column on. */
static inline void tile_added(uint32_t *added, int count, const CurveParams *p, int y)
{
    for (int i = 0; i < count; i++)
        added[i] = p->dither ? curve_dither((uint32_t)i, (uint32_t)y, p->frame) : CURVE_ROUND;
}

/* Counts tile number `tile` of the frame `src`. `hist` gets the counts inside the frame. `padding`,
 * unless NULL, gets the counts of the padding of OpenCV's CLAHE. */
void lumeq_clahe_count(const TileGrid *grid, int tile, const LumeqKernels *kernels, const void *src,
                       ptrdiff_t stride, uint32_t *hist, uint32_t *padding);

/* Writes columns [left, right) of `height` rows of a frame as wide as the grid. src and dst start
 * at the frame's row `y`, and must not overlap. Threads may work on different rows. */
void lumeq_clahe_apply(const TileGrid *grid, const LumeqKernels *kernels, void *dst,
                       ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride, int left,
                       int right, int height, int y, const TileTables *tables);

#endif
