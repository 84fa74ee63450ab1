#include "equalizer/cpu/bound_loops.h"
#include "equalizer/cpu/kernels.h"
#include "equalizer/cpu/kernels_common.h"
#include "equalizer/cpu/tile_row_reference.h"
#include "equalizer/cpu/tint_loops.h"

#include <string.h>

/* Several tables of counters are used alternately, because incrementing the same counter again must
 * wait for its previous store. 4096 bins use fewer tables, to fit in the first-level cache. */
#define TABLES_8 4
#define TABLES_16 2

static inline uint32_t at_most(uint32_t value, uint32_t limit)
{
    return value < limit ? value : limit;
}

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

/* `look_up`: a function or macro that maps an input sample to an output sample. */
#define DEFINE_APPLY(name, bits, look_up)                                                          \
    static void name(void *dst, ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride,       \
                     int width, int height, int first, const CurveTable *table,                    \
                     const CurveParams *params)                                                    \
    {                                                                                              \
        (void)params;                                                                              \
        const uint8_t *from = src;                                                                 \
        uint8_t *to = dst;                                                                         \
        for (int y = first; y < first + height; y++, from += src_stride, to += dst_stride) {       \
            const uint##bits##_t *in = (const uint##bits##_t *)(const void *)from;                 \
            uint##bits##_t *out = (uint##bits##_t *)(void *)to;                                    \
            for (int x = 0; x < width; x++)                                                        \
                out[x] = (uint##bits##_t)look_up(table, params, in[x], x, y);                      \
        }                                                                                          \
    }

static inline uint32_t code_of(const CurveParams *params, uint32_t sample)
{
    return at_most(sample >> params->shift, (1u << params->depth) - 1);
}

static inline uint32_t fraction_added(const CurveParams *params, int x, int y)
{
    return params->dither ? curve_dither((uint32_t)x, (uint32_t)y, params->frame) : CURVE_ROUND;
}

#define LOOK_UP_8(table, params, sample, x, y) (table)->codes8[sample]
#define LOOK_UP_16(table, params, sample, x, y) (table)->codes16[code_of(params, sample)]

static inline uint32_t between(const CurveTable *table, const CurveParams *params, uint32_t sample,
                               int x, int y)
{
    const uint32_t code = code_of(params, sample), bin = code >> params->fraction;
    const uint32_t part = code & ((1u << params->fraction) - 1);
    return curve_between(table->nodes[bin], table->nodes[bin + 1], part, params->fraction,
                         fraction_added(params, x, y), (1u << params->depth) - 1)
           << params->shift;
}

/* The mean of the luma's codes under a chroma sample. */
#define DEFINE_LUMA_MEAN(bits)                                                                     \
    static inline uint32_t luma_mean##bits(const LumeqChromaRows *r, const CurveParams *params,    \
                                           int x, int y)                                           \
    {                                                                                              \
        const int area = r->sub_x + r->sub_y;                                                      \
        uint32_t sum = 0;                                                                          \
        for (int v = 0; v < 1 << r->sub_y; v++) {                                                  \
            const int row = (y << r->sub_y) + v, last = r->luma_height - 1;                        \
            const uint8_t *line =                                                                  \
                (const uint8_t *)r->luma + (row < last ? row : last) * r->luma_stride;             \
            const uint##bits##_t *luma = (const uint##bits##_t *)(const void *)line;               \
            for (int u = 0; u < 1 << r->sub_x; u++) {                                              \
                const int column = (x << r->sub_x) + u;                                            \
                const int end = r->luma_width - 1;                                                 \
                sum += code_of(params, luma[column < end ? column : end]);                         \
            }                                                                                      \
        }                                                                                          \
        return (sum + ((1u << area) >> 1)) >> area;                                                \
    }

static inline CurveGain gain_over(const LumeqChromaRows *r, const CurveTable *table,
                                  const CurveParams *params, int x, int y, uint32_t luma)
{
    if (!r->grid)
        return table->gain[luma >> (params->depth - 8)];
    return tile_gain(r->grid, r->tables, r->tables->inside.x + (x << r->sub_x),
                     r->tables->inside.y + ((r->y + y) << r->sub_y), luma);
}

