/*
 * Compiles bars.h and noise.h for the group of threads that computes a curve or, if CURVE_THREADS
 * is not defined, for a block. Include it before all other headers of the project.
 */
#ifndef LUMEQ_CUDA_SURVEY_GROUP_CUH
#define LUMEQ_CUDA_SURVEY_GROUP_CUH

#define BARS_FN static __device__ __forceinline__
#define BARS_EACH_SIDE(far)                                                                        \
    for (int far = (int)threadIdx.x / 32, bars_once = threadIdx.x % 32 == 0 && far < 2; bars_once; \
         bars_once = 0)
#ifdef CURVE_THREADS
#define BARS_WAIT() curve_barrier()
#else
#define BARS_WAIT() __syncthreads()
#endif
#define BARS_LOWEST(bits) (__ffs((int)(bits)) - 1)
#define BARS_POPULATION(bits) __popc(bits)
#define BARS_OWN_MARK

#define NOISE_FN static __host__ __device__ __forceinline__

#endif
