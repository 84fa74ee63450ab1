/* Kernels for AVX-512 with VBMI; the histogram of 8 bits has a file of its own. */
#include "equalizer/cpu/byte_table.h"
#include "equalizer/cpu/kernels.h"
#include "equalizer/cpu/kernels_common.h"

/* The mask of the first min(left, 64) samples of a vector. */
static inline __mmask64 samples_left(int left)
{
    return left < 64 ? (UINT64_C(1) << left) - 1 : UINT64_MAX;
}

/* `high`: codes. `low`: their fractions, to which dither or rounding is added; NULL: none. */
static inline __attribute__((always_inline)) void
look_up_rows(uint8_t *to, ptrdiff_t to_stride, const uint8_t *from, ptrdiff_t from_stride,
             int width, int height, int first, const ByteTable *high, const ByteTable *low,
             const CurveParams *params)
{
    const __m512i one = _mm512_set1_epi8(1);
    for (int y = first; y < first + height; y++, to += to_stride, from += from_stride) {
        const __m512i add = _mm512_set1_epi64(low ? (int64_t)added_to_eight(params, y) : 0);
        for (int x = 0; x < width; x += 64) {
            const __mmask64 there = samples_left(width - x);
            fetch_ahead(from + x);
            fetch_ahead(to + x);
            const __m512i index = _mm512_maskz_loadu_epi8(there, from + x);
            __m512i code = look_up_byte(high, index);
            if (low) {
                const __m512i sum = _mm512_add_epi8(look_up_byte(low, index), add);
                code = _mm512_mask_adds_epu8(code, _mm512_cmplt_epu8_mask(sum, add), code, one);
            }
            _mm512_mask_storeu_epi8(to + x, there, code);
        }
    }
}

static void apply8(void *dst, ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride,
                   int width, int height, int first, const CurveTable *table,
                   const CurveParams *params)
{
    const ByteTable codes = byte_table(table->codes8);
    look_up_rows(dst, dst_stride, src, src_stride, width, height, first, &codes, NULL, params);
}

static void nodes8(void *dst, ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride,
                   int width, int height, int first, const CurveTable *table,
                   const CurveParams *params)
{
    uint8_t bytes[2][256];
    split_nodes(bytes[0], bytes[1], table);
    const ByteTable high = byte_table(bytes[0]), low = byte_table(bytes[1]);
    look_up_rows(dst, dst_stride, src, src_stride, width, height, first, &high, &low, params);
}

void lumeq_kernels_avx512(LumeqKernels *kernels)
{
    kernels->histogram8 = lumeq_histogram8_avx512;
    kernels->apply8 = apply8;
    kernels->nodes8 = nodes8;
    kernels->lift = lumeq_lift_avx512;
}
