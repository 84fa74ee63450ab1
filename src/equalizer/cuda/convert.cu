/* Converts a component's samples to another layout. */
#include <stdint.h>

#include "equalizer/cuda/launch.cuh"

#define THREADS 256
#define MOST_ROWS 65535 /* limit of gridDim.y */

/* The grid's dimensions: parts of a row, rows. */
template <typename Sample>
static __global__ void __launch_bounds__(THREADS)
    convert(const LumeqCudaSamples to, const LumeqCudaSamples from, int width, int height, int down,
            int up)
{
    const int64_t x = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (x >= width)
        return;
    for (int64_t y = blockIdx.y; y < height; y += gridDim.y) {
        const Sample sample = ((const Sample *)(from.data + y * from.stride))[x * from.step];
        ((Sample *)(to.data + y * to.stride))[x * to.step] =
            (Sample)((uint32_t)sample >> down << up);
    }
}

extern "C" cudaError_t lumeq_cuda_load_convert(void)
{
    return load(convert<uint8_t>, convert<uint16_t>);
}

extern "C" cudaError_t lumeq_cuda_convert(const LumeqCudaSamples *to, const LumeqCudaSamples *from,
                                          int width, int height, int sample_size, int down, int up,
                                          cudaStream_t stream)
{
    const Launch how = {dim3((unsigned)(width + THREADS - 1) / THREADS,
                             (unsigned)(height < MOST_ROWS ? height : MOST_ROWS)),
                        THREADS, 0, 0, stream};
    return launch(how, sample_size == 2 ? convert<uint16_t> : convert<uint8_t>, *to, *from, width,
                  height, down, up);
}
