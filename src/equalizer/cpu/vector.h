/*
 * Vectors of 32 bytes, for kernels that are compiled for several instruction sets. AVX2 has such
 * vectors. Otherwise a vector is two registers of SSE4.2 or NEON, and this file defines the AVX2
 * operations that kernels use. SIMDe (libsimde-dev) translates SSE4.2 to NEON. VECTOR_REGISTERS
 * vectors fit in the registers.
 */
#ifndef LUMEQ_VECTOR_H
#define LUMEQ_VECTOR_H

#include <stdint.h>

#ifdef __AVX2__

#include <immintrin.h>

#ifdef __AVX512VBMI__
#define VECTOR_NAME(name) name##_avx512
#else
#define VECTOR_NAME(name) name##_avx2
#endif
#define VECTOR_REGISTERS 16

/* Swaps the second and third quarter, to undo the order that packing leaves. */
static inline __m256i swap_middle(__m256i vector)
{
    return _mm256_permute4x64_epi64(vector, 0xd8);
}

/* Interleaves the 32-bit numbers of both halves. */
static inline __m256i alternate_halves(__m256i vector)
{
    return _mm256_permutevar8x32_epi32(vector, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

#else

#ifdef __SSE4_2__
#include <nmmintrin.h>
#define VECTOR_NAME(name) name##_sse42
#define VECTOR_REGISTERS 8
#else
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/sse4.2.h>
#define VECTOR_NAME(name) name##_neon
#define VECTOR_REGISTERS 16
#endif

typedef struct Vector {
    __m128i low, high;
} __m256i;

static inline __m256i both_halves(__m128i half)
{
    return (__m256i){half, half};
}

/* Operations that take two vectors and work within their halves. */
#define DEFINE_HALVED(name)                                                                        \
    static inline __m256i _mm256_##name(__m256i a, __m256i b)                                      \
    {                                                                                              \
        return (__m256i){_mm_##name(a.low, b.low), _mm_##name(a.high, b.high)};                    \
    }

DEFINE_HALVED(add_epi8)
DEFINE_HALVED(add_epi16)
DEFINE_HALVED(add_epi32)
DEFINE_HALVED(add_epi64)
DEFINE_HALVED(adds_epu8)
DEFINE_HALVED(avg_epu8)
DEFINE_HALVED(avg_epu16)
DEFINE_HALVED(cmpeq_epi8)
DEFINE_HALVED(cmpeq_epi16)
DEFINE_HALVED(madd_epi16)
DEFINE_HALVED(maddubs_epi16)
DEFINE_HALVED(max_epi16)
DEFINE_HALVED(max_epu8)
DEFINE_HALVED(max_epu16)
DEFINE_HALVED(min_epi16)
DEFINE_HALVED(min_epu8)
DEFINE_HALVED(min_epu16)
DEFINE_HALVED(mulhrs_epi16)
DEFINE_HALVED(mullo_epi16)
DEFINE_HALVED(mullo_epi32)
DEFINE_HALVED(packs_epi32)
DEFINE_HALVED(packus_epi16)
DEFINE_HALVED(packus_epi32)
DEFINE_HALVED(sad_epu8)
DEFINE_HALVED(shuffle_epi8)
DEFINE_HALVED(sign_epi16)
DEFINE_HALVED(sub_epi8)
DEFINE_HALVED(sub_epi16)
DEFINE_HALVED(sub_epi32)
DEFINE_HALVED(subs_epi8)
DEFINE_HALVED(subs_epu8)
DEFINE_HALVED(subs_epu16)
DEFINE_HALVED(unpackhi_epi8)
DEFINE_HALVED(unpackhi_epi16)
DEFINE_HALVED(unpacklo_epi8)
DEFINE_HALVED(unpacklo_epi16)

/* Shifts by a constant or variable number of bits. */
#define DEFINE_SHIFT(name, type, operator)                                                         \
    static inline __m256i _mm256_##name(__m256i a, int bits)                                       \
    {                                                                                              \
        typedef type Lanes __attribute__((vector_size(16)));                                       \
        return (__m256i){(__m128i)((Lanes)a.low operator bits),                                    \
                         (__m128i)((Lanes)a.high operator bits)};                                  \
    }

DEFINE_SHIFT(slli_epi16, uint16_t, <<)
DEFINE_SHIFT(slli_epi32, uint32_t, <<)
DEFINE_SHIFT(slli_epi64, uint64_t, <<)
DEFINE_SHIFT(srli_epi16, uint16_t, >>)
DEFINE_SHIFT(srli_epi32, uint32_t, >>)
DEFINE_SHIFT(srai_epi32, int32_t, >>)

static inline __m256i _mm256_setzero_si256(void)
{
    return both_halves(_mm_setzero_si128());
}

static inline __m256i _mm256_set1_epi8(char value)
{
    return both_halves(_mm_set1_epi8(value));
}

static inline __m256i _mm256_set1_epi16(short value)
{
    return both_halves(_mm_set1_epi16(value));
}

static inline __m256i _mm256_set1_epi32(int value)
{
    return both_halves(_mm_set1_epi32(value));
}

static inline __m256i _mm256_set1_epi64x(int64_t value)
{
    return both_halves(_mm_set1_epi64x(value));
}

static inline __m256i _mm256_setr_epi32(int a, int b, int c, int d, int e, int f, int g, int h)
{
    return (__m256i){_mm_setr_epi32(a, b, c, d), _mm_setr_epi32(e, f, g, h)};
}

static inline __m256i _mm256_broadcastsi128_si256(__m128i half)
{
    return both_halves(half);
}

static inline __m256i _mm256_broadcastw_epi16(__m128i vector)
{
    return both_halves(_mm_set1_epi16((short)_mm_extract_epi16(vector, 0)));
}

static inline __m256i _mm256_loadu_si256(const void *from)
{
    const __m128i *const halves = from;
    return (__m256i){_mm_loadu_si128(halves), _mm_loadu_si128(halves + 1)};
}

static inline void _mm256_storeu_si256(void *to, __m256i vector)
{
    __m128i *const halves = to;
    _mm_storeu_si128(halves, vector.low);
    _mm_storeu_si128(halves + 1, vector.high);
}

static inline __m256i _mm256_load_si256(const void *from)
{
    const __m128i *const halves = from;
    return (__m256i){_mm_load_si128(halves), _mm_load_si128(halves + 1)};
}

static inline void _mm256_store_si256(void *to, __m256i vector)
{
    __m128i *const halves = to;
    _mm_store_si128(halves, vector.low);
    _mm_store_si128(halves + 1, vector.high);
}

static inline __m256i _mm256_and_si256(__m256i a, __m256i b)
{
    return (__m256i){_mm_and_si128(a.low, b.low), _mm_and_si128(a.high, b.high)};
}

static inline __m256i _mm256_or_si256(__m256i a, __m256i b)
{
    return (__m256i){_mm_or_si128(a.low, b.low), _mm_or_si128(a.high, b.high)};
}

static inline __m256i _mm256_xor_si256(__m256i a, __m256i b)
{
    return (__m256i){_mm_xor_si128(a.low, b.low), _mm_xor_si128(a.high, b.high)};
}

static inline int _mm256_testz_si256(__m256i a, __m256i b)
{
    const __m256i bits = _mm256_and_si256(a, b);
    const __m128i any = _mm_or_si128(bits.low, bits.high);
    return _mm_testz_si128(any, any);
}

static inline __m256i _mm256_abs_epi8(__m256i a)
{
    return (__m256i){_mm_abs_epi8(a.low), _mm_abs_epi8(a.high)};
}

static inline __m256i _mm256_abs_epi16(__m256i a)
{
    return (__m256i){_mm_abs_epi16(a.low), _mm_abs_epi16(a.high)};
}

static inline __m256i _mm256_blendv_epi8(__m256i a, __m256i b, __m256i mask)
{
    return (__m256i){_mm_blendv_epi8(a.low, b.low, mask.low),
                     _mm_blendv_epi8(a.high, b.high, mask.high)};
}

/* `lanes` is a constant. */
#define _mm256_blend_epi16(a, b, lanes)                                                            \
    ((__m256i){_mm_blend_epi16((a).low, (b).low, lanes),                                           \
               _mm_blend_epi16((a).high, (b).high, lanes)})

static inline __m128i _mm256_castsi256_si128(__m256i vector)
{
    return vector.low;
}

static inline __m128i _mm256_extracti128_si256(__m256i vector, int half)
{
    return half ? vector.high : vector.low;
}

static inline __m256i _mm256_set_m128i(__m128i high, __m128i low)
{
    return (__m256i){low, high};
}

/* `halves` is 0x20, for both low halves, or 0x31, for both high halves. */
static inline __m256i _mm256_permute2x128_si256(__m256i a, __m256i b, int halves)
{
    return halves == 0x20 ? (__m256i){a.low, b.low} : (__m256i){a.high, b.high};
}

static inline __m256i swap_middle(__m256i vector)
{
    return (__m256i){_mm_unpacklo_epi64(vector.low, vector.high),
                     _mm_unpackhi_epi64(vector.low, vector.high)};
}

static inline __m256i alternate_halves(__m256i vector)
{
    return (__m256i){_mm_unpacklo_epi32(vector.low, vector.high),
                     _mm_unpackhi_epi32(vector.low, vector.high)};
}

static inline __m256i _mm256_zextsi128_si256(__m128i low)
{
    return (__m256i){low, _mm_setzero_si128()};
}

static inline __m256i _mm256_cvtepu8_epi16(__m128i bytes)
{
    return (__m256i){_mm_cvtepu8_epi16(bytes), _mm_unpackhi_epi8(bytes, _mm_setzero_si128())};
}

#endif

static inline int least_byte(__m128i bytes)
{
#ifdef __aarch64__
    return vminvq_u8((uint8x16_t)bytes);
#else
    const __m128i in_two = _mm_min_epu8(bytes, _mm_srli_epi16(bytes, 8));
    return _mm_extract_epi16(_mm_minpos_epu16(_mm_and_si128(in_two, _mm_set1_epi16(255))), 0);
#endif
}

/* The codes of 16 samples of more than 8 bits, clamped to `most`. */
static inline __m256i deep_codes(const uint16_t *samples, int shift, __m256i most)
{
    const __m256i sample = _mm256_loadu_si256((const void *)samples);
    return _mm256_min_epu16(_mm256_srli_epi16(sample, shift), most);
}

/* Lowest and highest 8-bit codes, lane by lane. */
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
