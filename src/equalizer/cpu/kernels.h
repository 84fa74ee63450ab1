/* Kernels on samples. A kernel works on any rectangle, alignment and stride; samples of 16 bits are
 * at even addresses. */
#ifndef LUMEQ_KERNELS_H
#define LUMEQ_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "equalizer/cpu/lift_kernels.h"
#include "equalizer/cpu/pixels.h"
#include "equalizer/curve_types.h"
#include "equalizer/noise.h"
#include "equalizer/tiles.h"

/* Adds the counts of width x height samples to hist[bins]. Strides are in bytes, also negative. */
typedef void LumeqHistogramKernel(uint32_t *hist, const void *src, ptrdiff_t stride, int width,
                                  int height, const CurveParams *params);

/* The sum of the codes of width x height samples. */
typedef uint64_t LumeqSumKernel(const void *src, ptrdiff_t stride, int width, int height,
                                const CurveParams *params);

/* Fills sums[columns] for adjacent blocks of this frame (`now`) and the previous one (`before`). */
typedef void LumeqApartKernel(NoiseSums *sums, const void *now, ptrdiff_t now_stride,
                              const void *before, ptrdiff_t before_stride, int columns,
                              const CurveParams *params);

/* Looks up the samples of src in the table. src and dst must not overlap; nothing outside the
 * rectangle is written. `y`: number of the first row, counted from the active picture's top. */
typedef void LumeqApplyKernel(void *dst, ptrdiff_t dst_stride, const void *src,
                              ptrdiff_t src_stride, int width, int height, int y,
                              const CurveTable *table, const CurveParams *params);

/* Rows of chroma and the luma that they cover. The pointers are to the first sample of each
 * component; if components are interleaved, Cb is before Cr. */
typedef struct LumeqChromaRows {
    void *dst[2];
    const void *src[2], *luma;
    ptrdiff_t dst_stride[2], src_stride[2], luma_stride;
    int luma_width, luma_height; /* size of the luma from `luma` on */
    int sub_x, sub_y;            /* as LumeqImage.chroma_x, chroma_y */
    int step, out_step;   /* distance between samples of a component: in src, in dst; 1 or 2 */
    int height;           /* number of rows */
    int y;                /* number of the first row in the active picture */
    const TileGrid *grid; /* both NULL except in mode CLAHE */
    const TileTables *tables;
} LumeqChromaRows;

/* Scales chroma by the gain for the mean of its luma, from the table or the tiles. */
typedef void LumeqChromaKernel(const LumeqChromaRows *rows, const CurveTable *table,
                               const CurveParams *params);

/* A row of output luma whose rise is limited, and its input luma and chroma. */
typedef struct LumeqBoundRow {
    const void *in, *chroma[2], *left[2]; /* `left`: chroma without the haze's colour */
    void *out;
    int step, left_step, sub_x; /* of chroma, as in LumeqChromaRows */
    int depth, in_shift, left_shift, out_shift;
    uint32_t black, range; /* in 256ths of codes of 8 bits */
} LumeqBoundRow;

/* A row of output luma to clear of haze. */
typedef struct LumeqClearRow {
    void *out;
    int at, width; /* first column in the frame; width of the frame */
    int depth, shift, black, range;
    int32_t light, lift, gain[MEASURE_COLUMNS]; /* as in HazeClear; `gain`: for this row */
} LumeqClearRow;

/* Clears `width` samples with haze_lined() and haze_lifted(). */
typedef void LumeqClearKernel(const LumeqClearRow *row, int width);

/* A row of output chroma, and the rows of input luma that it covers. */
typedef struct LumeqTintRow {
    const void *luma[4];
    void *out[2];
    int step, sub_x, sub_y; /* as in LumeqChromaRows */
    int luma_width;
    int depth, in_shift, out_shift;
    int32_t black, white; /* white: for haze_kept(), or 0 */
    HazeTint tint;
} LumeqTintRow;

/* Removes haze from `width` pixels with haze_cleared() and haze_kept(). */
typedef void LumeqTintKernel(const LumeqTintRow *row, int width);

/* Limits `width` samples with curve_bounded_code(). */
typedef void LumeqBoundKernel(const LumeqBoundRow *row, int width);

/* Mode CLAHE: writes columns [left, right) of row `y` of the frame. `src` and `dst` point to the
 * row's column 0, and do not overlap. */
typedef void LumeqTileRowKernel(const TileGrid *grid, const TileTables *tables, void *dst,
                                const void *src, int left, int right, int y);

/* Kernels read only the format of samples and the dither from CurveParams. */
typedef struct LumeqKernels {
    LumeqHistogramKernel *histogram8, *histogram16;
    LumeqSumKernel *sum8, *sum16;
    LumeqApartKernel *apart8, *apart16;
    LumeqApplyKernel *apply8, *apply16; /* depth 8, and 9 to 12 */
    LumeqApplyKernel *nodes8, *nodes16; /* curve_has_nodes(): depth 8, and above */
    LumeqChromaKernel *chroma8, *chroma16;
    LumeqBoundKernel *bound8, *bound16;
    LumeqTintKernel *tint8, *tint16;
    LumeqClearKernel *clear8, *clear16;
    LumeqTileRowKernel *tile_row8, *tile_row16;
    LumeqTileRowKernel *tile_row_reference; /* OpenCV's arithmetic */
    LumeqToPlanesKernel *pixels_to_planes8, *pixels_to_planes16;
    LumeqToPixelsKernel *planes_to_pixels8, *planes_to_pixels16;
    LiftKernels lift;
} LumeqKernels;

/* The instruction sets (LUMEQ_CPU_*) that the CPU and the operating system support. */
unsigned lumeq_cpu_flags(void);

/* Selects the fastest kernels for the instruction sets in `flags`, which the CPU must support. All
 * kernels return the same bits as the reference. */
void lumeq_kernels_init(LumeqKernels *kernels, unsigned flags);

/* Set the reference kernels in plain C, or replace kernels by those of an instruction set. */
void lumeq_kernels_c(LumeqKernels *kernels);
void lumeq_kernels_sse42(LumeqKernels *kernels);
void lumeq_kernels_avx2(LumeqKernels *kernels);
void lumeq_kernels_avx512(LumeqKernels *kernels);
void lumeq_kernels_neon(LumeqKernels *kernels);

LumeqTileRowKernel lumeq_tile_row8, lumeq_tile_row16; /* the reference */

/* Vector kernels that have files of their own, for each instruction set. */
#define LUMEQ_VECTOR_KERNELS(set)                                                                  \
    LumeqHistogramKernel lumeq_histogram8_##set, lumeq_histogram16_##set;                          \
    LumeqChromaKernel lumeq_chroma8_##set, lumeq_chroma16_##set;                                   \
    LumeqTileRowKernel lumeq_tile_row8_##set;                                                      \
    LumeqToPlanesKernel lumeq_pixels_to_planes8_##set;                                             \
    LumeqToPixelsKernel lumeq_planes_to_pixels8_##set;

LUMEQ_VECTOR_KERNELS(sse42)
LUMEQ_VECTOR_KERNELS(avx2)
LUMEQ_VECTOR_KERNELS(neon)

LumeqHistogramKernel lumeq_histogram8_avx512;

#endif
