/* Runs the strategies of lumeq-bench histogram on GPUs, with a host thread for each. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/histogram/histogram_kernels.h"
#include "bench/replay.h"
#include "equalizer/cuda/kernels.h"

#define ALIGNMENT 256
#define MAX_GPUS 64
#define COPIES 9 /* timed copies in each direction */

/* Bytes of the copy within device memory: far more than any cache. */
#define LARGE_COPY ((size_t)256 << 20)

/* Managed memory may use this part of the free memory, so that no pages are evicted. */
#define MANAGED_PART 4

/* Work that takes longer than this finds nothing in the cache anyway, so a few pieces suffice. */
#define LONG_US 1000
#define FEW_PIECES 4

/* Results in device memory, for each piece. */
typedef struct Results {
    uint32_t counts[BENCH_MAX_PIECES][HISTOGRAM_MAX_BINS];
    uint32_t sums[BENCH_MAX_PIECES][HISTOGRAM_MAX_BINS];
    LumeqCudaTally tallies[BENCH_MAX_PIECES]; /* lumeq's, zero between its runs */
} Results;

typedef struct Gpu {
    HistogramGpus *all;
    int number;
    LumeqCudaDevice device;
    HistogramLimits limits;
    cudaStream_t stream;
    uint8_t *planes; /* `pieces` copies of the elements */
    size_t plane_size;
    int pieces;
    Results *results;
    void *host; /* pinned memory for copies; NULL with other memory */
    uint32_t pageable[HISTOGRAM_MAX_BINS];
    double up_us, down_us, peak_gb_s, copy_gb_s;
    void *temporary; /* for CUB */
    size_t temporary_size;
    int failed;
    char why[192];

    /* The strategy that runs. */
    const HistogramChoice *choice;
    int whole; /* counts are not limited by --saturate */
    HistogramPlan plan;
    HistogramOutcome *outcome;
} Gpu;

struct HistogramGpus {
    HistogramJob job;
    pthread_barrier_t barrier;
    int count;
    Gpu gpus[];
};

static size_t counts_size(const HistogramJob *job)
{
    return (size_t)job->bins * sizeof(uint32_t);
}

static size_t elements_size(const HistogramJob *job)
{
    return job->pitch * (size_t)job->height;
}

/* ---- memory ---- */

/* Moves managed memory to a device, or to the host if it is -1. */
static cudaError_t prefetch(void *memory, size_t size, int device, cudaStream_t stream)
{
#if CUDART_VERSION >= 13000
    const struct cudaMemLocation there = {.type = device < 0 ? cudaMemLocationTypeHost
                                                             : cudaMemLocationTypeDevice,
                                          .id = device < 0 ? 0 : device};
    return cudaMemPrefetchAsync(memory, size, there, 0, stream);
#else
    return cudaMemPrefetchAsync(memory, size, device < 0 ? cudaCpuDeviceId : device, stream);
#endif
}

/* Returns 0, or -1 with a sentence in g->why. */
static int check_managed(Gpu *g, size_t size)
{
    size_t available = 0, all = 0;
    int prefetches = 0;
    cudaError_t error = cudaMemGetInfo(&available, &all);
    if (!error)
        error = cudaDeviceGetAttribute(&prefetches, cudaDevAttrConcurrentManagedAccess, g->number);
    if (error)
        snprintf(g->why, sizeof(g->why), "CUDA: %s", cudaGetErrorString(error));
    else if (!prefetches)
        snprintf(g->why, sizeof(g->why), "--memory managed: GPU %d cannot prefetch", g->number);
    else if (size > available / MANAGED_PART)
        snprintf(g->why, sizeof(g->why),
                 "--memory managed would use %zu MB on GPU %d, more than a quarter of the %zu MB "
                 "that are free; use a smaller --elements or --size",
                 size >> 20, g->number, available >> 20);
    else
        return 0;
    return -1;
}

