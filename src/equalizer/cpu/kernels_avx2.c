/* Kernels for AVX2. */
#include <immintrin.h>
#include <string.h>

#include "equalizer/cpu/chroma8_blocks.h"
#include "equalizer/cpu/kernels.h"
#include "equalizer/cpu/kernels_common.h"

/* ---- histogram ---------------------------------------------------------------------------- */

/* Samples that are looked at together: where all are equal, they are counted at once. */
#define COUNTED_TOGETHER 64

static inline int all_equal(const uint8_t *samples)
{
    const __m256i first = _mm256_set1_epi8((char)samples[0]);
    const __m256i a = _mm256_loadu_si256((const void *)samples);
    const __m256i b = _mm256_loadu_si256((const void *)(samples + 32));
    return _mm256_movemask_epi8(
               _mm256_and_si256(_mm256_cmpeq_epi8(a, first), _mm256_cmpeq_epi8(b, first))) == -1;
}

/* Counters of samples: as in the C reference, and more of them. */
#define TABLES 8

static inline void count_each(uint32_t tables[TABLES][256], const uint8_t *samples)
{
    for (int i = 0; i < COUNTED_TOGETHER; i += TABLES)
#pragma GCC unroll 8
        for (int t = 0; t < TABLES; t++)
            tables[t][samples[i + t]]++;
}

/*
 * No more than one counter is stored a cycle, so it is pairs of samples that are counted. A pair is
 * a code, in the lower byte, and the way from it up to the other one, around the end of the codes;
 * from one of the two that way is 128 at most. The counters are bytes, so that with pairs of any
 * codes they stay in or near the first-level cache; when one overflows, its 256 pairs are counted
 * as samples.
 */
#define WAYS 129
#define PAIRS (WAYS * 256)
#define PAIR_TABLES 2 /* by turns, for the reason that there are several of samples */

/* Below this many samples the pairs' counters cost more than they save. */
#define MIN_SAMPLES_IN_PAIRS (256 * 1024)

typedef uint16_t EightPairs __attribute__((vector_size(16)));

/* Pairs are taken out of the register one by one: read back from memory they come at once, which is
 * slower where a pair soon comes again. */
static inline void count_eight_pairs(uint8_t pairs[PAIR_TABLES][PAIRS], uint32_t codes[256],
                                     __m128i eight)
{
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        const uint32_t pair = ((EightPairs)eight)[i];
        if (!++pairs[i % PAIR_TABLES][pair]) {
            codes[pair & 255] += 256;
            codes[(pair + (pair >> 8)) & 255] += 256;
        }
    }
}

static inline void count_in_pairs(uint8_t pairs[PAIR_TABLES][PAIRS], uint32_t codes[256],
                                  const uint8_t *samples)
{
    const __m256i a = _mm256_loadu_si256((const void *)samples);
    const __m256i b = _mm256_loadu_si256((const void *)(samples + 32));
    const __m256i difference = _mm256_sub_epi8(a, b), way = _mm256_abs_epi8(difference);
    const __m256i from = _mm256_blendv_epi8(b, a, difference);
    const __m256i some = _mm256_unpacklo_epi8(from, way), rest = _mm256_unpackhi_epi8(from, way);
    count_eight_pairs(pairs, codes, _mm256_castsi256_si128(some));
    count_eight_pairs(pairs, codes, _mm256_extracti128_si256(some, 1));
    count_eight_pairs(pairs, codes, _mm256_castsi256_si128(rest));
    count_eight_pairs(pairs, codes, _mm256_extracti128_si256(rest, 1));
}

static void add_pairs(uint32_t *hist, const uint8_t pairs[PAIRS])
{
    uint16_t from[256] = {0}, to[256 + WAYS - 1] = {0}; /* WAYS * 255 at most */
    for (int way = 0; way < WAYS; way++)
        for (int i = 0; i < 256; i++) {
            from[i] += pairs[256 * way + i];
            to[i + way] += pairs[256 * way + i];
        }
    for (int i = 0; i < 256; i++)
        hist[i] += from[i];
    for (int i = 0; i < 256 + WAYS - 1; i++)
        hist[i & 255] += to[i];
}

