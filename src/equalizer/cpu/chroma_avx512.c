/*
 * Chroma for AVX-512 with VBMI: gains from byte tables. Tiles, and blocks with limited gains, use
 * loops that the compiler vectorizes.
 */
#include <immintrin.h>

#include "equalizer/cpu/byte_table512.h"
#define BLOCKS_AT_ONCE 1
#include "equalizer/cpu/chroma_planes.h"
#include "equalizer/cpu/kernels.h"

/*
 * A block is two vectors of 16-bit values, in the order of its pixels. Lookups return bytes;
 * unpacking turns these into the two vectors, so packing must first arrange the indices: groups of
 * eight, alternately from the first and the second half of the block.
 */
#define VECTORS 2

typedef struct ChromaGains {
    ByteTable512 gain[2], free; /* by cell: the two bytes of the gain, and curve_free() */
    __m512i add;                /* 32 values of 16 bits */
} ChromaGains;

typedef __m512i ChromaMeans;

static inline __m512i load(const void *from)
{
    return _mm512_loadu_si512(from);
}

static inline void store(void *to, __m512i vector)
{
    _mm512_storeu_si512(to, vector);
}

/* Converts the order of pixels to that of packing, and back. */
static inline __m512i by_eights(__m512i bytes)
{
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7), bytes);
}

static inline __m512i in_order(__m512i bytes)
{
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), bytes);
}

/* Looks up the gains of a block's pixels, and the distance from gray in codes of 8 bits up to which
 * no gain is limited. */
static inline void look_up_gains(__m512i gain[VECTORS], __m512i free[VECTORS], __m512i mean,
                                 const ChromaGains *gains)
{
    const __m512i zero = _mm512_setzero_si512();
    const __m512i low = look_up_byte(&gains->gain[0], mean);
    const __m512i high = look_up_byte(&gains->gain[1], mean);
    const __m512i most = look_up_byte(&gains->free, mean);
    gain[0] = _mm512_unpacklo_epi8(low, high);
    gain[1] = _mm512_unpackhi_epi8(low, high);
    free[0] = _mm512_unpacklo_epi8(most, zero);
    free[1] = _mm512_unpackhi_epi8(most, zero);
}

/* Clamps 32 components, `scaled` codes off gray, to the legal codes or their input `was`. */
static inline __m512i within(__m512i scaled, __m512i was, const CurveLegal *legal)
{
    const __m512i high = _mm512_set1_epi16((short)(legal->high - legal->middle));
    const __m512i low = _mm512_set1_epi16((short)(legal->low - legal->middle));
    return _mm512_max_epi16(_mm512_min_epi16(scaled, _mm512_max_epi16(was, high)),
                            _mm512_min_epi16(was, low));
}

/* Loads the distances from gray of a block's codes of both components, planar or interleaved. */
static inline void load_offs8(__m512i off[2][VECTORS], const uint8_t *const src[2], int step)
{
    const __m512i middle = _mm512_set1_epi16(128);
    for (int i = 0; i < VECTORS; i++) {
        __m512i both[2];
        if (step == 1) {
            for (int k = 0; k < 2; k++)
                both[k] = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const void *)(src[k] + 32 * i)));
        } else {
            const __m512i turns = load(src[0] + 64 * i);
            both[0] = _mm512_and_si512(turns, _mm512_set1_epi16(0xff));
            both[1] = _mm512_srli_epi16(turns, 8);
        }
        for (int k = 0; k < 2; k++)
            off[k][i] = _mm512_sub_epi16(both[k], middle);
    }
}

static inline void store_offs8(uint8_t *const to[2], __m512i off[2][VECTORS], int step)
{
    const __m512i middle = _mm512_set1_epi16(128);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < VECTORS; i++)
            off[k][i] = _mm512_add_epi16(off[k][i], middle);
    for (int k = 0; k < 2 && step == 1; k++)
        store(to[k], in_order(_mm512_packus_epi16(off[k][0], off[k][1])));
    for (int i = 0; i < VECTORS && step == 2; i++)
        store(to[0] + 64 * i, _mm512_or_si512(off[0][i], _mm512_slli_epi16(off[1][i], 8)));
}

/* (off * gain + add) >> 12 from 16-bit halves of the products: codes of 8 bits need no more. */
static inline __m512i scale8(__m512i off, __m512i gain, __m512i add)
{
    const __m512i times16 = _mm512_slli_epi16(off, 4);
    const __m512i low = _mm512_add_epi16(_mm512_mullo_epi16(times16, gain), add);
    const __mmask32 carry = _mm512_cmplt_epu16_mask(low, add);
    const __m512i high = _mm512_mulhi_epi16(times16, gain);
    return _mm512_mask_add_epi16(high, carry, high, _mm512_set1_epi16(1));
}

