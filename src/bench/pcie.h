/* The bus between host and GPU, without the library. */
#ifndef LUMEQ_BENCH_PCIE_H
#define LUMEQ_BENCH_PCIE_H

#include <stddef.h>

typedef enum PcieWay { PCIE_UP = 1, PCIE_DOWN = 2, PCIE_BOTH = 3 } PcieWay;

/* Copies pieces of `size` bytes between pinned memory and the device for `seconds` at least: in
 * *us the time for one (PCIE_BOTH: one up and one down at the same time), in *count how many there
 * were. 0, or -1 with a sentence in `text`; so too in builds without CUDA. */
int bench_pcie(double *us, long *count, int device, PcieWay way, size_t size, double seconds,
               char *text, size_t text_size);

/* MiB of the device's memory in use, by anyone; opens the context. -1: not known. */
double bench_gpu_memory(int device);

#endif