/* Without counters of pairs each sample is counted. */
static inline void count_row(uint32_t tables[TABLES][256], uint8_t pairs[PAIR_TABLES][PAIRS],
                             const uint8_t *row, int width)
{
    int x = 0;
    for (; x + COUNTED_TOGETHER <= width; x += COUNTED_TOGETHER) {
        fetch_ahead(row + x);
        if (all_equal(row + x))
            tables[0][row[x]] += COUNTED_TOGETHER;
        else if (pairs)
            count_in_pairs(pairs, tables[0], row + x);
        else
            count_each(tables, row + x);
    }
    for (; x < width; x++)
        tables[x % TABLES][row[x]]++;
}

static void histogram8(uint32_t *hist, const void *src, ptrdiff_t stride, int width, int height,
                       const CurveParams *params)
{
    (void)params;
    _Alignas(64) uint32_t tables[TABLES][256] = {{0}};
    _Alignas(64) uint8_t pairs[PAIR_TABLES][PAIRS];
    const int in_pairs = (int64_t)width * height >= MIN_SAMPLES_IN_PAIRS;
    if (in_pairs)
        memset(pairs, 0, sizeof(pairs));
    for (int y = 0; y < height; y++)
        count_row(tables, in_pairs ? pairs : NULL, (const uint8_t *)src + y * stride, width);
    for (int t = 0; t < PAIR_TABLES && in_pairs; t++)
        add_pairs(hist, pairs[t]);
    for (int i = 0; i < 256; i++)
        for (int t = 0; t < TABLES; t++)
            hist[i] += tables[t][i];
}

/* ---- luma --------------------------------------------------------------------------------- */

/*
 * A table of 256 bytes, as 16 of 16: the first of either half, and what each one after differs from
 * the one before in. A shuffle gives 0 where the index is negative, so that an index that 16 is
 * taken from again and again gathers the differences up to its own part.
 */
typedef struct ByteTable {
    __m128i part[2][8];
} ByteTable;

static ByteTable byte_table(const uint8_t *bytes)
{
    ByteTable table;
    for (int i = 0; i < 16; i++) {
        const __m128i part = _mm_loadu_si128((const void *)(bytes + 16 * i));
        const __m128i before =
            i % 8 ? _mm_loadu_si128((const void *)(bytes + 16 * (i - 1))) : _mm_setzero_si128();
        table.part[i / 8][i % 8] = _mm_xor_si128(part, before);
    }
    return table;
}

#define VECTORS 4 /* at once, so that each part is loaded once for all of them */
#define STEP (32 * VECTORS)

static inline void look_up(__m256i found[VECTORS], const ByteTable *table,
                           const __m256i index[VECTORS])
{
    const __m256i sixteen = _mm256_set1_epi8(16), top = _mm256_set1_epi8(-128);
    __m256i at[VECTORS];
    for (int v = 0; v < VECTORS; v++)
        found[v] = _mm256_setzero_si256();
    for (int half = 0; half < 2; half++) {
        for (int v = 0; v < VECTORS; v++)
            at[v] = half ? _mm256_xor_si256(index[v], top) : index[v];
#pragma GCC unroll 1 /* else there are more sums at a time than registers */
        for (int i = 0; i < 8; i++) {
            const __m256i part = _mm256_broadcastsi128_si256(table->part[half][i]);
            for (int v = 0; v < VECTORS; v++) {
                found[v] = _mm256_xor_si256(found[v], _mm256_shuffle_epi8(part, at[v]));
                at[v] = _mm256_subs_epi8(at[v], sixteen);
            }
        }
    }
}

typedef struct Tables {
    ByteTable high, low; /* of nodes; else the codes are in `high` */
} Tables;

