/* Sums up the codes in each cell of a picture. */
#include <stdint.h>

#include "equalizer/backend.h"
#include "equalizer/cuda/launch.cuh"

/* Threads of a warp, and warps of a block. A warp sums up one row at a time. */
#define LANES 32
#define WARPS 8

#define BLOCKS_A_CELL 4

/* First column and row of each cell, and the picture's ends. */
typedef struct Starts {
    int x[MEASURE_COLUMNS + 1], y[MEASURE_ROWS + 1];
} Starts;

/* The grid's dimensions: columns of cells, rows of cells, parts of each cell. */
template <typename Sample>
static __global__ void __launch_bounds__(LANES *WARPS)
    sum_cells(const uint8_t *data, int64_t stride, const Starts starts, int shift, uint32_t last,
              unsigned long long *cells)
{
    const int left = starts.x[blockIdx.x], right = starts.x[blockIdx.x + 1];
    const int top = starts.y[blockIdx.y], bottom = starts.y[blockIdx.y + 1];
    unsigned long long sum = 0;
    for (int y = top + (int)(blockIdx.z * WARPS + threadIdx.y); y < bottom;
         y += WARPS * BLOCKS_A_CELL) {
        const Sample *row = (const Sample *)(data + y * stride);
        for (int x = left + (int)threadIdx.x; x < right; x += LANES)
            sum += min((uint32_t)row[x] >> shift, last);
    }
    for (int lanes = LANES / 2; lanes; lanes /= 2)
        sum += __shfl_xor_sync(~0u, sum, lanes);
    if (threadIdx.x == 0 && sum)
        atomicAdd(&cells[blockIdx.y * MEASURE_COLUMNS + blockIdx.x], sum);
}

extern "C" cudaError_t lumeq_cuda_load_cells(void)
{
    return load(sum_cells<uint8_t>, sum_cells<uint16_t>);
}

extern "C" cudaError_t lumeq_cuda_cells(const LumeqCudaPlane *luma, int depth, int shift,
                                        uint64_t *cells, cudaStream_t stream)
{
    static_assert(sizeof(uint64_t) == sizeof(unsigned long long), "what atomicAdd() takes");
    Starts starts;
    for (int i = 0; i <= MEASURE_COLUMNS; i++)
        starts.x[i] = measure_cell_start(luma->width, i, MEASURE_COLUMNS);
    for (int i = 0; i <= MEASURE_ROWS; i++)
        starts.y[i] = measure_cell_start(luma->height, i, MEASURE_ROWS);
    const Launch how = {dim3(MEASURE_COLUMNS, MEASURE_ROWS, BLOCKS_A_CELL), dim3(LANES, WARPS), 0,
                        0, stream};
    return launch(how, depth > 8 ? sum_cells<uint16_t> : sum_cells<uint8_t>, luma->data,
                  (int64_t)luma->stride, starts, shift, (1u << depth) - 1,
                  (unsigned long long *)cells);
}
