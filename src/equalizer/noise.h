/*
 * The noise of a picture, from what stands still in its darker half: blocks of luma are compared
 * with the same blocks of the frame before. One definition for C and CUDA, in integers.
 *
 * A block counts under its brightness and, where it stands still, under how much its samples are
 * apart from those before. What is measured are these counts; noise_of() is what they say. A part
 * of the rows of blocks is looked at: some hundred blocks tell as much as all of them.
 */
#ifndef LUMEQ_NOISE_H
#define LUMEQ_NOISE_H

#include <stdint.h>

#ifndef NOISE_FN
#define NOISE_FN static inline
#endif

#define NOISE_BLOCK 16 /* samples of a side */

/* Blocks that are looked at, at least, where a picture has as many, and rows of them. */
#define NOISE_BLOCKS 400
#define NOISE_ROWS 5

#define NOISE_LEVELS 16 /* of brightness: 0 is black, each of the others half an octave */
#define NOISE_BINS 32   /* of differences: 0 is next to none, each of the others a quarter octave */

/* Samples are this much brighter than black where they are not (half codes of 8 bits). */
#define NOISE_ABOVE_BLACK 3

/* Fewer blocks that stand still tell nothing. */
#define NOISE_LEAST 8

/* What cannot be told: there is no frame before, or it was the same, or nothing stands still. */
#define NOISE_UNKNOWN UINT32_MAX

typedef struct NoiseProfile {
    uint32_t blocks[NOISE_LEVELS]; /* that were looked at */
    uint32_t still[NOISE_LEVELS][NOISE_BINS];
    uint32_t repeated; /* of the blocks, those with the very samples of before */
} NoiseProfile;

/* Rows of blocks that are looked at: one of `step`, the middle one. */
typedef struct NoiseRows {
    int step, rows, columns; /* columns: whole blocks of a row */
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

/* The first line of one of them. */
NOISE_FN int noise_line(const NoiseRows *r, int row)
{
    return (r->step / 2 + row * r->step) * NOISE_BLOCK;
}

/* Of a block: sums of its codes, of those before, and of how far apart these are. */
typedef struct NoiseSums {
    uint32_t now, before, apart;
} NoiseSums;

/* Parts of octaves, 2 or 4 of each, from `parts` to the number, which is not less. */
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

/* What is counted in a bin begins here, in codes of 8 bits with 8 fraction bits. */
NOISE_FN uint32_t noise_bin_start(uint32_t bin)
{
    return bin ? (4 + (bin - 1) % 4) << (2 + (bin - 1) / 4) : 0;
}

/* Whether the mean moves by no more than 0.35 of what the samples do, and 0.15 codes. */
NOISE_FN int noise_is_still(const NoiseSums *s, int depth)
{
    const uint32_t shift = s->now > s->before ? s->now - s->before : s->before - s->now;
    return 20 * shift <= 7 * s->apart + (768u << (depth - 8));
}

/* Levels up to which the darker half of the blocks lies, those that are not black if there are any
 * to speak of. */
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

/* The standard deviation, in codes of 8 bits with 8 fraction bits, where the first quarter of `all`
 * ends in this bin: `before` lie in those before it, `here` in it. Gaussian noise twice is 1.128
 * times it apart; the quartile of blocks is 3 % below their mean. Half of them would take more of
 * what moves, and has texture, for noise. */
NOISE_FN uint32_t noise_quartile(uint32_t bin, uint32_t all, uint32_t before, uint32_t here)
{
    const uint32_t start = noise_bin_start(bin), width = noise_bin_start(bin + 1) - start;
    const uint32_t into = (uint32_t)(((uint64_t)(all - 4 * before) * width) / (4 * here));
    return (start + into) * 234 >> 8;
}

/* For one thread: the noise that the counts tell of, or NOISE_UNKNOWN. */
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
