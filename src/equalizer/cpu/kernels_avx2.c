/* Kernels for AVX2; some have files of their own. */
#include <immintrin.h>
#include <string.h>

#include "equalizer/cpu/byte_range.h"
#include "equalizer/cpu/chroma_blocks.h"
#include "equalizer/cpu/codes16.h"
#include "equalizer/cpu/gain_bytes.h"
#include "equalizer/cpu/kernels.h"
#include "equalizer/cpu/kernels_common.h"
#include "equalizer/cpu/tile_blocks.h"

/* ---- sums --------------------------------------------------------------------------------- */

static uint64_t sum8(const void *src, ptrdiff_t stride, int width, int height,
                     const CurveParams *params)
{
    (void)params;
    const __m256i zero = _mm256_setzero_si256();
    __m256i sums = zero;
    uint64_t rest = 0, lane[4];
    for (int y = 0; y < height; y++) {
        const uint8_t *row = (const uint8_t *)src + y * stride;
        int x = 0;
        for (; x + 32 <= width; x += 32)
            sums = _mm256_add_epi64(
                sums, _mm256_sad_epu8(_mm256_loadu_si256((const void *)(row + x)), zero));
        for (; x + 8 <= width; x += 8)
            sums = _mm256_add_epi64(
                sums, _mm256_sad_epu8(_mm256_zextsi128_si256(_mm_loadu_si64(row + x)), zero));
        for (; x < width; x++)
            rest += row[x];
    }
    _mm256_storeu_si256((void *)lane, sums);
    return lane[0] + lane[1] + lane[2] + lane[3] + rest;
}

static uint64_t sum16(const void *src, ptrdiff_t stride, int width, int height,
                      const CurveParams *params)
{
    return add_codes16(src, stride, width, height, params);
}

/* ---- noise -------------------------------------------------------------------------------- */

/* Sums of 64 bits: a block's are in two lanes of four. */
static inline uint32_t pair_sum(__m256i sums, int block)
{
    const __m128i half = block ? _mm256_extracti128_si256(sums, 1) : _mm256_castsi256_si128(sums);
    return (uint32_t)(_mm_cvtsi128_si32(half) + _mm_extract_epi32(half, 2));
}

/* Two blocks a vector, or one, whose other half is nothing. */
static inline void find_apart8(NoiseSums *sums, const uint8_t *now, ptrdiff_t now_stride,
                               const uint8_t *before, ptrdiff_t before_stride, int blocks)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i sum = zero, old = zero, apart = zero;
    for (int y = 0; y < NOISE_BLOCK; y++, now += now_stride, before += before_stride) {
        const void *const a = now, *const b = before;
        const __m256i x =
            blocks == 2 ? _mm256_loadu_si256(a) : _mm256_zextsi128_si256(_mm_loadu_si128(a));
        const __m256i z =
            blocks == 2 ? _mm256_loadu_si256(b) : _mm256_zextsi128_si256(_mm_loadu_si128(b));
        sum = _mm256_add_epi32(sum, _mm256_sad_epu8(x, zero));
        old = _mm256_add_epi32(old, _mm256_sad_epu8(z, zero));
        apart = _mm256_add_epi32(apart, _mm256_sad_epu8(x, z));
    }
    for (int i = 0; i < blocks; i++)
        sums[i] = (NoiseSums){pair_sum(sum, i), pair_sum(old, i), pair_sum(apart, i)};
}

static void apart8(NoiseSums *sums, const void *now, ptrdiff_t now_stride, const void *before,
                   ptrdiff_t before_stride, int columns, const CurveParams *params)
{
    (void)params;
    const uint8_t *const a = now, *const b = before;
    int i = 0;
    for (; i + 2 <= columns; i += 2)
        find_apart8(sums + i, a + i * NOISE_BLOCK, now_stride, b + i * NOISE_BLOCK, before_stride,
                    2);
    if (i < columns)
        find_apart8(sums + i, a + i * NOISE_BLOCK, now_stride, b + i * NOISE_BLOCK, before_stride,
                    1);
}

/* Of 16 numbers of 16 bits, in four lanes of 64. */
static inline __m256i sum_of_16(__m256i numbers)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i low = _mm256_sad_epu8(_mm256_and_si256(numbers, _mm256_set1_epi16(255)), zero);
    const __m256i high = _mm256_sad_epu8(_mm256_srli_epi16(numbers, 8), zero);
    return _mm256_add_epi64(low, _mm256_slli_epi64(high, 8));
}

