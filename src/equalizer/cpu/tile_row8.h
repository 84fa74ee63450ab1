/*
 * A row of 8-bit samples in mode CLAHE. The including file defines TileColumn, a column of tiles'
 * output for each code in the row, and:
 *
 * - weigh_column(): like tile_row_weigh(), for one column;
 *
 * - tile_samples(): writes the samples between two columns. `added` starts with the row's first
 * sample and covers two periods of the dither.
 */
#ifndef LUMEQ_TILE_ROW8_H
#define LUMEQ_TILE_ROW8_H

#include "equalizer/cpu/kernels.h"
#include "equalizer/cpu/tile_rows.h"

#define TILE_TURN 8 /* period of the dither in samples */

/* Defines the kernel `name`. */
#define DEFINE_TILE_ROW8(name)                                                                     \
    void name(const TileGrid *grid, const TileTables *tables, void *dst, const void *src,          \
              int left, int right, int y)                                                          \
    {                                                                                              \
        const TileInside *in = &tables->inside;                                                    \
        const int row = tile_piece(&grid->y, y), tiles = grid->x.tiles;                            \
        const int upper = tile_before(row, in->first_y, in->last_y) * tiles;                       \
        const int lower = tile_after(row, in->first_y, in->last_y) * tiles;                        \
        TileColumn columns[LUMEQ_MAX_TILES];                                                       \
        uint32_t added[2 * TILE_TURN];                                                             \
        tile_added(added, 2 * TILE_TURN, &grid->curve, y - in->y);                                 \
        for (int x = in->first_x; x <= in->last_x; x++)                                            \
            weigh_column(&columns[x], tables->nodes[upper + x], tables->nodes[lower + x],          \
                         tile_weight(tile_phase(&grid->y, y)));                                    \
        for (int i = 0; i <= tiles; i++) {                                                         \
            const TilePiece piece = tile_piece_at(grid, i, left, right);                           \
            if (piece.start < piece.end)                                                           \
                tile_samples(dst, src, &piece, &columns[tile_before(i, in->first_x, in->last_x)],  \
                             &columns[tile_after(i, in->first_x, in->last_x)],                     \
                             added + ((piece.start - in->x) & (TILE_TURN - 1)));                   \
        }                                                                                          \
    }

#endif
