/* Maps the samples of the active picture through a table, and copies the others. */
#include <stdint.h>

#define THREADS 512
#include "equalizer/cuda/launch.cuh"
#include "equalizer/cuda/lookup.cuh"

/* The frames of a batch are side by side in the grid's second dimension. */
template <typename Table>
static __global__ void __launch_bounds__(THREADS, BLOCKS_BESIDE)
    apply(const __grid_constant__ Chunks all_chunks, uint8_t *dst, int dst_stride,
          const CurveTable *from, const BarsState *bars, const __grid_constant__ CurveParams params,
          const __grid_constant__ LumeqCudaBatch batch)
{
    __shared__ typename Table::Memory memory;
    __shared__ Active active;
    const int frame = (int)blockIdx.y;
    Chunks chunks = all_chunks;
    LookupStart start;
    chunks.data += batch.of[frame].in[0];
    dst += batch.of[frame].out[0];
    from = in_batch(from, batch, frame);
    bars = in_batch(bars, batch, frame);
    let_next_kernel_start();
    look_up_start(chunks, &start);
    wait_for_kernel_before(); /* it may make the table */
    if (threadIdx.x == 0)
        find_active(&active, bars);
    look_up_plane<Table>(&memory, chunks, dst, dst_stride, from, params, batch.of[frame].frame,
                         active, &start);
}

extern "C" cudaError_t lumeq_cuda_load_apply(void)
{
    return load_with_shared(apply<Rounded8>, apply<Dithered8>, apply<Codes16>, apply<Nodes>);
}

template <typename Table>
static cudaError_t start(const LumeqCudaDevice *device, const LumeqCudaPlane *dst,
                         const LumeqCudaPlane *src, const CurveTable *table, const BarsState *bars,
                         const CurveParams *params, const LumeqCudaBatch *batch,
                         cudaStream_t stream)
{
    Chunks chunks;
    const unsigned blocks = chunks_share(&chunks, src, dst, sizeof(typename Table::Sample),
                                         chunks_blocks(device->processors, batch->count));
    const Launch how = {dim3(blocks, (unsigned)batch->count), THREADS, 0, device->early_launches,
                        stream};
    return launch(how, apply<Table>, chunks, dst->data, (int)dst->stride, table, bars, *params,
                  *batch);
}

extern "C" cudaError_t lumeq_cuda_apply(const LumeqCudaDevice *device, const LumeqCudaPlane *dst,
                                        const LumeqCudaPlane *src, const CurveTable *table,
                                        const BarsState *bars, const CurveParams *params,
                                        const LumeqCudaBatch *batch, cudaStream_t stream)
{
    const auto kind = params->depth == 8 ? params->dither ? start<Dithered8> : start<Rounded8>
                      : curve_has_nodes(params) ? start<Nodes>
                                                : start<Codes16>;
    return kind(device, dst, src, table, bars, params, batch, stream);
}
