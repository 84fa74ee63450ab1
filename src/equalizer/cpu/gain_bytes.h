/* Vector functions for chroma: means of luma, gains from byte tables, and scaling. */
#ifndef LUMEQ_GAIN_BYTES_H
#define LUMEQ_GAIN_BYTES_H

#include "equalizer/cpu/byte_table.h"
#include "equalizer/curve_types.h"

/* Tables by cell: the two bytes of the gain, and curve_free(). */
typedef struct GainBytes {
    ByteTable gain[2], free;
} GainBytes;

static inline void make_gain_bytes(GainBytes *bytes, const CurveGain gain[CURVE_CELLS],
                                   uint32_t range)
{
    uint8_t codes[CURVE_CELLS];
    for (int i = 0; i < 2; i++)
        bytes->gain[i] = byte_of(gain, sizeof(*gain), i);
    for (int i = 0; i < CURVE_CELLS; i++) {
        const uint32_t free = curve_free(gain[i], 8, range);
        codes[i] = (uint8_t)(free < UINT8_MAX ? free : UINT8_MAX);
    }
    bytes->free = byte_table(codes);
}

/* Looks up the gains of a block's cells. `free`: the distances from gray up to which gains are not
 * limited, in 256ths of 8-bit codes. */
static inline __attribute__((always_inline)) void look_up_gains(__m256i gain[2 * HALVES],
                                                                __m256i free[2 * HALVES],
                                                                const uint8_t *cells, Window window,
                                                                const GainBytes *gains)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i cell[HALVES], found[3][HALVES], none[HALVES] = {zero, zero};
    for (int i = 0; i < HALVES; i++)
        cell[i] = swap_middle(load_vector(cells + 32 * i));
    look_up_bytes(found, gains->gain, 3, window, cell);
    join_bytes(gain, found[0], found[1]);
    join_bytes(free, none, found[2]);
}

/* Rounded means of 2x2 samples from the rows `a` and `b`, which may be the same row. */
static inline __m256i means_of_4(const uint8_t *a, const uint8_t *b)
{
    const __m256i ones = _mm256_set1_epi8(1), two = _mm256_set1_epi16(2);
    __m256i half[2];
    for (int i = 0; i < 2; i++) {
        const __m256i sum = _mm256_add_epi16(_mm256_maddubs_epi16(load_vector(a + 32 * i), ones),
                                             _mm256_maddubs_epi16(load_vector(b + 32 * i), ones));
        half[i] = _mm256_srli_epi16(_mm256_add_epi16(sum, two), 2);
    }
    return swap_middle(_mm256_packus_epi16(half[0], half[1]));
}

/* Sums of pairs of neighbouring codes. */
static inline __m256i sums_of_2(const uint16_t *samples, int shift, __m256i last)
{
    const __m256i codes = _mm256_min_epu16(_mm256_srli_epi16(load_vector(samples), shift), last);
    return _mm256_add_epi32(_mm256_blend_epi16(codes, _mm256_setzero_si256(), 0xaa),
                            _mm256_srli_epi32(codes, 16));
}

/* means_of_4() for codes of `depth` bits. */
static inline __m256i deep_means_of_4(const uint16_t *a, const uint16_t *b, int shift, int depth)
{
    const __m256i last = _mm256_set1_epi16((short)((1u << depth) - 1)), two = _mm256_set1_epi32(2);
    __m256i mean[4];
    for (int i = 0; i < 4; i++) {
        const __m256i sum = _mm256_add_epi32(sums_of_2(a + 16 * i, shift, last),
                                             sums_of_2(b + 16 * i, shift, last));
        mean[i] = _mm256_srli_epi32(_mm256_add_epi32(sum, two), depth - 6);
    }
    const __m256i packed = _mm256_packus_epi16(_mm256_packus_epi32(mean[0], mean[1]),
                                               _mm256_packus_epi32(mean[2], mean[3]));
    return alternate_halves(packed);
}

/* Scales sixteen distances from gray: (off * gain + add * one) >> down, clamped to legal codes or
 * to the input `was`. */
static inline __m256i scale_within(__m256i off, __m256i was, __m256i gain, __m256i add, __m256i one,
                                   int down, const CurveLegal *legal)
{
    const __m256i low =
        _mm256_madd_epi16(_mm256_unpacklo_epi16(off, add), _mm256_unpacklo_epi16(gain, one));
    const __m256i high =
        _mm256_madd_epi16(_mm256_unpackhi_epi16(off, add), _mm256_unpackhi_epi16(gain, one));
    const __m256i scaled =
        _mm256_packs_epi32(_mm256_srai_epi32(low, down), _mm256_srai_epi32(high, down));
    const __m256i most =
        _mm256_max_epi16(was, _mm256_set1_epi16((short)(legal->high - legal->middle)));
    const __m256i least =
        _mm256_min_epi16(was, _mm256_set1_epi16((short)(legal->low - legal->middle)));
    return _mm256_max_epi16(_mm256_min_epi16(scaled, most), least);
}

#endif
