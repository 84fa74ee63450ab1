/* The histogram of 8-bit samples, and in 256 cells of deeper ones, in vectors. */
#include <limits.h>

#include "equalizer/cpu/counters8.h"
#include "equalizer/cpu/kernels.h"
#include "equalizer/cpu/vector.h"

/* ---- pairs ---- */

/*
 * Pairs are numbered as in counters8.h. Their counters are bytes in one table, which fits the
 * first-level cache, but additions are to words of four: a CPU with check bits per word, like Zen,
 * takes two cycles to store less. An overflow carries into the next byte of the word or is lost,
 * and takes 255 or 256 off the total, which reveals it: the samples are then counted one by one.
 * The number of pairs counted together is chosen so that overflows are rare.
 */
#define LEAST_TOGETHER (1 << 14)
#define MOST_TOGETHER (1 << 19)

/* If the largest counter is at most this, twice or eight times as many pairs should fit. */
#define HALF_FULL 100
#define EIGHTH_FULL 25

/* Samples to count one by one after even LEAST_TOGETHER pairs overflowed. */
#define PAUSE (128 * LEAST_TOGETHER)

#define PAIRS_WAITING 256
#define MOST_BLOCKS 512

/* Rows of samples; for pairs a multiple of COUNTED_TOGETHER. */
typedef struct Block {
    const uint8_t *samples;
    ptrdiff_t stride;
    int width, rows;
} Block;

typedef struct PairCounters {
    _Alignas(32) uint32_t words[PAIRS / 4];
    int counted;
    int together;              /* number of pairs to count together, approximately */
    int pause;                 /* samples left to count one by one */
    Block blocks[MOST_BLOCKS]; /* the blocks counted in pairs */
    int block_count;
} PairCounters;

/* `samples`: their maximum number. */
static inline void start_pairs(PairCounters *pairs, int64_t samples)
{
    pairs->together = LEAST_TOGETHER;
    pairs->counted = pairs->block_count = 0;
    pairs->pause = samples < MIN_SAMPLES_IN_PAIRS ? MIN_SAMPLES_IN_PAIRS : 0;
}

/* Stores pair numbers, multiplied by the 8 bits of a counter. */
static inline void put_eight(uint32_t *waiting, __m256i eight)
{
    _mm256_store_si256((void *)waiting, _mm256_slli_epi32(eight, 3));
}

/* Stores the pairs of COUNTED_TOGETHER samples. */
static inline void put_pairs(uint32_t *waiting, const uint8_t *samples)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i a = _mm256_loadu_si256((const void *)samples);
    const __m256i b = _mm256_loadu_si256((const void *)(samples + 32));
    const __m256i difference = _mm256_sub_epi8(a, b), way = _mm256_abs_epi8(difference);
    const __m256i from = _mm256_blendv_epi8(b, a, difference);
    const __m256i some = _mm256_unpacklo_epi8(from, way), rest = _mm256_unpackhi_epi8(from, way);
    put_eight(waiting, _mm256_unpacklo_epi16(some, zero));
    put_eight(waiting + 8, _mm256_unpackhi_epi16(some, zero));
    put_eight(waiting + 16, _mm256_unpacklo_epi16(rest, zero));
    put_eight(waiting + 24, _mm256_unpackhi_epi16(rest, zero));
}

static inline void count_waiting(uint32_t *words, const uint32_t *waiting, int count)
{
#pragma GCC unroll 8
    for (int i = 0; i < count; i++)
        words[waiting[i] / 32] += 1u << (waiting[i] % 32);
}

static inline void count_block_in_pairs(PairCounters *pairs, Counters *counters, const Block *block)
{
    _Alignas(32) uint32_t waiting[PAIRS_WAITING];
    int in_waiting = 0, counted = 0;
    for (int y = 0; y < block->rows; y++)
        for (int x = 0; x < block->width; x += COUNTED_TOGETHER) {
            const uint8_t *samples = block->samples + y * block->stride + x;
            fetch_ahead(samples);
            if (all_equal(samples)) {
                counters->codes[0][samples[0]] += COUNTED_TOGETHER;
                continue;
            }
            put_pairs(waiting + in_waiting, samples);
            in_waiting += COUNTED_TOGETHER / 2;
            if (in_waiting == PAIRS_WAITING) {
                count_waiting(pairs->words, waiting, PAIRS_WAITING);
                counted += PAIRS_WAITING;
                in_waiting = 0;
            }
        }
    count_waiting(pairs->words, waiting, in_waiting);
    pairs->counted += counted + in_waiting;
}

