/* The elements of lumeq-bench histogram on one GPU, and what moving them takes. */
#ifndef LUMEQ_BENCH_HISTOGRAM_MEMORY_H
#define LUMEQ_BENCH_HISTOGRAM_MEMORY_H

#include "bench/histogram/histogram_kernels.h"
#include "bench/replay.h"
#include "equalizer/cuda/kernels.h"

/* What strategies write to, for each piece. */
typedef struct HistogramResults {
    uint32_t counts[BENCH_MAX_PIECES][HISTOGRAM_MAX_BINS];
    uint32_t sums[BENCH_MAX_PIECES][HISTOGRAM_MAX_BINS];
    LumeqCudaCounters counters[BENCH_MAX_PIECES]; /* lumeq's, zero between its runs */
} HistogramResults;

typedef struct HistogramBuffers {
    int device;
    const HistogramJob *job;
    cudaStream_t stream;
    uint8_t *planes; /* the elements, several times */
    size_t plane_size;
    int pieces; /* how many times */
    HistogramResults *results;
    void *host; /* pinned: what is copied from and to; NULL with other memory */
    uint32_t pageable[HISTOGRAM_MAX_BINS];
    double up_us, down_us;
    double peak_gb_s, copy_gb_s;
} HistogramBuffers;

/* On the current device. 0, or -1 with a sentence in `text`. buffers are to be closed either way.
 */
int histogram_buffers_open(HistogramBuffers *buffers, const HistogramJob *job, int device,
                           char *text, size_t text_size);

/* Measures what copies take, to and from the device and within it. */
cudaError_t histogram_buffers_measure(HistogramBuffers *buffers);

void histogram_buffers_close(HistogramBuffers *buffers);

#endif
