/*
 * When a curve may change: at the begin of an epoch, a range of frames that need no other curve.
 *
 * An epoch ends with its scene, or when half of the picture that is not black has become lighter or
 * darker for EPOCH_WAIT. So what passes through the picture, a lamp, and noise do not move the
 * light of the rest. Without lookahead an epoch's curve is the mean of what its first frames ask
 * for. If these only get lighter, a fade goes on, and each of its steps begins an epoch.
 */
#ifndef LUMEQ_EPOCH_H
#define LUMEQ_EPOCH_H

#include "equalizer/curve_types.h"

/* Microseconds for which a change must last, and which the curve of an epoch is made from. */
#define EPOCH_WAIT 300000
#define EPOCH_LEARN 200000

/* The CDF of the cells, from that of the bins. */
void epoch_cells(const CurveParams *p, const uint32_t *cdf, uint32_t cells[CURVE_CELLS]);

/* True if half of the picture has changed between these CDFs. */
int epoch_differs(const CurveParams *p, const uint32_t was[CURVE_CELLS],
                  const uint32_t now[CURVE_CELLS]);

/* True if a sudden change between these CDFs is a cut, and not a lamp, which leaves the rest of the
 * histogram as it was. */
int epoch_is_cut(const uint32_t was[CURVE_CELLS], const uint32_t now[CURVE_CELLS]);

/* Adds a frame to the epoch `before`, or begins one, which `begins` demands. Returns the frame's
 * weight in the means over the epoch's frames, Q16: 1 if it begins one, 0 if they are final. */
uint32_t epoch_follow(const CurveParams *p, const EpochState *before,
                      const uint32_t cells[CURVE_CELLS], int begins, EpochState *now);

#endif