static inline __m512i means8(const uint8_t *a, const uint8_t *b, int sub_x)
{
    const __m512i ones = _mm512_set1_epi8(1), two = _mm512_set1_epi16(2);
    __m512i half[VECTORS];
    if (!sub_x)
        return by_eights(_mm512_avg_epu8(load(a), load(b)));
    for (int i = 0; i < VECTORS; i++) {
        const __m512i sum = _mm512_add_epi16(_mm512_maddubs_epi16(load(a + 64 * i), ones),
                                             _mm512_maddubs_epi16(load(b + 64 * i), ones));
        half[i] = _mm512_srli_epi16(_mm512_add_epi16(sum, two), 2);
    }
    return _mm512_packus_epi16(half[0], half[1]);
}

static inline __attribute__((always_inline)) int
scale_block8(uint8_t *const to[2], const uint8_t *const from[2], int step, const ChromaMeans *means,
             int block, const ChromaGains *gains, const ChromaRow *row)
{
    (void)block;
    const __m512i add = _mm512_slli_epi16(gains->add, 4);
    __m512i gain[VECTORS], free[VECTORS], off[2][VECTORS];
    __mmask32 ends = 0;
    load_offs8(off, from, step);
    look_up_gains(gain, free, *means, gains);
    for (int i = 0; i < VECTORS; i++)
        ends |= _mm512_cmpgt_epu16_mask(
            _mm512_max_epu16(_mm512_abs_epi16(off[0][i]), _mm512_abs_epi16(off[1][i])), free[i]);
    if (ends)
        return 0;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < VECTORS; i++)
            off[k][i] = within(scale8(off[k][i], gain[i], add), off[k][i], &row->legal);
    store_offs8(to, off, step);
    return 1;
}

/* The values 0, 2, ... or 1, 3, ... of 64 in two vectors. */
static inline __m512i every_other(__m512i a, __m512i b, int first)
{
    const __m512i even =
        _mm512_set_epi16(62, 60, 58, 56, 54, 52, 50, 48, 46, 44, 42, 40, 38, 36, 34, 32, 30, 28, 26,
                         24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    return _mm512_permutex2var_epi16(a, _mm512_add_epi16(even, _mm512_set1_epi16((short)first)), b);
}

/* Interleaves two vectors, starting at value `first`. */
static inline __m512i in_turns(__m512i a, __m512i b, int first)
{
    const __m512i order =
        _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9, 40, 8, 39, 7, 38, 6,
                         37, 5, 36, 4, 35, 3, 34, 2, 33, 1, 32, 0);
    return _mm512_permutex2var_epi16(a, _mm512_add_epi16(order, _mm512_set1_epi16((short)first)),
                                     b);
}

static inline void load_offs16(__m512i off[2][VECTORS], const uint16_t *const src[2], int step,
                               const ChromaRow *row)
{
    const __m512i last = _mm512_set1_epi16((short)row->last);
    const __m512i middle = _mm512_set1_epi16((short)row->legal.middle);
    const __m128i shift = _mm_cvtsi32_si128(row->shift);
    for (int i = 0; i < VECTORS; i++) {
        __m512i both[2];
        if (step == 1) {
            for (int k = 0; k < 2; k++)
                both[k] = load(src[k] + 32 * i);
        } else {
            const __m512i a = load(src[0] + 64 * i), b = load(src[0] + 64 * i + 32);
            for (int k = 0; k < 2; k++)
                both[k] = every_other(a, b, k);
        }
        for (int k = 0; k < 2; k++)
            off[k][i] =
                _mm512_sub_epi16(_mm512_min_epu16(_mm512_srl_epi16(both[k], shift), last), middle);
    }
}

static inline void store_offs16(uint16_t *const to[2], const __m512i off[2][VECTORS], int step,
                                const ChromaRow *row)
{
    const __m512i middle = _mm512_set1_epi16((short)row->legal.middle);
    const __m128i shift = _mm_cvtsi32_si128(row->shift);
    for (int i = 0; i < VECTORS; i++) {
        __m512i both[2];
        for (int k = 0; k < 2; k++)
            both[k] = _mm512_sll_epi16(_mm512_add_epi16(off[k][i], middle), shift);
        for (int k = 0; k < 2; k++) {
            if (step == 1)
                store(to[k] + 32 * i, both[k]);
            else
                store(to[0] + 64 * i + 32 * k, in_turns(both[0], both[1], 16 * k));
        }
    }
}

/* (off * gain + add) >> 12; values that overflow 16 bits are illegal, and within() clamps them. */
static inline __m512i scale16(__m512i off, __m512i gain, __m512i add)
{
    const __m512i one = _mm512_set1_epi16(1);
    const __m512i low =
        _mm512_madd_epi16(_mm512_unpacklo_epi16(off, add), _mm512_unpacklo_epi16(gain, one));
    const __m512i high =
        _mm512_madd_epi16(_mm512_unpackhi_epi16(off, add), _mm512_unpackhi_epi16(gain, one));
    return _mm512_packs_epi32(_mm512_srai_epi32(low, 12), _mm512_srai_epi32(high, 12));
}

