/* The noise of a frame, from the counts of its blocks (noise.h). */
#include "equalizer/noise.h"

#define NOISE_LEAST 8 /* minimum number of still blocks to measure noise */

/* The levels of the darker half of the blocks, without black ones unless nearly all are black. */
typedef struct NoiseDark {
    int from, to;
} NoiseDark;

static NoiseDark noise_dark(const uint32_t *blocks)
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

/* The noise's standard deviation, in codes of 8 bits with 8 fraction bits. The lowest quarter of
 * `all` blocks ends in `bin`, which has `here` blocks; lower bins have `before` blocks. Two frames
 * with Gaussian noise differ by 1.128 deviations on average, and the lower quartile of the blocks
 * is 3 % below their mean. The median would include more motion and texture. */
static uint32_t noise_quartile(uint32_t bin, uint32_t all, uint32_t before, uint32_t here)
{
    const uint32_t start = noise_bin_start(bin), width = noise_bin_start(bin + 1) - start;
    const uint32_t into = (uint32_t)(((uint64_t)(all - 4 * before) * width) / (4 * here));
    return (start + into) * 234 >> 8;
}

uint32_t noise_of(const NoiseProfile *p)
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
