/* The filter of lifted pictures for AVX-512. */
#include <immintrin.h>

#include "equalizer/cpu/lift_kernels.h"

#define LIFT_LOOKS_UP

/* The halves of 256 entries; an instruction looks up in 64 of them. */
typedef struct LiftTable {
    __m512i low[8], high[8];
} LiftTable;

static inline LiftTable lift_table(const LiftRow *row, LiftEntries which)
{
    const uint32_t *const entries = lift_entries(row, which);
    LiftTable table;
    for (int i = 0; i < 8; i++) {
        const __m512i a = _mm512_loadu_si512(entries + 32 * i);
        const __m512i b = _mm512_loadu_si512(entries + 32 * i + 16);
        table.low[i] = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi32_epi16(a)),
                                          _mm512_cvtepi32_epi16(b), 1);
        table.high[i] = _mm512_inserti64x4(
            _mm512_castsi256_si512(_mm512_cvtepi32_epi16(_mm512_srli_epi32(a, 16))),
            _mm512_cvtepi32_epi16(_mm512_srli_epi32(b, 16)), 1);
    }
    return table;
}

/* Of the code only the lower 6 bits are looked at by each, the others choose among them. */
static inline __m512i look_up(const __m512i part[8], __m512i code)
{
    const __mmask32 bit6 = _mm512_test_epi16_mask(code, _mm512_set1_epi16(64));
    const __mmask32 bit7 = _mm512_test_epi16_mask(code, _mm512_set1_epi16(128));
    const __m512i a = _mm512_permutex2var_epi16(part[0], code, part[1]);
    const __m512i b = _mm512_permutex2var_epi16(part[2], code, part[3]);
    const __m512i c = _mm512_permutex2var_epi16(part[4], code, part[5]);
    const __m512i d = _mm512_permutex2var_epi16(part[6], code, part[7]);
    return _mm512_mask_blend_epi16(bit7, _mm512_mask_blend_epi16(bit6, a, b),
                                   _mm512_mask_blend_epi16(bit6, c, d));
}

static inline void lift_look_up(uint16_t *low, uint16_t *high, const LiftTable *table,
                                const int16_t *samples)
{
    for (int i = 0; i < LIFT_BLOCK; i += 32) {
        const __m512i code = _mm512_srli_epi16(_mm512_loadu_si512(samples + i), 6);
        if (low)
            _mm512_storeu_si512(low + i, look_up(table->low, code));
        if (high)
            _mm512_storeu_si512(high + i, look_up(table->high, code));
    }
}

static inline void lift_look_up_gains(uint32_t *gain, uint32_t *to, const CurveGain *table,
                                      const uint8_t *cells)
{
    const int *first = (const int *)(const void *)table;
    for (int i = 0; i < LIFT_BLOCK; i += 16) {
        const __m512i at = _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)(cells + i)));
        _mm512_storeu_si512(gain + i, _mm512_i32gather_epi32(at, first, 8));
        _mm512_storeu_si512(to + i, _mm512_i32gather_epi32(at, first + 1, 8));
    }
}

#define LIFT_KERNELS lumeq_lift_avx512
#include "equalizer/cpu/lift_loops.h"
