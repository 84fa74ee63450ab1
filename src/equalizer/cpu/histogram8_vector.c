/* The histogram of 8-bit samples in vectors. */
#include "equalizer/cpu/counters8.h"
#include "equalizer/cpu/kernels.h"
#include "equalizer/cpu/vector.h"

/*
 * A picture is counted in blocks. The codes of most blocks lie in a small range. 32 samples at a
 * time are compared with each code of the range, and the matches add up in registers. Blocks with a
 * larger range use counters in memory, which need a store per sample or pair.
 */
#define BLOCK_WIDTH 64
#define BLOCK_VECTORS (BLOCK_WIDTH / 32)
#define BLOCK_ROWS 16   /* at most; a lane of 8 bits counts BLOCK_VECTORS samples per row */
#define CODES_AT_ONCE 6 /* limited by the number of registers */
#define ONE_OF_BLOCKS 8 /* has_many_codes() checks one of this many blocks of a strip */
#define ONE_OF_ROWS 4   /* has_many_codes() checks one of this many rows of a block */
#define MOST_CODES 28   /* comparing is faster than counters for up to this many codes */

typedef struct Block {
    const uint8_t *samples;
    ptrdiff_t stride;
    int width, rows;
} Block;

/* Counts of each code, in four lanes. */
typedef struct CodeCounts {
    __m256i of[256];
} CodeCounts;

static inline __m256i block_vector(const Block *block, int y, int v)
{
    return _mm256_loadu_si256((const void *)(block->samples + y * block->stride + 32 * v));
}

typedef struct CodeRange {
    int first, codes;
} CodeRange;

/* Finds the range of a block's codes, and prefetches the next block. */
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

/* Counts `codes` codes from `first` on; `codes` is a constant expression. */
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
            for (int i = 0; i < codes; i++) /* equal samples give -1 */
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

/* True if over 7/8 of the checked blocks have many codes. Then counting whole rows is faster. */
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

static inline void count_rows(Counters *counters, const Block *block)
{
    for (int y = 0; y < block->rows; y++)
        count_row(counters, block->samples + y * block->stride, block->width);
}

static inline void count_block(CodeCounts *counts, Counters *counters, const Block *block)
{
    const CodeRange range = code_range(block);
    if (range.codes == 1)
        counters->codes[0][range.first] += (uint32_t)(BLOCK_WIDTH * block->rows);
    else if (range.codes <= MOST_CODES)
        count_few_codes(counts, block, range);
    else
        count_rows(counters, block);
}

/* Counts a strip whose width is a multiple of BLOCK_WIDTH. */
static void count_strip(CodeCounts *counts, Counters *counters, const Block *strip)
{
    if (has_many_codes(strip)) {
        count_rows(counters, strip);
        return;
    }
    for (int x = 0; x < strip->width; x += BLOCK_WIDTH) {
        const Block block = {strip->samples + x, strip->stride, BLOCK_WIDTH, strip->rows};
        count_block(counts, counters, &block);
    }
}

void VECTOR_NAME(lumeq_histogram8)(uint32_t *hist, const void *src, ptrdiff_t stride, int width,
                                   int height, const CurveParams *params)
{
    const int strips = (height + BLOCK_ROWS - 1) / BLOCK_ROWS, rest = width % BLOCK_WIDTH;
    CodeCounts counts;
    Counters counters;
    (void)params;
    memset(&counts, 0, sizeof(counts));
    start_counting(&counters, (int64_t)width * height);
    for (int i = 0; i < strips; i++) { /* of equal height */
        const int y = (int)((int64_t)height * i / strips);
        const int end = (int)((int64_t)height * (i + 1) / strips);
        const Block strip = {(const uint8_t *)src + y * stride, stride, width - rest, end - y};
        const Block right = {strip.samples + width - rest, stride, rest, end - y};
        if (strip.width)
            count_strip(&counts, &counters, &strip);
        count_rows(&counters, &right);
    }
    add_codes(hist, &counts);
    add_counters(hist, &counters);
}
