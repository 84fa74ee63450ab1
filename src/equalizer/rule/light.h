/*
 * Manual brightness and gamma, applied before equalization. Also evens out changes of light, such
 * as those of a camera's exposure: a factor for codes above black takes back what a steep curve
 * adds.
 */
#ifndef LUMEQ_LIGHT_H
#define LUMEQ_LIGHT_H

#include "equalizer/curve_types.h"

static inline int light_is_on(const CurveLight *light)
{
    return light->power || light->lift;
}

/* The tone n / d with brightness and gamma, as a share of the range, Q30; d is 1..65536. */
uint32_t light_place(const CurveLight *light, uint32_t n, uint32_t d);

/* The same as a code, Q16. */
uint32_t light_code(const CurveParams *p, uint32_t n, uint32_t d);

/* A bin's first code with brightness and gamma, before equalization, Q16. */
uint32_t light_bin(const CurveParams *p, int bin);

/* The same for all bins. */
void light_bins(const CurveParams *p, uint32_t *codes);

/* The number nearest to 1, Q16, between two percentiles of the usable cells' ratios `now` /
 * `before`: `percent` (50: the median) and 100 - `percent`. 36 instead of `percent` if a tenth of
 * the cells is too dark or light, so that a lamp in a black picture does not decide. */
uint32_t light_gain(const CurveParams *p, const uint32_t *before, const uint32_t *now,
                    size_t percent);

/* Returns the factor for codes above black that takes back `share` of the change of light from
 * `then`, the cells' means that the curve is made for, to `now`. `change`, at first 0, is kept
 * between frames: the change so far. Each call multiplies it by the change since `before`, the
 * previous frame (NULL: none), light_gain() at 45 %, and moves it by `alpha` to the change since
 * `then` that two thirds of the cells share. The factor takes back only what four fifths share, so
 * passing objects hardly count. All Q16. */
uint32_t light_factor(const CurveParams *p, uint32_t share, const uint32_t *then,
                      const uint32_t *before, const uint32_t *now, uint32_t alpha, int32_t *change);

uint32_t light_limited(uint32_t factor); /* to 0.7..1.4 */

/* The curve at a code in range, Q16, interpolated between bins. */
uint64_t light_read(const CurveParams *p, const uint32_t *curve, uint64_t code);

/* The curve for codes multiplied by `even`, Q16, above black. */
void light_even(const CurveParams *p, uint32_t even, const uint32_t *curve, uint32_t *to);

#endif
