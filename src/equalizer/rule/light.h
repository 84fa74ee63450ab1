/* Manual brightness and gamma, applied to tones before equalization. */
#ifndef LUMEQ_LIGHT_H
#define LUMEQ_LIGHT_H

#include "equalizer/curve_types.h"

static inline int light_is_on(const CurveLight *light)
{
    return light->power || light->lift;
}

/* The place of the tone n / d, Q30, where d is 1..65536. */
uint32_t light_place(const CurveLight *light, uint32_t n, uint32_t d);

/* The code of the place n / d of the range, Q16. */
uint32_t light_code(const CurveParams *p, uint32_t n, uint32_t d);

/* A bin's first code before it is equalized, Q16; and those of all bins. */
uint32_t light_bin(const CurveParams *p, int bin);
void light_bins(const CurveParams *p, uint32_t *codes);

#endif
