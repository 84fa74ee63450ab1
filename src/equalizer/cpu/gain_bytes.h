/* Chroma of 8 bits, for AVX2: the means of the luma under it, and its gains as tables of bytes. */
#ifndef LUMEQ_GAIN_BYTES_H
#define LUMEQ_GAIN_BYTES_H

#include "equalizer/cpu/byte_table.h"
#include "equalizer/curve_types.h"

/* By cell: the gain's bytes, and as many codes from gray as nothing ends it at. */
typedef struct GainBytes {
    ByteTable gain[2], free;
} GainBytes;

/* As many codes from gray as no gain ends at, whichever the range is: what curve_within() divides
 * by, rounded so that fewer are told. */
static inline uint8_t free_codes(CurveGain over, uint32_t range)
{
    const uint32_t to = over.to < range ? over.to : range;
    if (over.gain <= CURVE_GAIN_ONE || over.from > range)
        return UINT8_MAX;
    uint64_t codes = UINT8_MAX;
    for (int side = 0; side < 2; side++) {
        const uint32_t room = 8 * (side ? range - over.from : over.from);
        const uint64_t most = (uint64_t)(side ? range - to : to) << 15;
        const uint64_t reach = most / (15 * 256 * (uint64_t)over.gain);
        if ((uint64_t)room * over.gain > most && reach < codes)
            codes = reach;
    }
    return (uint8_t)codes;
}

static inline void make_gain_bytes(GainBytes *bytes, const CurveGain gain[CURVE_CELLS],
                                   uint32_t range)
{
    uint8_t ends[CURVE_CELLS];
    for (int i = 0; i < 2; i++)
        bytes->gain[i] = byte_of(gain, sizeof(*gain), i);
    for (int i = 0; i < CURVE_CELLS; i++)
        ends[i] = free_codes(gain[i], range);
    bytes->free = byte_table(ends);
}

/* Rounded means of 2x2 samples, or of two and two again. */
static inline __m256i means_of_4(const uint8_t *a, const uint8_t *b)
{
    const __m256i ones = _mm256_set1_epi8(1), two = _mm256_set1_epi16(2);
    __m256i half[2];
    for (int i = 0; i < 2; i++) {
        const __m256i sum = _mm256_add_epi16(_mm256_maddubs_epi16(load_vector(a + 32 * i), ones),
                                             _mm256_maddubs_epi16(load_vector(b + 32 * i), ones));
        half[i] = _mm256_srli_epi16(_mm256_add_epi16(sum, two), 2);
    }
    return _mm256_permute4x64_epi64(_mm256_packus_epi16(half[0], half[1]), 0xd8);
}

#endif