static cudaError_t allocate(Gpu *g, size_t size)
{
    const HistogramJob *job = &g->all->job;
    cudaError_t error;
    if (job->memory == HISTOGRAM_MANAGED) {
        error = cudaMallocManaged((void **)&g->planes, size, cudaMemAttachGlobal);
        if (!error)
            error =
                cudaMallocManaged((void **)&g->results, sizeof(*g->results), cudaMemAttachGlobal);
        if (!error)
            error = prefetch(g->planes, size, g->number, g->stream);
        return error ? error : prefetch(g->results, sizeof(*g->results), g->number, g->stream);
    }
    error = cudaMalloc((void **)&g->planes, size);
    if (!error)
        error = cudaMalloc((void **)&g->results, sizeof(*g->results));
    if (!error && job->memory == HISTOGRAM_PINNED)
        error = cudaMallocHost(&g->host,
                               g->plane_size > counts_size(job) ? g->plane_size : counts_size(job));
    return error;
}

/* Copies the elements to each piece. */
static cudaError_t fill(Gpu *g)
{
    const HistogramJob *job = &g->all->job;
    const size_t bytes = elements_size(job);
    if (g->host)
        memcpy(g->host, job->data, bytes);
    cudaError_t error = cudaMemsetAsync(g->results, 0, sizeof(*g->results), g->stream);
    if (!error)
        error = cudaMemcpyAsync(g->planes, g->host ? g->host : job->data, bytes,
                                cudaMemcpyHostToDevice, g->stream);
    for (int i = 1; i < g->pieces && !error; i++)
        error = cudaMemcpyAsync(g->planes + (size_t)i * g->plane_size, g->planes, bytes,
                                cudaMemcpyDeviceToDevice, g->stream);
    return error ? error : cudaStreamSynchronize(g->stream);
}

/* Works on the current device. Returns 0, or -1 with a sentence in g->why. */
static int open_memory(Gpu *g)
{
    const HistogramJob *job = &g->all->job;
    g->plane_size = (elements_size(job) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    cudaError_t error = bench_pieces(&g->pieces, g->number, g->plane_size);
    if (job->check_only)
        g->pieces = 1;
    const size_t size = (size_t)g->pieces * g->plane_size;
    if (!error)
        error = cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking);
    if (!error && job->memory == HISTOGRAM_MANAGED && check_managed(g, size) < 0)
        return -1;
    if (!error)
        error = allocate(g, size);
    if (!error)
        error = fill(g);
    if (error)
        snprintf(g->why, sizeof(g->why), "GPU %d, %zu MB of elements: CUDA: %s", g->number,
                 size >> 20, cudaGetErrorString(error));
    return error ? -1 : 0;
}

/* ---- copies ---- */

typedef cudaError_t Move(Gpu *g);

static cudaError_t move_up(Gpu *g)
{
    const HistogramJob *job = &g->all->job;
    const size_t bytes = elements_size(job);
    return job->memory == HISTOGRAM_MANAGED
               ? prefetch(g->planes, bytes, g->number, g->stream)
               : cudaMemcpyAsync(g->planes, g->host ? g->host : job->data, bytes,
                                 cudaMemcpyHostToDevice, g->stream);
}

/* Moves managed memory back, so that it can be moved again. */
static cudaError_t undo_up(Gpu *g)
{
    const HistogramJob *job = &g->all->job;
    return job->memory == HISTOGRAM_MANAGED ? prefetch(g->planes, elements_size(job), -1, g->stream)
                                            : cudaSuccess;
}

static cudaError_t counts_down(Gpu *g, uint32_t *from)
{
    const HistogramJob *job = &g->all->job;
    return job->memory == HISTOGRAM_MANAGED
               ? prefetch(from, counts_size(job), -1, g->stream)
               : cudaMemcpyAsync(g->host ? g->host : g->pageable, from, counts_size(job),
                                 cudaMemcpyDeviceToHost, g->stream);
}

static cudaError_t move_down(Gpu *g)
{
    const cudaError_t error = counts_down(g, g->results->counts[0]);
    return error || !g->all->job.cumulate ? error : counts_down(g, g->results->sums[0]);
}

static cudaError_t undo_down(Gpu *g)
{
    return g->all->job.memory == HISTOGRAM_MANAGED
               ? prefetch(g->results, sizeof(*g->results), g->number, g->stream)
               : cudaSuccess;
}

