/* The histogram of samples of more than 8 bits in vectors. */
#include <limits.h>

#include "equalizer/cpu/kernels.h"
#include "equalizer/cpu/kernels_common.h"
#include "equalizer/cpu/vector.h"

/* Several tables of counters are used alternately, because in one table equal neighbours would wait
 * for each other. All tables together fit the first-level cache. DEEP_GAP: a code's counters in
 * different tables must not be a multiple of 4096 bytes apart. Otherwise the CPU would wait as for
 * one counter, because it first compares only the low bits of addresses. */
#define DEEP_GAP (64 / sizeof(uint32_t))
#define DEEP_COUNTERS (2 * (LUMEQ_MAX_BINS + DEEP_GAP))

#define DEEP_VECTORS (DEEP_STEP / 16)

static inline int all_equal(const __m256i codes[DEEP_VECTORS])
{
    const __m256i first = _mm256_broadcastw_epi16(_mm256_castsi256_si128(codes[0]));
    __m256i differ = _mm256_xor_si256(codes[0], first);
    for (int v = 1; v < DEEP_VECTORS; v++)
        differ = _mm256_or_si256(differ, _mm256_xor_si256(codes[v], first));
    return _mm256_testz_si256(differ, differ);
}

/*
 * The CPU stores only one counter per cycle, so neighbours are counted in pairs. A step of
 * DEEP_STEP samples is counted in pairs if the codes of each pair are less than WAYS apart. Each
 * distance has a row of counters, by the lower code. The length of a row, WAY_ROOM, is chosen so
 * that counters of similar pairs in different rows differ in the low bits of their addresses.
 */
#define PAIR_BINS 1024
#define WAYS 32
#define WAY_ROOM (PAIR_BINS + 80)
#define PAIRS_WAITING 256
#define NOT_ASKED 7 /* steps to count one by one after a step whose pairs were not close */

/* With fewer samples, these counters cost more than they save. */
#define MIN_SAMPLES_IN_PAIRS (128 * 1024)

typedef struct DeepPairs {
    uint32_t counters[WAYS * WAY_ROOM];
    _Alignas(32) uint16_t waiting[PAIRS_WAITING];
    int in_waiting;
    int counted;   /* pairs have been counted; only then `counters` are initialized */
    int not_asked; /* number of steps to count without pairs; INT_MAX: all */
} DeepPairs;

static inline void start_pairs(DeepPairs *pairs, int64_t samples)
{
    pairs->in_waiting = pairs->counted = 0;
    pairs->not_asked = samples < MIN_SAMPLES_IN_PAIRS ? INT_MAX : 0;
}

static inline void count_waiting(DeepPairs *pairs)
{
    if (!pairs->counted)
        memset(pairs->counters, 0, sizeof(pairs->counters));
    pairs->counted = 1;
#pragma GCC unroll 2
    for (int i = 0; i < pairs->in_waiting; i += 4) {
        uint64_t four; /* read at once, which saves loads */
        memcpy(&four, pairs->waiting + i, sizeof(four));
        pairs->counters[four & 0xffff]++;
        pairs->counters[four >> 16 & 0xffff]++;
        pairs->counters[four >> 32 & 0xffff]++;
        pairs->counters[four >> 48]++;
    }
    pairs->in_waiting = 0;
}

/* Splits two vectors into pairs of neighbours: the lower code, and the distance to the other. */
static inline void split_pairs(__m256i *from, __m256i *way, __m256i a, __m256i b)
{
    const __m256i even = _mm256_blend_epi16(a, _mm256_slli_epi32(b, 16), 0xaa);
    const __m256i odd = _mm256_blend_epi16(_mm256_srli_epi32(a, 16), b, 0xaa);
    *from = _mm256_min_epu16(even, odd);
    *way = _mm256_sub_epi16(_mm256_max_epu16(even, odd), *from);
}

/* Returns 0 without counting if the codes are not close enough, or were not in a recent step. */
static inline int count_in_pairs(DeepPairs *pairs, const __m256i codes[DEEP_VECTORS])
{
    __m256i from[2], way[2];
    if (pairs->not_asked) {
        pairs->not_asked--;
        return 0;
    }
    for (int i = 0; i < 2; i++)
        split_pairs(&from[i], &way[i], codes[2 * i], codes[2 * i + 1]);
    if (!_mm256_testz_si256(_mm256_or_si256(way[0], way[1]), _mm256_set1_epi16(-WAYS))) {
        pairs->not_asked = NOT_ASKED;
        return 0;
    }
    for (int i = 0; i < 2; i++, pairs->in_waiting += 16)
        _mm256_store_si256(
            (void *)(pairs->waiting + pairs->in_waiting),
            _mm256_add_epi16(from[i], _mm256_mullo_epi16(way[i], _mm256_set1_epi16(WAY_ROOM))));
    if (pairs->in_waiting == PAIRS_WAITING)
        count_waiting(pairs);
    return 1;
}

static inline void add_pairs(uint32_t *hist, DeepPairs *pairs, int bins)
{
    uint32_t to[PAIR_BINS + WAYS] = {0};
    if (pairs->in_waiting)
        count_waiting(pairs);
    if (!pairs->counted)
        return;
    for (int way = 0; way < WAYS; way++) {
        const uint32_t *counters = pairs->counters + way * WAY_ROOM;
        for (int i = 0; i < bins; i++) {
            hist[i] += counters[i];
            to[i + way] += counters[i];
        }
    }
    for (int i = 0; i < bins; i++)
        hist[i] += to[i];
}

