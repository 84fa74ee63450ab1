/*
 * Measures the noise of a picture in still areas of its darker half: blocks of luma are compared
 * with the same blocks of the previous frame. One definition for C and CUDA, in integers.
 *
 * The profile counts blocks by brightness and, if they are still, by the difference of their
 * samples from the previous frame. noise_of() turns these counts into noise. Only some rows of
 * blocks are used: a few hundred blocks suffice.
 */
#ifndef LUMEQ_NOISE_H
#define LUMEQ_NOISE_H

#include <stdint.h>

#ifndef NOISE_FN
#ifdef __CUDACC__
#define NOISE_FN static inline __host__ __device__
#else
#define NOISE_FN static inline
#endif
#endif

#define NOISE_BLOCK 16 /* side length in samples */

/* Minimum number of blocks, if the picture has as many, and of rows of blocks. */
#define NOISE_BLOCKS 400
#define NOISE_ROWS 5

#define NOISE_LEVELS 16 /* of brightness: 0 is black, each other one half an octave */
#define NOISE_BINS 32   /* of differences: 0 is nearly none, each other one a quarter octave */

/* A block above this many half codes of 8 bits over black is not black. */
#define NOISE_ABOVE_BLACK 3

#define NOISE_LEAST 8

/* Unknown noise: no previous frame, an identical one, or too few still blocks. */
#define NOISE_UNKNOWN UINT32_MAX

typedef struct NoiseProfile {
    uint32_t blocks[NOISE_LEVELS]; /* all blocks */
    uint32_t still[NOISE_LEVELS][NOISE_BINS];
    uint32_t repeated; /* blocks identical to the previous frame */
} NoiseProfile;

/* The rows of blocks to use: the middle one of every `step`. */
typedef struct NoiseRows {
    int step, rows, columns; /* columns: whole blocks in a row */
} NoiseRows;

NOISE_FN NoiseRows noise_rows(int width, int height)
{
    const int columns = width / NOISE_BLOCK, all = height / NOISE_BLOCK;
    NoiseRows r = {1, all, columns};
    while (2 * r.step * NOISE_ROWS <= all && (int64_t)all * columns / (2 * r.step) >= NOISE_BLOCKS)
        r.step *= 2;
    r.rows = (all + r.step - 1 - r.step / 2) / r.step;
    return r;
}

NOISE_FN int noise_line(const NoiseRows *r, int row)
{
    return (r->step / 2 + row * r->step) * NOISE_BLOCK;
}

/* Sums over a block: its codes, those of the previous frame, and their absolute differences. */
typedef struct NoiseSums {
    uint32_t now, before, apart;
} NoiseSums;

/* The logarithm of number / parts in 1/parts octaves; parts is 2 or 4, number at least parts. */
NOISE_FN uint32_t noise_octaves(uint32_t number, uint32_t parts)
{
    uint32_t octaves = 0;
    for (; number >= 2 * parts; number >>= 1)
        octaves++;
    return octaves * parts + number - parts;
}

/* `black` is a code of 8 bits. */
NOISE_FN uint32_t noise_level(const NoiseSums *sums, int depth, int black)
{
    const uint32_t half_codes = sums->now >> (depth - 1), least = 2 * (uint32_t)black;
    if (half_codes < least + NOISE_ABOVE_BLACK)
        return 0;
    const uint32_t level = noise_octaves(half_codes - least, 2);
    return level < NOISE_LEVELS ? level : NOISE_LEVELS - 1;
}

NOISE_FN uint32_t noise_bin(const NoiseSums *sums, int depth)
{
    const uint32_t apart = sums->apart >> (depth - 8); /* codes of 8 bits, 8 fraction bits */
    if (apart < 16)
        return 0;
    const uint32_t bin = noise_octaves(apart >> 2, 4) + 1;
    return bin < NOISE_BINS ? bin : NOISE_BINS - 1;
}

/* The lower limit of a bin, in codes of 8 bits with 8 fraction bits. */
NOISE_FN uint32_t noise_bin_start(uint32_t bin)
{
    return bin ? (4 + (bin - 1) % 4) << (2 + (bin - 1) / 4) : 0;
}

/* True if the mean changes by at most 0.35 times the samples' mean difference plus 0.15 codes. */
NOISE_FN int noise_is_still(const NoiseSums *s, int depth)
{
    const uint32_t shift = s->now > s->before ? s->now - s->before : s->before - s->now;
    return 20 * shift <= 7 * s->apart + (768u << (depth - 8));
}

/* The levels of the darker half of the blocks, without black ones unless nearly all are black. */
typedef struct NoiseDark {
    int from, to;
} NoiseDark;

NOISE_FN NoiseDark noise_dark(const uint32_t *blocks)
{
    NoiseDark dark = {1, 1};
    uint32_t all = 0, sum = 0;
    for (int i = 1; i < NOISE_LEVELS; i++)
        all += blocks[i];
    if (all < blocks[0] / 15) {
        all += blocks[0];
        dark.from = 0;
    }
    for (int i = dark.from; i < NOISE_LEVELS && 2 * sum < all; i++) {
        sum += blocks[i];
        dark.to = i;
    }
    return dark;
}

/* The standard deviation, in codes of 8 bits with 8 fraction bits, if the first quarter of `all`
 * blocks ends in this bin: `before` are in lower bins, `here` in it. Gaussian noise in both frames
 * differs by 1.128 deviations on average; the quartile of blocks is 3 % below their mean. A half
 * instead of a quarter would mistake more motion and texture for noise. */
NOISE_FN uint32_t noise_quartile(uint32_t bin, uint32_t all, uint32_t before, uint32_t here)
{
    const uint32_t start = noise_bin_start(bin), width = noise_bin_start(bin + 1) - start;
    const uint32_t into = (uint32_t)(((uint64_t)(all - 4 * before) * width) / (4 * here));
    return (start + into) * 234 >> 8;
}

/* The noise of a profile, or NOISE_UNKNOWN. For one thread. */
NOISE_FN uint32_t noise_of(const NoiseProfile *p)
{
    const NoiseDark dark = noise_dark(p->blocks);
    uint32_t sums[NOISE_BINS] = {0}, all = 0, blocks = 0, before = 0;
    for (int level = 0; level < NOISE_LEVELS; level++)
        blocks += p->blocks[level];
    for (int level = dark.from; level <= dark.to; level++)
        for (int bin = 0; bin < NOISE_BINS; bin++)
            sums[bin] += p->still[level][bin];
    for (int bin = 0; bin < NOISE_BINS; bin++)
        all += sums[bin];
    if (all < NOISE_LEAST || p->repeated == blocks)
        return NOISE_UNKNOWN;
    uint32_t bin = 0;
    for (; 4 * (before + sums[bin]) < all; bin++)
        before += sums[bin];
    return noise_quartile(bin, all, before, sums[bin]);
}

#endif
