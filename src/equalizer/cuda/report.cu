/* Copies results to the host with a kernel, because the copy engines are busy with pictures. */
#include "equalizer/cuda/report.cuh"

#define THREADS 256

static __global__ void __launch_bounds__(THREADS) report(const Report what)
{
    make_report(what, (int)blockIdx.y, (int)(blockIdx.x * THREADS + threadIdx.x),
                (int)gridDim.x * THREADS);
}

extern "C" cudaError_t lumeq_cuda_load_report(void)
{
    cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, report);
}

extern "C" cudaError_t lumeq_cuda_report(const LumeqCudaReport *of, const LumeqCudaBatch *batch,
                                         cudaStream_t stream)
{
    const Report what = report_of(of, batch);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)(what.vectors + THREADS - 1) / THREADS, (unsigned)batch->count);
    config.blockDim = THREADS;
    config.stream = stream;
    return cudaLaunchKernelEx(&config, report, what);
}