static inline __m256i codes_of_16(const uint8_t *samples, __m128i shift, __m256i last)
{
    const __m256i loaded = _mm256_loadu_si256((const void *)samples);
    return _mm256_min_epu16(_mm256_srl_epi16(loaded, shift), last);
}

static void apart16(NoiseSums *sums, const void *now, ptrdiff_t now_stride, const void *before,
                    ptrdiff_t before_stride, int columns, const CurveParams *params)
{
    const __m128i shift = _mm_cvtsi32_si128(params->shift);
    const __m256i last = _mm256_set1_epi16((short)((1u << params->depth) - 1));
    for (int i = 0; i < columns; i++) {
        const uint8_t *a = (const uint8_t *)now + (ptrdiff_t)i * NOISE_BLOCK * 2;
        const uint8_t *b = (const uint8_t *)before + (ptrdiff_t)i * NOISE_BLOCK * 2;
        __m256i sum = _mm256_setzero_si256(), old = sum, apart = sum;
        for (int y = 0; y < NOISE_BLOCK; y++, a += now_stride, b += before_stride) {
            const __m256i x = codes_of_16(a, shift, last), z = codes_of_16(b, shift, last);
            const __m256i most = _mm256_max_epu16(x, z), least = _mm256_min_epu16(x, z);
            sum = _mm256_add_epi64(sum, sum_of_16(x));
            old = _mm256_add_epi64(old, sum_of_16(z));
            apart = _mm256_add_epi64(apart, sum_of_16(_mm256_sub_epi16(most, least)));
        }
        sums[i] =
            (NoiseSums){pair_sum(sum, 0) + pair_sum(sum, 1), pair_sum(old, 0) + pair_sum(old, 1),
                        pair_sum(apart, 0) + pair_sum(apart, 1)};
    }
}

/* ---- luma --------------------------------------------------------------------------------- */

static const Window whole_table = {0, PARTS};

#define VECTORS 4 /* at once, so that each part is loaded once for all of them */
#define STEP (32 * VECTORS)

/* Adds what is in `parts` parts of which `first` is the first one; `at` are places in it. */
static inline void look_up_half(__m256i found[VECTORS], const ByteTable *table, int first,
                                int parts, __m256i at[VECTORS])
{
    const __m256i sixteen = _mm256_set1_epi8(16);
    const __m256i start = _mm256_broadcastsi128_si256(table->part[first]);
    for (int v = 0; v < VECTORS; v++)
        found[v] = _mm256_xor_si256(found[v], _mm256_shuffle_epi8(start, at[v]));
#pragma GCC unroll 1 /* else there are more sums at a time than registers */
    for (int i = 1; i < parts; i++) {
        const __m256i differs = _mm256_broadcastsi128_si256(table->differs[first + i]);
        for (int v = 0; v < VECTORS; v++) {
            at[v] = _mm256_subs_epi8(at[v], sixteen);
            found[v] = _mm256_xor_si256(found[v], _mm256_shuffle_epi8(differs, at[v]));
        }
    }
}

static inline void look_up(__m256i found[VECTORS], const ByteTable *table, Window window,
                           const __m256i index[VECTORS])
{
    const __m256i before = _mm256_set1_epi8((char)(16 * window.first));
    const __m256i behind = _mm256_set1_epi8((char)(16 * (window.first + HALF)));
    __m256i at[VECTORS];
    for (int v = 0; v < VECTORS; v++) {
        found[v] = _mm256_setzero_si256();
        at[v] = _mm256_sub_epi8(index[v], before);
    }
    look_up_half(found, table, window.first, window.parts < HALF ? window.parts : HALF, at);
    if (window.parts <= HALF)
        return;
    for (int v = 0; v < VECTORS; v++)
        at[v] = _mm256_sub_epi8(index[v], behind);
    look_up_half(found, table, window.first + HALF, window.parts - HALF, at);
}

typedef struct Tables {
    ByteTable high, low; /* of nodes; else the codes are in `high` */
} Tables;

