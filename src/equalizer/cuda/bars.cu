/*
 * A frame's profile and, from it, its bars, in one kernel: warps count the lines, and the block
 * that is the last to be done looks at them.
 */
#include <stdint.h>

#define THREADS 256
#define WARPS (THREADS / 32)

#define BARS_FN static __device__ __forceinline__
#define BARS_EACH_SIDE(far)                                                                        \
    for (int far = (int)threadIdx.x / 32, bars_once = threadIdx.x % 32 == 0 && far < 2; bars_once; \
         bars_once = 0)
#define BARS_WAIT() __syncthreads()
#define BARS_LOWEST(bits) (__ffs((int)(bits)) - 1)
#define BARS_POPULATION(bits) __popc(bits)
#define BARS_OWN_MARK

#include "equalizer/cuda/kernels.h"
#include "equalizer/cuda/last_block.cuh"

static_assert(BARS_WORDS == WARPS, "each warp marks a word");

BARS_FN void bars_mark(const BarsLines *lines, int far, BarsMarks *marks)
{
    const int k = (int)threadIdx.x, word = k / 32;
    const bool looked = k < lines->looked;
    const int percent = looked ? bars_percent(lines, far, k * lines->stride) : 0;
    const uint32_t picture = __ballot_sync(~0u, looked && percent >= BARS_PICTURE);
    const uint32_t text = __ballot_sync(~0u, looked && percent > BARS_TEXT);
    const uint32_t quiet = __ballot_sync(~0u, looked && percent <= BARS_BUSY);
    const uint32_t clean = __ballot_sync(~0u, looked && percent <= BARS_CLEAN);
    if (k % 32 == 0) {
        marks->picture[word] = picture;
        marks->text[word] = text;
        marks->quiet[word] = quiet;
        marks->clean[word] = clean;
    }
}

typedef struct Luma {
    const uint8_t *data;
    int stride;
} Luma;

template <typename Sample>
static __device__ __forceinline__ bool is_lit(const Luma &luma, int x, int y, uint32_t lit)
{
    return ((const Sample *)(luma.data + (int64_t)y * luma.stride))[x] >= lit;
}

/* A warp's row. */
template <typename Sample>
static __device__ __forceinline__ void count_row(const Luma &luma, const BarsParams &params, int y,
                                                 uint32_t lit, uint8_t *lit_rows)
{
    const int lane = (int)threadIdx.x % 32, samples = min(params.width, BARS_ROW_SAMPLES);
    int count = 0;
#pragma unroll
    for (int i = 0; i < BARS_ROW_SAMPLES; i += 32) {
        const int k = i + lane;
        const int x = bars_block(params.width, k / BARS_BLOCK) + k % BARS_BLOCK;
        count += __popc(__ballot_sync(~0u, k < samples && is_lit<Sample>(luma, x, y, lit)));
    }
    if (lane == 0)
        lit_rows[y] = (uint8_t)count;
}

/* A block's 32 columns, among whose warps the rows are shared. */
template <typename Sample>
static __device__ __forceinline__ void count_columns(const Luma &luma, const BarsParams &params,
                                                     int first, uint32_t lit, uint8_t *lit_columns)
{
    __shared__ uint32_t counts[WARPS][32];
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, x = first + lane;
    const int step = bars_row_step(params.height);
    uint32_t count = 0;
    if (x < params.width)
        for (int y = bars_first_row(params.height) + warp * step; y < params.height;
             y += WARPS * step)
            count += is_lit<Sample>(luma, x, y, lit);
    counts[warp][lane] = count;
    __syncthreads();
    if (warp == 0 && x < params.width) {
        for (int i = 1; i < WARPS; i++)
            count += counts[i][lane];
        lit_columns[x] = (uint8_t)count;
    }
}

