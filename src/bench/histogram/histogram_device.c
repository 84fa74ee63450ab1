/* The strategies of lumeq-bench histogram on GPUs, a host thread each. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/histogram/histogram_kernels.h"
#include "bench/replay.h"
#include "equalizer/cuda/kernels.h"

/* What strategies write to, for each piece. */
typedef struct Results {
    uint32_t counts[BENCH_MAX_PIECES][HISTOGRAM_MAX_BINS];
    uint32_t sums[BENCH_MAX_PIECES][HISTOGRAM_MAX_BINS];
    LumeqCudaTally tallies[BENCH_MAX_PIECES]; /* lumeq's, zero between its runs */
} Results;

typedef struct Buffers {
    int device;
    const HistogramJob *job;
    cudaStream_t stream;
    uint8_t *planes; /* the elements, several times */
    size_t plane_size;
    int pieces; /* how many times */
    Results *results;
    void *host; /* pinned: what is copied from and to; NULL with other memory */
    uint32_t pageable[HISTOGRAM_MAX_BINS];
    double up_us, down_us;
    double peak_gb_s, copy_gb_s;
} Buffers;

/* ---- memory ---- */

#define ALIGNMENT 256

/* Copies up and down that are timed. */
#define COPIES 9

/* Of the copy within the device's memory: far more than any cache. */
#define LARGE_COPY ((size_t)256 << 20)

/* Of what is free, managed memory may be so much: else pages would begin to be moved out. */
#define MANAGED_PART 4

static size_t counts_size(const HistogramJob *job)
{
    return (size_t)job->bins * sizeof(uint32_t);
}

/* To a device, or to the host where that is -1. */
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

static int too_large(const Buffers *b, size_t size, char *text, size_t text_size)
{
    size_t unused = 0, all = 0;
    int prefetches = 0;
    cudaError_t error = cudaMemGetInfo(&unused, &all);
    if (!error)
        error = cudaDeviceGetAttribute(&prefetches, cudaDevAttrConcurrentManagedAccess, b->device);
    if (error)
        snprintf(text, text_size, "CUDA: %s", cudaGetErrorString(error));
    else if (!prefetches)
        snprintf(text, text_size, "--memory managed: GPU %d cannot prefetch", b->device);
    else if (size > unused / MANAGED_PART)
        snprintf(text, text_size,
                 "--memory managed would take %zu MB on GPU %d, more than a quarter of the %zu MB "
                 "that are free; --elements or --size is to be smaller",
                 size >> 20, b->device, unused >> 20);
    else
        return 0;
    return -1;
}

/* Managed memory is to be on the device before anything is timed. */
static cudaError_t allocate_managed(Buffers *b, size_t size)
{
    cudaError_t error = cudaMallocManaged((void **)&b->planes, size, cudaMemAttachGlobal);
    if (!error)
        error = cudaMallocManaged((void **)&b->results, sizeof(*b->results), cudaMemAttachGlobal);
    if (!error)
        error = prefetch(b->planes, size, b->device, b->stream);
    if (!error)
        error = prefetch(b->results, sizeof(*b->results), b->device, b->stream);
    return error;
}

static cudaError_t allocate(Buffers *b, size_t size)
{
    cudaError_t error = cudaMalloc((void **)&b->planes, size);
    if (!error)
        error = cudaMalloc((void **)&b->results, sizeof(*b->results));
    if (!error && b->job->memory == HISTOGRAM_PINNED)
        error = cudaMallocHost(&b->host, b->plane_size > counts_size(b->job) ? b->plane_size
                                                                             : counts_size(b->job));
    return error;
}

/* The elements in each piece. */
static cudaError_t fill(Buffers *b)
{
    const size_t bytes = b->job->pitch * (size_t)b->job->height;
    if (b->host)
        memcpy(b->host, b->job->data, bytes);
    cudaError_t error = cudaMemsetAsync(b->results, 0, sizeof(*b->results), b->stream);
    if (!error)
        error = cudaMemcpyAsync(b->planes, b->host ? b->host : b->job->data, bytes,
                                cudaMemcpyHostToDevice, b->stream);
    for (int i = 1; i < b->pieces && !error; i++)
        error = cudaMemcpyAsync(b->planes + (size_t)i * b->plane_size, b->planes, bytes,
                                cudaMemcpyDeviceToDevice, b->stream);
    return error ? error : cudaStreamSynchronize(b->stream);
}

