#include "equalizer/cpu/noise_cpu.h"

#include "equalizer/cpu/bands.h"

/* Blocks to sum at once. */
#define SOME 64

static void count_block(NoiseProfile *profile, const NoiseSums *sums, int depth, int black)
{
    const uint32_t level = noise_level(sums, depth, black);
    profile->blocks[level]++;
    profile->repeated += sums->apart == 0;
    profile->still[level][noise_bin(sums, depth)] += noise_is_still(sums, depth) != 0;
}

void lumeq_noise_count(NoiseProfile *profile, const LumeqKernels *kernels, const LumeqImage *in,
                       const LumeqImage *previous, const CurveParams *params, int from, int to)
{
    const int depth = in->depth, black = params->black >> (depth - 8), size = depth > 8 ? 2 : 1;
    const NoiseRows rows = noise_rows(in->width, in->height);
    LumeqApartKernel *const apart = depth > 8 ? kernels->apart16 : kernels->apart8;
    for (int row = from; row < to; row++) {
        const int y = noise_line(&rows, row);
        for (int x = 0; x < rows.columns; x += SOME) {
            const int some = rows.columns - x < SOME ? rows.columns - x : SOME;
            const ptrdiff_t left = (ptrdiff_t)x * NOISE_BLOCK * size;
            NoiseSums sums[SOME];
            apart(sums, (const uint8_t *)lumeq_row(in, 0, y) + left, in->stride[0],
                  (const uint8_t *)lumeq_row(previous, 0, y) + left, previous->stride[0], some,
                  params);
            for (int i = 0; i < some; i++)
                count_block(profile, &sums[i], depth, black);
        }
    }
}

void lumeq_noise_add(NoiseProfile *sum, const NoiseProfile *part)
{
    for (int level = 0; level < NOISE_LEVELS; level++) {
        sum->blocks[level] += part->blocks[level];
        for (int bin = 0; bin < NOISE_BINS; bin++)
            sum->still[level][bin] += part->still[level][bin];
    }
    sum->repeated += part->repeated;
}
