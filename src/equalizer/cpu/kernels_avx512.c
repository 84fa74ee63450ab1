/* Kernels for AVX-512 with VBMI; the histogram of 8 bits has a file of its own. */
#include "equalizer/cpu/byte_table.h"
#include "equalizer/cpu/kernels.h"
#include "equalizer/cpu/kernels_common.h"

/* A mask of up to a vector of remaining samples. */
static inline __mmask64 samples_left(int left)
{
    return left < 64 ? (UINT64_C(1) << left) - 1 : UINT64_MAX;
}

static void apply8(void *dst, ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride,
                   int width, int height, int first, const CurveTable *table,
                   const CurveParams *params)
{
    (void)first;
    (void)params;
    const ByteTable codes = byte_table(table->codes8);
    for (int y = 0; y < height; y++) {
        const uint8_t *from = (const uint8_t *)src + y * src_stride;
        uint8_t *to = (uint8_t *)dst + y * dst_stride;
        for (int x = 0; x < width; x += 64) {
            const __mmask64 there = samples_left(width - x);
            fetch_ahead(from + x);
            fetch_ahead(to + x);
            const __m512i index = _mm512_maskz_loadu_epi8(there, from + x);
            _mm512_mask_storeu_epi8(to + x, there, look_up_byte(&codes, index));
        }
    }
}

static void nodes8(void *dst, ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride,
                   int width, int height, int first, const CurveTable *table,
                   const CurveParams *params)
{
    uint8_t bytes[2][256];
    split_nodes(bytes[0], bytes[1], table);
    const ByteTable high = byte_table(bytes[0]), low = byte_table(bytes[1]);
    const __m512i one = _mm512_set1_epi8(1);
    for (int y = 0; y < height; y++) {
        const uint8_t *from = (const uint8_t *)src + y * src_stride;
        uint8_t *to = (uint8_t *)dst + y * dst_stride;
        const __m512i add = _mm512_set1_epi64((int64_t)added_to_eight(params, first + y));
        for (int x = 0; x < width; x += 64) {
            const __mmask64 there = samples_left(width - x);
            fetch_ahead(from + x);
            fetch_ahead(to + x);
            const __m512i index = _mm512_maskz_loadu_epi8(there, from + x);
            const __m512i code = look_up_byte(&high, index), part = look_up_byte(&low, index);
            const __mmask64 carry = _mm512_cmplt_epu8_mask(_mm512_add_epi8(part, add), add);
            _mm512_mask_storeu_epi8(to + x, there, _mm512_mask_adds_epu8(code, carry, code, one));
        }
    }
}

void lumeq_kernels_avx512(LumeqKernels *kernels)
{
    kernels->histogram8 = lumeq_histogram8_avx512;
    kernels->apply8 = apply8;
    kernels->nodes8 = nodes8;
    kernels->lift = lumeq_lift_avx512;
}
