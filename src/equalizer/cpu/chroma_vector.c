/*
 * Chroma in vectors: the means of luma are looked up in byte tables of gains, by shuffles. Tiles,
 * and blocks with limited gains, use loops that the compiler vectorizes. Without tiles, gains are
 * at most CURVE_GAIN_MOST: lifted pictures with more use the filter instead.
 */
#include <string.h>

#include "equalizer/cpu/chroma_blocks.h"
#include "equalizer/cpu/gain_bytes.h"
#include "equalizer/cpu/kernels.h"
#include "equalizer/cpu/vector.h"

#define VECTORS (CHROMA_BLOCK / 16) /* vectors of 16-bit values in a block */

typedef struct ChromaGains {
    GainBytes bytes;
    __m256i add; /* 16 values of 16 bits */
} ChromaGains;

typedef struct ChromaMeans {
    uint8_t mean[SOME_BLOCKS * CHROMA_BLOCK];
    Window windows[SOME_BLOCKS];
} ChromaMeans;

/* Loads a block's codes of both components, planar or interleaved. Each half alternates groups of
 * eight: the first and third are in the lower lane. */
static inline void load_codes8(__m256i code[2][HALVES], const uint8_t *const src[2], int step)
{
    const __m256i first = _mm256_set1_epi16(0xff);
    for (int i = 0; i < HALVES; i++) {
        if (step == 1) {
            for (int k = 0; k < 2; k++)
                code[k][i] = swap_middle(load_vector(src[k] + 32 * i));
            continue;
        }
        const __m256i a = load_vector(src[0] + 64 * i), b = load_vector(src[0] + 64 * i + 32);
        code[0][i] = _mm256_packus_epi16(_mm256_and_si256(a, first), _mm256_and_si256(b, first));
        code[1][i] = _mm256_packus_epi16(_mm256_srli_epi16(a, 8), _mm256_srli_epi16(b, 8));
    }
}

static inline void store_codes8(uint8_t *const to[2], __m256i code[2][HALVES], int step)
{
    for (int i = 0; i < HALVES; i++) {
        if (step == 1) {
            for (int k = 0; k < 2; k++)
                store_vector(to[k] + 32 * i, swap_middle(code[k][i]));
            continue;
        }
        store_vector(to[0] + 64 * i, _mm256_unpacklo_epi8(code[0][i], code[1][i]));
        store_vector(to[0] + 64 * i + 32, _mm256_unpackhi_epi8(code[0][i], code[1][i]));
    }
}

/* Looks up the gains of a block's pixels in 16 bits, in the order of the codes; returns whether any
 * gain is limited. */
static inline int look_up_gains8(__m256i gain[VECTORS], __m256i code[2][HALVES],
                                 const uint8_t *mean, Window window, const GainBytes *gains)
{
    __m256i cell[HALVES], found[3][HALVES], beyond = _mm256_setzero_si256();
    for (int i = 0; i < HALVES; i++)
        cell[i] = swap_middle(load_vector(mean + 32 * i));
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

static inline __m256i scale_bytes(__m256i code, __m256i gain, const ChromaGains *gains,
                                  const CurveLegal *legal)
{
    const __m256i middle = _mm256_set1_epi16((short)legal->middle), one = _mm256_set1_epi16(1);
    const __m256i off = _mm256_sub_epi16(code, middle);
    return _mm256_add_epi16(scale_within(off, off, gain, gains->add, one, 12, legal), middle);
}

/* Returns whether no gain is limited; otherwise it writes nothing. `step`: of input and output,
 * constants where it matters. */
static inline __attribute__((always_inline)) int
scale_block8(uint8_t *const to[2], const uint8_t *const from[2], const int step[2],
             const ChromaMeans *means, int block, const ChromaGains *gains, const ChromaRow *row)
{
    const uint8_t *const mean = means->mean + block * CHROMA_BLOCK;
    const Window window = means->windows[block];
    const __m256i zero = _mm256_setzero_si256();
    __m256i gain[VECTORS], code[2][HALVES];
    load_codes8(code, from, step[0]);
    if (look_up_gains8(gain, code, mean, window, &gains->bytes))
        return 0;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < HALVES; i++)
            code[k][i] = _mm256_packus_epi16(scale_bytes(_mm256_unpacklo_epi8(code[k][i], zero),
                                                         gain[2 * i], gains, &row->legal),
                                             scale_bytes(_mm256_unpackhi_epi8(code[k][i], zero),
                                                         gain[2 * i + 1], gains, &row->legal));
    store_codes8(to, code, step[1]);
    return 1;
}

static inline void find_means8(ChromaMeans *means, const uint8_t *a, const uint8_t *b, int sub_x,
                               int blocks, const ChromaRow *row)
{
    (void)row;
    for (int i = 0; i < blocks * CHROMA_BLOCK; i += 32)
        store_vector(means->mean + i,
                     sub_x ? means_of_4(a + 2 * i, b + 2 * i)
                           : _mm256_avg_epu8(load_vector(a + i), load_vector(b + i)));
    find_byte_windows(means->windows, means->mean, blocks);
}

