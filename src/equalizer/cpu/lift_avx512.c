/* The filter of lifted pictures for AVX-512. */
#include <immintrin.h>
#include <string.h>

#include "equalizer/cpu/byte_table512.h"
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

static LiftWholeTolerance whole_tolerance;
static LiftFinish finish8;

#define LIFT_KERNELS lumeq_lift_avx512
#include "equalizer/cpu/lift_loops.h"

/* A field of each entry, clamped to 255. */
static inline ByteTable512 entry_bytes(const uint32_t *entries, unsigned shift, int mask)
{
    uint8_t bytes[LIFT_CODES];
    for (int i = 0; i < LIFT_CODES; i += 16) {
        const __m512i shifted = _mm512_srli_epi32(_mm512_loadu_si512(entries + i), shift);
        const __m512i field = _mm512_and_si512(shifted, _mm512_set1_epi32(mask));
        _mm_storeu_si128((__m128i *)(void *)(bytes + i), _mm512_cvtusepi32_epi8(field));
    }
    return byte_table512(bytes);
}

/* The range of the 5 samples around each of 64. */
static inline __m512i byte_range(const uint8_t *high, const uint8_t *low)
{
    __m512i most = _mm512_loadu_si512(high), least = _mm512_loadu_si512(low);
    for (int i = -2; i <= 2; i++) {
        most = _mm512_max_epu8(most, _mm512_loadu_si512(high + i));
        least = _mm512_min_epu8(least, _mm512_loadu_si512(low + i));
    }
    return _mm512_sub_epi8(most, least);
}

static void mirror_two(uint8_t *row, int width)
{
    for (int i = 1; i <= 2; i++) {
        row[-i] = row[lift_mirrored(-i, width - 1)];
        row[width - 1 + i] = row[lift_mirrored(width - 1 + i, width - 1)];
    }
}

/* With a range of whole codes, q is (edge - 64 range) / 4, which is 0 from 8 codes on. */
static void whole_tolerance(int16_t *quarter, const uint8_t *const from[5], const LiftRow *row)
{
    uint8_t *const high = (uint8_t *)row->scratch[0], *const low = (uint8_t *)row->scratch[1];
    const ByteTable512 table = entry_bytes(row->tables->tolerance, 0, UINT16_MAX);
    const __m512i edge = _mm512_set1_epi8((char)(row->tables->edge / 4));
    const int width = row->width;
    for (int x = 0; x < width; x += 64) {
        const __mmask64 there = samples_left(width - x);
        __m512i most = _mm512_maskz_loadu_epi8(there, from[0] + x), least = most;
        for (int i = 1; i < 5; i++) {
            const __m512i bytes = _mm512_maskz_loadu_epi8(there, from[i] + x);
            most = _mm512_max_epu8(most, bytes);
            least = _mm512_min_epu8(least, bytes);
        }
        _mm512_storeu_si512(high + x, most);
        _mm512_storeu_si512(low + x, least);
    }
    mirror_two(high, width);
    mirror_two(low, width);
    for (int x = 0; x < width; x += 64) {
        const __m512i code = _mm512_maskz_loadu_epi8(samples_left(width - x), from[2] + x);
        __m512i taken = byte_range(high + x, low + x);
        for (int twice = 0; twice < 4; twice++)
            taken = _mm512_adds_epu8(taken, taken);
        const __m512i q =
            _mm512_min_epu8(look_up_byte(&table, code), _mm512_subs_epu8(edge, taken));
        _mm512_storeu_si512(quarter + x, _mm512_cvtepu8_epi16(_mm512_castsi512_si256(q)));
        _mm512_storeu_si512(quarter + x + 32,
                            _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(q, 1)));
    }
}

static void finish8(void *dst, const int16_t *from, const void *source, int y, int shift,
                    const LiftRow *row)
{
    const CurveParams *const p = row->params;
    const uint32_t *const nodes = lift_entries(row, LIFT_NODES);
    const ByteTable512 low = entry_bytes(nodes, 0, UINT8_MAX);
    const ByteTable512 high = entry_bytes(nodes, 8, UINT8_MAX);
    const ByteTable512 rise_low = entry_bytes(nodes, 16, UINT8_MAX);
    const ByteTable512 rise_high = entry_bytes(nodes, 24, UINT8_MAX);
    const __m512i floor = _mm512_set1_epi8((char)lift_floor(p->black, 8));
    const __m512i ceiling = _mm512_set1_epi8((char)lift_ceiling(p->white, 8));
    const __m512i part = _mm512_set1_epi16(63);
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7); /* after packing */
    uint16_t dither[LIFT_BLOCK];
    (void)shift;
    find_dither(dither, y, p);
    const __m512i add = _mm512_loadu_si512(dither);
    for (int x = 0; x < row->width; x += LIFT_BLOCK) {
        const __mmask64 there = samples_left(row->width - x);
        const __m512i f[2] = {_mm512_loadu_si512(from + x), _mm512_loadu_si512(from + x + 32)};
        const __m512i code =
            _mm512_packus_epi16(_mm512_srli_epi16(f[0], 6), _mm512_srli_epi16(f[1], 6));
        const __m512i lower = look_up_byte(&low, code), upper = look_up_byte(&high, code);
        __m512i value[2] = {_mm512_unpacklo_epi8(lower, upper), _mm512_unpackhi_epi8(lower, upper)};
        /* Whole codes need no interpolation: their outputs are nodes. */
        if (_mm512_test_epi16_mask(_mm512_or_si512(f[0], f[1]), part)) {
            const __m512i a = look_up_byte(&rise_low, code), b = look_up_byte(&rise_high, code);
            const __m512i rise[2] = {_mm512_unpacklo_epi8(a, b), _mm512_unpackhi_epi8(a, b)};
            for (int i = 0; i < 2; i++) {
                const __m512i share = _mm512_slli_epi16(_mm512_and_si512(f[i], part), 9);
                value[i] = _mm512_add_epi16(value[i], _mm512_mulhrs_epi16(rise[i], share));
            }
        }
        for (int i = 0; i < 2; i++)
            value[i] = _mm512_srli_epi16(_mm512_add_epi16(value[i], add), 8);
        const __m512i found =
            _mm512_permutexvar_epi64(order, _mm512_packus_epi16(value[0], value[1]));
        const __m512i before = _mm512_maskz_loadu_epi8(there, (const uint8_t *)source + x);
        const __m512i least = _mm512_min_epu8(before, floor),
                      most = _mm512_max_epu8(before, ceiling);
        _mm512_mask_storeu_epi8((uint8_t *)dst + x, there,
                                _mm512_min_epu8(_mm512_max_epu8(found, least), most));
    }
}
