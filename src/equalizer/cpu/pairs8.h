/* Counters of pairs of samples of 8 bits, in vectors. */
#ifndef LUMEQ_PAIRS8_H
#define LUMEQ_PAIRS8_H

#include "equalizer/cpu/counters8.h"

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

#endif