/* Loads the distances from gray of a block's codes of both components, planar or interleaved. */
static inline void load_offs(__m256i off[2][VECTORS], const uint16_t *const src[2], int step,
                             const ChromaRow *row)
{
    const __m256i last = _mm256_set1_epi16((short)row->last), zero = _mm256_setzero_si256();
    const __m256i middle = _mm256_set1_epi16((short)row->legal.middle);
    for (int i = 0; i < VECTORS; i++) {
        __m256i both[2];
        if (step == 1) {
            for (int k = 0; k < 2; k++)
                both[k] = load_vector(src[k] + 16 * i);
        } else {
            const __m256i a = load_vector(src[0] + 32 * i), b = load_vector(src[0] + 32 * i + 16);
            both[0] = swap_middle(_mm256_packus_epi32(_mm256_blend_epi16(a, zero, 0xaa),
                                                      _mm256_blend_epi16(b, zero, 0xaa)));
            both[1] = swap_middle(
                _mm256_packus_epi32(_mm256_srli_epi32(a, 16), _mm256_srli_epi32(b, 16)));
        }
        for (int k = 0; k < 2; k++)
            off[k][i] = _mm256_sub_epi16(
                _mm256_min_epu16(_mm256_srli_epi16(both[k], row->shift), last), middle);
    }
}

static inline void store_offs(uint16_t *const to[2], const __m256i off[2][VECTORS], int step,
                              const ChromaRow *row)
{
    const __m256i middle = _mm256_set1_epi16((short)row->legal.middle);
    for (int i = 0; i < VECTORS; i++) {
        __m256i both[2];
        for (int k = 0; k < 2; k++)
            both[k] = _mm256_slli_epi16(_mm256_add_epi16(off[k][i], middle), row->shift);
        if (step == 1) {
            for (int k = 0; k < 2; k++)
                store_vector(to[k] + 16 * i, both[k]);
            continue;
        }
        const __m256i a = swap_middle(both[0]), b = swap_middle(both[1]);
        store_vector(to[0] + 32 * i, _mm256_unpacklo_epi16(a, b));
        store_vector(to[0] + 32 * i + 16, _mm256_unpackhi_epi16(a, b));
    }
}

static inline __attribute__((always_inline)) int
scale_block16(uint16_t *const to[2], const uint16_t *const from[2], const int step[2],
              const ChromaMeans *means, int block, const ChromaGains *gains, const ChromaRow *row)
{
    const uint8_t *const mean = means->mean + block * CHROMA_BLOCK;
    const Window window = means->windows[block];
    const __m256i one = _mm256_set1_epi16(1);
    __m256i gain[VECTORS], most[VECTORS], off[2][VECTORS], beyond = _mm256_setzero_si256();
    load_offs(off, from, step[0], row);
    look_up_gains(gain, most, mean, window, &gains->bytes);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < VECTORS; i++) {
            const __m256i far = _mm256_slli_epi16(_mm256_abs_epi16(off[k][i]), 8 - row->down);
            beyond = _mm256_or_si256(beyond, _mm256_subs_epu16(far, most[i]));
        }
    if (!_mm256_testz_si256(beyond, beyond))
        return 0;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < VECTORS; i++)
            off[k][i] =
                scale_within(off[k][i], off[k][i], gain[i], gains->add, one, 12, &row->legal);
    store_offs(to, (const __m256i(*)[VECTORS])off, step[1], row);
    return 1;
}

/* The means of 32 pixels that cover two samples each. */
static inline __m256i deep_means_of_2(const uint16_t *a, const uint16_t *b, const ChromaRow *row)
{
    const __m256i last = _mm256_set1_epi16((short)row->last);
    __m256i mean[2];
    for (int i = 0; i < 2; i++) {
        const __m256i one = _mm256_srli_epi16(load_vector(a + 16 * i), row->shift);
        const __m256i other = _mm256_srli_epi16(load_vector(b + 16 * i), row->shift);
        mean[i] = _mm256_srli_epi16(
            _mm256_avg_epu16(_mm256_min_epu16(one, last), _mm256_min_epu16(other, last)),
            row->down);
    }
    return swap_middle(_mm256_packus_epi16(mean[0], mean[1]));
}

static inline void find_means16(ChromaMeans *means, const uint16_t *a, const uint16_t *b, int sub_x,
                                int blocks, const ChromaRow *row)
{
    for (int i = 0; i < blocks * CHROMA_BLOCK; i += 32)
        store_vector(means->mean + i,
                     sub_x ? deep_means_of_4(a + 2 * i, b + 2 * i, row->shift, row->down + 8)
                           : deep_means_of_2(a + i, b + i, row));
    find_byte_windows(means->windows, means->mean, blocks);
}

