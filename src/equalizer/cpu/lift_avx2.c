/* The filter of lifted pictures for AVX2. */
#include <immintrin.h>

#include "equalizer/cpu/lift_kernels.h"

#define LIFT_LOOKS_UP

typedef const uint32_t *LiftTable;

static inline LiftTable lift_table(const uint32_t *entries)
{
    return entries;
}

/* Sixteen codes at a time; the entries of each half of a register stay in it. */
static inline void lift_look_up(uint16_t *low, uint16_t *high, const LiftTable *table,
                                const int16_t *samples)
{
    const __m256i last = _mm256_set1_epi16(LIFT_CODES - 1), half = _mm256_set1_epi32(UINT16_MAX);
    const int *entries = (const int *)*table;
    for (int i = 0; i < LIFT_BLOCK; i += 16) {
        const __m256i loaded = _mm256_loadu_si256((const void *)(samples + i));
        const __m256i codes = _mm256_and_si256(_mm256_srli_epi16(loaded, 6), last);
        const __m256i zero = _mm256_setzero_si256();
        const __m256i a = _mm256_i32gather_epi32(entries, _mm256_unpacklo_epi16(codes, zero), 4);
        const __m256i b = _mm256_i32gather_epi32(entries, _mm256_unpackhi_epi16(codes, zero), 4);
        _mm256_storeu_si256((void *)(low + i), _mm256_packus_epi32(_mm256_and_si256(a, half),
                                                                   _mm256_and_si256(b, half)));
        _mm256_storeu_si256((void *)(high + i), _mm256_packus_epi32(_mm256_srli_epi32(a, 16),
                                                                    _mm256_srli_epi32(b, 16)));
    }
}

static inline void lift_look_up_gains(uint32_t *gain, uint32_t *to, const CurveGain *table,
                                      const uint8_t *cells)
{
    const int *first = (const int *)(const void *)table;
    for (int i = 0; i < LIFT_BLOCK; i += 8) {
        const __m256i at = _mm256_cvtepu8_epi32(_mm_loadu_si64(cells + i));
        _mm256_storeu_si256((void *)(gain + i), _mm256_i32gather_epi32(first, at, 8));
        _mm256_storeu_si256((void *)(to + i), _mm256_i32gather_epi32(first + 1, at, 8));
    }
}

#define LIFT_KERNELS lumeq_lift_avx2
#include "equalizer/cpu/lift_loops.h"
