/* Shared by kernels of several instruction sets. */
#ifndef LUMEQ_KERNELS_COMMON_H
#define LUMEQ_KERNELS_COMMON_H

#include <string.h>

#include "equalizer/curve_types.h"

/* Prefetch distance in bytes, more than the CPU's own. Prefetched addresses may be invalid. */
#define FETCHED_AHEAD 2048

static inline void fetch_ahead(const void *samples)
{
    __builtin_prefetch((const void *)((uintptr_t)samples + FETCHED_AHEAD));
}

/* Number of samples above 8 bits that are converted to codes together. */
#define DEEP_STEP 64

/* Minimum and maximum in lanes of 16 bits. */
static inline int16_t least(int16_t a, int16_t b)
{
    return a < b ? a : b;
}

static inline int16_t most(int16_t a, int16_t b)
{
    return a > b ? a : b;
}

/* Sums of codes; the compiler vectorizes the loop. The sum of a row fits in 32 bits. */
#define DEFINE_SUM(bits)                                                                           \
    static uint64_t sum##bits(const void *src, ptrdiff_t stride, int width, int height,            \
                              const CurveParams *params)                                           \
    {                                                                                              \
        const uint32_t last = (1u << params->depth) - 1;                                           \
        uint64_t sum = 0;                                                                          \
        for (int y = 0; y < height; y++) {                                                         \
            const uint##bits##_t *row = (const void *)((const uint8_t *)src + y * stride);         \
            uint32_t row_sum = 0;                                                                  \
            for (int x = 0; x < width; x++) {                                                      \
                const uint32_t code = (uint32_t)row[x] >> params->shift;                           \
                row_sum += code < last ? code : last;                                              \
            }                                                                                      \
            sum += row_sum;                                                                        \
        }                                                                                          \
        return sum;                                                                                \
    }

/* Splits nodes into codes and 8 fraction bits. Dither, added to the fraction, may carry into the
 * code. A node past the last code becomes the last code with a fraction of 255. */
static inline void split_nodes(uint8_t *high, uint8_t *low, const CurveTable *table)
{
    for (int i = 0; i < 256; i++) {
        const uint32_t node = table->nodes[i] < 65535 ? table->nodes[i] : 65535;
        high[i] = (uint8_t)(node >> 8);
        low[i] = (uint8_t)node;
    }
}

/* The dither or rounding of a row's first eight samples, which repeats; lowest byte first. */
static inline uint64_t added_to_eight(const CurveParams *params, int y)
{
    uint64_t eight = 0;
    for (int x = 0; x < 8; x++) {
        const uint64_t add =
            params->dither ? curve_dither((uint32_t)x, (uint32_t)y, params->frame) : CURVE_ROUND;
        eight |= add << (8 * x);
    }
    return eight;
}

#endif