/* A block with limited gains. */
#define DEFINE_SCALE_ENDED(bits)                                                                   \
    static void scale_ended##bits(uint##bits##_t *const to[2],                                     \
                                  const uint##bits##_t *const from[2], const int step[2],          \
                                  const uint8_t *mean, const ChromaRow *row, int x)                \
    {                                                                                              \
        uint16_t means[CHROMA_BLOCK];                                                              \
        ChromaCodes codes;                                                                         \
        for (int i = 0; i < CHROMA_BLOCK; i++)                                                     \
            means[i] = mean[i];                                                                    \
        chroma_load##bits(codes, from, step[0], row);                                              \
        chroma_block(codes, means, row, x);                                                        \
        chroma_store##bits(to, codes, step[1], row);                                               \
    }

DEFINE_SCALE_ENDED(8)
DEFINE_SCALE_ENDED(16)

#define DEFINE_CHROMA(bits, name)                                                                  \
    /* Scales the whole blocks of a row and returns their number of pixels. */                     \
    static inline __attribute__((always_inline)) int scale_blocks##bits(                           \
        uint##bits##_t *const to[2], const uint##bits##_t *const from[2],                          \
        const uint##bits##_t *const luma[2], int in, int out, const LumeqChromaRows *r,            \
        const ChromaGains *gains, const ChromaRow *row)                                            \
    {                                                                                              \
        const int step[2] = {in, out};                                                             \
        const int sub_x = r->sub_x, whole = (r->luma_width >> sub_x) / CHROMA_BLOCK;               \
        int x = 0;                                                                                 \
        for (int first = 0; first < whole; first += SOME_BLOCKS) {                                 \
            const int blocks = chroma_min(whole - first, SOME_BLOCKS), over = x << sub_x;          \
            ChromaMeans means;                                                                     \
            find_means##bits(&means, luma[0] + over, luma[1] + over, sub_x, blocks, row);          \
            for (int i = 0; i < blocks; i++, x += CHROMA_BLOCK) {                                  \
                uint##bits##_t *const dst[2] = {to[0] + x * out, to[1] + x * out};                 \
                const uint##bits##_t *const src[2] = {from[0] + x * in, from[1] + x * in};         \
                if (!scale_block##bits(dst, src, step, &means, i, gains, row))                     \
                    scale_ended##bits(dst, src, step, means.mean + i * CHROMA_BLOCK, row, x);      \
            }                                                                                      \
        }                                                                                          \
        return x;                                                                                  \
    }                                                                                              \
    static void scale_chroma##bits(const LumeqChromaRows *r, const CurveTable *table,              \
                                   const CurveParams *params)                                      \
    {                                                                                              \
        const int sub_x = r->sub_x, width = (r->luma_width + sub_x) >> sub_x;                      \
        ChromaRow row = chroma_rows(r, table, params, NULL, NULL);                                 \
        ChromaGains gains;                                                                         \
        make_gain_bytes(&gains.bytes, table->gain, row.legal.range);                               \
        for (int y = 0; y < r->height; y++) {                                                      \
            const ChromaLines lines = chroma_lines(r, y);                                          \
            uint##bits##_t *const to[2] = {lines.to[0], lines.to[1]};                              \
            const uint##bits##_t *const from[2] = {lines.from[0], lines.from[1]};                  \
            const uint##bits##_t *const luma[2] = {lines.luma[0], lines.luma[1]};                  \
            chroma_add(&row, params, r->y + y);                                                    \
            gains.add =                                                                            \
                swap_middle(_mm256_packs_epi32(load_vector(row.add), load_vector(row.add + 8)));   \
            const int x =                                                                          \
                r->step != r->out_step                                                             \
                    ? scale_blocks##bits(to, from, luma, r->step, r->out_step, r, &gains, &row)    \
                : r->step == 1 ? scale_blocks##bits(to, from, luma, 1, 1, r, &gains, &row)         \
                               : scale_blocks##bits(to, from, luma, 2, 2, r, &gains, &row);        \
            if (x < width)                                                                         \
                chroma_last##bits(                                                                 \
                    (uint##bits##_t *[2]){to[0] + x * r->out_step, to[1] + x * r->out_step},       \
                    (const uint##bits##_t *[2]){from[0] + x * r->step, from[1] + x * r->step},     \
                    (const uint##bits##_t *[2]){luma[0] + (x << sub_x), luma[1] + (x << sub_x)},   \
                    r->luma_width - (x << sub_x), x, width - x, r, &row);                          \
        }                                                                                          \
    }                                                                                              \
    void name(const LumeqChromaRows *rows, const CurveTable *table, const CurveParams *params)     \
    {                                                                                              \
        LumeqKernels c;                                                                            \
        if (chroma_has_blocks(rows) && !rows->grid) {                                              \
            scale_chroma##bits(rows, table, params);                                               \
            return;                                                                                \
        }                                                                                          \
        lumeq_kernels_c(&c);                                                                       \
        (chroma_has_blocks(rows) ? chroma##bits##_in_blocks : c.chroma##bits)(rows, table,         \
                                                                              params);             \
    }

DEFINE_CHROMA(8, VECTOR_NAME(lumeq_chroma8))
DEFINE_CHROMA(16, VECTOR_NAME(lumeq_chroma16))
