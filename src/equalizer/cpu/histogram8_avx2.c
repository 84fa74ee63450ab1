/* The histogram of 8-bit samples for AVX2. */
#include <immintrin.h>

#include "equalizer/cpu/byte_range.h"
#include "equalizer/cpu/kernels.h"
#include "equalizer/cpu/pairs8.h"

/*
 * A picture is counted in blocks. In most of a real picture a block has few codes next to each
 * other: it is compared with each of them, 32 samples at a time, and what is equal adds up in
 * registers. Counters in memory take a store a sample, whatever the samples are: those are for
 * blocks of more codes.
 */
#define BLOCK_WIDTH 64
#define BLOCK_VECTORS (BLOCK_WIDTH / 32)
#define BLOCK_ROWS 16   /* at most; samples that a lane counts in 8 bits: BLOCK_VECTORS each */
#define MOST_CODES 56   /* that comparing is faster for */
#define CODES_AT_ONCE 6 /* as many as there are registers for */
#define ONE_OF_BLOCKS 8 /* is looked at before the others of its rows, */
#define ONE_OF_ROWS 4   /* and so many of its own */

/* Of each code, in four lanes. */
typedef struct CodeCounts {
    __m256i of[256];
} CodeCounts;

static inline __m256i block_vector(const Block *block, int y, int v)
{
    return _mm256_loadu_si256((const void *)(block->samples + y * block->stride + 32 * v));
}

/* ---- range -------------------------------------------------------------------------------- */

typedef struct CodeRange {
    int first, codes;
} CodeRange;

/* Asks for the block behind this one, too. */
static inline CodeRange code_range(const Block *block)
{
    ByteRange range = empty_range();
    for (int y = 0; y < block->rows; y++) {
        __builtin_prefetch((const void *)((uintptr_t)block->samples +
                                          (uintptr_t)(y * block->stride + 2 * BLOCK_WIDTH)));
        for (int v = 0; v < BLOCK_VECTORS; v++)
            add_to_range(&range, block_vector(block, y, v));
    }
    const int first = range_first(&range);
    return (CodeRange){first, range_last(&range) - first + 1};
}

/* ---- counting ----------------------------------------------------------------------------- */

/* The codes from `first` on; how many is a constant. */
static inline __attribute__((always_inline)) void
count_codes(CodeCounts *counts, const Block *block, int first, int codes)
{
    __m256i code[CODES_AT_ONCE], count[CODES_AT_ONCE];
#pragma GCC unroll 6
    for (int i = 0; i < codes; i++) {
        code[i] = _mm256_set1_epi8((char)(first + i));
        count[i] = _mm256_setzero_si256();
    }
#pragma GCC unroll 1
    for (int v = 0; v < BLOCK_VECTORS; v++)
#pragma GCC unroll 1
        for (int y = 0; y < block->rows; y++) {
            const __m256i samples = block_vector(block, y, v);
#pragma GCC unroll 6
            for (int i = 0; i < codes; i++) /* what is equal is -1 */
                count[i] = _mm256_sub_epi8(count[i], _mm256_cmpeq_epi8(samples, code[i]));
        }
#pragma GCC unroll 6
    for (int i = 0; i < codes; i++)
        counts->of[first + i] = _mm256_add_epi64(counts->of[first + i],
                                                 _mm256_sad_epu8(count[i], _mm256_setzero_si256()));
}

static inline void count_few_codes(CodeCounts *counts, const Block *block, CodeRange range)
{
    int first = range.first, left = range.codes;
    for (; left >= CODES_AT_ONCE; first += CODES_AT_ONCE, left -= CODES_AT_ONCE)
        count_codes(counts, block, first, CODES_AT_ONCE);
    switch (left) {
    case 1: count_codes(counts, block, first, 1); break;
    case 2: count_codes(counts, block, first, 2); break;
    case 3: count_codes(counts, block, first, 3); break;
    case 4: count_codes(counts, block, first, 4); break;
    case 5: count_codes(counts, block, first, 5); break;
    default: break;
    }
}

static void add_codes(uint32_t *hist, const CodeCounts *counts)
{
    for (int i = 0; i < 256; i++) {
        uint64_t lane[4];
        _mm256_storeu_si256((void *)lane, counts->of[i]);
        hist[i] += (uint32_t)(lane[0] + lane[1] + lane[2] + lane[3]);
    }
}

/* ---- picture ------------------------------------------------------------------------------ */

/* By some blocks of the rows. Those of many codes are counted faster along the whole rows. */
static inline int has_many_codes(const Block *strip)
{
    int blocks = 0, wide = 0;
    for (int x = 0; x < strip->width; x += ONE_OF_BLOCKS * BLOCK_WIDTH) {
        const Block block = {strip->samples + x, ONE_OF_ROWS * strip->stride, BLOCK_WIDTH,
                             (strip->rows + ONE_OF_ROWS - 1) / ONE_OF_ROWS};
        blocks++;
        wide += code_range(&block).codes > MOST_CODES;
    }
    return 8 * wide > 7 * blocks;
}

/* Of a strip, so many rows at a time as a few have pairs. */
static inline void count_many_codes(PairCounters *pairs, Counters *counters, const Block *strip)
{
    const int rows = 1 + LEAST_TOGETHER / strip->width;
    for (int y = 0; y < strip->rows; y += rows) {
        const int left = strip->rows - y;
        const Block some = {strip->samples + y * strip->stride, strip->stride, strip->width,
                            left < rows ? left : rows};
        count_in_pairs_or_each(pairs, counters, &some);
    }
}

static inline void count_block(CodeCounts *counts, PairCounters *pairs, Counters *counters,
                               const Block *block)
{
    const CodeRange range = code_range(block);
    if (range.codes == 1)
        counters->codes[0][range.first] += (uint32_t)(BLOCK_WIDTH * block->rows);
    else if (range.codes <= MOST_CODES)
        count_few_codes(counts, block, range);
    else
        count_in_pairs_or_each(pairs, counters, block);
}

/* Its width is that of blocks. */
static void count_strip(CodeCounts *counts, PairCounters *pairs, Counters *counters,
                        const Block *strip)
{
    if (has_many_codes(strip)) {
        count_many_codes(pairs, counters, strip);
        return;
    }
    for (int x = 0; x < strip->width; x += BLOCK_WIDTH) {
        const Block block = {strip->samples + x, strip->stride, BLOCK_WIDTH, strip->rows};
        count_block(counts, pairs, counters, &block);
    }
}

void lumeq_histogram8_avx2(uint32_t *hist, const void *src, ptrdiff_t stride, int width, int height,
                           const CurveParams *params)
{
    (void)params;
    const int strips = (height + BLOCK_ROWS - 1) / BLOCK_ROWS, rest = width % BLOCK_WIDTH;
    CodeCounts counts;
    Counters counters;
    PairCounters pairs;
    memset(&counts, 0, sizeof(counts));
    start_counting(&counters, 0);
    start_pairs(&pairs, (int64_t)width * height);
    for (int i = 0; i < strips; i++) { /* as high as each other */
        const int y = (int)((int64_t)height * i / strips);
        const int end = (int)((int64_t)height * (i + 1) / strips);
        const Block strip = {(const uint8_t *)src + y * stride, stride, width - rest, end - y};
        const Block right = {strip.samples + width - rest, stride, rest, end - y};
        if (strip.width)
            count_strip(&counts, &pairs, &counters, &strip);
        count_rows(&counters, &right);
    }
    finish_pairs(&pairs, &counters);
    add_codes(hist, &counts);
    add_counters(hist, &counters);
}
