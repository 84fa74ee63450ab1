/* Removes haze from output planes that other kernels have written. */
#include <stdint.h>

#define THREADS 256

#include "equalizer/cuda/chroma_scale.cuh"
#include "equalizer/cuda/launch.cuh"

#define MOST_ROWS 65535 /* limit of gridDim.y */

/* Clears chroma. Bounds luma if luma_out has data. The grid's dimensions: parts of a row, rows. */
template <typename Sample>
static __global__ void __launch_bounds__(THREADS)
    clear_haze(const __grid_constant__ LumeqCudaChroma c, int depth, int shift, int black,
               int white, const HazeTint tint)
{
    const ChromaCodes codes = {shift, (1u << depth) - 1};
    const int x = (int)(blockIdx.x * THREADS + threadIdx.x), area = c.sub_x + c.sub_y;
    if (x >= c.width)
        return;
    for (int y = (int)blockIdx.y; y < c.height; y += (int)gridDim.y) {
        const int above = (int)mean_of(sum_luma<Sample>(codes, c, x, y), area) - black;
        const int luma = max(above, 0);
        int most = 0;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            Sample *const sample = component<Sample>(c.out, c, i, x, y);
            const int code = (int)(*sample >> shift);
            const int all = haze_cleared(code, depth, luma, tint, i);
            const int cleared = white ? haze_kept(code, all, luma, white, depth) : all;
            *sample = (Sample)(cleared << shift);
            most = max(most, cleared);
        }
        if (c.luma_out.data)
            bound_pixel<Sample>(c, (uint32_t)most, depth, shift, (uint32_t)black << (16 - depth), x,
                                y);
    }
}

/* Clears luma. `out`: the active picture, at `left`, `top` of a frame. */
template <typename Sample>
static __global__ void __launch_bounds__(THREADS)
    clear_cells(const LumeqCudaPlane out, int left, int top, int frame_width, int frame_height,
                int depth, int shift, int black, int white, const __grid_constant__ HazeClear clear)
{
    const int x = (int)(blockIdx.x * THREADS + threadIdx.x), last = (1 << depth) - 1;
    if (x >= out.width)
        return;
    const HazePlace column =
        haze_between(left + x, haze_step(frame_width, MEASURE_COLUMNS), MEASURE_COLUMNS);
    for (int y = (int)blockIdx.y; y < out.height; y += (int)gridDim.y) {
        const HazePlace row =
            haze_between(top + y, haze_step(frame_height, MEASURE_ROWS), MEASURE_ROWS);
        const uint16_t *gain = clear.gain + row.cell * MEASURE_COLUMNS + column.cell;
        const int first = haze_gain(gain[0], gain[MEASURE_COLUMNS], row.part);
        const int second = haze_gain(gain[1], gain[MEASURE_COLUMNS + 1], row.part);
        Sample *const sample = (Sample *)plane_row(out, y) + x;
        const int code = min((int)(*sample >> shift), last);
        const int cleared =
            haze_lined(code, black, clear.light, haze_gain(first, second, column.part));
        *sample = (Sample)(haze_lifted(cleared, black, white - black, clear.lift, depth) << shift);
    }
}

extern "C" cudaError_t lumeq_cuda_load_clear(void)
{
    const cudaError_t error = load(clear_haze<uint8_t>, clear_haze<uint16_t>);
    return error ? error : load(clear_cells<uint8_t>, clear_cells<uint16_t>);
}

extern "C" cudaError_t lumeq_cuda_clear_haze(const LumeqCudaChroma *chroma,
                                             const CurveParams *params, int white, HazeTint tint,
                                             cudaStream_t stream)
{
    const Launch how = {dim3((unsigned)(chroma->width + THREADS - 1) / THREADS,
                             (unsigned)(chroma->height < MOST_ROWS ? chroma->height : MOST_ROWS)),
                        THREADS, 0, 0, stream};
    return launch(how, params->depth > 8 ? clear_haze<uint16_t> : clear_haze<uint8_t>, *chroma,
                  params->depth, params->shift, params->black, white, tint);
}

extern "C" cudaError_t lumeq_cuda_clear_cells(const LumeqCudaPlane *out, LumeqRect active,
                                              int width, int height, const CurveParams *params,
                                              int white, const HazeClear *clear,
                                              cudaStream_t stream)
{
    const Launch how = {dim3((unsigned)(out->width + THREADS - 1) / THREADS,
                             (unsigned)(out->height < MOST_ROWS ? out->height : MOST_ROWS)),
                        THREADS, 0, 0, stream};
    return launch(how, params->depth > 8 ? clear_cells<uint16_t> : clear_cells<uint8_t>, *out,
                  active.x, active.y, width, height, params->depth, params->shift, params->black,
                  white, *clear);
}
