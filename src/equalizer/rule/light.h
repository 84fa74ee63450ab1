/*
 * Manual brightness and gamma, applied before equalization. Also evens out changes of light, for
 * example of a camera's exposure. A steep curve amplifies such a change. A factor for codes above
 * black takes back what the curve adds.
 */
#ifndef LUMEQ_LIGHT_H
#define LUMEQ_LIGHT_H

#include "equalizer/curve_types.h"

static inline int light_is_on(const CurveLight *light)
{
    return light->power || light->lift;
}

/* Applies brightness and gamma to tone n / d (d: 1..65536). Returns a share of the range, Q30. */
uint32_t light_place(const CurveLight *light, uint32_t n, uint32_t d);

/* Like light_place(), but returns a code, Q16. */
uint32_t light_code(const CurveParams *p, uint32_t n, uint32_t d);

/* Applies brightness and gamma to a bin's first code. Returns a code, Q16. */
uint32_t light_bin(const CurveParams *p, int bin);

/* light_bin() of all bins. */
void light_bins(const CurveParams *p, uint32_t *codes);

/* The change of light from `before` to `now` that most usable cells share, Q16. It is the number
 * nearest to 1 between two percentiles of the cells' ratios now / before: `percent` (50: the
 * median) and 100 - `percent`. If a tenth of the cells is too dark or light to use, 38 replaces
 * `percent`, so that a lamp in a black picture does not decide. */
uint32_t light_gain(const CurveParams *p, const uint32_t *before, const uint32_t *now,
                    size_t percent);

/* The factor for codes above black that takes back `share` of the change of light from `then` to
 * `now`. `then`: the means of cells that the curve is made for; `before`: those of the previous
 * frame, or NULL; `now`: those of this frame. `change`: kept between frames, at first 0; moves by
 * `alpha` to the measured change. Only changes that most cells share count, so passing objects
 * hardly matter. All Q16. */
uint32_t light_factor(const CurveParams *p, uint32_t share, const uint32_t *then,
                      const uint32_t *before, const uint32_t *now, uint32_t alpha, int32_t *change);

uint32_t light_limited(uint32_t factor); /* limits a factor, Q16, to 0.7..1.4 */

/* The curve at a code in range, both Q16, interpolated between bins. */
uint64_t light_read(const CurveParams *p, const uint32_t *curve, uint64_t code);

/* Computes a curve that multiplies codes above black by `even`, Q16, and then applies `curve`. */
void light_even(const CurveParams *p, uint32_t even, const uint32_t *curve, uint32_t *to);

#endif