static inline void count_rows(Counters *counters, const Block *block)
{
    for (int y = 0; y < block->rows; y++)
        count_row(counters, block->samples + y * block->stride, block->width);
}

/* Counts the samples of count_block_in_pairs() one by one. */
static inline void count_block_again(Counters *counters, const Block *block)
{
    for (int y = 0; y < block->rows; y++)
        for (int x = 0; x < block->width; x += COUNTED_TOGETHER) {
            const uint8_t *samples = block->samples + y * block->stride + x;
            if (!all_equal(samples))
                count_each(counters, samples);
        }
}

typedef struct PairSums {
    int sum, most;
} PairSums;

static inline PairSums sum_pairs(const PairCounters *pairs)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i sum = zero, most = zero;
    uint64_t lane[4];
    for (int i = 0; i < PAIRS / 4; i += 8) {
        const __m256i bytes = _mm256_load_si256((const void *)(pairs->words + i));
        sum = _mm256_add_epi64(sum, _mm256_sad_epu8(bytes, zero));
        most = _mm256_max_epu8(most, bytes);
    }
    _mm256_storeu_si256((void *)lane, sum);
    return (PairSums){(int)(lane[0] + lane[1] + lane[2] + lane[3]),
                      255 - least_of(_mm256_xor_si256(most, _mm256_set1_epi8(-1)))};
}

static inline void finish_pairs(PairCounters *pairs, Counters *counters)
{
    if (!pairs->block_count)
        return;
    const PairSums sums = sum_pairs(pairs);
    if (sums.sum == pairs->counted) {
        add_pairs(counters->codes[0], (const uint8_t *)pairs->words);
        if (sums.most <= HALF_FULL && pairs->together < MOST_TOGETHER)
            pairs->together *= sums.most <= EIGHTH_FULL ? 8 : 2;
    } else {
        for (int i = 0; i < pairs->block_count; i++)
            count_block_again(counters, &pairs->blocks[i]);
        if (pairs->together == LEAST_TOGETHER)
            pairs->pause = PAUSE;
        else
            pairs->together /= 2;
    }
    pairs->counted = pairs->block_count = 0;
}

/* The caller must finish the remaining pairs at the end. */
static inline void count_in_pairs_or_each(PairCounters *pairs, Counters *counters,
                                          const Block *block)
{
    if (pairs->pause > 0) {
        pairs->pause -= block->width * block->rows;
        count_rows(counters, block);
        return;
    }
    if (!pairs->block_count)
        memset(pairs->words, 0, sizeof(pairs->words));
    pairs->blocks[pairs->block_count++] = *block;
    count_block_in_pairs(pairs, counters, block);
    if (pairs->counted >= pairs->together || pairs->block_count == MOST_BLOCKS)
        finish_pairs(pairs, counters);
}

/* ---- blocks ---- */

/*
 * A picture is counted in blocks. In real pictures, most blocks have few, neighbouring codes: 32
 * samples at a time are compared with each of them, and the matches add up in registers. Counters
 * in memory need a store per sample; they are for blocks with more codes.
 */
#define BLOCK_WIDTH 64
#define BLOCK_VECTORS (BLOCK_WIDTH / 32)
#define BLOCK_ROWS 16   /* at most; a lane counts in 8 bits: BLOCK_VECTORS samples per row */
#define CODES_AT_ONCE 6 /* limited by the number of registers */
#define ONE_OF_BLOCKS 8 /* share of a strip's blocks to check first, */
#define ONE_OF_ROWS 4   /* and of their rows */

/* Up to this many codes, comparing is faster. */
#ifdef __AVX2__
#define MOST_CODES 56
#else
#define MOST_CODES 28
#endif

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

/* Also prefetches the next block. */
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

/* Counts `codes` codes from `first` on; their number is a constant. */
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

/* Checks some blocks of the strip. Blocks with many codes are counted faster along whole rows. */
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

/* Counts a strip, as many rows at a time as the pairs allow. */
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

/* Counts a strip whose width is a multiple of blocks. */
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

typedef struct Counting {
    CodeCounts counts;
    Counters counters;
    PairCounters pairs;
} Counting;

static void start(Counting *c, int64_t samples)
{
    memset(&c->counts, 0, sizeof(c->counts));
    start_counting(&c->counters, 0);
    start_pairs(&c->pairs, samples);
}