/* In lanes of 32 bits, for 16 pixels. */
static inline __m512i deep_means_of_4(const uint16_t *a, const uint16_t *b, const ChromaRow *row)
{
    const __m512i last = _mm512_set1_epi16((short)row->last), low = _mm512_set1_epi32(0xffff);
    const __m128i shift = _mm_cvtsi32_si128(row->shift);
    __m512i sum = _mm512_set1_epi32(2);
    for (int i = 0; i < 2; i++) {
        const __m512i codes = _mm512_min_epu16(_mm512_srl_epi16(load(i ? b : a), shift), last);
        sum = _mm512_add_epi32(sum, _mm512_and_si512(codes, low));
        sum = _mm512_add_epi32(sum, _mm512_srli_epi32(codes, 16));
    }
    return _mm512_srl_epi32(sum, _mm_cvtsi32_si128(2 + row->down));
}

static inline __m512i means16(const uint16_t *a, const uint16_t *b, int sub_x, const ChromaRow *row)
{
    const __m512i last = _mm512_set1_epi16((short)row->last);
    const __m128i shift = _mm_cvtsi32_si128(row->shift), down = _mm_cvtsi32_si128(row->down);
    __m512i mean[4];
    for (int i = 0; i < 2 && !sub_x; i++) {
        const __m512i one = _mm512_min_epu16(_mm512_srl_epi16(load(a + 32 * i), shift), last);
        const __m512i other = _mm512_min_epu16(_mm512_srl_epi16(load(b + 32 * i), shift), last);
        mean[i] = _mm512_srl_epi16(_mm512_avg_epu16(one, other), down);
    }
    if (!sub_x)
        return _mm512_packus_epi16(mean[0], mean[1]);
    for (int i = 0; i < 4; i++)
        mean[i] = deep_means_of_4(a + 32 * i, b + 32 * i, row);
    const __m512i fours = _mm512_packus_epi16(_mm512_packus_epi32(mean[0], mean[1]),
                                              _mm512_packus_epi32(mean[2], mean[3]));
    return _mm512_permutexvar_epi32(
        _mm512_setr_epi32(0, 4, 2, 6, 8, 12, 10, 14, 1, 5, 3, 7, 9, 13, 11, 15), fours);
}

static inline __attribute__((always_inline)) int
scale_block16(uint16_t *const to[2], const uint16_t *const from[2], int step,
              const ChromaMeans *means, int block, const ChromaGains *gains, const ChromaRow *row)
{
    (void)block;
    const __m128i to_16_bits = _mm_cvtsi32_si128(16 - (row->down + 8));
    __m512i gain[VECTORS], free[VECTORS], off[2][VECTORS];
    __mmask32 ends = 0;
    load_offs16(off, from, step, row);
    look_up_gains(gain, free, *means, gains);
    for (int i = 0; i < VECTORS; i++) {
        const __m512i far =
            _mm512_max_epu16(_mm512_abs_epi16(off[0][i]), _mm512_abs_epi16(off[1][i]));
        ends |= _mm512_cmpgt_epu16_mask(_mm512_sll_epi16(far, to_16_bits),
                                        _mm512_slli_epi16(free[i], 8));
    }
    if (ends)
        return 0;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < VECTORS; i++)
            off[k][i] = within(scale16(off[k][i], gain[i], gains->add), off[k][i], &row->legal);
    store_offs16(to, (const __m512i(*)[VECTORS])off, step, row);
    return 1;
}

static inline void start_gains(ChromaGains *gains, const CurveGain gain[CURVE_CELLS],
                               uint32_t range)
{
    uint8_t bytes[3][CURVE_CELLS];
    for (int i = 0; i < CURVE_CELLS; i++) {
        const uint32_t free = curve_free(gain[i], 8, range);
        bytes[0][i] = (uint8_t)gain[i].gain;
        bytes[1][i] = (uint8_t)(gain[i].gain >> 8);
        bytes[2][i] = (uint8_t)(free < UINT8_MAX ? free : UINT8_MAX);
    }
    for (int i = 0; i < 2; i++)
        gains->gain[i] = byte_table512(bytes[i]);
    gains->free = byte_table512(bytes[2]);
}

/* The dither repeats after eight pixels. */
static inline void start_row(ChromaGains *gains, const ChromaRow *row)
{
    uint16_t add[32];
    for (int i = 0; i < 32; i++)
        add[i] = (uint16_t)row->add[i];
    gains->add = load(add);
}

static inline void mean_bytes(uint8_t *mean, const ChromaMeans *means, int block)
{
    (void)block;
    store(mean, in_order(*means));
}

static inline void find_means8(ChromaMeans *means, const uint8_t *a, const uint8_t *b, int sub_x,
                               int blocks, const ChromaRow *row)
{
    (void)blocks;
    (void)row;
    *means = means8(a, b, sub_x);
}

static inline void find_means16(ChromaMeans *means, const uint16_t *a, const uint16_t *b, int sub_x,
                                int blocks, const ChromaRow *row)
{
    (void)blocks;
    *means = means16(a, b, sub_x, row);
}

DEFINE_CHROMA(8, lumeq_chroma8_avx512)
DEFINE_CHROMA(16, lumeq_chroma16_avx512)
