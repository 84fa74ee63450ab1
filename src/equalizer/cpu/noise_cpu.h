/* Noise profiles (noise.h) on the CPU. */
#ifndef LUMEQ_NOISE_CPU_H
#define LUMEQ_NOISE_CPU_H

#include "equalizer/backend.h"
#include "equalizer/cpu/kernels.h"

/* Adds the blocks of the rows [from, to) of noise_rows(). */
void lumeq_noise_count(NoiseProfile *profile, const LumeqKernels *kernels, const LumeqImage *in,
                       const LumeqImage *previous, const CurveParams *params, int from, int to);

/* Adds one profile to another. */
void lumeq_noise_add(NoiseProfile *sum, const NoiseProfile *part);

#endif
