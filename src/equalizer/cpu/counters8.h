/* Counts samples of 8 bits in memory, for vector kernels. */
#ifndef LUMEQ_COUNTERS8_H
#define LUMEQ_COUNTERS8_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "equalizer/cpu/kernels_common.h"
#include "equalizer/cpu/vector.h"

/*
 * Small pictures are counted sample by sample. Several tables are used alternately, so that equal
 * neighbours do not wait for each other's counter. Large pictures are counted in pairs, because the
 * CPU stores only one counter per cycle. A pair's number has one code in its low byte and, in its
 * high byte, the distance up to the other code, modulo 256. The code in the low byte is the one
 * from which this distance is at most 128. Counters of pairs are bytes, to need less cache. When a
 * counter overflows, its 256 pairs are counted as samples.
 */
#define TABLES 8
#define WAYS 129
#define PAIRS (WAYS * 256)
#define PAIR_TABLES 2 /* used alternately, like the tables of samples */

/* With fewer samples, the pairs' counters cost more than they save. */
#define MIN_SAMPLES_IN_PAIRS (256 * 1024)

typedef struct Counters {
    _Alignas(64) uint32_t codes[TABLES][256];
    _Alignas(64) uint8_t pairs[PAIR_TABLES][PAIRS]; /* if in_pairs */
    int in_pairs;
} Counters;

/* `samples`: approximate number of samples to count. */
static inline void start_counting(Counters *counters, int64_t samples)
{
    memset(counters->codes, 0, sizeof(counters->codes));
    counters->in_pairs = samples >= MIN_SAMPLES_IN_PAIRS;
    if (counters->in_pairs)
        memset(counters->pairs, 0, sizeof(counters->pairs));
}

/* Samples to check together: if all are equal, they are counted at once. */
#define COUNTED_TOGETHER 64

static inline int all_equal(const uint8_t *samples)
{
    const __m256i first = _mm256_set1_epi8((char)samples[0]);
    const __m256i a = _mm256_loadu_si256((const void *)samples);
    const __m256i b = _mm256_loadu_si256((const void *)(samples + 32));
    const __m256i differ = _mm256_or_si256(_mm256_xor_si256(a, first), _mm256_xor_si256(b, first));
    return _mm256_testz_si256(differ, differ);
}

static inline void count_each(Counters *counters, const uint8_t *samples)
{
    for (int i = 0; i < COUNTED_TOGETHER; i += TABLES)
#pragma GCC unroll 8
        for (int t = 0; t < TABLES; t++)
            counters->codes[t][samples[i + t]]++;
}

typedef uint16_t EightPairs __attribute__((vector_size(16)));

/* Extracts pairs from the register one by one. If a pair repeats soon, this is faster than reading
 * all pairs from memory at once. */
static inline void count_eight_pairs(Counters *counters, __m128i eight)
{
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        const uint32_t pair = ((EightPairs)eight)[i];
        if (!++counters->pairs[i % PAIR_TABLES][pair]) {
            counters->codes[0][pair & 255] += 256;
            counters->codes[0][(pair + (pair >> 8)) & 255] += 256;
        }
    }
}

static inline void count_in_pairs(Counters *counters, const uint8_t *samples)
{
    const __m256i a = _mm256_loadu_si256((const void *)samples);
    const __m256i b = _mm256_loadu_si256((const void *)(samples + 32));
    const __m256i difference = _mm256_sub_epi8(a, b), way = _mm256_abs_epi8(difference);
    const __m256i from = _mm256_blendv_epi8(b, a, difference);
    const __m256i some = _mm256_unpacklo_epi8(from, way), rest = _mm256_unpackhi_epi8(from, way);
    count_eight_pairs(counters, _mm256_castsi256_si128(some));
    count_eight_pairs(counters, _mm256_extracti128_si256(some, 1));
    count_eight_pairs(counters, _mm256_castsi256_si128(rest));
    count_eight_pairs(counters, _mm256_extracti128_si256(rest, 1));
}

/* Adds the counters of pairs to those of samples. Sums of WAYS counters fit in 16 bits. */
static void add_pairs(uint32_t *hist, const uint8_t pairs[PAIRS])
{
    uint16_t from[256] = {0};
    uint16_t to[4][256 + WAYS - 1] = {{0}}; /* used alternately, since sums are read soon after
                                             * they are written */
    for (int way = 0; way < WAYS; way++)
        for (int i = 0; i < 256; i++) {
            from[i] += pairs[256 * way + i];
            to[way % 4][i + way] += pairs[256 * way + i];
        }
    for (int i = 0; i < 256; i++)
        hist[i] += from[i];
    for (int i = 0; i < 256 + WAYS - 1; i++)
        for (int t = 0; t < 4; t++)
            hist[i & 255] += to[t][i];
}

static inline void count_row(Counters *counters, const uint8_t *row, int width)
{
    int x = 0;
    for (; x + COUNTED_TOGETHER <= width; x += COUNTED_TOGETHER) {
        fetch_ahead(row + x);
        if (all_equal(row + x))
            counters->codes[0][row[x]] += COUNTED_TOGETHER;
        else if (counters->in_pairs)
            count_in_pairs(counters, row + x);
        else
            count_each(counters, row + x);
    }
    for (; x < width; x++)
        counters->codes[x % TABLES][row[x]]++;
}

static inline void add_counters(uint32_t *hist, const Counters *counters)
{
    for (int t = 0; t < PAIR_TABLES && counters->in_pairs; t++)
        add_pairs(hist, counters->pairs[t]);
    for (int i = 0; i < 256; i++)
        for (int t = 0; t < TABLES; t++)
            hist[i] += counters->codes[t][i];
}

#endif