#define DEFINE_CHROMA(bits)                                                                        \
    DEFINE_LUMA_MEAN(bits)                                                                         \
    static inline const uint##bits##_t *chroma_in##bits(const LumeqChromaRows *r, int i, int y)    \
    {                                                                                              \
        return (const void *)((const uint8_t *)r->src[i] + y * r->src_stride[i]);                  \
    }                                                                                              \
    static inline uint##bits##_t *chroma_out##bits(const LumeqChromaRows *r, int i, int y)         \
    {                                                                                              \
        return (void *)((uint8_t *)r->dst[i] + y * r->dst_stride[i]);                              \
    }                                                                                              \
    static void chroma##bits(const LumeqChromaRows *r, const CurveTable *table,                    \
                             const CurveParams *params)                                            \
    {                                                                                              \
        const CurveLegal legal = curve_legal(params->depth, params->black != 0);                   \
        const int width = (r->luma_width + (1 << r->sub_x) - 1) >> r->sub_x;                       \
        for (int y = 0; y < r->height; y++) {                                                      \
            const uint##bits##_t *first = chroma_in##bits(r, 0, y);                                \
            const uint##bits##_t *second = chroma_in##bits(r, 1, y);                               \
            uint##bits##_t *to[2] = {chroma_out##bits(r, 0, y), chroma_out##bits(r, 1, y)};        \
            for (int x = 0; x < width; x++) {                                                      \
                const int at = x * r->step;                                                        \
                const uint32_t luma = luma_mean##bits(r, params, x, y);                            \
                const uint32_t add = fraction_added(params, x, r->y + y);                          \
                const int32_t codes[2] = {(int32_t)code_of(params, first[at]),                     \
                                          (int32_t)code_of(params, second[at])};                   \
                const uint32_t gain = curve_pixel_gain(gain_over(r, table, params, x, y, luma),    \
                                                       codes[0], codes[1], params->depth, &legal); \
                for (int i = 0; i < 2; i++)                                                        \
                    to[i][x * r->out_step] = (uint##bits##_t)(                                     \
                        curve_chroma(codes[i], gain, add, &legal) << params->shift);               \
            }                                                                                      \
        }                                                                                          \
    }

#define CODE_8(sample) (sample)
#define CODE_16(sample) at_most((uint32_t)(sample) >> params->shift, last)

#define DEFINE_APART(bits)                                                                         \
    static void apart##bits(NoiseSums *sums, const void *now, ptrdiff_t now_stride,                \
                            const void *before, ptrdiff_t before_stride, int columns,              \
                            const CurveParams *params)                                             \
    {                                                                                              \
        const uint32_t last = (1u << params->depth) - 1;                                           \
        (void)last;                                                                                \
        memset(sums, 0, (size_t)columns * sizeof(*sums));                                          \
        for (int y = 0; y < NOISE_BLOCK; y++) {                                                    \
            const uint##bits##_t *a = (const void *)((const uint8_t *)now + y * now_stride);       \
            const uint##bits##_t *b = (const void *)((const uint8_t *)before + y * before_stride); \
            for (int x = 0; x < columns * NOISE_BLOCK; x++) {                                      \
                const uint32_t code = CODE_##bits(a[x]), old = CODE_##bits(b[x]);                  \
                NoiseSums *block = &sums[x / NOISE_BLOCK];                                         \
                block->now += code;                                                                \
                block->before += old;                                                              \
                block->apart += code > old ? code - old : old - code;                              \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_APART(8)
DEFINE_APART(16)

DEFINE_SUM(8)
DEFINE_SUM(16)
DEFINE_HISTOGRAM(8, 256, BIN_8)
DEFINE_HISTOGRAM(16, LUMEQ_MAX_BINS, BIN_16)
DEFINE_APPLY(apply8, 8, LOOK_UP_8)
DEFINE_APPLY(apply16, 16, LOOK_UP_16)
DEFINE_APPLY(nodes8, 8, between)
DEFINE_APPLY(nodes16, 16, between)
DEFINE_CHROMA(8)
DEFINE_CHROMA(16)

void lumeq_kernels_c(LumeqKernels *kernels)
{
    *kernels = (LumeqKernels){.histogram8 = histogram8,
                              .histogram16 = histogram16,
                              .sum8 = sum8,
                              .sum16 = sum16,
                              .apart8 = apart8,
                              .apart16 = apart16,
                              .apply8 = apply8,
                              .apply16 = apply16,
                              .nodes8 = nodes8,
                              .nodes16 = nodes16,
                              .chroma8 = chroma8,
                              .chroma16 = chroma16,
                              .bound8 = bound8,
                              .bound16 = bound16,
                              .tint8 = tint8,
                              .tint16 = tint16,
                              .clear8 = clear8,
                              .clear16 = clear16,
                              .tile_row8 = lumeq_tile_row8,
                              .tile_row16 = lumeq_tile_row16,
                              .tile_row_reference = tile_row_reference,
                              .pixels_to_planes8 = lumeq_pixels_to_planes8,
                              .pixels_to_planes16 = lumeq_pixels_to_planes16,
                              .planes_to_pixels8 = lumeq_planes_to_pixels8,
                              .planes_to_pixels16 = lumeq_planes_to_pixels16,
                              .lift = lumeq_lift_c};
}
