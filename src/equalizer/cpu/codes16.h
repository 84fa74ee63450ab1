/* Codes of samples of more than 8 bits, for AVX2. */
#ifndef LUMEQ_CODES16_H
#define LUMEQ_CODES16_H

#include <immintrin.h>
#include <stdint.h>

/* The codes of 16 samples, each at most `most`. */
static inline __m256i codes_of(const uint16_t *samples, __m128i shift, __m256i most)
{
    const __m256i sample = _mm256_loadu_si256((const void *)samples);
    return _mm256_min_epu16(_mm256_srl_epi16(sample, shift), most);
}

#endif
