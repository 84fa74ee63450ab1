/*
 * Measures the noise of a picture in still areas of its darker half: compares blocks of luma with
 * the same blocks of the previous frame. Integer arithmetic for C and CUDA.
 *
 * The profile counts all blocks by brightness. It counts still blocks also by their difference from
 * the previous frame. noise_of() turns these counts into noise. A few hundred blocks suffice, so
 * only some rows of blocks are used.
 */
#ifndef LUMEQ_NOISE_H
#define LUMEQ_NOISE_H

#include <stdint.h>

#include "equalizer/samples.h"

#define NOISE_BLOCK 16 /* side length in samples */

/* Minimum numbers of blocks and of rows of blocks to use, if the picture has as many. */
#define NOISE_BLOCKS 400
#define NOISE_ROWS 5

#define NOISE_LEVELS 16 /* of brightness: one for black, then one per half octave */
#define NOISE_BINS 32   /* of differences: one for nearly none, then one per quarter octave */

/* A block counts as black if its mean is less than this above black, in halves of an 8-bit code. */
#define NOISE_ABOVE_BLACK 3

/* Unknown noise: no previous frame, an identical previous frame, or too few still blocks. */
#define NOISE_UNKNOWN UINT32_MAX

typedef struct NoiseProfile {
    uint32_t blocks[NOISE_LEVELS];            /* all blocks, by level */
    uint32_t still[NOISE_LEVELS][NOISE_BINS]; /* still blocks, by level and difference */
    uint32_t repeated;                        /* blocks identical to the previous frame */
} NoiseProfile;

/* The rows of blocks to use: the middle row of each group of `step` rows. */
typedef struct NoiseRows {
    int step, rows, columns; /* rows: number of rows to use; columns: whole blocks in a row */
} NoiseRows;

CURVE_INLINE NoiseRows noise_rows(int width, int height)
{
    const int columns = width / NOISE_BLOCK, all = height / NOISE_BLOCK;
    NoiseRows r = {1, all, columns};
    while (2 * r.step * NOISE_ROWS <= all && (int64_t)all * columns / (2 * r.step) >= NOISE_BLOCKS)
        r.step *= 2;
    r.rows = (all + r.step - 1 - r.step / 2) / r.step;
    return r;
}

CURVE_INLINE int noise_line(const NoiseRows *r, int row)
{
    return (r->step / 2 + row * r->step) * NOISE_BLOCK;
}

/* Sums over a block: its codes, the previous frame's codes, and their absolute differences. */
typedef struct NoiseSums {
    uint32_t now, before, apart;
} NoiseSums;

/* About parts * log2(number / parts). `parts` is 2 or 4, and `number` at least `parts`. */
CURVE_INLINE uint32_t noise_octaves(uint32_t number, uint32_t parts)
{
    uint32_t octaves = 0;
    for (; number >= 2 * parts; number >>= 1)
        octaves++;
    return octaves * parts + number - parts;
}

/* The level of a block. `black`: an 8-bit code. */
CURVE_INLINE uint32_t noise_level(const NoiseSums *sums, int depth, int black)
{
    const uint32_t half_codes = sums->now >> (depth - 1), least = 2 * (uint32_t)black;
    if (half_codes < least + NOISE_ABOVE_BLACK)
        return 0;
    const uint32_t level = noise_octaves(half_codes - least, 2);
    return level < NOISE_LEVELS ? level : NOISE_LEVELS - 1;
}

CURVE_INLINE uint32_t noise_bin(const NoiseSums *sums, int depth)
{
    const uint32_t apart = sums->apart >> (depth - 8); /* codes of 8 bits, 8 fraction bits */
    if (apart < 16)
        return 0;
    const uint32_t bin = noise_octaves(apart >> 2, 4) + 1;
    return bin < NOISE_BINS ? bin : NOISE_BINS - 1;
}

/* The lower limit of a bin, in codes of 8 bits with 8 fraction bits. */
CURVE_INLINE uint32_t noise_bin_start(uint32_t bin)
{
    return bin ? (4 + (bin - 1) % 4) << (2 + (bin - 1) / 4) : 0;
}

/* True if the block's mean changes by at most 0.15 codes + 0.35 * its samples' mean difference. */
CURVE_INLINE int noise_is_still(const NoiseSums *s, int depth)
{
    const uint32_t shift = s->now > s->before ? s->now - s->before : s->before - s->now;
    return 20 * shift <= 7 * s->apart + (768u << (depth - 8));
}

/* The noise of a profile, in codes of 8 bits with 8 fraction bits, or NOISE_UNKNOWN. */
uint32_t noise_of(const NoiseProfile *profile);

#endif
