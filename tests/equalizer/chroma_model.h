/* The gain of chroma by its definition, in double precision and codes of 8 bits. */
#ifndef LUMEQ_TESTS_CHROMA_MODEL_H
#define LUMEQ_TESTS_CHROMA_MODEL_H

#include <math.h>

/* For luma `in` above black that becomes `out`: three quarters of luma's gain and a quarter of its
 * loss, gradually from 6 to 32 codes, and at most 1.8. */
static inline double model_gain(double in, double out)
{
    if (in <= 6)
        return 1;
    const double more = fmin(fmax(out / in, 0), 4) - 1;
    return fmin(1 + more * (more > 0 ? 0.75 : 0.25) * fmin((in - 6) / 26, 1), 1.8);
}

/* Limits a gain above 1 so that 15/8 of either component, Cb and Cr around gray, stays between
 * black and white when luma goes from `from` to `to`, both above black; `to` is clamped to black
 * and white. Colours already outside count as being at the limit. Seven eighths of a colour are
 * kept. Luma beyond white has no limit. */
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