/* Stores the median time of a move. The first move does not count. */
static cudaError_t time_moves(Gpu *g, Move *move, Move *undo, double *us)
{
    cudaEvent_t begin = NULL, end = NULL;
    double times[1 + COPIES];
    cudaError_t error = cudaEventCreate(&begin);
    if (!error)
        error = cudaEventCreate(&end);
    for (int i = 0; i < 1 + COPIES && !error; i++) {
        float ms = 0;
        error = undo(g);
        if (!error)
            error = cudaStreamSynchronize(g->stream);
        if (!error)
            error = cudaEventRecord(begin, g->stream);
        if (!error)
            error = move(g);
        if (!error)
            error = cudaEventRecord(end, g->stream);
        if (!error)
            error = cudaEventSynchronize(end);
        if (!error)
            error = cudaEventElapsedTime(&ms, begin, end);
        times[i] = 1e3 * (double)ms;
    }
    if (!error)
        *us = bench_median(times + 1, COPIES);
    if (begin)
        cudaEventDestroy(begin);
    if (end)
        cudaEventDestroy(end);
    return error;
}

static cudaError_t copy_large(void *data, int piece, cudaStream_t stream)
{
    (void)piece;
    uint8_t *const memory = data;
    return cudaMemcpyAsync(memory + LARGE_COPY, memory, LARGE_COPY, cudaMemcpyDeviceToDevice,
                           stream);
}

/* Measures the bandwidth of device memory; bytes read and written count. */
static cudaError_t measure_bandwidth(Gpu *g)
{
    uint8_t *memory = NULL;
    BenchTime time;
    int khz = 0, bits = 0;
    if (!cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, g->number) &&
        !cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, g->number) && khz && bits)
        g->peak_gb_s = 2e-6 * khz * bits / 8; /* two transfers per clock */
    if (g->all->job.check_only)
        return cudaSuccess;
    cudaError_t error = cudaMalloc((void **)&memory, 2 * LARGE_COPY);
    const BenchReplay replay = {copy_large, memory, 1, 0};
    if (error == cudaErrorMemoryAllocation)
        return cudaGetLastError(), cudaSuccess; /* not measured; clears the error */
    if (!error)
        error = cudaMemset(memory, 0, 2 * LARGE_COPY);
    if (!error)
        error = cudaDeviceSynchronize();
    if (!error)
        error = bench_replay(&time, &replay);
    if (!error)
        g->copy_gb_s = 2e-3 * (double)LARGE_COPY / time.us;
    const cudaError_t freed = cudaFree(memory);
    return error ? error : freed;
}

static cudaError_t measure_copies(Gpu *g)
{
    cudaError_t error = cudaSuccess;
    g->up_us = g->down_us = g->peak_gb_s = g->copy_gb_s = NAN;
    if (!g->all->job.check_only) {
        error = time_moves(g, move_up, undo_up, &g->up_us);
        if (!error)
            error = time_moves(g, move_down, undo_down, &g->down_us);
        if (!error)
            error = undo_down(g);
        if (!error)
            error = cudaStreamSynchronize(g->stream);
    }
    return error ? error : measure_bandwidth(g);
}

/* ---- strategies ---- */

/* Rows without gaps become a single row. */
static HistogramPlane plane_of(const Gpu *g, int piece)
{
    const HistogramJob *const job = &g->all->job;
    const uint8_t *data = g->planes + (size_t)piece * g->plane_size;
    const size_t row = (size_t)job->width * (size_t)job->sample_size;
    if (job->pitch == row || job->height == 1)
        return (HistogramPlane){data, row * (size_t)job->height, (uint32_t)histogram_elements(job),
                                1};
    return (HistogramPlane){data, job->pitch, (uint32_t)job->width, (uint32_t)job->height};
}

/* Returns why lumeq's kernels cannot do the job, or NULL. */
static const char *lumeq_cannot(const HistogramJob *job, const HistogramPlane *plane)
{
    if (job->sample_size == 4)
        return "lumeq's kernels do not count u32";
    if (job->sample_size == 1 && job->bins != 256)
        return "lumeq's kernels count u8 in 256 bins only";
    if (job->sample_size == 2 && job->bins != 1024 && job->bins != 4096)
        return "lumeq's kernels count u16 in 1024 or 4096 bins only";
    if ((int64_t)plane->width * job->sample_size > INT32_MAX)
        return "a row has more than 2147483647 bytes";
    return NULL;
}

