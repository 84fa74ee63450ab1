/*
 * Rows above 8 bits in mode CLAHE, in blocks: tables are read sample by sample; everything else is
 * plain loops, which the compiler vectorizes for the instruction set of the including file.
 */
#ifndef LUMEQ_TILE_BLOCKS_H
#define LUMEQ_TILE_BLOCKS_H

#include <string.h>

#include "equalizer/cpu/kernels.h"
#include "equalizer/cpu/tile_rows.h"

#define TILE_BLOCK 32 /* samples; a multiple of the dither's period of 8 */
#define TILE_PERIOD 8

/* In lanes of 32 bits: entries of the tables on both sides. */
typedef struct TileBlock {
    uint32_t left[TILE_BLOCK], right[TILE_BLOCK];
} TileBlock;

static inline void tile_look_up(TileBlock *restrict block, const TilePiece *at, const uint16_t *in,
                                const CurveParams *p)
{
    const uint32_t last = (1u << p->depth) - 1;
    uint32_t part[TILE_BLOCK], left[TILE_BLOCK][2], right[TILE_BLOCK][2];
    for (int i = 0; i < TILE_BLOCK; i++) {
        const uint32_t sample = (uint32_t)in[i] >> p->shift;
        part[i] = sample < last ? sample : last;
    }
    for (int i = 0; i < TILE_BLOCK; i++) { /* a node and the next */
        memcpy(left[i], &at->left[part[i] >> p->fraction], sizeof(left[i]));
        memcpy(right[i], &at->right[part[i] >> p->fraction], sizeof(right[i]));
    }
    for (int i = 0; i < TILE_BLOCK; i++) {
        const uint32_t in_cell = part[i] & ((1u << p->fraction) - 1);
        block->left[i] = tile_between(left[i][0], left[i][1], in_cell, p->fraction);
        block->right[i] = tile_between(right[i][0], right[i][1], in_cell, p->fraction);
    }
}

/* `add` starts with the block's first sample. */
static inline void tile_weigh(uint32_t *restrict codes, const TileBlock *block, const TilePiece *at,
                              const uint32_t *add, uint32_t last)
{
    for (int i = 0; i < TILE_BLOCK; i++) {
        const uint32_t weight = tile_weight(at->phase + (uint32_t)i * at->step);
        codes[i] = tile_code(tile_lerp(block->left[i], block->right[i], weight), add[i], last);
    }
}

static inline void tile_block(uint16_t *out, const uint16_t *in, const TilePiece *at,
                              const uint32_t *add, const CurveParams *p, int count)
{
    TileBlock block;
    uint32_t codes[TILE_BLOCK];
    tile_look_up(&block, at, in, p);
    tile_weigh(codes, &block, at, add, (1u << p->depth) - 1);
    if (count == TILE_BLOCK)
        for (int i = 0; i < TILE_BLOCK; i++)
            out[i] = (uint16_t)(codes[i] << p->shift);
    else
        for (int i = 0; i < count; i++)
            out[i] = (uint16_t)(codes[i] << p->shift);
}

static void tile_row16(const TileGrid *grid, const TileTables *tables, void *dst, const void *src,
                       int left, int right, int y)
{
    const CurveParams *p = &grid->curve;
    uint32_t added[TILE_PERIOD + TILE_BLOCK];
    TileRow row;
    tile_row_weigh(&row, grid, tables, y);
    tile_added(added, TILE_PERIOD + TILE_BLOCK, p, y - row.inside.y);
    for (int piece = 0; piece <= grid->x.tiles; piece++) {
        TilePiece at = tile_piece_of(&row, grid, piece, left, right);
        for (int x = at.start; x < at.end; x += TILE_BLOCK, at.phase += TILE_BLOCK * at.step) {
            const int count = at.end - x < TILE_BLOCK ? at.end - x : TILE_BLOCK;
            const uint16_t *in = (const uint16_t *)src + x;
            uint16_t some[TILE_BLOCK] = {0};
            if (count < TILE_BLOCK)
                in = memcpy(some, in, (size_t)count * sizeof(*in));
            tile_block((uint16_t *)dst + x, in, &at,
                       added + ((x - row.inside.x) & (TILE_PERIOD - 1)), p, count);
        }
    }
}

#endif
