/* The gain of chroma by its definition, in double precision and codes of 8 bits. */
#ifndef LUMEQ_TESTS_CHROMA_MODEL_H
#define LUMEQ_TESTS_CHROMA_MODEL_H

#include <math.h>

/* Of luma `in` above black that becomes `out`: three quarters of what luma gains and a quarter of
 * what it loses, little by little from 6 to 32 codes, and at most 1.8. */
static inline double model_gain(double in, double out)
{
    if (in <= 6)
        return 1;
    const double more = fmin(fmax(out / in, 0), 4) - 1;
    return fmin(1 + more * (more > 0 ? 0.75 : 0.25) * fmin((in - 6) / 26, 1), 1.8);
}

/* As much of a gain above 1 as keeps 15/8 of either component, Cb and Cr around gray, between black
 * and white, when luma goes from `from` to `to`, both above black; `to` counts as black or white
 * where it is beyond. What was further than black and white before is taken for as far as these.
 * Seven eighths of a colour are kept. Over luma from beyond white there is no limit. */
static inline double model_limit(double gain, double cb, double cr, double from, double to,
                                 double range)
{
    const double chroma[2] = {cb, cr};
    double least = gain;
    from = fmax(from, 0);
    to = fmin(fmax(to, 0), range);
    if (gain <= 1 || from > range)
        return gain;
    for (int i = 0; i < 2; i++) {
        const double before = chroma[i] > 0 ? range - from : from;
        const double after = chroma[i] > 0 ? range - to : to;
        const double reach = fmin(fabs(chroma[i]) * 15 / 8, before);
        if (reach * gain > after)
            least = fmin(least, fmax(after / reach, 0.875));
    }
    return least;
}

#endif