/* A single row has stride 0, which is aligned to anything. */
static cudaError_t count_lumeq(const Gpu *g, const HistogramPlane *plane, int piece,
                               cudaStream_t stream)
{
    const HistogramJob *const job = &g->all->job;
    const LumeqCudaPlane luma = {(uint8_t *)plane->data,
                                 plane->height == 1 ? 0 : (ptrdiff_t)plane->pitch,
                                 (int)plane->width, (int)plane->height};
    const int depth = job->sample_size == 2 ? 16 : 8;
    const CurveParams params = {.depth = depth, .bins = job->bins};
    const LumeqCudaCount count = {.counted = luma,
                                  .params = &params,
                                  .tally = &g->results->tallies[piece],
                                  .host = (LumeqCudaTally *)(void *)g->results->counts[piece]};
    const LumeqCudaBatch one = lumeq_cuda_batch_of_one(&params);
    return lumeq_cuda_counter(depth, job->bins)(&g->device, &count, &one, stream);
}

/* Counts a piece; a BenchWork. */
static cudaError_t work(void *data, int piece, cudaStream_t stream)
{
    const Gpu *const g = data;
    const HistogramJob *const job = &g->all->job;
    const HistogramPlane plane = plane_of(g, piece);
    uint32_t *const counts = g->results->counts[piece];
    size_t size = g->temporary_size;
    cudaError_t error;
    if (g->choice->kind == HISTOGRAM_CUB) {
        error =
            histogram_cub(g->temporary, &size, &plane, job->sample_size, counts, job->bins, stream);
    } else if (g->choice->kind == HISTOGRAM_LUMEQ) {
        error = count_lumeq(g, &plane, piece, stream);
    } else {
        error = cudaMemsetAsync(counts, 0, counts_size(job), stream);
        if (!error)
            error = histogram_count(&g->plan, &plane, counts, stream);
    }
    if (!error && job->saturate && !g->whole)
        error = histogram_saturate(counts, job->bins, job->saturate, stream);
    if (!error && job->cumulate)
        error = histogram_cumulate(g->results->sums[piece], counts, job->bins, stream);
    return error;
}

/* Prepares the strategy; it may be skipped, or fail. */
static HistogramStatus prepare(Gpu *g)
{
    const HistogramJob *const job = &g->all->job;
    const HistogramPlane plane = plane_of(g, 0);
    HistogramOutcome *const o = g->outcome;
    if (g->choice->kind == HISTOGRAM_LUMEQ) {
        const char *why = lumeq_cannot(job, &plane);
        snprintf(o->why, sizeof(o->why), "%s", why ? why : "");
        return why ? HISTOGRAM_SKIPPED : HISTOGRAM_DONE;
    }
    if (g->choice->kind != HISTOGRAM_CUB) {
        const HistogramStatus status =
            histogram_plan(&g->plan, g->choice, job, &plane, &g->limits, o->why, sizeof(o->why));
        o->load_factor = histogram_load_factor(&g->plan);
        return status;
    }
    cudaFree(g->temporary);
    g->temporary = NULL;
    cudaError_t error = histogram_cub(NULL, &g->temporary_size, &plane, job->sample_size,
                                      g->results->counts[0], job->bins, g->stream);
    if (!error)
        error = cudaMalloc(&g->temporary, g->temporary_size ? g->temporary_size : 1);
    if (error)
        snprintf(o->why, sizeof(o->why), "CUDA: %s", cudaGetErrorString(error));
    return error ? HISTOGRAM_FAILED : HISTOGRAM_DONE;
}

