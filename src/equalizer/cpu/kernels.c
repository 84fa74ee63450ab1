#include "equalizer/cpu/kernels.h"

#include <string.h>

/*
 * Neighbouring samples are often equal, and an increment must wait for the store of the one before
 * it when both hit one counter: runs of samples are dealt out to several tables. Those of 4096 bins
 * would no longer fit in the first-level cache with as many of them.
 */
#define TABLES_8 4
#define TABLES_16 2

static inline uint32_t at_most(uint32_t value, uint32_t limit)
{
    return value < limit ? value : limit;
}

/* A sample's bin; the code's place in it is below. */
#define BIN_8(sample) (sample)
#define BIN_16(sample) at_most((uint32_t)(sample) >> bin_shift, last_bin)

#define DEFINE_HISTOGRAM(bits, max_bins, bin)                                                      \
    static void histogram##bits(uint32_t *hist, const void *src, ptrdiff_t stride, int width,      \
                                int height, const CurveParams *params)                             \
    {                                                                                              \
        const int bin_shift = params->shift + params->fraction;                                    \
        const uint32_t last_bin = (uint32_t)params->bins - 1;                                      \
        uint32_t tables[TABLES_##bits][max_bins];                                                  \
        (void)bin_shift;                                                                           \
        memset(tables, 0, sizeof(tables));                                                         \
        const uint8_t *line = src;                                                                 \
        for (int y = 0; y < height; y++, line += stride) {                                         \
            const uint##bits##_t *row = (const uint##bits##_t *)(const void *)line;                \
            int x = 0;                                                                             \
            for (; x + TABLES_##bits <= width; x += TABLES_##bits)                                 \
                for (int t = 0; t < TABLES_##bits; t++)                                            \
                    tables[t][bin(row[x + t])]++;                                                  \
            for (; x < width; x++)                                                                 \
                tables[0][bin(row[x])]++;                                                          \
        }                                                                                          \
        for (uint32_t i = 0; i <= last_bin; i++)                                                   \
            for (int t = 0; t < TABLES_##bits; t++)                                                \
                hist[i] += tables[t][i];                                                           \
    }

/* `look_up` is the output sample for a sample. */
#define DEFINE_APPLY(name, bits, look_up)                                                          \
    static void name(void *dst, ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride,       \
                     int width, int height, const CurveTable *table, const CurveParams *params)    \
    {                                                                                              \
        const uint8_t *from = src;                                                                 \
        uint8_t *to = dst;                                                                         \
        for (int y = 0; y < height; y++, from += src_stride, to += dst_stride) {                   \
            const uint##bits##_t *in = (const uint##bits##_t *)(const void *)from;                 \
            uint##bits##_t *out = (uint##bits##_t *)(void *)to;                                    \
            for (int x = 0; x < width; x++)                                                        \
                out[x] = look_up(table, params, in[x]);                                            \
        }                                                                                          \
    }

static inline uint32_t code_of(const CurveParams *params, uint16_t sample)
{
    return at_most((uint32_t)sample >> params->shift, (1u << params->depth) - 1);
}

static inline uint8_t look_up_8(const CurveTable *table, const CurveParams *params, uint8_t sample)
{
    (void)params;
    return table->codes8[sample];
}

static inline uint16_t look_up_16(const CurveTable *table, const CurveParams *params,
                                  uint16_t sample)
{
    return table->codes16[code_of(params, sample)];
}

static inline uint16_t between(const CurveTable *table, const CurveParams *params, uint16_t sample)
{
    const uint32_t code = code_of(params, sample), bin = code >> params->fraction;
    const uint32_t part = code & ((1u << params->fraction) - 1);
    return (uint16_t)(curve_between(table->nodes[bin], table->nodes[bin + 1], part,
                                    params->fraction, (1u << params->depth) - 1)
                      << params->shift);
}

DEFINE_HISTOGRAM(8, 256, BIN_8)
DEFINE_HISTOGRAM(16, LUMEQ_MAX_BINS, BIN_16)
DEFINE_APPLY(apply8, 8, look_up_8)
DEFINE_APPLY(apply16, 16, look_up_16)
DEFINE_APPLY(interpolate16, 16, between)

void lumeq_kernels_c(LumeqKernels *kernels)
{
    *kernels = (LumeqKernels){.histogram8 = histogram8,
                              .histogram16 = histogram16,
                              .apply8 = apply8,
                              .apply16 = apply16,
                              .interpolate16 = interpolate16};
}
