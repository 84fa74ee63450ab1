/* Kernels in vectors. */
#include <string.h>

#include "equalizer/cpu/bound_loops.h"
#include "equalizer/cpu/byte_table.h"
#include "equalizer/cpu/kernels.h"
#include "equalizer/cpu/kernels_common.h"
#include "equalizer/cpu/tile_row_reference.h"
#include "equalizer/cpu/tile_rows.h"
#include "equalizer/cpu/tint_loops.h"
#include "equalizer/cpu/vector.h"

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

DEFINE_SUM(16)

/* Adds two of the four 64-bit lanes. */
static inline uint32_t pair_sum(__m256i sums, int block)
{
    const __m128i half = block ? _mm256_extracti128_si256(sums, 1) : _mm256_castsi256_si128(sums);
    return (uint32_t)(_mm_cvtsi128_si32(half) + _mm_extract_epi32(half, 2));
}

/* Finds the sums of one block or of two adjacent blocks. */
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

/* Sums 16 numbers of 16 bits into four 64-bit lanes. */
static inline __m256i sum_of_16(__m256i numbers)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i low = _mm256_sad_epu8(_mm256_and_si256(numbers, _mm256_set1_epi16(255)), zero);
    const __m256i high = _mm256_sad_epu8(_mm256_srli_epi16(numbers, 8), zero);
    return _mm256_add_epi64(low, _mm256_slli_epi64(high, 8));
}

static void apart16(NoiseSums *sums, const void *now, ptrdiff_t now_stride, const void *before,
                    ptrdiff_t before_stride, int columns, const CurveParams *params)
{
    const int shift = params->shift;
    const __m256i last = _mm256_set1_epi16((short)((1u << params->depth) - 1));
    for (int i = 0; i < columns; i++) {
        const uint8_t *a = (const uint8_t *)now + (ptrdiff_t)i * NOISE_BLOCK * 2;
        const uint8_t *b = (const uint8_t *)before + (ptrdiff_t)i * NOISE_BLOCK * 2;
        __m256i sum = _mm256_setzero_si256(), old = sum, apart = sum;
        for (int y = 0; y < NOISE_BLOCK; y++, a += now_stride, b += before_stride) {
            const __m256i x = deep_codes((const void *)a, shift, last);
            const __m256i z = deep_codes((const void *)b, shift, last);
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

static const Window whole_table = {0, PARTS};

#define VECTORS (VECTOR_REGISTERS / 4) /* looked up together, so that each part is loaded once */
#define STEP (32 * VECTORS)

/* XORs the entries of `parts` parts, from `first` on, into `found`. `at`: index - 16 * first. */
static inline void look_up_half(__m256i found[VECTORS], const ByteTable *table, int first,
                                int parts, __m256i at[VECTORS])
{
    const __m256i sixteen = _mm256_set1_epi8(16);
    const __m256i start = _mm256_broadcastsi128_si256(table->part[first]);
    for (int v = 0; v < VECTORS; v++)
        found[v] = _mm256_xor_si256(found[v], _mm256_shuffle_epi8(start, at[v]));
#pragma GCC unroll 1 /* otherwise there are more sums than registers */
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
    ByteTable high, low; /* codes and fractions of nodes; without nodes, `high` has output codes */
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
        if (add) { /* without a carry, the saturated sum equals the sum */
            const __m256i sum = _mm256_add_epi8(low[v], *add);
            const __m256i none = _mm256_cmpeq_epi8(_mm256_adds_epu8(low[v], *add), sum);
            high[v] = _mm256_adds_epu8(high[v], _mm256_add_epi8(none, _mm256_set1_epi8(1)));
        }
        _mm256_storeu_si256((void *)(dst + 32 * v), high[v]);
    }
}

#define WINDOW_SAMPLES (8 * STEP) /* number of samples that share a window */

/* After a window of MANY_PARTS parts or more, the next NOT_ASKED windows use the whole table. */
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

/* Codes and results are packed, because separate loads and stores would take longer. */
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
                                int shift, __m256i most)
{
    _Alignas(32) uint64_t codes[DEEP_STEP / 4];
    for (int i = 0; i < DEEP_STEP; i += 32) {
        fetch_ahead(src + i);
        fetch_ahead(dst + i);
    }
    for (int i = 0; i < DEEP_STEP; i += 16)
        _mm256_store_si256((void *)(codes + i / 4), deep_codes(src + i, shift, most));
#pragma GCC unroll 8
    for (int i = 0; i < DEEP_STEP; i += 8)
        _mm_storeu_si128((void *)(dst + i), look_up_eight(table, codes + i / 4));
}

static inline void apply16_row(uint16_t *dst, const uint16_t *src, int width, const uint16_t *table,
                               int shift, __m256i most)
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
    const int shift = params->shift;
    for (int y = 0; y < height; y++)
        apply16_row((void *)((uint8_t *)dst + y * dst_stride),
                    (const void *)((const uint8_t *)src + y * src_stride), width, table->codes16,
                    shift, most);
}

