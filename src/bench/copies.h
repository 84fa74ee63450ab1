/* Copies between pinned memory and the device, one way. */
#ifndef LUMEQ_BENCH_COPIES_H
#define LUMEQ_BENCH_COPIES_H

#include "bench/replay.h"

/* Of `size` bytes, one behind the other; the current device, which has nothing else to do. */
cudaError_t bench_copies(BenchTime *up, BenchTime *down, size_t size);

#endif
