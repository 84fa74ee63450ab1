#include "equalizer/cpu/kernels.h"

#include <string.h>

/*
 * Neighbouring samples are often equal, and an increment must wait for the store of the one before
 * it when both hit one counter: runs of samples are dealt out to several tables.
 */
#define TABLES 4

/* One definition for every sample type. `bins` is the number of codes of `sample`. */
#define DEFINE_KERNELS(bits, sample, bins)                                                         \
    static void histogram##bits(uint32_t *hist, const void *src, ptrdiff_t stride, int width,      \
                                int height)                                                        \
    {                                                                                              \
        uint32_t tables[TABLES][bins];                                                             \
        memset(tables, 0, sizeof(tables));                                                         \
        const uint8_t *line = src;                                                                 \
        for (int y = 0; y < height; y++, line += stride) {                                         \
            const sample *row = (const sample *)(const void *)line;                                \
            int x = 0;                                                                             \
            for (; x + TABLES <= width; x += TABLES)                                               \
                for (int t = 0; t < TABLES; t++)                                                   \
                    tables[t][row[x + t]]++;                                                       \
            for (; x < width; x++)                                                                 \
                tables[0][row[x]]++;                                                               \
        }                                                                                          \
        for (int i = 0; i < (bins); i++)                                                           \
            for (int t = 0; t < TABLES; t++)                                                       \
                hist[i] += tables[t][i];                                                           \
    }                                                                                              \
                                                                                                   \
    static void apply##bits(void *dst, ptrdiff_t dst_stride, const void *src,                      \
                            ptrdiff_t src_stride, int width, int height, const void *table)        \
    {                                                                                              \
        const sample *codes = table;                                                               \
        const uint8_t *from = src;                                                                 \
        uint8_t *to = dst;                                                                         \
        for (int y = 0; y < height; y++, from += src_stride, to += dst_stride) {                   \
            const sample *in = (const sample *)(const void *)from;                                 \
            sample *out = (sample *)(void *)to;                                                    \
            for (int x = 0; x < width; x++)                                                        \
                out[x] = codes[in[x]];                                                             \
        }                                                                                          \
    }

DEFINE_KERNELS(8, uint8_t, 256)

void lumeq_kernels_c(LumeqKernels *kernels)
{
    *kernels = (LumeqKernels){.histogram8 = histogram8, .apply8 = apply8};
}
