/* Copies between host and GPU, without the library. */
#ifndef LUMEQ_BENCH_COPIES_H
#define LUMEQ_BENCH_COPIES_H

#include <stddef.h>

/* Copies pieces of `size` bytes between pinned memory and the GPU, in both directions at the same
 * time, for at least `seconds`. Stores the time of one piece in each direction. Returns 0, or -1
 * after a sentence on stderr; -1 in builds without CUDA. */
int bench_copies(double *us, int device, size_t size, double seconds);

/* MiB of the GPU's memory that all processes use; creates a context. -1 if unknown. */
double bench_gpu_memory(int device);

#endif
