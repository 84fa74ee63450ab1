/* Grids of lumeq-bench histogram's strategies: elements per thread. No GPU is needed. */
#include "../check.h"
#include "bench/histogram/histogram_kernels.h"

cudaError_t histogram_residents(const HistogramPlan *plan, int *blocks)
{
    (void)plan;
    *blocks = 2;
    return cudaSuccess;
}

static HistogramStatus plan_for(HistogramPlan *plan, HistogramKind kind, const HistogramJob *job)
{
    const HistogramChoice choice = {"", kind, 0};
    const HistogramPlane plane = {NULL, job->pitch, (uint32_t)job->width, (uint32_t)job->height};
    const HistogramLimits limits = {132, 227 * 1024};
    char why[192];
    return histogram_plan(plan, &choice, job, &plane, &limits, why, sizeof(why));
}

/* Elements that a thread reads at once. */
static uint32_t at_once(HistogramKind kind, int sample_size)
{
    const int in_pieces = kind == HISTOGRAM_SHARED_REPLICATED || kind == HISTOGRAM_AGGREGATED ||
                          kind == HISTOGRAM_PER_THREAD;
    return in_pieces ? (uint32_t)(16 / sample_size) : 1;
}

static void check_plan(HistogramKind kind, const HistogramJob *job)
{
    HistogramPlan plan;
    const HistogramStatus status = plan_for(&plan, kind, job);
    const uint32_t got = histogram_load_factor(&plan), step = at_once(kind, job->sample_size);
    const uint32_t asked = (uint32_t)job->load_factor;
    CHECK(status == HISTOGRAM_DONE, "kind %d, %d bytes: status %d", kind, job->sample_size, status);
    CHECK(!asked || got == (asked + step - 1) / step * step,
          "kind %d, %d bytes: %u elements a thread, %u asked for", kind, job->sample_size, got,
          asked);
    CHECK((uint64_t)got * plan.blocks * plan.threads >= (uint64_t)histogram_elements(job),
          "kind %d, %d bytes: %u blocks of %u threads of %u elements", kind, job->sample_size,
          plan.blocks, plan.threads, got);
}

TEST(elements_a_thread)
{
    for (int kind = HISTOGRAM_GLOBAL; kind < HISTOGRAM_CUB; kind++) /* those with a plan */
        for (int size = 1; size <= 4; size *= 2)
            for (int factor = 0; factor <= 256; factor++)
                for (int height = 1; height <= 77; height += 76)
                    check_plan((HistogramKind)kind, &(HistogramJob){.sample_size = size,
                                                                    .bins = 64,
                                                                    .width = 100003,
                                                                    .height = height,
                                                                    .load_factor = factor});
}

TEST(skipped_strategies_count_nothing)
{
    HistogramPlan plan;
    const HistogramJob job = {
        .sample_size = 1, .bins = 256, .width = 999, .height = 1, .load_factor = 7};
    CHECK(plan_for(&plan, HISTOGRAM_PER_THREAD, &job) == HISTOGRAM_SKIPPED, "256 bins");
    CHECK(histogram_load_factor(&plan) == 0, "%u elements", histogram_load_factor(&plan));
}

TEST_MAIN
