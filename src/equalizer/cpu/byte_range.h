/* The range of codes of 8-bit samples, in vectors. */
#ifndef LUMEQ_BYTE_RANGE_H
#define LUMEQ_BYTE_RANGE_H

#include "equalizer/cpu/vector.h"

typedef struct ByteRange {
    __m256i least, most;
} ByteRange;

static inline ByteRange empty_range(void)
{
    return (ByteRange){_mm256_set1_epi8(-1), _mm256_setzero_si256()};
}

static inline void add_to_range(ByteRange *range, __m256i bytes)
{
    range->least = _mm256_min_epu8(range->least, bytes);
    range->most = _mm256_max_epu8(range->most, bytes);
}

static inline int least_of(__m256i bytes)
{
    return least_byte(
        _mm_min_epu8(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1)));
}

static inline int range_first(const ByteRange *range)
{
    return least_of(range->least);
}

static inline int range_last(const ByteRange *range)
{
    return 255 - least_of(_mm256_xor_si256(range->most, _mm256_set1_epi8(-1)));
}

#endif
