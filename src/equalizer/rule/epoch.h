/*
 * Epochs: ranges of frames that share one target, towards which their curves move.
 *
 * An epoch ends with its scene, or when nearly half of the non-black picture has been lighter or
 * darker for EPOCH_WAIT. So passing objects, lamps and noise do not change the rest of the picture.
 * Without lookahead, an epoch's target is the mean of the targets of its first frames. If one of
 * these frames only gets lighter, as in a fade, it begins a new epoch.
 */
#ifndef LUMEQ_EPOCH_H
#define LUMEQ_EPOCH_H

#include "equalizer/curve_types.h"

#define EPOCH_WAIT 300000  /* microseconds for which a change must last to end an epoch */
#define EPOCH_LEARN 200000 /* microseconds: frames up to this age of an epoch make its target */

/* Computes the CDF by cells from the CDF by bins. */
void epoch_cells(const CurveParams *p, const uint32_t *cdf, uint32_t cells[CURVE_CELLS]);

/* True if nearly half of the non-black picture has changed between these CDFs. */
int epoch_differs(const CurveParams *p, const uint32_t was[CURVE_CELLS],
                  const uint32_t now[CURVE_CELLS]);

/* True if a sudden change between these CDFs is a cut. It is not a cut if most of the histogram
 * stays, for example when a lamp is switched on. */
int epoch_is_cut(const uint32_t was[CURVE_CELLS], const uint32_t now[CURVE_CELLS]);

/* Adds a frame to the epoch `before`, or begins a new epoch, always if `begins` is set. Stores the
 * epoch in `now`. Returns the weight of the frame in the means of the epoch, Q16: CURVE_ONE if the
 * frame begins the epoch, 0 if the means ignore the frame. */
uint32_t epoch_follow(const CurveParams *p, const EpochState *before,
                      const uint32_t cells[CURVE_CELLS], int begins, EpochState *now);

#endif
