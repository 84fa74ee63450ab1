/* Codes of samples of more than 8 bits, in vectors. */
#ifndef LUMEQ_CODES16_H
#define LUMEQ_CODES16_H

#include <stdint.h>

#include "equalizer/cpu/vector.h"

/* The codes of 16 samples, each at most `most`. */
static inline __m256i codes_of(const uint16_t *samples, int shift, __m256i most)
{
    const __m256i sample = _mm256_loadu_si256((const void *)samples);
    return _mm256_min_epu16(_mm256_srli_epi16(sample, shift), most);
}

#endif