static void find_peak(Buffers *b)
{
    int khz = 0, bits = 0;
    b->peak_gb_s = NAN;
    if (!cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, b->device) &&
        !cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, b->device) && khz && bits)
        b->peak_gb_s = 2e-6 * khz * bits / 8; /* twice a clock */
}

/* On the current device. 0, or -1 with a sentence in `text`. buffers are to be closed either way.
 */
static int open_buffers(Buffers *b, const HistogramJob *job, int device, char *text,
                        size_t text_size)
{
    const size_t bytes = job->pitch * (size_t)job->height;
    *b = (Buffers){.device = device, .job = job};
    b->plane_size = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    find_peak(b);
    cudaError_t error = bench_pieces(&b->pieces, device, b->plane_size);
    if (job->check_only)
        b->pieces = 1;
    const size_t size = (size_t)b->pieces * b->plane_size;
    if (!error)
        error = cudaStreamCreateWithFlags(&b->stream, cudaStreamNonBlocking);
    if (!error && job->memory == HISTOGRAM_MANAGED && too_large(b, size, text, text_size) < 0)
        return -1;
    if (!error)
        error = job->memory == HISTOGRAM_MANAGED ? allocate_managed(b, size) : allocate(b, size);
    if (!error)
        error = fill(b);
    if (error)
        snprintf(text, text_size, "GPU %d, %zu MB of elements: CUDA: %s", device, size >> 20,
                 cudaGetErrorString(error));
    return error ? -1 : 0;
}

/* ---- what copies take ---- */

typedef cudaError_t Move(Buffers *b);

static cudaError_t move_up(Buffers *b)
{
    const size_t bytes = b->job->pitch * (size_t)b->job->height;
    if (b->job->memory == HISTOGRAM_MANAGED)
        return prefetch(b->planes, bytes, b->device, b->stream);
    return cudaMemcpyAsync(b->planes, b->host ? b->host : b->job->data, bytes,
                           cudaMemcpyHostToDevice, b->stream);
}

/* To where it came from, so that it can be moved again. */
static cudaError_t undo_up(Buffers *b)
{
    const size_t bytes = b->job->pitch * (size_t)b->job->height;
    return b->job->memory == HISTOGRAM_MANAGED ? prefetch(b->planes, bytes, -1, b->stream)
                                               : cudaSuccess;
}

static cudaError_t counts_down(Buffers *b, uint32_t *from)
{
    if (b->job->memory == HISTOGRAM_MANAGED)
        return prefetch(from, counts_size(b->job), -1, b->stream);
    return cudaMemcpyAsync(b->host ? b->host : b->pageable, from, counts_size(b->job),
                           cudaMemcpyDeviceToHost, b->stream);
}

static cudaError_t move_down(Buffers *b)
{
    const cudaError_t error = counts_down(b, b->results->counts[0]);
    return error || !b->job->cumulate ? error : counts_down(b, b->results->sums[0]);
}

static cudaError_t undo_down(Buffers *b)
{
    return b->job->memory == HISTOGRAM_MANAGED
               ? prefetch(b->results, sizeof(*b->results), b->device, b->stream)
               : cudaSuccess;
}

static cudaError_t time_move(Buffers *b, Move *move, Move *undo, cudaEvent_t begin, cudaEvent_t end,
                             double *us)
{
    float ms = 0;
    cudaError_t error = undo(b);
    if (!error)
        error = cudaStreamSynchronize(b->stream);
    if (!error)
        error = cudaEventRecord(begin, b->stream);
    if (!error)
        error = move(b);
    if (!error)
        error = cudaEventRecord(end, b->stream);
    if (!error)
        error = cudaEventSynchronize(end);
    if (!error)
        error = cudaEventElapsedTime(&ms, begin, end);
    *us = 1e3 * (double)ms;
    return error;
}

