/* Manual brightness and gamma, applied to tones before equalization. */
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

#endif
