/* What the CPU does to samples. A kernel works on any rectangle, alignment and stride; those of 16
 * bits at even addresses. */
#ifndef LUMEQ_KERNELS_H
#define LUMEQ_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "equalizer/cpu/lift_kernels.h"
#include "equalizer/curve.h"
#include "equalizer/noise.h"
#include "equalizer/tiles.h"

/* Adds the counts of width x height samples to hist[bins]. Stride in bytes, may be negative. */
typedef void LumeqHistogramKernel(uint32_t *hist, const void *src, ptrdiff_t stride, int width,
                                  int height, const CurveParams *params);

/* The sum of the codes of width x height samples. */
typedef uint64_t LumeqSumKernel(const void *src, ptrdiff_t stride, int width, int height,
                                const CurveParams *params);

/* The sums of each of `columns` blocks side by side. */
typedef void LumeqApartKernel(NoiseSums *sums, const void *now, ptrdiff_t now_stride,
                              const void *before, ptrdiff_t before_stride, int columns,
                              const CurveParams *params);

/* Looks the samples of src up; the two must not overlap, nothing outside the rectangle is written.
 * `y` is the number of its first row in the active picture, where the dither's pattern begins. */
typedef void LumeqApplyKernel(void *dst, ptrdiff_t dst_stride, const void *src,
                              ptrdiff_t src_stride, int width, int height, int y,
                              const CurveTable *table, const CurveParams *params);

/* Rows of chroma under rows of luma. Of both components the first sample; where they lie in turns
 * in one plane, those are neighbours, Cb before Cr. */
typedef struct LumeqChromaRows {
    void *dst[2];
    const void *src[2], *luma;
    ptrdiff_t dst_stride[2], src_stride[2], luma_stride;
    int luma_width, luma_height; /* that there is from there on */
    int sub_x, sub_y;            /* as LumeqImage.chroma_x, chroma_y */
    int step;                    /* from one sample of a component to the next: 1 or 2 */
    int height;                  /* rows to do */
    int y;                       /* number of the first one in the active picture */
    const TileGrid *grid;        /* with mode CLAHE, else NULL, both */
    const TileTables *tables;
} LumeqChromaRows;

/* Scales chroma by the gain of the mean of the luma under it: the table's, or what the tiles make
 * of that. */
typedef void LumeqChromaKernel(const LumeqChromaRows *rows, const CurveTable *table,
                               const CurveParams *params);

/* A row of luma that is written, and what it comes from. */
typedef struct LumeqBoundRow {
    const void *in, *chroma[2];
    void *out;
    int step, sub_x; /* of chroma, as in LumeqChromaRows */
    int depth, in_shift, out_shift;
    uint32_t black, range; /* in 256ths of codes of 8 bits */
} LumeqBoundRow;

/* Bounds `width` samples by curve_bounded_code(). */
typedef void LumeqBoundKernel(const LumeqBoundRow *row, int width);

/* Writes number `y` of the frame's rows with mode CLAHE, not the reference's, which begins at `src`
 * and at `dst`: the samples from `left` to before `right`. The two do not overlap. */
typedef void LumeqTileRowKernel(const TileGrid *grid, const TileTables *tables, void *dst,
                                const void *src, int left, int right, int y);

/* Of the parameters a kernel looks at those of the samples and the dither. */
typedef struct LumeqKernels {
    LumeqHistogramKernel *histogram8, *histogram16;
    LumeqSumKernel *sum8, *sum16;
    LumeqApartKernel *apart8, *apart16;
    LumeqApplyKernel *apply8, *apply16; /* depth 8, and 9 to 12 */
    LumeqApplyKernel *nodes8, *nodes16; /* curve_has_nodes(): depth 8, and above */
    LumeqChromaKernel *chroma8, *chroma16;
    LumeqBoundKernel *bound8, *bound16;
    LumeqTileRowKernel *tile_row8, *tile_row16;
    LiftKernels lift;
} LumeqKernels;

/* What this CPU has, LUMEQ_CPU_*, and the system saves the registers of. */
unsigned lumeq_cpu_flags(void);

/* The fastest kernels that need no more than `flags`, all of which the CPU has to have. They give
 * the same bits as the reference. */
void lumeq_kernels_init(LumeqKernels *kernels, unsigned flags);

/* The reference in plain C; what has another instruction set overwrites what that does better. */
void lumeq_kernels_c(LumeqKernels *kernels);
void lumeq_kernels_avx2(LumeqKernels *kernels);
void lumeq_kernels_avx512(LumeqKernels *kernels);

LumeqHistogramKernel lumeq_histogram8_avx2, lumeq_histogram8_avx512, lumeq_histogram16_avx2;
LumeqBoundKernel lumeq_bound8, lumeq_bound16;         /* the reference */
LumeqTileRowKernel lumeq_tile_row8, lumeq_tile_row16; /* the reference */
LumeqTileRowKernel lumeq_tile_row8_avx2;
LumeqTileRowKernel lumeq_tile_row8_avx512, lumeq_tile_row16_avx512;
LumeqChromaKernel lumeq_chroma8_avx2, lumeq_chroma16_avx2;
LumeqChromaKernel lumeq_chroma8_avx512, lumeq_chroma16_avx512;

/* As histogram16 of 256 bins at most: 1, or 0 where it is slow, and nothing counted. */
int lumeq_count_few_cells_avx2(uint32_t *hist, const void *src, ptrdiff_t stride, int width,
                               int height, const CurveParams *params);

#endif