static inline void apply_step(uint8_t *dst, const uint8_t *src, const Tables *tables, Window window,
                              const __m256i *add)
{
    __m256i index[VECTORS], high[VECTORS], low[VECTORS];
    for (int v = 0; v < VECTORS; v++)
        index[v] = _mm256_loadu_si256((const void *)(src + 32 * v));
    look_up(high, &tables->high, window, index);
    if (add)
        look_up(low, &tables->low, window, index);
    for (int v = 0; v < VECTORS; v++) {
        if (add) { /* what saturates is larger than the sum, but for a carry equal to it */
            const __m256i sum = _mm256_add_epi8(low[v], *add);
            const __m256i none = _mm256_cmpeq_epi8(_mm256_adds_epu8(low[v], *add), sum);
            high[v] = _mm256_adds_epu8(high[v], _mm256_add_epi8(none, _mm256_set1_epi8(1)));
        }
        _mm256_storeu_si256((void *)(dst + 32 * v), high[v]);
    }
}

/* Samples that are looked up in one window. */
#define WINDOW_SAMPLES (8 * STEP)

/* Where nearly all of the table was needed, so much is looked up without asking again. */
#define MANY_PARTS (PARTS - 3)
#define NOT_ASKED 3

static inline Window window_of(const uint8_t *src, int count)
{
    ByteRange range = empty_range();
    if (count < 32)
        return whole_table;
    for (int x = 0; x + 32 <= count; x += 32) {
        fetch_ahead(src + x);
        add_to_range(&range, _mm256_loadu_si256((const void *)(src + x)));
    }
    add_to_range(&range, _mm256_loadu_si256((const void *)(src + count - 32)));
    const int first = range_first(&range) / 16;
    return (Window){first, range_last(&range) / 16 - first + 1};
}

static inline void apply_window(uint8_t *dst, const uint8_t *src, int width, const Tables *tables,
                                Window window, const __m256i *add)
{
    int x = 0;
    for (; x + STEP <= width; x += STEP) {
        for (int i = 0; i < STEP; i += 64) {
            fetch_ahead(src + x + i);
            fetch_ahead(dst + x + i);
        }
        apply_step(dst + x, src + x, tables, window, add);
    }
    if (x < width) {
        uint8_t in[STEP] = {0}, out[STEP];
        memcpy(in, src + x, (size_t)(width - x));
        apply_step(out, in, tables, window, add);
        memcpy(dst + x, out, (size_t)(width - x));
    }
}