static inline void apply_step(uint8_t *dst, const uint8_t *src, const Tables *tables,
                              const __m256i *add)
{
    __m256i index[VECTORS], high[VECTORS], low[VECTORS];
    for (int v = 0; v < VECTORS; v++)
        index[v] = _mm256_loadu_si256((const void *)(src + 32 * v));
    look_up(high, &tables->high, index);
    if (add)
        look_up(low, &tables->low, index);
    for (int v = 0; v < VECTORS; v++) {
        if (add) { /* what saturates is larger than the sum, but for a carry equal to it */
            const __m256i sum = _mm256_add_epi8(low[v], *add);
            const __m256i none = _mm256_cmpeq_epi8(_mm256_adds_epu8(low[v], *add), sum);
            high[v] = _mm256_adds_epu8(high[v], _mm256_add_epi8(none, _mm256_set1_epi8(1)));
        }
        _mm256_storeu_si256((void *)(dst + 32 * v), high[v]);
    }
}

static inline void apply_row(uint8_t *dst, const uint8_t *src, int width, const Tables *tables,
                             const __m256i *add)
{
    int x = 0;
    for (; x + STEP <= width; x += STEP) {
        for (int i = 0; i < STEP; i += 64) {
            fetch_ahead(src + x + i);
            fetch_ahead(dst + x + i);
        }
        apply_step(dst + x, src + x, tables, add);
    }
    if (x < width) {
        uint8_t in[STEP] = {0}, out[STEP];
        memcpy(in, src + x, (size_t)(width - x));
        apply_step(out, in, tables, add);
        memcpy(dst + x, out, (size_t)(width - x));
    }
}

static void apply8(void *dst, ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride,
                   int width, int height, int first, const CurveTable *table,
                   const CurveParams *params)
{
    (void)first;
    (void)params;
    const Tables tables = {.high = byte_table(table->codes8)};
    for (int y = 0; y < height; y++)
        apply_row((uint8_t *)dst + y * dst_stride, (const uint8_t *)src + y * src_stride, width,
                  &tables, NULL);
}

static void nodes8(void *dst, ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride,
                   int width, int height, int first, const CurveTable *table,
                   const CurveParams *params)
{
    uint8_t high[256], low[256];
    split_nodes(high, low, table);
    const Tables tables = {.high = byte_table(high), .low = byte_table(low)};
    for (int y = 0; y < height; y++) {
        const __m256i add = _mm256_set1_epi64x((int64_t)added_to_eight(params, first + y));
        apply_row((uint8_t *)dst + y * dst_stride, (const uint8_t *)src + y * src_stride, width,
                  &tables, &add);
    }
}

/* ---- more than 8 bits --------------------------------------------------------------------- */

/* The codes of DEEP_STEP samples, at most `last` each. */
static inline void find_codes(uint16_t *codes, const uint16_t *samples, int shift, uint16_t last)
{
    const __m256i most = _mm256_set1_epi16((short)last);
    const __m128i count = _mm_cvtsi32_si128(shift);
    for (int i = 0; i < DEEP_STEP; i += 16) {
        const __m256i sample = _mm256_loadu_si256((const void *)(samples + i));
        const __m256i code = _mm256_min_epu16(_mm256_srl_epi16(sample, count), most);
        _mm256_storeu_si256((void *)(codes + i), code);
    }
}

static void histogram16(uint32_t *hist, const void *src, ptrdiff_t stride, int width, int height,
                        const CurveParams *params)
{
    count16(hist, src, stride, width, height, params, find_codes);
}

static void apply16(void *dst, ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride,
                    int width, int height, int first, const CurveTable *table,
                    const CurveParams *params)
{
    (void)first;
    for (int y = 0; y < height; y++)
        apply16_row((void *)((uint8_t *)dst + y * dst_stride),
                    (const void *)((const uint8_t *)src + y * src_stride), width, table, params,
                    find_codes);
}

/* ---- chroma ------------------------------------------------------------------------------- */

static void chroma8(const LumeqChromaRows *rows, const CurveTable *table, const CurveParams *params)
{
    LumeqKernels c;
    lumeq_kernels_c(&c);
    (chroma_has_blocks(rows) ? chroma8_in_blocks : c.chroma8)(rows, table, params);
}

void lumeq_kernels_avx2(LumeqKernels *kernels)
{
    kernels->histogram8 = histogram8;
    kernels->histogram16 = histogram16;
    kernels->apply8 = apply8;
    kernels->apply16 = apply16;
    kernels->nodes8 = nodes8;
    kernels->chroma8 = chroma8;
}