/* The first does not count. */
static cudaError_t time_moves(Buffers *b, Move *move, Move *undo, double *us)
{
    cudaEvent_t begin = NULL, end = NULL;
    double times[1 + COPIES];
    cudaError_t error = cudaEventCreate(&begin);
    if (!error)
        error = cudaEventCreate(&end);
    for (int i = 0; i < 1 + COPIES && !error; i++)
        error = time_move(b, move, undo, begin, end, &times[i]);
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

/* Read and written bytes count. */
static cudaError_t measure_copy(Buffers *b)
{
    uint8_t *memory = NULL;
    BenchTime time;
    cudaError_t error = cudaMalloc((void **)&memory, 2 * LARGE_COPY);
    const BenchReplay replay = {copy_large, memory, 1, 0};
    b->copy_gb_s = NAN;
    if (error == cudaErrorMemoryAllocation)
        return cudaGetLastError(), cudaSuccess; /* not measured: no error of what follows */
    if (!error)
        error = cudaMemset(memory, 0, 2 * LARGE_COPY);
    if (!error)
        error = cudaDeviceSynchronize();
    if (!error)
        error = bench_replay(&time, &replay);
    if (!error)
        b->copy_gb_s = 2e-3 * (double)LARGE_COPY / time.us;
    const cudaError_t freed = cudaFree(memory);
    return error ? error : freed;
}

/* Measures what copies take, to and from the device and within it. */
static cudaError_t measure_buffers(Buffers *b)
{
    b->up_us = b->down_us = b->copy_gb_s = NAN;
    if (b->job->check_only)
        return cudaSuccess;
    cudaError_t error = time_moves(b, move_up, undo_up, &b->up_us);
    if (!error)
        error = time_moves(b, move_down, undo_down, &b->down_us);
    if (!error)
        error = undo_down(b);
    if (!error)
        error = cudaStreamSynchronize(b->stream);
    return error ? error : measure_copy(b);
}

static void close_buffers(Buffers *b)
{
    if (b->stream)
        cudaStreamDestroy(b->stream);
    if (b->host)
        cudaFreeHost(b->host);
    cudaFree(b->planes);
    cudaFree(b->results);
    *b = (Buffers){0};
}

/* ---- strategies ---- */

/* Work that takes longer finds nothing in the cache anyway: it needs few pieces. */
#define LONG_US 1000
#define FEW_PIECES 4

typedef struct Gpu {
    HistogramGpus *all;
    LumeqCudaDevice device;
    HistogramLimits limits;
    Buffers buffers;
    void *temporary; /* of CUB */
    size_t temporary_size;
    int failed;
    char why[192];

    const HistogramChoice *choice; /* what is run */
    int whole;                     /* counts are not cut by --saturate */
    HistogramPlan plan;
    HistogramOutcome *outcome;
} Gpu;

struct HistogramGpus {
    HistogramJob job;
    pthread_barrier_t barrier;
    int count;
    Gpu gpus[];
};

/* Rows without gaps are one. */
static HistogramPlane plane_of(const Gpu *gpu, int piece)
{
    const HistogramJob *const job = &gpu->all->job;
    const uint8_t *data = gpu->buffers.planes + (size_t)piece * gpu->buffers.plane_size;
    const size_t row = (size_t)job->width * (size_t)job->sample_size;
    if (job->pitch == row || job->height == 1)
        return (HistogramPlane){data, row * (size_t)job->height, (uint32_t)histogram_elements(job),
                                1};
    return (HistogramPlane){data, job->pitch, (uint32_t)job->width, (uint32_t)job->height};
}

/* ---- lumeq's own ---- */

static HistogramStatus can_lumeq(const HistogramJob *job, const HistogramPlane *plane, char *why,
                                 size_t why_size)
{
    const char *reason = NULL;
    if (job->sample_size == 4)
        reason = "it counts no u32";
    else if (job->sample_size == 1 && job->bins != 256)
        reason = "of u8 it counts 256 bins";
    else if (job->sample_size == 2 && job->bins != 1024 && job->bins != 4096)
        reason = "of u16 it counts 1024 or 4096 bins";
    else if ((int64_t)plane->width * job->sample_size > INT32_MAX)
        reason = "a row has at most 2147483647 bytes";
    snprintf(why, why_size, "%s", reason ? reason : "");
    return reason ? HISTOGRAM_SKIPPED : HISTOGRAM_DONE;
}

/* A row that is the only one has no other to be aligned with. */
static cudaError_t count_lumeq(const Gpu *gpu, const HistogramPlane *plane, int piece,
                               cudaStream_t stream)
{
    Results *const r = gpu->buffers.results;
    const HistogramJob *const job = &gpu->all->job;
    const LumeqCudaPlane luma = {(uint8_t *)plane->data,
                                 plane->height == 1 ? 0 : (ptrdiff_t)plane->pitch,
                                 (int)plane->width, (int)plane->height};
    LumeqCudaCounts *const counts =
        job->sample_size == 2 ? lumeq_cuda_counts16 : lumeq_cuda_counts8;
    return counts(&gpu->device, &luma, 0, job->bins, r->counts[piece], &r->tallies[piece], stream);
}

/* ---- all of them ---- */

static cudaError_t count_cub(const Gpu *gpu, const HistogramPlane *plane, uint32_t *counts,
                             cudaStream_t stream)
{
    const HistogramJob *const job = &gpu->all->job;
    size_t size = gpu->temporary_size;
    return histogram_cub(gpu->temporary, &size, plane, job->sample_size, counts, job->bins, stream);
}

static cudaError_t count_plainly(const Gpu *gpu, const HistogramPlane *plane, uint32_t *counts,
                                 cudaStream_t stream)
{
    const cudaError_t error =
        cudaMemsetAsync(counts, 0, (size_t)gpu->all->job.bins * sizeof(*counts), stream);
    return error ? error : histogram_count(&gpu->plan, plane, counts, stream);
}

/* A BenchWork. */
static cudaError_t work(void *data, int piece, cudaStream_t stream)
{
    const Gpu *const gpu = data;
    const HistogramJob *const job = &gpu->all->job;
    const HistogramKind kind = gpu->choice->kind;
    const HistogramPlane plane = plane_of(gpu, piece);
    Results *const r = gpu->buffers.results;
    uint32_t *const counts = r->counts[piece];
    cudaError_t error = kind == HISTOGRAM_CUB     ? count_cub(gpu, &plane, counts, stream)
                        : kind == HISTOGRAM_LUMEQ ? count_lumeq(gpu, &plane, piece, stream)
                                                  : count_plainly(gpu, &plane, counts, stream);
    if (!error && job->saturate && !gpu->whole)
        error = histogram_saturate(counts, job->bins, job->saturate, stream);
    if (!error && job->cumulate)
        error = histogram_cumulate(r->sums[piece], counts, job->bins, stream);
    return error;
}

/* CUB asks for memory before. */
static cudaError_t make_temporary(Gpu *gpu)
{
    const HistogramJob *const job = &gpu->all->job;
    const HistogramPlane plane = plane_of(gpu, 0);
    cudaFree(gpu->temporary);
    gpu->temporary = NULL;
    const cudaError_t error =
        histogram_cub(NULL, &gpu->temporary_size, &plane, job->sample_size,
                      gpu->buffers.results->counts[0], job->bins, gpu->buffers.stream);
    return error ? error
                 : cudaMalloc(&gpu->temporary, gpu->temporary_size ? gpu->temporary_size : 1);
}

static HistogramStatus prepare(Gpu *gpu, char *why, size_t why_size)
{
    const HistogramJob *const job = &gpu->all->job;
    const HistogramPlane plane = plane_of(gpu, 0);
    if (gpu->choice->kind == HISTOGRAM_LUMEQ)
        return can_lumeq(job, &plane, why, why_size);
    if (gpu->choice->kind != HISTOGRAM_CUB) {
        const HistogramStatus status =
            histogram_plan(&gpu->plan, gpu->choice, job, &plane, &gpu->limits, why, why_size);
        gpu->outcome->load_factor = histogram_load_factor(&gpu->plan);
        return status;
    }
    const cudaError_t error = make_temporary(gpu);
    if (error)
        snprintf(why, why_size, "CUDA: %s", cudaGetErrorString(error));
    return error ? HISTOGRAM_FAILED : HISTOGRAM_DONE;
}

static cudaError_t fetch(const Gpu *gpu, HistogramOutcome *outcome)
{
    const HistogramJob *const job = &gpu->all->job;
    const Results *const r = gpu->buffers.results;
    const size_t size = (size_t)job->bins * sizeof(uint32_t);
    cudaError_t error = cudaMemcpy(outcome->counts, r->counts[0], size, cudaMemcpyDeviceToHost);
    if (!error && job->cumulate)
        error = cudaMemcpy(outcome->sums, r->sums[0], size, cudaMemcpyDeviceToHost);
    return error;
}

/* What was there before is none of the counts. The first run loads kernels, the second is timed. */
static cudaError_t run_once(Gpu *gpu, HistogramOutcome *outcome, double *us)
{
    const cudaStream_t stream = gpu->buffers.stream;
    float ms = 0;
    cudaEvent_t begin = NULL, end = NULL;
    cudaError_t error =
        cudaMemsetAsync(gpu->buffers.results, 0xff, offsetof(Results, tallies), stream);
    if (!error)
        error = cudaEventCreate(&begin);
    if (!error)
        error = cudaEventCreate(&end);
    for (int i = 0; i < 2 && !error; i++) {
        error = cudaEventRecord(begin, stream);
        if (!error)
            error = work(gpu, 0, stream);
        if (!error)
            error = cudaEventRecord(end, stream);
        if (!error)
            error = cudaStreamSynchronize(stream);
    }
    if (!error)
        error = cudaEventElapsedTime(&ms, begin, end);
    if (begin)
        cudaEventDestroy(begin);
    if (end)
        cudaEventDestroy(end);
    *us = 1e3 * (double)ms;
    return error ? error : fetch(gpu, outcome);
}

/* Whether each piece's counts, or sums, are those of the first run. */
static int all_are(const uint32_t *all, const uint32_t *first, int pieces, size_t bins)
{
    int same = 1;
    for (int i = 0; i < pieces; i++)
        same = same && !memcmp(all + (size_t)i * bins, first, bins * sizeof(*all));
    return same;
}

static cudaError_t compare_pieces(Gpu *gpu, const HistogramOutcome *first, int pieces)
{
    const Results *const r = gpu->buffers.results;
    const HistogramJob *const job = &gpu->all->job;
    const size_t bins = (size_t)job->bins, size = bins * sizeof(uint32_t);
    HistogramOutcome *const o = gpu->outcome;
    uint32_t *const all = malloc((size_t)pieces * size);
    cudaError_t error = !all ? cudaErrorMemoryAllocation
                             : cudaMemcpy2D(all, size, r->counts, sizeof(r->counts[0]), size,
                                            (size_t)pieces, cudaMemcpyDeviceToHost);
    int same = !error && all_are(all, first->counts, pieces, bins);
    if (!error && job->cumulate)
        error = cudaMemcpy2D(all, size, r->sums, sizeof(r->sums[0]), size, (size_t)pieces,
                             cudaMemcpyDeviceToHost);
    if (!error && job->cumulate)
        same = same && all_are(all, first->sums, pieces, bins);
    free(all);
    if (!error && !same) {
        snprintf(o->why, sizeof(o->why), "two runs count differently");
        o->status = HISTOGRAM_FAILED;
    }
    return error;
}

/* The counts of the first run and those of each piece after the last replay are to be the same. */
static cudaError_t time_strategy(Gpu *gpu, const HistogramOutcome *first, double us)
{
    HistogramOutcome *const o = gpu->outcome;
    const int few = us > LONG_US && gpu->buffers.pieces > FEW_PIECES;
    const int pieces = few ? FEW_PIECES : gpu->buffers.pieces;
    BenchTime queued = {NAN, NAN}, alone = {NAN, NAN};
    BenchReplay replay = {work, gpu, pieces, 1};
    cudaError_t error = bench_replay(&alone, &replay);
    replay.alone = 0;
    if (!error)
        error = bench_replay(&queued, &replay);
    o->alone_us = alone.us;
    o->us = queued.us;
    o->spread_us = queued.spread_us;
    return error || gpu->choice->kind == HISTOGRAM_RACY ? error
                                                        : compare_pieces(gpu, first, pieces);
}

static cudaError_t run_strategy(Gpu *gpu, HistogramOutcome *first)
{
    HistogramOutcome *const o = gpu->outcome;
    cudaError_t error = cudaSuccess;
    double us = 0;
    gpu->whole = 1;
    if (gpu->all->job.saturate)
        error = run_once(gpu, first, &us);
    memcpy(o->whole, first->counts, sizeof(o->whole));
    gpu->whole = 0;
    if (!error)
        error = run_once(gpu, first, &us);
    o->us = o->spread_us = o->alone_us = NAN;
    pthread_barrier_wait(&gpu->all->barrier);
    if (!error && !gpu->all->job.check_only)
        error = time_strategy(gpu, first, us);
    return error ? error : fetch(gpu, o);
}

/* ---- threads ---- */

/* Every thread comes to the barrier once, whatever happens. */
static void *run_thread(void *data)
{
    Gpu *const gpu = data;
    HistogramOutcome *const o = gpu->outcome;
    *o = (HistogramOutcome){.up_us = gpu->buffers.up_us,
                            .down_us = gpu->buffers.down_us,
                            .peak_gb_s = gpu->buffers.peak_gb_s,
                            .copy_gb_s = gpu->buffers.copy_gb_s};
    HistogramOutcome *const first = calloc(1, sizeof(*first));
    cudaError_t error = first ? cudaSetDevice(gpu->buffers.device) : cudaErrorMemoryAllocation;
    o->status = error ? HISTOGRAM_FAILED : prepare(gpu, o->why, sizeof(o->why));
    if (o->status == HISTOGRAM_DONE)
        error = run_strategy(gpu, first);
    else
        pthread_barrier_wait(&gpu->all->barrier);
    if (error) {
        snprintf(o->why, sizeof(o->why), "CUDA: %s", cudaGetErrorString(error));
        o->status = HISTOGRAM_FAILED;
    }
    free(first);
    return NULL;
}

static cudaError_t find_limits(Gpu *gpu, int number)
{
    int shared = 0;
    cudaError_t error = lumeq_cuda_prepare(&gpu->device, number);
    if (!error)
        error = cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, number);
    gpu->limits = (HistogramLimits){gpu->device.processors, (size_t)shared};
    return error;
}

