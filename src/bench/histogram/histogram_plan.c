/* Chooses grid, block and shared memory of the strategies. */
#include <stdio.h>

#include "bench/histogram/histogram_kernels.h"

#define THREADS 256

/* The tables of strategy shared-replicated fill shared memory, so only one block fits; it has the
 * most threads possible. */
#define REPLICATED_THREADS 1024

/* As many as shared memory has banks. */
#define MAX_COPIES 32

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0);
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Elements that a thread reads at once. */
static uint32_t unit_elements(const HistogramPlan *plan)
{
    const int in_pieces = plan->kind == HISTOGRAM_SHARED_REPLICATED ||
                          plan->kind == HISTOGRAM_AGGREGATED || plan->kind == HISTOGRAM_PER_THREAD;
    return in_pieces ? (uint32_t)(HISTOGRAM_PIECE_BYTES / plan->sample_size) : 1;
}

uint32_t histogram_load_factor(const HistogramPlan *plan)
{
    return plan->walk.per_thread * unit_elements(plan);
}

/* One table per block, or one per warp. */
static void plan_tables(HistogramPlan *plan, const HistogramLimits *limits)
{
    HistogramTables *const t = &plan->tables;
    const size_t table = t->bins * sizeof(uint32_t);
    if (plan->kind == HISTOGRAM_SHARED_WARP) {
        while (plan->threads > 32 && plan->threads / 32 * table > limits->shared)
            plan->threads /= 2;
        t->copies = plan->threads / 32;
        t->sharers = 32;
        t->copy_step = t->bins;
    }
    plan->shared = t->copies * table;
}

/* Interleaves the copies, so that the counters of a bin are in neighbouring banks. */
static void plan_copies(HistogramPlan *plan, int copies, const HistogramLimits *limits)
{
    HistogramTables *const t = &plan->tables;
    const size_t table = t->bins * sizeof(uint32_t);
    plan->threads = REPLICATED_THREADS;
    t->copies = copies ? (uint32_t)copies : smaller(MAX_COPIES, (uint32_t)(limits->shared / table));
    t->bin_step = t->copies;
    t->copy_step = 1;
    plan->shared = t->copies * table;
}

static void plan_blocks(HistogramPlan *plan, const HistogramJob *job, const HistogramPlane *plane,
                        uint32_t residents)
{
    HistogramWalk *const w = &plan->walk;
    const uint32_t elements = unit_elements(plan);
    w->per_row = divide_up(plane->width, elements);
    w->units = w->per_row * plane->height;
    w->sectioned = (uint32_t)job->sectioned;
    if (job->load_factor || plan->kind == HISTOGRAM_GLOBAL) {
        w->per_thread = divide_up(job->load_factor ? (uint32_t)job->load_factor : 1, elements);
        plan->blocks = divide_up(divide_up(w->units, w->per_thread), plan->threads);
    } else {
        plan->blocks = smaller(residents, divide_up(w->units, plan->threads));
        w->per_thread = divide_up(w->units, plan->blocks * plan->threads);
    }
    w->threads = plan->blocks * plan->threads;
}

HistogramStatus histogram_plan(HistogramPlan *plan, const HistogramChoice *choice,
                               const HistogramJob *job, const HistogramPlane *plane,
                               const HistogramLimits *limits, char *why, size_t why_size)
{
    int residents = 0;
    *plan = (HistogramPlan){.kind = choice->kind,
                            .sample_size = job->sample_size,
                            .threads = THREADS,
                            .tables = {(uint32_t)job->bins, 1, 1, 1, 0}};
    if (plan->kind == HISTOGRAM_PER_THREAD && job->bins > HISTOGRAM_THREAD_BINS) {
        snprintf(why, why_size, "it has at most %d bins", HISTOGRAM_THREAD_BINS);
        return HISTOGRAM_SKIPPED;
    }
    if (plan->kind == HISTOGRAM_PER_THREAD) {
        plan->threads = HISTOGRAM_BYTE_THREADS;
        plan->shared = (size_t)job->bins * HISTOGRAM_BYTE_THREADS;
    } else if (plan->kind == HISTOGRAM_SHARED_REPLICATED) {
        plan_copies(plan, choice->copies, limits);
    } else if (plan->kind != HISTOGRAM_GLOBAL && plan->kind != HISTOGRAM_GLOBAL_STRIDE &&
               plan->kind != HISTOGRAM_RACY) {
        plan_tables(plan, limits);
    }
    if (plan->shared > limits->shared) {
        snprintf(why, why_size, "%u tables of %d bins take %zu bytes; a block here has %zu",
                 plan->tables.copies, job->bins, plan->shared, limits->shared);
        return HISTOGRAM_SKIPPED;
    }
    const cudaError_t error = histogram_residents(plan, &residents);
    if (error || residents < 1) {
        snprintf(why, why_size, "CUDA: %s",
                 error ? cudaGetErrorString(error) : "a block does not fit on a multiprocessor");
        return HISTOGRAM_FAILED;
    }
    plan_blocks(plan, job, plane, (uint32_t)residents * (uint32_t)limits->processors);
    return HISTOGRAM_DONE;
}
