/*
 * Epochs: ranges of frames that share one curve. The curve may change only when an epoch begins.
 *
 * An epoch ends with its scene, or when nearly half of the non-black picture has been lighter or
 * darker for EPOCH_WAIT. So passing objects, lamps and noise do not change the light of the rest.
 * Without lookahead, an epoch's curve is the mean of the targets of its first frames. While these
 * frames only get lighter, they belong to a fade, and each begins a new epoch.
 */
#ifndef LUMEQ_EPOCH_H
#define LUMEQ_EPOCH_H

#include "equalizer/curve_types.h"

#define EPOCH_WAIT 300000  /* microseconds for which a change must last to end an epoch */
#define EPOCH_LEARN 200000 /* microseconds of an epoch's first frames, which make its curve */

/* Computes the CDF by cells from the CDF by bins. */
void epoch_cells(const CurveParams *p, const uint32_t *cdf, uint32_t cells[CURVE_CELLS]);

/* True if nearly half of the non-black picture has changed between these CDFs. */
int epoch_differs(const CurveParams *p, const uint32_t was[CURVE_CELLS],
                  const uint32_t now[CURVE_CELLS]);

/* True if a sudden change between these CDFs is a cut. A lamp is not: it leaves most of the
 * histogram as it was. */
int epoch_is_cut(const uint32_t was[CURVE_CELLS], const uint32_t now[CURVE_CELLS]);

/* Sets `now` to the epoch `before` with this frame or, always if `begins` is set, to a new one.
 * Returns the frame's weight in the epoch's means, Q16: CURVE_ONE if it begins the epoch, 0 if it
 * does not count. */
uint32_t epoch_follow(const CurveParams *p, const EpochState *before,
                      const uint32_t cells[CURVE_CELLS], int begins, EpochState *now);

#endif
