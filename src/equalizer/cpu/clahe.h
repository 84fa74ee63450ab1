/* Mode CLAHE on the CPU: first each tile, then the sums, then the samples, row by row. */
#ifndef LUMEQ_CLAHE_H
#define LUMEQ_CLAHE_H

#include <stddef.h>
#include <stdint.h>

#include "equalizer/cpu/kernels.h"
#include "equalizer/tiles.h"

/* Counts the cells of tile number `tile` in the frame that starts at `src`: of the frame in `hist`,
 * and of the reference's padding in `padding`, unless that is NULL. */
void lumeq_clahe_count(const TileGrid *grid, int tile, const LumeqKernels *kernels, const void *src,
                       ptrdiff_t stride, uint32_t *hist, uint32_t *padding);

/*
 * Number `tile` of the grid: its histogram, its curve, its table, and its part of the history. The
 * frame starts at `src`; `frame` is the whole picture's result. Several threads may work on a
 * tile each.
 */
void lumeq_clahe_tile(const TileGrid *grid, int tile, const LumeqKernels *kernels, const void *src,
                      ptrdiff_t stride, const CurveResult *frame, const TileResult *before,
                      TileResult *result, ClaheWork *work);

/* Writes `height` rows of the frame, which is as wide as the grid, from number `y` on, where src
 * and dst start: of each the samples from `left` to before `right`, all with the reference. The two
 * must not overlap. Several threads may work on rows of their own. */
void lumeq_clahe_apply(const TileGrid *grid, const LumeqKernels *kernels, void *dst,
                       ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride, int left,
                       int right, int height, int y, const TileTables *tables);

#endif
