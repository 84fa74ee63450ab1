/* The filter of lifted pictures for AVX-512. */
#include <immintrin.h>
#include <string.h>

#include "equalizer/cpu/lift_kernels.h"

#define LIFT_LOOKS_UP
#define LIFT_PASSES
#define LIFT_BORROWS /* AVX2's, which look up only a few parts of byte tables */

/* The halves of 256 entries; an instruction looks up 64 of them. */
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

/* Each lookup uses only the low 6 bits of the code; the high bits select among the results. */
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

/* 4 clamp(apart, -q, q) - clamp(apart, -4q, 4q). */
static inline __m512i pull(__m512i apart, __m512i q)
{
    const __m512i far = _mm512_abs_epi16(apart);
    const __m512i near = _mm512_slli_epi16(_mm512_min_epu16(far, q), 2);
    const __m512i moved = _mm512_subs_epu16(near, far);
    const __m512i none = _mm512_setzero_si512();
    return _mm512_mask_sub_epi16(moved, _mm512_movepi16_mask(apart), none, moved);
}

/* Copies blocks in which nothing moves. */
static inline void pass_block(int16_t *to, const int16_t *before, const int16_t *here,
                              const int16_t *after, const int16_t *quarter)
{
    const __m512i eighth = _mm512_set1_epi16(INT16_MAX / 8 + 1);
    const __m512i q[2] = {_mm512_loadu_si512(quarter), _mm512_loadu_si512(quarter + 32)};
    const __m512i any = _mm512_or_si512(q[0], q[1]);
    if (!_mm512_test_epi16_mask(any, any)) {
        memcpy(to, here, LIFT_BLOCK * sizeof(*to));
        return;
    }
    for (int i = 0; i < 2; i++) {
        const __m512i f = _mm512_loadu_si512(here + 32 * i);
        const __m512i one = _mm512_sub_epi16(_mm512_loadu_si512(before + 32 * i), f);
        const __m512i two = _mm512_sub_epi16(_mm512_loadu_si512(after + 32 * i), f);
        const __m512i moves = _mm512_add_epi16(pull(one, q[i]), pull(two, q[i]));
        _mm512_storeu_si512(to + 32 * i, _mm512_add_epi16(f, _mm512_mulhrs_epi16(moves, eighth)));
    }
}

#define LIFT_KERNELS lumeq_lift_avx512
#include "equalizer/cpu/lift_loops.h"
