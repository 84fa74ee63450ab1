/*
 * The lift rule: decides the curve of a picture from its histogram and noise.
 *
 * "Codes" are 8-bit codes at every depth. Element 0 of an array of counts is for black.
 */
#ifndef LUMEQ_LIFT_H
#define LUMEQ_LIFT_H

#include "equalizer/curve_types.h"

/* Assumed noise until it is measured, in codes, Q16. */
#define LIFT_NOISE_USUAL (CURVE_ONE * 7 / 10)

#define LIFT_MOST (12 * CURVE_ONE) /* maximum of LiftChoice.lift */

#define LIFT_SHARE_BITS 30 /* fraction bits of the shares of lift_shares() */

#define LIFT_PERCENT(percent) (CURVE_ONE * (percent) / 100)

/* Decisions other than the curve, Q16. */
typedef struct LiftChoice {
    uint32_t dark;    /* darkness of the picture, 0..1 */
    uint32_t voids;   /* how much the picture counts as void, 0..1 */
    uint32_t lift;    /* near black, light is multiplied by 1 + lift */
    uint32_t need;    /* share of the equalization to use */
    uint32_t lowered; /* lift whose inverse is applied after equalization; 0: none */
    uint32_t raised;  /* lift that is applied after equalization; 0: none */
} LiftChoice;

typedef struct LiftWanted {
    int black, white; /* codes */
    uint32_t noise;   /* 64ths of a code */
    uint32_t denoise; /* share of the noise that is filtered, Q16 */
    uint32_t clip;    /* CurveParams.clip */
    int awaited;      /* the noise is assumed, but will soon be measured */
    int hdr;          /* highlights stay unchanged, so they do not limit the lift */
} LiftWanted;

/* The input of lift_decide(). `noise`: in codes, Q16; `counts`: as for lift_decide(); `awaited`: as
 * in LiftState. */
LiftWanted lift_wanted(const CurveParams *p, const uint32_t counts[CURVE_CELLS], uint32_t noise,
                       uint32_t awaited);

/* Decides the curve of a picture. `counts` are 0 outside the range, and their sum is below 2^31.
 * Stores the output code of each code, Q8, in `nodes`. */
LiftChoice lift_decide(const uint32_t counts[CURVE_CELLS], LiftWanted wanted,
                       const CurveLight *light, uint32_t nodes[CURVE_CELLS]);

/* Computes the output of each bin's first code, Q16, interpolated between 8-bit codes. */
void lift_targets(const CurveParams *p, const uint32_t nodes[CURVE_CELLS], uint32_t *targets);

/* Computes each code's share of the counts in range. `sums`: prefix sums of the counts by bin;
 * `counted`: the total, not 0. */
void lift_shares(const CurveParams *p, const uint32_t *sums, uint32_t counted,
                 uint32_t shares[CURVE_CELLS]);

/* Updates the noise estimate for a frame. `now`: the noise measured in the previous frame. The
 * estimate is the mean over the frames with a `weight` in the target, the first frames of epochs.
 * After a cut, the estimate stays until the noise of the new scene is measured. */
void lift_follow_noise(LiftState *s, const LiftState *before, uint32_t now, uint32_t weight,
                       int cut, int first);

/* The lift (Q16) that maps tone `from` to tone `to`; 0 if `to` is not lighter. Tones are shares of
 * the range from black to white, Q16. */
uint32_t lift_reach(uint32_t from, uint32_t to);

#endif
