/* Kernels for AVX-512 with VBMI; the histogram of 8 bits has a file of its own. */
#include "equalizer/cpu/byte_table.h"
#include "equalizer/cpu/kernels.h"
#include "equalizer/cpu/kernels_common.h"

/* A mask of up to a vector of remaining samples. */
static inline __mmask64 samples_left(int left)
{
    return left < 64 ? (UINT64_C(1) << left) - 1 : UINT64_MAX;
}

/* Outputs of this size exceed a core's own cache: streaming stores bypass it and avoid reading each
 * line first. */
#define MIN_STREAMED (3 << 20)

static inline int is_streamed(const void *dst, ptrdiff_t stride, int width, int height)
{
    return (int64_t)width * height >= MIN_STREAMED &&
           ((uintptr_t)dst | (uintptr_t)stride) % 64 == 0;
}

static inline void put(uint8_t *to, __mmask64 there, __m512i samples, int streamed)
{
    if (streamed && there == UINT64_MAX)
        _mm512_stream_si512((void *)to, samples);
    else
        _mm512_mask_storeu_epi8(to, there, samples);
}

/* Streamed bytes are not ordered with other stores, such as a flag that the band is done. */
static inline void end_stream(int streamed)
{
    if (streamed)
        _mm_sfence();
}

static void apply8(void *dst, ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride,
                   int width, int height, int first, const CurveTable *table,
                   const CurveParams *params)
{
    (void)first;
    (void)params;
    const ByteTable codes = byte_table(table->codes8);
    const int streamed = is_streamed(dst, dst_stride, width, height);
    for (int y = 0; y < height; y++) {
        const uint8_t *from = (const uint8_t *)src + y * src_stride;
        uint8_t *to = (uint8_t *)dst + y * dst_stride;
        for (int x = 0; x < width; x += 64) {
            const __mmask64 there = samples_left(width - x);
            fetch_ahead(from + x);
            if (!streamed)
                fetch_ahead(to + x);
            const __m512i index = _mm512_maskz_loadu_epi8(there, from + x);
            put(to + x, there, look_up_byte(&codes, index), streamed);
        }
    }
    end_stream(streamed);
}

static void nodes8(void *dst, ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride,
                   int width, int height, int first, const CurveTable *table,
                   const CurveParams *params)
{
    uint8_t bytes[2][256];
    split_nodes(bytes[0], bytes[1], table);
    const ByteTable high = byte_table(bytes[0]), low = byte_table(bytes[1]);
    const __m512i one = _mm512_set1_epi8(1);
    const int streamed = is_streamed(dst, dst_stride, width, height);
    for (int y = 0; y < height; y++) {
        const uint8_t *from = (const uint8_t *)src + y * src_stride;
        uint8_t *to = (uint8_t *)dst + y * dst_stride;
        const __m512i add = _mm512_set1_epi64((int64_t)added_to_eight(params, first + y));
        for (int x = 0; x < width; x += 64) {
            const __mmask64 there = samples_left(width - x);
            fetch_ahead(from + x);
            if (!streamed)
                fetch_ahead(to + x);
            const __m512i index = _mm512_maskz_loadu_epi8(there, from + x);
            const __m512i code = look_up_byte(&high, index), part = look_up_byte(&low, index);
            const __mmask64 carry = _mm512_cmplt_epu8_mask(_mm512_add_epi8(part, add), add);
            put(to + x, there, _mm512_mask_adds_epu8(code, carry, code, one), streamed);
        }
    }
    end_stream(streamed);
}

/* The codes of up to a vector of samples. */
static inline __m512i codes_of(const void *samples, __mmask32 there, __m128i shift, __m512i last)
{
    return _mm512_min_epu16(_mm512_srl_epi16(_mm512_maskz_loadu_epi16(there, samples), shift),
                            last);
}

/* curve_between() in lanes of 32 bits; `add` is already shifted by the fraction. */
static inline __m512i codes_between(const CurveTable *table, __m512i code, __m512i add,
                                    const CurveParams *p)
{
    const __m128i fraction = _mm_cvtsi32_si128(p->fraction);
    const __m512i bin = _mm512_srl_epi32(code, fraction);
    const __m512i last = _mm512_set1_epi32((1 << p->depth) - 1);
    __m512i value = _mm512_i32gather_epi32(bin, table->nodes, 4);
    if (p->fraction) {
        const __m512i next = _mm512_i32gather_epi32(bin, table->nodes + 1, 4);
        const __m512i part = _mm512_and_si512(code, _mm512_set1_epi32((1 << p->fraction) - 1));
        const __m512i way = _mm512_mullo_epi32(_mm512_sub_epi32(next, value), part);
        value = _mm512_add_epi32(_mm512_sll_epi32(value, fraction), way);
    }
    const __m128i down = _mm_cvtsi32_si128(CURVE_NODE_BITS + p->fraction);
    return _mm512_min_epu32(_mm512_srl_epi32(_mm512_add_epi32(value, add), down), last);
}

static void nodes16(void *dst, ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride,
                    int width, int height, int first, const CurveTable *table,
                    const CurveParams *params)
{
    const __m512i last = _mm512_set1_epi16((short)((1u << params->depth) - 1));
    const __m128i shift = _mm_cvtsi32_si128(params->shift);
    for (int y = 0; y < height; y++) {
        const uint16_t *from = (const void *)((const uint8_t *)src + y * src_stride);
        uint16_t *to = (void *)((uint8_t *)dst + y * dst_stride);
        const __m512i eight =
            _mm512_set1_epi64((int64_t)added_to_eight(params, first + y)); /* bytes */
        const __m512i add = _mm512_sll_epi32(_mm512_cvtepu8_epi32(_mm512_castsi512_si128(eight)),
                                             _mm_cvtsi32_si128(params->fraction));
        for (int x = 0; x < width; x += 32) {
            const __mmask32 there = (__mmask32)samples_left(width - x);
            const __m512i code = codes_of(from + x, there, shift, last);
            const __m512i low = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(code));
            const __m512i high = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(code, 1));
            const __m256i a = _mm512_cvtepi32_epi16(codes_between(table, low, add, params));
            const __m256i b = _mm512_cvtepi32_epi16(codes_between(table, high, add, params));
            const __m512i found = _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
            _mm512_mask_storeu_epi16(to + x, there, _mm512_sll_epi16(found, shift));
        }
    }
}

void lumeq_kernels_avx512(LumeqKernels *kernels)
{
    kernels->histogram8 = lumeq_histogram8_avx512;
    kernels->apply8 = apply8;
    kernels->nodes8 = nodes8;
    kernels->nodes16 = nodes16;
    kernels->lift = lumeq_lift_avx512;
}
