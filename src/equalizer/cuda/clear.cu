/* Takes haze from the chroma of frames that are written. */
#include <stdint.h>

#include "equalizer/cuda/chroma_parts.cuh"
#include "equalizer/cuda/launch.cuh"

#define THREADS 256
#define MOST_ROWS 65535 /* limit of gridDim.y */

/* Grid: parts of a row, rows. */
template <typename Sample>
static __global__ void __launch_bounds__(THREADS)
    clear_haze(const __grid_constant__ LumeqCudaChroma c, int depth, int shift, int black,
               const HazeTint tint)
{
    const ChromaCodes codes = {shift, (1u << depth) - 1};
    const int x = (int)(blockIdx.x * THREADS + threadIdx.x), area = c.sub_x + c.sub_y;
    if (x >= c.width)
        return;
    for (int y = (int)blockIdx.y; y < c.height; y += (int)gridDim.y) {
        const int above = (int)mean_of(sum_luma<Sample>(codes, c, x, y), area) - black;
        const int luma = max(above, 0);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            Sample *const sample = component<Sample>(c.out, c, i, x, y);
            const int code = (int)(*sample >> shift);
            *sample = (Sample)(haze_cleared(code, depth, luma, tint.of[i], tint.lost) << shift);
        }
    }
}

extern "C" cudaError_t lumeq_cuda_load_clear(void)
{
    return load(clear_haze<uint8_t>, clear_haze<uint16_t>);
}

extern "C" cudaError_t lumeq_cuda_clear_haze(const LumeqCudaChroma *chroma,
                                             const CurveParams *params, HazeTint tint,
                                             cudaStream_t stream)
{
    const Launch how = {dim3((unsigned)(chroma->width + THREADS - 1) / THREADS,
                             (unsigned)(chroma->height < MOST_ROWS ? chroma->height : MOST_ROWS)),
                        THREADS, 0, 0, stream};
    return launch(how, params->depth > 8 ? clear_haze<uint16_t> : clear_haze<uint8_t>, *chroma,
                  params->depth, params->shift, params->black, tint);
}
