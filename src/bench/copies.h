/* Copies between host and GPU, without the library. */
#ifndef LUMEQ_BENCH_COPIES_H
#define LUMEQ_BENCH_COPIES_H

#include <stddef.h>

typedef enum BenchWay { BENCH_UP = 1, BENCH_DOWN = 2, BENCH_BOTH = 3 } BenchWay;

/* Copies pieces of `size` bytes between pinned memory and the GPU for at least `seconds`. Stores
 * the time of one piece in *us (BENCH_BOTH: of one in each direction at the same time), and the
 * number of pieces in *count. Returns 0, or -1 with a sentence in `text`; -1 in builds without
 * CUDA. */
int bench_copies(double *us, long *count, int device, BenchWay way, size_t size, double seconds,
                 char *text, size_t text_size);

/* MiB of the GPU's memory that all processes use; creates a context. -1 if unknown. */
double bench_gpu_memory(int device);

#endif
