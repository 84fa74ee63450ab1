/* Profiles of a frame's luma for bars.h, on the CPU. */
#ifndef LUMEQ_BARS_PROFILE_H
#define LUMEQ_BARS_PROFILE_H

#include <stddef.h>

#include "equalizer/bars.h"

/* Counts the lit samples of each row or column in [from, to) of the frame at `src`. Stores each
 * count at the index of its row or column. Threads may work on different rows or columns. */
void lumeq_profile_rows(const BarsParams *params, uint8_t *lit_rows, const void *src,
                        ptrdiff_t stride, int from, int to);
void lumeq_profile_columns(const BarsParams *params, uint8_t *lit_columns, const void *src,
                           ptrdiff_t stride, int from, int to);

#endif