static void *open_thread(void *data)
{
    Gpu *const gpu = data;
    const int number = gpu->buffers.device;
    cudaError_t error = find_limits(gpu, number);
    if (error)
        snprintf(gpu->why, sizeof(gpu->why), "GPU %d: CUDA: %s", number, cudaGetErrorString(error));
    gpu->failed = error || open_buffers(&gpu->buffers, &gpu->all->job, number, gpu->why,
                                        sizeof(gpu->why)) < 0;
    pthread_barrier_wait(&gpu->all->barrier);
    if (!gpu->failed && (error = measure_buffers(&gpu->buffers)) != cudaSuccess) {
        snprintf(gpu->why, sizeof(gpu->why), "GPU %d: CUDA: %s", number, cudaGetErrorString(error));
        gpu->failed = 1;
    }
    return NULL;
}

/* A thread that cannot be started ends the program: the others wait for it. */
static void on_each(HistogramGpus *gpus, void *(*thread)(void *))
{
    pthread_t threads[64];
    for (int i = 0; i < gpus->count; i++)
        if (pthread_create(&threads[i], NULL, thread, &gpus->gpus[i])) {
            fprintf(stderr, "lumeq-bench histogram: a thread cannot be started\n");
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
        gpus->gpus[i].buffers.device = devices[i];
    }
    on_each(gpus, open_thread);
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
    on_each(gpus, run_thread);
}

void histogram_gpus_close(HistogramGpus *gpus)
{
    for (int i = 0; i < gpus->count; i++) {
        Gpu *const gpu = &gpus->gpus[i];
        if (cudaSetDevice(gpu->buffers.device) == cudaSuccess) {
            cudaFree(gpu->temporary);
            close_buffers(&gpu->buffers);
        }
    }
    pthread_barrier_destroy(&gpus->barrier);
    free(gpus);
}
