/* The noise between two frames, from the reference in C. */
#ifndef LUMEQ_TESTS_NOISE_CHECK_H
#define LUMEQ_TESTS_NOISE_CHECK_H

#include "../rects.h"
#include "equalizer/cpu/bands.h"
#include "equalizer/cpu/kernels.h"

/* Samples have the parameters' format, with `width` in a row. */
static inline uint32_t expected_noise(const CheckRect *now, const CheckRect *before, int width,
                                      const CurveParams *params)
{
    static LumeqKernels kernels;
    const CheckRect *const rects[2] = {now, before};
    LumeqImage images[2];
    NoiseProfile counts = {0};
    for (int i = 0; i < 2; i++)
        images[i] = (LumeqImage){.plane = {rects[i]->pixels},
                                 .stride = {rects[i]->stride},
                                 .width = width,
                                 .height = rects[i]->height,
                                 .depth = params->depth,
                                 .shift = params->shift};
    lumeq_kernels_c(&kernels);
    lumeq_noise_count(&counts, &kernels, &images[0], &images[1], params, 0,
                      noise_rows(width, now->height).rows);
    return noise_of(&counts);
}

#endif
