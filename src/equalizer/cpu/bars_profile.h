/* The profile of a frame's luma that bars are found by, on the CPU. */
#ifndef LUMEQ_BARS_PROFILE_H
#define LUMEQ_BARS_PROFILE_H

#include <stddef.h>

#include "equalizer/bars.h"

/* The rows, or columns, from `from` to before `to` of a frame that starts at `src`: how many
 * samples of each are lit goes to where it is in BarsProfile.lit. Several threads may look at lines
 * of their own. */
void lumeq_profile_rows(const BarsParams *params, uint8_t *lit_rows, const void *src,
                        ptrdiff_t stride, int from, int to);
void lumeq_profile_columns(const BarsParams *params, uint8_t *lit_columns, const void *src,
                           ptrdiff_t stride, int from, int to);

#endif