static inline void apply_row(uint8_t *dst, const uint8_t *src, int width, const Tables *tables,
                             const __m256i *add)
{
    int not_asked = 0;
    for (int x = 0; x < width; x += WINDOW_SAMPLES) {
        const int count = width - x < WINDOW_SAMPLES ? width - x : WINDOW_SAMPLES;
        const Window window = not_asked ? whole_table : window_of(src + x, count);
        not_asked = not_asked ? not_asked - 1 : window.parts >= MANY_PARTS ? NOT_ASKED : 0;
        apply_window(dst + x, src + x, count, tables, window, add);
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
    for (int i = 0; i < DEEP_STEP; i += 16)
        _mm256_storeu_si256((void *)(codes + i), codes_of(samples + i, count, most));
}

/* Codes come from memory and samples go there many at a time: a load or a store of each takes
 * longer than putting them together. */
static inline __m128i look_up_eight(const uint16_t *table, const uint64_t codes[2])
{
    const uint64_t a = codes[0], b = codes[1];
    __m128i found = _mm_cvtsi32_si128(table[a & 0xffff]);
    found = _mm_insert_epi16(found, table[a >> 16 & 0xffff], 1);
    found = _mm_insert_epi16(found, table[a >> 32 & 0xffff], 2);
    found = _mm_insert_epi16(found, table[a >> 48], 3);
    found = _mm_insert_epi16(found, table[b & 0xffff], 4);
    found = _mm_insert_epi16(found, table[b >> 16 & 0xffff], 5);
    found = _mm_insert_epi16(found, table[b >> 32 & 0xffff], 6);
    return _mm_insert_epi16(found, table[b >> 48], 7);
}

static inline void apply16_step(uint16_t *dst, const uint16_t *src, const uint16_t *table,
                                __m128i shift, __m256i most)
{
    _Alignas(32) uint64_t codes[DEEP_STEP / 4];
    for (int i = 0; i < DEEP_STEP; i += 32) {
        fetch_ahead(src + i);
        fetch_ahead(dst + i);
    }
    for (int i = 0; i < DEEP_STEP; i += 16)
        _mm256_store_si256((void *)(codes + i / 4), codes_of(src + i, shift, most));
#pragma GCC unroll 8
    for (int i = 0; i < DEEP_STEP; i += 8)
        _mm_storeu_si128((void *)(dst + i), look_up_eight(table, codes + i / 4));
}

static inline void apply16_row(uint16_t *dst, const uint16_t *src, int width, const uint16_t *table,
                               __m128i shift, __m256i most)
{
    int x = 0;
    for (; x + DEEP_STEP <= width; x += DEEP_STEP)
        apply16_step(dst + x, src + x, table, shift, most);
    if (x < width) {
        uint16_t in[DEEP_STEP] = {0}, out[DEEP_STEP];
        memcpy(in, src + x, (size_t)(width - x) * sizeof(*in));
        apply16_step(out, in, table, shift, most);
        memcpy(dst + x, out, (size_t)(width - x) * sizeof(*out));
    }
}

static void apply16(void *dst, ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride,
                    int width, int height, int first, const CurveTable *table,
                    const CurveParams *params)
{
    (void)first;
    const __m256i most = _mm256_set1_epi16((short)((1u << params->depth) - 1));
    const __m128i shift = _mm_cvtsi32_si128(params->shift);
    for (int y = 0; y < height; y++)
        apply16_row((void *)((uint8_t *)dst + y * dst_stride),
                    (const void *)((const uint8_t *)src + y * src_stride), width, table->codes16,
                    shift, most);
}

/* Nodes are read sample by sample; the other loops are made vectors of. `added`: to the samples,
 * over and over. */
static inline void between_step(uint16_t out[DEEP_STEP], const uint16_t codes[DEEP_STEP],
                                const CurveTable *table, const CurveParams *p,
                                const uint32_t added[DEEP_STEP])
{
    const uint32_t last = (1u << p->depth) - 1;
    uint32_t nodes[DEEP_STEP][2]; /* the bin's and the next one's */
    for (int i = 0; i < DEEP_STEP; i++)
        memcpy(nodes[i], &table->nodes[codes[i] >> p->fraction], sizeof(nodes[i]));
    for (int i = 0; i < DEEP_STEP; i++) {
        const uint32_t part = codes[i] & ((1u << p->fraction) - 1);
        out[i] =
            (uint16_t)(curve_between(nodes[i][0], nodes[i][1], part, p->fraction, added[i], last)
                       << p->shift);
    }
}

static void nodes16(void *dst, ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride,
                    int width, int height, int first, const CurveTable *table,
                    const CurveParams *params)
{
    const uint16_t last = (uint16_t)((1u << params->depth) - 1);
    for (int y = 0; y < height; y++) {
        const uint16_t *from = (const void *)((const uint8_t *)src + y * src_stride);
        uint16_t *to = (void *)((uint8_t *)dst + y * dst_stride);
        const uint64_t eight = added_to_eight(params, first + y);
        uint32_t added[DEEP_STEP];
        for (int i = 0; i < DEEP_STEP; i++)
            added[i] = eight >> (8 * (i % 8)) & 255;
        for (int x = 0; x < width; x += DEEP_STEP) {
            const int count = width - x < DEEP_STEP ? width - x : DEEP_STEP;
            uint16_t codes[DEEP_STEP], out[DEEP_STEP];
            find_some_codes(codes, from + x, count, params->shift, last, find_codes);
            between_step(out, codes, table, params, added);
            memcpy(to + x, out, (size_t)count * sizeof(*to));
        }
    }
}

/* ---- chroma ------------------------------------------------------------------------------- */

/* What holds for a row of planes of 8 bits without tiles. */
typedef struct ByteRow {
    const GainBytes *gains;
    __m256i add; /* 16 numbers of 16 bits */
} ByteRow;

/* A block's codes of both components, in planes or in turns in one: each half's by eights, the
 * first and the third in the lower lane. */
static inline void load_codes(__m256i code[2][HALVES], const uint8_t *const src[2], int step)
{
    const __m256i first = _mm256_set1_epi16(0xff);
    for (int i = 0; i < HALVES; i++) {
        if (step == 1) {
            for (int k = 0; k < 2; k++)
                code[k][i] = _mm256_permute4x64_epi64(load_vector(src[k] + 32 * i), 0xd8);
            continue;
        }
        const __m256i a = load_vector(src[0] + 64 * i), b = load_vector(src[0] + 64 * i + 32);
        code[0][i] = _mm256_packus_epi16(_mm256_and_si256(a, first), _mm256_and_si256(b, first));
        code[1][i] = _mm256_packus_epi16(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8));
    }
}