/* The blocks of columns come first, then those of rows: a row for each warp. */
template <typename Sample>
static __global__ void __launch_bounds__(THREADS)
    find_bars(const Luma luma, const BarsParams params, int column_blocks, const BarsState *before,
              BarsState *state, LumeqCudaProfile *profile)
{
    __shared__ BarsWork work;
    __shared__ bool last;
    const uint32_t lit = bars_lit(&params);
    const int block = (int)blockIdx.x;
    const int y = (block - column_blocks) * WARPS + (int)threadIdx.x / 32;
#if __CUDA_ARCH__ >= 900
    /* The next frame may be counted while this one's bars are found. */
    cudaTriggerProgrammaticLaunchCompletion();
#endif
    if (block < column_blocks)
        count_columns<Sample>(luma, params, block * 32, lit, profile->lines.lit[BARS_COLUMNS]);
    else if (y < params.height && !params.ignore)
        count_row<Sample>(luma, params, y, lit, profile->lines.lit[BARS_ROWS]);
    __syncthreads();
    if (threadIdx.x == 0)
        last = is_last_block(&profile->blocks_done, gridDim.x);
    __syncthreads();
    if (!last)
        return;
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
    const BarsState now = bars_update(&params, before, &profile->lines, &work);
    if (threadIdx.x == 0)
        *state = now;
}

/* The profile alone. */
template <typename Sample>
static __global__ void __launch_bounds__(THREADS)
    profile_lines(const Luma luma, const BarsParams params, int column_blocks, uint8_t *columns,
                  uint8_t *rows)
{
    const uint32_t lit = bars_lit(&params);
    const int block = (int)blockIdx.x;
    const int y = (block - column_blocks) * WARPS + (int)threadIdx.x / 32;
    if (block < column_blocks)
        count_columns<Sample>(luma, params, block * 32, lit, columns);
    else if (y < params.height)
        count_row<Sample>(luma, params, y, lit, rows);
}

extern "C" cudaError_t lumeq_cuda_load_bars(void)
{
    cudaFuncAttributes attributes;
    cudaError_t error = cudaFuncGetAttributes(&attributes, find_bars<uint8_t>);
    if (!error)
        error = cudaFuncGetAttributes(&attributes, find_bars<uint16_t>);
    if (!error)
        error = cudaFuncGetAttributes(&attributes, profile_lines<uint8_t>);
    return error ? error : cudaFuncGetAttributes(&attributes, profile_lines<uint16_t>);
}

extern "C" cudaError_t lumeq_cuda_profile(const LumeqCudaPlane *luma, const BarsParams *params,
                                          uint8_t *columns, uint8_t *rows, cudaStream_t stream)
{
    const Luma plane = {luma->data, (int)luma->stride};
    const int column_blocks = (params->width + 31) / 32;
    const int row_blocks = (params->height + WARPS - 1) / WARPS;
    cudaLaunchConfig_t config = {};
    config.gridDim = (unsigned)(column_blocks + row_blocks);
    config.blockDim = THREADS;
    config.stream = stream;
    return cudaLaunchKernelEx(&config,
                              params->depth > 8 ? profile_lines<uint16_t> : profile_lines<uint8_t>,
                              plane, *params, column_blocks, columns, rows);
}

extern "C" cudaError_t lumeq_cuda_bars(const LumeqCudaDevice *device, const LumeqCudaPlane *luma,
                                       const BarsParams *params, const BarsState *before,
                                       BarsState *state, LumeqCudaProfile *profile,
                                       cudaStream_t stream)
{
    const Luma plane = {luma->data, (int)luma->stride};
    const int columns = params->ignore ? 0 : (params->width + 31) / 32;
    const int rows = params->ignore ? 1 : (params->height + WARPS - 1) / WARPS;
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;

    cudaLaunchConfig_t config = {};
    config.gridDim = (unsigned)(columns + rows);
    config.blockDim = THREADS;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = device->early_launches ? 1 : 0;
    return cudaLaunchKernelEx(&config, params->depth > 8 ? find_bars<uint16_t> : find_bars<uint8_t>,
                              plane, *params, columns, before, state, profile);
}
