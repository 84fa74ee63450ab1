/*
 * Reference mode: OpenCV's arithmetic, for all backends. Clips counts, and turns sums of counts
 * into output codes, one code per call. Interpolation between tiles is in tiles.h. The build must
 * not fuse multiplications with additions.
 *
 * Sources: OpenCV 4.x, modules/imgproc/src/histogram.cpp, EqualizeHistLut, and
 * modules/imgproc/src/clahe.cpp, CLAHE_CalcLut_Body.
 */
#ifndef LUMEQ_REFERENCE_H
#define LUMEQ_REFERENCE_H

#include <math.h>
#include <stdint.h>

#include "equalizer/samples.h"

#define REFERENCE_CODES 256

/* A sum times a float32 factor, rounded half to even. */
CURVE_INLINE uint32_t reference_rounded(uint32_t sum, float scale)
{
    const float value = rintf((float)(int32_t)sum * scale);
    return value >= 255.0f ? 255 : (uint32_t)value;
}

/* equalizeHist's factor. `base`: the count of the lowest code that occurs; `total`: the sum of all
 * counts. */
CURVE_INLINE float reference_scale(uint32_t base, uint32_t total)
{
    return 255.0f / (float)(base == total ? 1 : total - base);
}

/* equalizeHist's output for a code. `sum`: the sum of the counts up to this code; `first`: the
 * lowest code that occurs. If no other code occurs, all codes become `first`. */
CURVE_INLINE uint32_t reference_code(uint32_t code, uint32_t sum, uint32_t first, uint32_t base,
                                     uint32_t total, float scale)
{
    if (base == total)
        return first;
    return code > first ? reference_rounded(sum - base, scale) : 0;
}

/* CLAHE: the count of a tile's cell after clipping. `excess`: how much the tile's counts exceed the
 * limit, in sum. The excess is spread evenly; the remainder goes to evenly spaced cells. */
CURVE_INLINE uint32_t reference_clipped(uint32_t cell, uint32_t count, uint32_t limit,
                                        uint32_t excess)
{
    const uint32_t rest = excess % REFERENCE_CODES, step = rest ? REFERENCE_CODES / rest : 1;
    const uint32_t number = cell / step;
    return (count < limit ? count : limit) + excess / REFERENCE_CODES +
           (number * step == cell && number < rest);
}

#endif