static inline void store_codes(uint8_t *const to[2], __m256i code[2][HALVES], int step)
{
    for (int i = 0; i < HALVES; i++) {
        if (step == 1) {
            for (int k = 0; k < 2; k++)
                store_vector(to[k] + 32 * i, _mm256_permute4x64_epi64(code[k][i], 0xd8));
            continue;
        }
        store_vector(to[0] + 64 * i, _mm256_unpacklo_epi8(code[0][i], code[1][i]));
        store_vector(to[0] + 64 * i + 32, _mm256_unpackhi_epi8(code[0][i], code[1][i]));
    }
}

/* The gains of a block's pixels in 16 bits, in the order of the codes; answers whether something
 * ends a gain. */
static inline int look_up_gains(__m256i gain[2 * HALVES], __m256i code[2][HALVES],
                                const uint8_t *mean, Window window, const GainBytes *gains)
{
    __m256i cell[HALVES], found[3][HALVES], beyond = _mm256_setzero_si256();
    for (int i = 0; i < HALVES; i++)
        cell[i] = _mm256_permute4x64_epi64(load_vector(mean + 32 * i), 0xd8);
    look_up_bytes(found, gains->gain, 3, window, cell);
    join_bytes(gain, found[0], found[1]);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < HALVES; i++) {
            const __m256i off = _mm256_xor_si256(code[k][i], _mm256_set1_epi8(-128));
            const __m256i far = _mm256_subs_epu8(_mm256_abs_epi8(off), found[2][i]);
            beyond = _mm256_or_si256(beyond, far);
        }
    return !_mm256_testz_si256(beyond, beyond);
}

/* As curve_chroma(). */
static inline __m256i scale_codes(__m256i code, __m256i gain, __m256i add, const CurveLegal *legal)
{
    const __m256i middle = _mm256_set1_epi16((short)legal->middle), one = _mm256_set1_epi16(1);
    const __m256i off = _mm256_sub_epi16(code, middle);
    const __m256i low =
        _mm256_madd_epi16(_mm256_unpacklo_epi16(off, add), _mm256_unpacklo_epi16(gain, one));
    const __m256i high =
        _mm256_madd_epi16(_mm256_unpackhi_epi16(off, add), _mm256_unpackhi_epi16(gain, one));
    const __m256i moved =
        _mm256_packs_epi32(_mm256_srai_epi32(low, 12), _mm256_srai_epi32(high, 12));
    const __m256i most = _mm256_max_epi16(code, _mm256_set1_epi16((short)legal->high));
    const __m256i least = _mm256_min_epi16(code, _mm256_set1_epi16((short)legal->low));
    return _mm256_max_epi16(_mm256_min_epi16(_mm256_add_epi16(middle, moved), most), least);
}

static inline void scale_bytes(uint8_t *const to[2], const uint8_t *const from[2], int step,
                               const uint8_t *mean, Window window, const ByteRow *bytes,
                               const ChromaRow *row, int x)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i gain[2 * HALVES], code[2][HALVES];
    load_codes(code, from, step);
    if (look_up_gains(gain, code, mean, window, bytes->gains)) {
        uint16_t means[CHROMA_BLOCK];
        ChromaCodes codes;
        for (int i = 0; i < CHROMA_BLOCK; i++)
            means[i] = mean[i];
        chroma_load8(codes, from, step, row);
        chroma_block(codes, means, row, x);
        chroma_store8(to, codes, step, row);
        return;
    }
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < HALVES; i++) {
            const __m256i low = scale_codes(_mm256_unpacklo_epi8(code[k][i], zero), gain[2 * i],
                                            bytes->add, &row->legal);
            const __m256i high = scale_codes(_mm256_unpackhi_epi8(code[k][i], zero),
                                             gain[2 * i + 1], bytes->add, &row->legal);
            code[k][i] = _mm256_packus_epi16(low, high);
        }
    store_codes(to, code, step);
}

static inline void find_means(uint8_t *mean, const uint8_t *a, const uint8_t *b, int sub_x,
                              int blocks)
{
    for (int i = 0; i < blocks * CHROMA_BLOCK; i += 32)
        store_vector(mean + i, sub_x ? means_of_4(a + 2 * i, b + 2 * i)
                                     : _mm256_avg_epu8(load_vector(a + i), load_vector(b + i)));
}

