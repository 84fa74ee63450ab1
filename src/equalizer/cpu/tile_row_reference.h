/* OpenCV's CLAHE for a row of 8-bit samples, in loops that the compiler vectorizes for the
 * instruction set of the including file. */
#ifndef LUMEQ_TILE_ROW_REFERENCE_H
#define LUMEQ_TILE_ROW_REFERENCE_H

#include "equalizer/tiles.h"

/* Packs four tiles' output codes for each input code into a word, for a single load. */
static inline void tile_join(uint32_t joined[restrict TILE_CELLS], const uint32_t *above_left,
                             const uint32_t *above_right, const uint32_t *below_left,
                             const uint32_t *below_right)
{
    for (int i = 0; i < TILE_CELLS; i++)
        joined[i] = above_left[i] >> 8 | above_right[i] >> 8 << 8 | below_left[i] >> 8 << 16 |
                    below_right[i] >> 8 << 24;
}

/* A LumeqTileRowKernel. */
static void tile_row_reference(const TileGrid *grid, const TileTables *tables, void *dst,
                               const void *src, int left, int right, int y)
{
    const uint8_t *restrict in = src;
    uint8_t *restrict out = dst;
    const int row = tile_piece(&grid->y, y), tiles = grid->x.tiles, last_y = grid->y.tiles - 1;
    const uint32_t(*above)[TILE_NODES] = &tables->nodes[tile_before(row, 0, last_y) * tiles];
    const uint32_t(*below)[TILE_NODES] = &tables->nodes[tile_after(row, 0, last_y) * tiles];
    const float part_y = tile_part(&grid->y, y, row);
    for (int i = 0; i <= tiles; i++) {
        const int start = grid->x.piece[i] > left ? grid->x.piece[i] : left;
        const int end = grid->x.piece[i + 1] < right ? grid->x.piece[i + 1] : right;
        const int before = tile_before(i, 0, tiles - 1), after = tile_after(i, 0, tiles - 1);
        uint32_t joined[TILE_CELLS];
        if (start < end)
            tile_join(joined, above[before], above[after], below[before], below[after]);
        for (int x = start; x < end; x++) {
            const uint32_t found = joined[in[x]];
            const uint32_t codes[4] = {found & 255, found >> 8 & 255, found >> 16 & 255,
                                       found >> 24};
            out[x] = (uint8_t)tile_reference_code(codes, tile_part(&grid->x, x, i), part_y);
        }
    }
}

#endif
