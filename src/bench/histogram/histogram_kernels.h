/* Launchers of the strategies' kernels, including CUB's. Pointers are to device memory. */
#ifndef LUMEQ_BENCH_HISTOGRAM_KERNELS_H
#define LUMEQ_BENCH_HISTOGRAM_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#include "bench/histogram/histogram.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Some strategies read this many bytes at once if they are aligned. */
#define HISTOGRAM_PIECE_BYTES 16

/* Threads per block of strategy per-thread-64. A multiple of 128 keeps each thread's counters in
 * one bank. */
#define HISTOGRAM_BYTE_THREADS 256

/* Elements in memory. Rows without gaps count as a single row. */
typedef struct HistogramPlane {
    const uint8_t *data;
    size_t pitch;
    uint32_t width, height;
} HistogramPlane;

/* How threads share a plane. A unit is what a thread reads at once: an element, or the elements of
 * a piece; the last unit of a row may be smaller. */
typedef struct HistogramWalk {
    uint32_t units, per_row;
    uint32_t threads, per_thread; /* units per thread */
    uint32_t sectioned;
} HistogramWalk;

/* A block's tables in shared memory. Groups of `sharers` threads use the `copies` tables
 * round-robin. Counters of a table are bin_step words apart, tables copy_step. */
typedef struct HistogramTables {
    uint32_t bins, copies, sharers;
    uint32_t bin_step, copy_step;
} HistogramTables;

typedef struct HistogramPlan {
    HistogramKind kind;
    int sample_size;
    unsigned blocks, threads; /* threads per block */
    size_t shared;            /* bytes per block */
    HistogramWalk walk;
    HistogramTables tables;
} HistogramPlan;

/* Limits of a device. */
typedef struct HistogramLimits {
    int processors;
    size_t shared; /* most bytes per block */
} HistogramLimits;

/* Plans the strategies from global to racy. HISTOGRAM_SKIPPED and _FAILED come with a reason. */
HistogramStatus histogram_plan(HistogramPlan *plan, const HistogramChoice *choice,
                               const HistogramJob *job, const HistogramPlane *plane,
                               const HistogramLimits *limits, char *why, size_t why_size);

/* The most elements that a thread counts: a multiple of what it reads at once. */
uint32_t histogram_load_factor(const HistogramPlan *plan);

/* Reserves the plan's shared memory for its kernel, and finds how many of its blocks fit on a
 * multiprocessor. */
cudaError_t histogram_residents(const HistogramPlan *plan, int *blocks);

/* Adds the counts to `counts`. */
cudaError_t histogram_count(const HistogramPlan *plan, const HistogramPlane *plane,
                            uint32_t *counts, cudaStream_t stream);

/* Limits all counts. */
cudaError_t histogram_saturate(uint32_t *counts, int bins, uint32_t limit, cudaStream_t stream);

/* Computes the cumulative histogram: sums[i] is the sum of counts[0] to counts[i]. */
cudaError_t histogram_cumulate(uint32_t *sums, const uint32_t *counts, int bins,
                               cudaStream_t stream);

/* Writes the counts. If `temporary` is NULL, it only stores the size that it must have. */
cudaError_t histogram_cub(void *temporary, size_t *size, const HistogramPlane *plane,
                          int sample_size, uint32_t *counts, int bins, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