/* Copies the first piece's results to the host. */
static cudaError_t fetch(const Gpu *g, HistogramOutcome *outcome)
{
    const HistogramJob *const job = &g->all->job;
    cudaError_t error = cudaMemcpy(outcome->counts, g->results->counts[0], counts_size(job),
                                   cudaMemcpyDeviceToHost);
    if (!error && job->cumulate)
        error = cudaMemcpy(outcome->sums, g->results->sums[0], counts_size(job),
                           cudaMemcpyDeviceToHost);
    return error;
}

/* Runs the strategy on the first piece, whose results are overwritten with ones before. Runs twice:
 * the first run loads kernels, the second is timed. */
static cudaError_t run_once(Gpu *g, HistogramOutcome *outcome, double *us)
{
    float ms = 0;
    cudaEvent_t begin = NULL, end = NULL;
    cudaError_t error = cudaMemsetAsync(g->results, 0xff, offsetof(Results, tallies), g->stream);
    if (!error)
        error = cudaEventCreate(&begin);
    if (!error)
        error = cudaEventCreate(&end);
    for (int i = 0; i < 2 && !error; i++) {
        error = cudaEventRecord(begin, g->stream);
        if (!error)
            error = work(g, 0, g->stream);
        if (!error)
            error = cudaEventRecord(end, g->stream);
        if (!error)
            error = cudaStreamSynchronize(g->stream);
    }
    if (!error)
        error = cudaEventElapsedTime(&ms, begin, end);
    if (begin)
        cudaEventDestroy(begin);
    if (end)
        cudaEventDestroy(end);
    *us = 1e3 * (double)ms;
    return error ? error : fetch(g, outcome);
}

/* Compares the rows of all pieces in device memory with the first run. Clears *same if they differ.
 */
static cudaError_t compare_rows(uint32_t (*rows)[HISTOGRAM_MAX_BINS], const uint32_t *first,
                                int pieces, size_t size, int *same)
{
    uint8_t *const all = malloc((size_t)pieces * size);
    const cudaError_t error = !all ? cudaErrorMemoryAllocation
                                   : cudaMemcpy2D(all, size, rows, sizeof(rows[0]), size,
                                                  (size_t)pieces, cudaMemcpyDeviceToHost);
    for (int i = 0; i < pieces && !error; i++)
        *same = *same && !memcmp(all + (size_t)i * size, first, size);
    free(all);
    return error;
}

/* Times the strategy. Every piece must have the same results as the first run afterwards. */
static cudaError_t time_strategy(Gpu *g, const HistogramOutcome *first, double us)
{
    HistogramOutcome *const o = g->outcome;
    const int few = us > LONG_US && g->pieces > FEW_PIECES;
    const int pieces = few ? FEW_PIECES : g->pieces;
    const size_t size = counts_size(&g->all->job);
    int same = 1;
    BenchTime queued = {NAN, NAN}, alone = {NAN, NAN};
    BenchReplay replay = {work, g, pieces, 1};
    cudaError_t error = bench_replay(&alone, &replay);
    replay.alone = 0;
    if (!error)
        error = bench_replay(&queued, &replay);
    o->alone_us = alone.us;
    o->us = queued.us;
    o->spread_us = queued.spread_us;
    if (error || g->choice->kind == HISTOGRAM_RACY)
        return error;
    error = compare_rows(g->results->counts, first->counts, pieces, size, &same);
    if (!error && g->all->job.cumulate)
        error = compare_rows(g->results->sums, first->sums, pieces, size, &same);
    if (!error && !same) {
        snprintf(o->why, sizeof(o->why), "two runs count differently");
        o->status = HISTOGRAM_FAILED;
    }
    return error;
}

static cudaError_t run_strategy(Gpu *g, HistogramOutcome *first)
{
    HistogramOutcome *const o = g->outcome;
    cudaError_t error = cudaSuccess;
    double us = 0;
    g->whole = 1;
    if (g->all->job.saturate)
        error = run_once(g, first, &us);
    memcpy(o->whole, first->counts, sizeof(o->whole));
    g->whole = 0;
    if (!error)
        error = run_once(g, first, &us);
    o->us = o->spread_us = o->alone_us = NAN;
    pthread_barrier_wait(&g->all->barrier);
    if (!error && !g->all->job.check_only)
        error = time_strategy(g, first, us);
    return error ? error : fetch(g, o);
}

