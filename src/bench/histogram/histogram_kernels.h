/* The strategies' kernels, CUB's included: plain C functions that start them on a stream. Pointers
 * are to device memory. */
#ifndef LUMEQ_BENCH_HISTOGRAM_KERNELS_H
#define LUMEQ_BENCH_HISTOGRAM_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#include "bench/histogram/histogram.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What some strategies read at once, where it is aligned. */
#define HISTOGRAM_PIECE_BYTES 16

/* Threads of a block of strategy per-thread-64: a multiple of 128, so that each thread's counters
 * are in one bank. */
#define HISTOGRAM_BYTE_THREADS 256

/* Elements in memory; those without gaps between rows are one row. */
typedef struct HistogramPlane {
    const uint8_t *data;
    size_t pitch;
    uint32_t width, height;
} HistogramPlane;

/* How threads share it. A unit is an element or the elements of a piece, of which a row's last may
 * have fewer. */
typedef struct HistogramWalk {
    uint32_t units, per_row;
    uint32_t threads, per_thread; /* units of a thread */
    uint32_t sectioned;
} HistogramWalk;

/* A block's tables in shared memory: `copies` of them, each for every so many-th `sharers`
 * threads. Counters of a table are bin_step apart, the tables copy_step. */
typedef struct HistogramTables {
    uint32_t bins, copies, sharers;
    uint32_t bin_step, copy_step;
} HistogramTables;

typedef struct HistogramPlan {
    HistogramKind kind;
    int sample_size;
    unsigned blocks, threads; /* threads of a block */
    size_t shared;            /* bytes of a block */
    HistogramWalk walk;
    HistogramTables tables;
} HistogramPlan;

/* What a device has. */
typedef struct HistogramLimits {
    int processors;
    size_t shared; /* bytes that a block may have */
} HistogramLimits;

/* Of the strategies from global to racy: histogram_plan.c. HISTOGRAM_SKIPPED with a reason. */
HistogramStatus histogram_plan(HistogramPlan *plan, const HistogramChoice *choice,
                               const HistogramJob *job, const HistogramPlane *plane,
                               const HistogramLimits *limits, char *why, size_t why_size);

/* The most elements that a thread of a plan counts: a multiple of those it reads at once. */
uint32_t histogram_load_factor(const HistogramPlan *plan);

/* Makes the kernel ready for that much shared memory. How many of the plan's blocks a
 * multiprocessor has room for. */
cudaError_t histogram_residents(const HistogramPlan *plan, int *blocks);

/* Adds the counts to `counts`. */
cudaError_t histogram_count(const HistogramPlan *plan, const HistogramPlane *plane,
                            uint32_t *counts, cudaStream_t stream);

/* No count stays above the limit. */
cudaError_t histogram_saturate(uint32_t *counts, int bins, uint32_t limit, cudaStream_t stream);

/* sums[i]: of the counts up to number i. */
cudaError_t histogram_cumulate(uint32_t *sums, const uint32_t *counts, int bins,
                               cudaStream_t stream);

/* Writes the counts. Without `temporary` it only answers how large that has to be. */
cudaError_t histogram_cub(void *temporary, size_t *size, const HistogramPlane *plane,
                          int sample_size, uint32_t *counts, int bins, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