/* The compiler vectorizes the second loop. `added`: dither or rounding of each sample. */
static inline void between_step(uint16_t out[DEEP_STEP], const uint16_t codes[DEEP_STEP],
                                const CurveTable *table, const CurveParams *p,
                                const uint32_t added[DEEP_STEP])
{
    const uint32_t last = (1u << p->depth) - 1;
    uint32_t nodes[DEEP_STEP][2]; /* of the bin and of the next */
    for (int i = 0; i < DEEP_STEP; i++)
        memcpy(nodes[i], &table->nodes[codes[i] >> p->fraction], sizeof(nodes[i]));
    for (int i = 0; i < DEEP_STEP; i++) {
        const uint32_t part = codes[i] & ((1u << p->fraction) - 1);
        out[i] =
            (uint16_t)(curve_between(nodes[i][0], nodes[i][1], part, p->fraction, added[i], last)
                       << p->shift);
    }
}

/* Like between_step(), with one code per bin. */
static inline void node_step(uint16_t out[DEEP_STEP], const uint16_t codes[DEEP_STEP],
                             const CurveTable *table, const CurveParams *p,
                             const uint32_t added[DEEP_STEP])
{
    const uint32_t last = (1u << p->depth) - 1;
    uint32_t nodes[DEEP_STEP];
    for (int i = 0; i < DEEP_STEP; i++)
        nodes[i] = table->nodes[codes[i]];
    for (int i = 0; i < DEEP_STEP; i++)
        out[i] = (uint16_t)(curve_between(nodes[i], nodes[i], 0, 0, added[i], last) << p->shift);
}

static void nodes16(void *dst, ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride,
                    int width, int height, int first, const CurveTable *table,
                    const CurveParams *params)
{
    const __m256i most = _mm256_set1_epi16((short)((1u << params->depth) - 1));
    for (int y = 0; y < height; y++) {
        const uint16_t *from = (const void *)((const uint8_t *)src + y * src_stride);
        uint16_t *to = (void *)((uint8_t *)dst + y * dst_stride);
        const uint64_t eight = added_to_eight(params, first + y);
        uint32_t added[DEEP_STEP];
        for (int i = 0; i < DEEP_STEP; i++)
            added[i] = eight >> (8 * (i % 8)) & 255;
        for (int x = 0; x < width; x += DEEP_STEP) {
            const int count = width - x < DEEP_STEP ? width - x : DEEP_STEP;
            uint16_t some[DEEP_STEP] = {0}, codes[DEEP_STEP], out[DEEP_STEP];
            if (count < DEEP_STEP)
                memcpy(some, from + x, (size_t)count * sizeof(*some));
            for (int i = 0; i < DEEP_STEP; i += 16)
                _mm256_storeu_si256(
                    (void *)(codes + i),
                    deep_codes((count < DEEP_STEP ? some : from + x) + i, params->shift, most));
            (params->fraction ? between_step : node_step)(out, codes, table, params, added);
            memcpy(to + x, out, (size_t)count * sizeof(*to));
        }
    }
}

/* ---- tile rows above 8 bits ---- */

#define TILE_BLOCK 32 /* samples; a multiple of the dither's period of 8 */
#define TILE_PERIOD 8

typedef struct TileBlock {
    uint32_t left[TILE_BLOCK], right[TILE_BLOCK];
} TileBlock;