/* ---- threads: each waits at the barrier exactly once ---- */

static void *run_thread(void *data)
{
    Gpu *const g = data;
    HistogramOutcome *const o = g->outcome;
    *o = (HistogramOutcome){.up_us = g->up_us,
                            .down_us = g->down_us,
                            .peak_gb_s = g->peak_gb_s,
                            .copy_gb_s = g->copy_gb_s};
    HistogramOutcome *const first = calloc(1, sizeof(*first));
    cudaError_t error = first ? cudaSetDevice(g->number) : cudaErrorMemoryAllocation;
    o->status = error ? HISTOGRAM_FAILED : prepare(g);
    if (o->status == HISTOGRAM_DONE)
        error = run_strategy(g, first);
    else
        pthread_barrier_wait(&g->all->barrier);
    if (error) {
        snprintf(o->why, sizeof(o->why), "CUDA: %s", cudaGetErrorString(error));
        o->status = HISTOGRAM_FAILED;
    }
    free(first);
    return NULL;
}

static void *open_thread(void *data)
{
    Gpu *const g = data;
    int shared = 0;
    cudaError_t error = lumeq_cuda_prepare(&g->device, g->number);
    if (!error)
        error = cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, g->number);
    g->limits = (HistogramLimits){g->device.processors, (size_t)shared};
    g->failed = error || open_memory(g) < 0;
    pthread_barrier_wait(&g->all->barrier);
    if (!g->failed)
        error = measure_copies(g);
    if (error) {
        snprintf(g->why, sizeof(g->why), "GPU %d: CUDA: %s", g->number, cudaGetErrorString(error));
        g->failed = 1;
    }
    return NULL;
}

/* Exits if a thread cannot be started, because the others would wait for it at the barrier. */
static void run_threads(HistogramGpus *gpus, void *(*thread)(void *))
{
    pthread_t threads[MAX_GPUS];
    for (int i = 0; i < gpus->count; i++)
        if (pthread_create(&threads[i], NULL, thread, &gpus->gpus[i])) {
            bench_refuse("histogram", "a thread cannot be started");
            exit(1);
        }
    for (int i = 0; i < gpus->count; i++)
        pthread_join(threads[i], NULL);
}

HistogramGpus *histogram_gpus_open(const HistogramJob *job, const int *devices, int count,
                                   char *text, size_t text_size)
{
    HistogramGpus *gpus = calloc(1, sizeof(*gpus) + (size_t)count * sizeof(gpus->gpus[0]));
    snprintf(text, text_size, "no memory for %d GPUs", count);
    if (!gpus)
        return NULL;
    if (pthread_barrier_init(&gpus->barrier, NULL, (unsigned)count)) {
        free(gpus);
        return NULL;
    }
    gpus->job = *job;
    gpus->count = count;
    for (int i = 0; i < count; i++) {
        gpus->gpus[i].all = gpus;
        gpus->gpus[i].number = devices[i];
    }
    run_threads(gpus, open_thread);
    for (int i = 0; i < count; i++)
        if (gpus->gpus[i].failed) {
            snprintf(text, text_size, "%s", gpus->gpus[i].why);
            histogram_gpus_close(gpus);
            return NULL;
        }
    return gpus;
}

void histogram_gpus_run(HistogramGpus *gpus, const HistogramChoice *choice,
                        HistogramOutcome *outcomes)
{
    for (int i = 0; i < gpus->count; i++) {
        gpus->gpus[i].choice = choice;
        gpus->gpus[i].outcome = &outcomes[i];
    }
    run_threads(gpus, run_thread);
}

void histogram_gpus_close(HistogramGpus *gpus)
{
    for (int i = 0; i < gpus->count; i++) {
        Gpu *const g = &gpus->gpus[i];
        if (cudaSetDevice(g->number) != cudaSuccess)
            continue;
        if (g->stream)
            cudaStreamDestroy(g->stream);
        cudaFreeHost(g->host);
        cudaFree(g->temporary);
        cudaFree(g->planes);
        cudaFree(g->results);
    }
    pthread_barrier_destroy(&gpus->barrier);
    free(gpus);
}
