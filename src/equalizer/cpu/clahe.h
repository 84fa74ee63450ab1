/* Mode CLAHE on the CPU: first each tile, then the sums over tiles, then the samples row by row. */
#ifndef LUMEQ_CLAHE_H
#define LUMEQ_CLAHE_H

#include <stddef.h>
#include <stdint.h>

#include "equalizer/cpu/kernels.h"
#include "equalizer/tiles.h"

/* Counts tile number `tile` of the frame that starts at `src`: the part inside the frame in `hist`,
 * and the reference's padding in `padding`, unless that is NULL. */
void lumeq_clahe_count(const TileGrid *grid, int tile, const LumeqKernels *kernels, const void *src,
                       ptrdiff_t stride, uint32_t *hist, uint32_t *padding);

/* Writes `height` rows of the frame, from row number `y` on, where src and dst start: the samples
 * in [left, right), or all of them with the reference. The frame is as wide as the grid. src and
 * dst must not overlap. Threads may work on different rows. */
void lumeq_clahe_apply(const TileGrid *grid, const LumeqKernels *kernels, void *dst,
                       ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride, int left,
                       int right, int height, int y, const TileTables *tables);

#endif