static inline void scale_row(uint8_t *const to[2], const uint8_t *const from[2],
                             const uint8_t *const luma[2], int step, const LumeqChromaRows *r,
                             const ByteRow *bytes, const ChromaRow *row)
{
    const int width = (r->luma_width + r->sub_x) >> r->sub_x, whole = r->luma_width >> r->sub_x;
    int x = 0;
    while (x + CHROMA_BLOCK <= whole) {
        uint8_t mean[SOME_BLOCKS * CHROMA_BLOCK];
        Window windows[SOME_BLOCKS];
        const int blocks = some_blocks(whole - CHROMA_BLOCK + 1, x);
        find_means(mean, luma[0] + (x << r->sub_x), luma[1] + (x << r->sub_x), r->sub_x, blocks);
        find_byte_windows(windows, mean, blocks);
        for (int i = 0; i < blocks; i++, x += CHROMA_BLOCK)
            scale_bytes((uint8_t *[2]){to[0] + x * step, to[1] + x * step},
                        (const uint8_t *[2]){from[0] + x * step, from[1] + x * step}, step,
                        mean + i * CHROMA_BLOCK, windows[i], bytes, row, x);
    }
    if (x < width)
        chroma_last8((uint8_t *[2]){to[0] + x * step, to[1] + x * step},
                     (const uint8_t *[2]){from[0] + x * step, from[1] + x * step},
                     (const uint8_t *[2]){luma[0] + (x << r->sub_x), luma[1] + (x << r->sub_x)},
                     r->luma_width - (x << r->sub_x), x, width - x, r, row);
}

/* Without tiles. */
static void scale_chroma(const LumeqChromaRows *r, const CurveTable *table,
                         const CurveParams *params)
{
    ChromaRow row = chroma_rows(r, table, params, NULL, NULL);
    GainBytes gains;
    ByteRow bytes = {.gains = &gains};
    make_gain_bytes(&gains, table->gain, row.legal.range);
    for (int y = 0; y < r->height; y++) {
        const uint8_t *from[2], *luma[2];
        uint8_t *to[2];
        for (int i = 0; i < 2; i++) {
            const int line = chroma_min((y << r->sub_y) + (i & r->sub_y), r->luma_height - 1);
            luma[i] = (const uint8_t *)r->luma + line * r->luma_stride;
            from[i] = (const uint8_t *)r->src[i] + y * r->src_stride[i];
            to[i] = (uint8_t *)r->dst[i] + y * r->dst_stride[i];
        }
        chroma_add(&row, params, r->y + y);
        bytes.add = _mm256_permute4x64_epi64(
            _mm256_packs_epi32(load_vector(row.add), load_vector(row.add + 8)), 0xd8);
        if (r->step == 1)
            scale_row(to, from, luma, 1, r, &bytes, &row);
        else
            scale_row(to, from, luma, 2, r, &bytes, &row);
    }
}

static void chroma8(const LumeqChromaRows *rows, const CurveTable *table, const CurveParams *params)
{
    LumeqKernels c;
    if (chroma_has_blocks(rows) && !rows->grid) {
        scale_chroma(rows, table, params);
        return;
    }
    lumeq_kernels_c(&c);
    (chroma_has_blocks(rows) ? chroma8_in_blocks : c.chroma8)(rows, table, params);
}

static void chroma16(const LumeqChromaRows *rows, const CurveTable *table,
                     const CurveParams *params)
{
    LumeqKernels c;
    lumeq_kernels_c(&c);
    (chroma_has_blocks(rows) ? chroma16_in_blocks : c.chroma16)(rows, table, params);
}

void lumeq_kernels_avx2(LumeqKernels *kernels)
{
    kernels->histogram8 = lumeq_histogram8_avx2;
    kernels->histogram16 = lumeq_histogram16_avx2;
    kernels->sum8 = sum8;
    kernels->sum16 = sum16;
    kernels->apart8 = apart8;
    kernels->apart16 = apart16;
    kernels->apply8 = apply8;
    kernels->apply16 = apply16;
    kernels->nodes8 = nodes8;
    kernels->nodes16 = nodes16;
    kernels->chroma8 = chroma8;
    kernels->chroma16 = chroma16;
    kernels->tile_row8 = lumeq_tile_row8_avx2;
    kernels->tile_row16 = tile_row16;
    kernels->lift = lumeq_lift_avx2;
}
