/* Kernels of test_cuda_loss.c, which describes them. */
#include <cuda_runtime_api.h>

#include <stdint.h>

#define THREADS 1024
#define MOST_NS 60000000000ull

__device__ static uint64_t now_ns(void)
{
    uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

__global__ static void spin(const volatile int *go_on)
{
    const uint64_t begin = now_ns();
    while (*go_on && now_ns() - begin < MOST_NS)
        __nanosleep(10000);
}

__global__ static void fault(volatile int *nowhere)
{
    *nowhere = 1;
}

extern "C" cudaError_t busy_start(const volatile int *go_on, int processors,
                                  int threads_per_processor, cudaStream_t stream)
{
    spin<<<processors *(threads_per_processor / THREADS), THREADS, 0, stream>>>(go_on);
    return cudaGetLastError();
}

extern "C" cudaError_t busy_fault(cudaStream_t stream)
{
    fault<<<1, 1, 0, stream>>>((volatile int *)16);
    return cudaGetLastError();
}
