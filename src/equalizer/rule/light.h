/*
 * Tones before equalization: manual brightness and gamma. Changes of light, such as those of a
 * camera's exposure, are evened out as far as a steep curve would make them grow, by a factor for
 * codes above black.
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

/* The ratio of the cells' means, `now` / `before`, Q16, that is nearest to 1 among those that
 * `percent` of the usable cells reach and as many do not exceed; 50: their median. */
uint32_t light_gain(const CurveParams *p, const uint32_t *before, const uint32_t *now,
                    size_t percent);

/* Returns the factor for codes above black that takes back `share` of a change of light: from
 * `then`, the cells' means at the epoch's beginning, to `now`. `change` is the state between
 * frames: 0 at first, it follows the change from the previous frame, `before` (NULL: none), that 55
 * % of the cells share, and moves by `alpha` to the change from `then` that two thirds share. The
 * factor follows it as far as four fifths share it, so objects that pass hardly count. All Q16. */
uint32_t light_factor(const CurveParams *p, uint32_t share, const uint32_t *then,
                      const uint32_t *before, const uint32_t *now, uint32_t alpha, int32_t *change);

uint32_t light_limited(uint32_t factor); /* to 0.7..1.4 */

/* The curve at a code in range, Q16, interpolated between bins. */
uint64_t light_read(const CurveParams *p, const uint32_t *curve, uint64_t code);

/* The curve after the factor `even`, Q16. */
void light_even(const CurveParams *p, uint32_t even, const uint32_t *curve, uint32_t *to);

#endif
