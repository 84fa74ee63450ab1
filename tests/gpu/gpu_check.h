/* Shared by tests of kernels: CUDA calls that must succeed, and contents of rectangles. */
#ifndef LUMEQ_TESTS_GPU_CHECK_H
#define LUMEQ_TESTS_GPU_CHECK_H

#include <cuda_runtime_api.h>

#include "../check.h"
#include "../rects.h"
#include "equalizer/cuda/kernels.h"

#define GUARD 128

static LumeqCudaDevice device;

static int cuda_ok(cudaError_t error, const char *what)
{
    return CHECK(error == cudaSuccess, "%s: %s", what, cudaGetErrorString(error));
}

#define OK(call) cuda_ok(call, #call)

enum { FLAT, TWO_LEVELS, RAMP, NOISE, NARROW_NOISE, CONTENTS };

static inline void fill(const CheckRect *rect, int content, CheckRandom *random)
{
    const int low = check_below(random, 256), high = check_below(random, 256);
    for (int y = 0; y < rect->height; y++)
        for (int x = 0; x < rect->width; x++) {
            const uint64_t hash = check_hash(random->seed, (uint64_t)y * 65536 + (uint64_t)x);
            const int codes[CONTENTS] = {low, hash & 1 ? low : high, x + y, (int)(hash & 255),
                                         low + (int)(hash & 7)};
            check_row(rect, y)[x] = (uint8_t)codes[content];
        }
}

#endif
