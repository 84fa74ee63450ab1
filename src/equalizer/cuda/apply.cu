/* Maps the samples of the active picture through a table, and copies the others. */
#include <stdint.h>

#define THREADS 512
#include "equalizer/cuda/kernels.h"
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
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
    look_up_start(chunks, &start);
    /* Waits for the previous kernel, which makes the table, if this one started early. */
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
    if (threadIdx.x == 0)
        find_active(&active, bars);
    look_up_plane<Table>(&memory, chunks, dst, dst_stride, from, params, batch.of[frame].frame,
                         active, &start);
}

template <typename Table> static cudaError_t load(void)
{
    cudaFuncAttributes attributes;
    const cudaError_t error = cudaFuncGetAttributes(&attributes, apply<Table>);
    return error
               ? error
               : cudaFuncSetAttribute(apply<Table>, cudaFuncAttributePreferredSharedMemoryCarveout,
                                      cudaSharedmemCarveoutMaxShared);
}

extern "C" cudaError_t lumeq_cuda_load_apply(void)
{
    cudaError_t error = load<Rounded8>();
    if (!error)
        error = load<Dithered8>();
    if (!error)
        error = load<Codes16>();
    return error ? error : load<Nodes>();
}

template <typename Table>
static cudaError_t launch(const LumeqCudaDevice *device, const LumeqCudaPlane *dst,
                          const LumeqCudaPlane *src, const CurveTable *table, const BarsState *bars,
                          const CurveParams *params, const LumeqCudaBatch *batch,
                          cudaStream_t stream)
{
    Chunks chunks;
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;

    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(chunks_share(&chunks, src, dst, sizeof(typename Table::Sample),
                                       chunks_blocks(device->processors, batch->count)),
                          (unsigned)batch->count);
    config.blockDim = THREADS;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = device->early_launches ? 1 : 0;
    return cudaLaunchKernelEx(&config, apply<Table>, chunks, dst->data, (int)dst->stride, table,
                              bars, *params, *batch);
}

extern "C" cudaError_t lumeq_cuda_apply(const LumeqCudaDevice *device, const LumeqCudaPlane *dst,
                                        const LumeqCudaPlane *src, const CurveTable *table,
                                        const BarsState *bars, const CurveParams *params,
                                        const LumeqCudaBatch *batch, cudaStream_t stream)
{
    const auto start = params->depth == 8 ? params->dither ? launch<Dithered8> : launch<Rounded8>
                       : curve_has_nodes(params) ? launch<Nodes>
                                                 : launch<Codes16>;
    return start(device, dst, src, table, bars, params, batch, stream);
}