static inline void tile_look_up(TileBlock *restrict block, const TilePiece *at, const uint16_t *in,
                                const CurveParams *p)
{
    const uint32_t last = (1u << p->depth) - 1;
    uint32_t part[TILE_BLOCK], left[TILE_BLOCK][2], right[TILE_BLOCK][2];
    for (int i = 0; i < TILE_BLOCK; i++) {
        const uint32_t sample = (uint32_t)in[i] >> p->shift;
        part[i] = sample < last ? sample : last;
    }
    for (int i = 0; i < TILE_BLOCK; i++) { /* a node and the next */
        memcpy(left[i], &at->left[part[i] >> p->fraction], sizeof(left[i]));
        memcpy(right[i], &at->right[part[i] >> p->fraction], sizeof(right[i]));
    }
    for (int i = 0; i < TILE_BLOCK; i++) {
        const uint32_t in_cell = part[i] & ((1u << p->fraction) - 1);
        block->left[i] = tile_between(left[i][0], left[i][1], in_cell, p->fraction);
        block->right[i] = tile_between(right[i][0], right[i][1], in_cell, p->fraction);
    }
}

/* `add`: dither or rounding of each sample. */
static inline void tile_weigh(uint32_t *restrict codes, const TileBlock *block, const TilePiece *at,
                              const uint32_t *add, uint32_t last)
{
    for (int i = 0; i < TILE_BLOCK; i++) {
        const uint32_t weight = tile_weight(at->phase + (uint32_t)i * at->step);
        codes[i] = tile_code(tile_lerp(block->left[i], block->right[i], weight), add[i], last);
    }
}

static inline void tile_block(uint16_t *out, const uint16_t *in, const TilePiece *at,
                              const uint32_t *add, const CurveParams *p, int count)
{
    TileBlock block;
    uint32_t codes[TILE_BLOCK];
    tile_look_up(&block, at, in, p);
    tile_weigh(codes, &block, at, add, (1u << p->depth) - 1);
    if (count == TILE_BLOCK)
        for (int i = 0; i < TILE_BLOCK; i++)
            out[i] = (uint16_t)(codes[i] << p->shift);
    else
        for (int i = 0; i < count; i++)
            out[i] = (uint16_t)(codes[i] << p->shift);
}

static void tile_row16(const TileGrid *grid, const TileTables *tables, void *dst, const void *src,
                       int left, int right, int y)
{
    const CurveParams *p = &grid->curve;
    uint32_t added[TILE_PERIOD + TILE_BLOCK];
    TileRow row;
    tile_row_weigh(&row, grid, tables, y);
    tile_added(added, TILE_PERIOD + TILE_BLOCK, p, y - row.inside.y);
    for (int piece = 0; piece <= grid->x.tiles; piece++) {
        TilePiece at = tile_piece_of(&row, grid, piece, left, right);
        for (int x = at.start; x < at.end; x += TILE_BLOCK, at.phase += TILE_BLOCK * at.step) {
            const int count = at.end - x < TILE_BLOCK ? at.end - x : TILE_BLOCK;
            const uint16_t *in = (const uint16_t *)src + x;
            uint16_t some[TILE_BLOCK] = {0};
            if (count < TILE_BLOCK)
                in = memcpy(some, in, (size_t)count * sizeof(*in));
            tile_block((uint16_t *)dst + x, in, &at,
                       added + ((x - row.inside.x) & (TILE_PERIOD - 1)), p, count);
        }
    }
}

void VECTOR_NAME(lumeq_kernels)(LumeqKernels *kernels)
{
    kernels->histogram8 = VECTOR_NAME(lumeq_histogram8);
    kernels->histogram16 = VECTOR_NAME(lumeq_histogram16);
    kernels->sum8 = sum8;
    kernels->sum16 = sum16;
    kernels->apart8 = apart8;
    kernels->apart16 = apart16;
    kernels->apply8 = apply8;
    kernels->apply16 = apply16;
    kernels->nodes8 = nodes8;
    kernels->nodes16 = nodes16;
    kernels->chroma8 = VECTOR_NAME(lumeq_chroma8);
    kernels->chroma16 = VECTOR_NAME(lumeq_chroma16);
    kernels->bound8 = bound8;
    kernels->bound16 = bound16;
    kernels->tint8 = tint8;
    kernels->tint16 = tint16;
    kernels->clear8 = clear8;
    kernels->clear16 = clear16;
    kernels->tile_row8 = VECTOR_NAME(lumeq_tile_row8);
    kernels->tile_row16 = tile_row16;
    kernels->tile_row_reference = tile_row_reference;
    kernels->pixels_to_planes8 = VECTOR_NAME(lumeq_pixels_to_planes8);
    kernels->planes_to_pixels8 = VECTOR_NAME(lumeq_planes_to_pixels8);
    kernels->lift = VECTOR_NAME(lumeq_lift);
}