static void count_picture(Counting *c, const uint8_t *samples, ptrdiff_t stride, int width,
                          int height)
{
    const int strips = (height + BLOCK_ROWS - 1) / BLOCK_ROWS, rest = width % BLOCK_WIDTH;
    for (int i = 0; i < strips; i++) { /* of equal height */
        const int y = (int)((int64_t)height * i / strips);
        const int end = (int)((int64_t)height * (i + 1) / strips);
        const Block strip = {samples + y * stride, stride, width - rest, end - y};
        const Block right = {strip.samples + width - rest, stride, rest, end - y};
        if (strip.width)
            count_strip(&c->counts, &c->pairs, &c->counters, &strip);
        count_rows(&c->counters, &right);
    }
}

static void add(uint32_t *hist, const Counting *c)
{
    add_codes(hist, &c->counts);
    add_counters(hist, &c->counters);
}

void VECTOR_NAME(lumeq_histogram8)(uint32_t *hist, const void *src, ptrdiff_t stride, int width,
                                   int height, const CurveParams *params)
{
    (void)params;
    Counting c;
    start(&c, (int64_t)width * height);
    count_picture(&c, src, stride, width, height);
    finish_pairs(&c.pairs, &c.counters);
    add(hist, &c);
}

#define CELLS_WIDTH 512 /* converted to bytes at once, of BLOCK_ROWS rows */

/* How to convert samples to cells. */
typedef struct CellsOf {
    const uint8_t *samples;
    ptrdiff_t stride;
    int shift, last;
} CellsOf;

/* Converts a row of samples to cells, in any order within a block. Prefetches the next rows. */
static void find_cells(uint8_t *cells, const CellsOf *of, int x, int y, int width)
{
    const uint8_t *row = of->samples + y * of->stride;
    const uint16_t *in = (const uint16_t *)(const void *)row + x;
    const uintptr_t next = (uintptr_t)(BLOCK_ROWS * of->stride);
    const __m256i most = _mm256_set1_epi16((short)of->last);
    int i = 0;
    for (; i + 32 <= width; i += 32) {
        __builtin_prefetch((const void *)((uintptr_t)(in + i) + next));
        _mm256_storeu_si256((void *)(cells + i),
                            _mm256_packus_epi16(deep_codes(in + i, of->shift, most),
                                                deep_codes(in + i + 16, of->shift, most)));
    }
    for (; i < width; i++)
        cells[i] = (uint8_t)(in[i] >> of->shift < of->last ? in[i] >> of->shift : of->last);
}

typedef struct Cells {
    uint8_t rows[BLOCK_ROWS][CELLS_WIDTH];
} Cells;

static Block find_block(Cells *cells, const CellsOf *of, int x, int y, int width, int height)
{
    const Block block = {cells->rows[0], CELLS_WIDTH,
                         width - x < CELLS_WIDTH ? width - x : CELLS_WIDTH,
                         height - y < BLOCK_ROWS ? height - y : BLOCK_ROWS};
    for (int i = 0; i < block.rows; i++)
        find_cells(cells->rows[i], of, x, y + i, block.width);
    return block;
}

static int is_flat(const Block *block)
{
    for (int y = 0; y < block->rows; y++)
        for (int x = 0; x < block->width; x += COUNTED_TOGETHER) {
            const uint8_t *samples = block->samples + y * block->stride + x;
            if (samples[0] != block->samples[0] || !all_equal(samples))
                return 0;
        }
    return 1;
}

/* True if converting samples to cells pays off, judged by some rows from the middle: it does not
 * for pictures with very many cells, nor for those with a single one. */
static int is_worth_cells(Cells *cells, const CellsOf *of, int width, int height)
{
    Block some = find_block(cells, of, 0, height / 2, width, height);
    some.width -= some.width % BLOCK_WIDTH;
    return !is_flat(&some) && !has_many_codes(&some);
}

int VECTOR_NAME(lumeq_count_few_cells)(uint32_t *hist, const void *src, ptrdiff_t stride, int width,
                                       int height, const CurveParams *params)
{
    const CellsOf of = {src, stride, params->shift + params->fraction, params->bins - 1};
    Cells cells;
    Counting c;
    if (!is_worth_cells(&cells, &of, width, height))
        return 0;
    start(&c, 0);
    c.pairs.pause = INT_MAX; /* pairs may be recounted, but these bytes are gone by then */
    for (int y = 0; y < height; y += BLOCK_ROWS)
        for (int x = 0; x < width; x += CELLS_WIDTH) {
            const Block block = find_block(&cells, &of, x, y, width, height);
            count_picture(&c, block.samples, block.stride, block.width, block.rows);
        }
    add(hist, &c);
    return 1;
}