/* Counts `count` codes in `tables` tables of `room` counters; all three are constants. */
static inline __attribute__((always_inline)) void
count_each(uint32_t *counters, int tables, int room, const uint64_t *codes, int count)
{
#pragma GCC unroll 8
    for (int i = 0; i < count / 4; i += 2)
#pragma GCC unroll 8
        for (int k = 0; k < 8; k++)
            (counters + k % tables * room)[codes[i + k / 4] >> (16 * (k % 4)) & 0xffff]++;
}

/* Counts a row. Prefetches FETCHED_AHEAD bytes ahead or, if rows are shorter, the next row,
 * `stride` bytes away. */
static inline __attribute__((always_inline)) void count_row(uint32_t *counters, DeepPairs *pairs,
                                                            int tables, int room,
                                                            const uint16_t *row, ptrdiff_t stride,
                                                            int width, int shift, int last)
{
    const ptrdiff_t ahead = width * 2 < FETCHED_AHEAD ? stride : FETCHED_AHEAD;
    const __m256i most = _mm256_set1_epi16((short)last);
    _Alignas(32) uint64_t codes[DEEP_STEP / 4];
    int x = 0;
    for (; x + DEEP_STEP <= width; x += DEEP_STEP) {
        __m256i vectors[DEEP_VECTORS];
        __builtin_prefetch((const void *)((uintptr_t)(row + x) + (uintptr_t)ahead));
        __builtin_prefetch((const void *)((uintptr_t)(row + x + 32) + (uintptr_t)ahead));
        for (int v = 0; v < DEEP_VECTORS; v++)
            vectors[v] = deep_codes(row + x + 16 * v, shift, most);
        if (all_equal(vectors)) {
            counters[_mm_extract_epi16(_mm256_castsi256_si128(vectors[0]), 0)] += DEEP_STEP;
            continue;
        }
        if (pairs && count_in_pairs(pairs, vectors))
            continue;
        for (int v = 0; v < DEEP_VECTORS; v++)
            _mm256_store_si256((void *)(codes + 4 * v), vectors[v]);
        count_each(counters, tables, room, codes, DEEP_STEP);
    }
    for (; x + 16 <= width; x += 16) {
        _mm256_store_si256((void *)codes, deep_codes(row + x, shift, most));
        count_each(counters, tables, room, codes, 16);
    }
    for (; x < width; x++) {
        const int code = row[x] >> shift;
        counters[x % tables * room + (code < last ? code : last)]++;
    }
}

/* If `pairs` is the constant NULL, no pairs are counted. */
static inline __attribute__((always_inline)) void
count_rows(uint32_t *hist, DeepPairs *pairs, int tables, int most_bins, const void *src,
           ptrdiff_t stride, int width, int height, const CurveParams *params)
{
    uint32_t counters[DEEP_COUNTERS];
    const int room = most_bins + (int)DEEP_GAP;
    memset(counters, 0, (size_t)(tables * room) * sizeof(*counters));
    for (int y = 0; y < height; y++)
        count_row(counters, pairs, tables, room, (const void *)((const uint8_t *)src + y * stride),
                  stride, width, params->shift + params->fraction, params->bins - 1);
    for (int t = 0; t < tables; t++)
        for (int i = 0; i < params->bins; i++)
            hist[i] += counters[t * room + i];
}

/* Codes of at most 8 bits are counted as bytes. Converts as many rows as fit in `bytes`. */
static void count_bytes(uint32_t *hist, const void *src, ptrdiff_t stride, int width, int height,
                        const CurveParams *params)
{
    uint8_t bytes[LUMEQ_MAX_SIDE];
    const int shift = params->shift + params->fraction, last = params->bins - 1;
    const __m256i most = _mm256_set1_epi16((short)last);
    for (int y = 0, rows = LUMEQ_MAX_SIDE / width; y < height; y += rows) {
        uint8_t *to = bytes;
        const int count = height - y < rows ? height - y : rows;
        for (int i = 0; i < count; i++) {
            const uint16_t *row = (const void *)((const uint8_t *)src + (y + i) * stride);
            int x = 0;
            for (; x + 32 <= width; x += 32, to += 32) /* the order does not matter */
                _mm256_storeu_si256((void *)to,
                                    _mm256_packus_epi16(deep_codes(row + x, shift, most),
                                                        deep_codes(row + x + 16, shift, most)));
            for (; x < width; x++)
                *to++ = (uint8_t)(row[x] >> shift < last ? row[x] >> shift : last);
        }
        VECTOR_NAME(lumeq_histogram8)(hist, bytes, width, width, count, params);
    }
}

void VECTOR_NAME(lumeq_histogram16)(uint32_t *hist, const void *src, ptrdiff_t stride, int width,
                                    int height, const CurveParams *params)
{
    DeepPairs pairs;
    if (params->bins <= 256) {
        count_bytes(hist, src, stride, width, height, params);
    } else if (params->bins <= PAIR_BINS) {
        start_pairs(&pairs, (int64_t)width * height);
        count_rows(hist, &pairs, 4, PAIR_BINS, src, stride, width, height, params);
        add_pairs(hist, &pairs, params->bins);
    } else {
        count_rows(hist, NULL, 2, LUMEQ_MAX_BINS, src, stride, width, height, params);
    }
}
