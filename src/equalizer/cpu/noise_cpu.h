/* What tells of a frame's noise, counted by the CPU. */
#ifndef LUMEQ_NOISE_CPU_H
#define LUMEQ_NOISE_CPU_H

#include "equalizer/backend.h"
#include "equalizer/cpu/kernels.h"

/* Adds the blocks of some of noise_rows(), `from` to before `to`. */
void lumeq_noise_count(NoiseProfile *profile, const LumeqKernels *kernels, const LumeqImage *in,
                       const LumeqImage *previous, const CurveParams *params, int from, int to);

/* Adds one profile to another. */
void lumeq_noise_add(NoiseProfile *sum, const NoiseProfile *part);

#endif
