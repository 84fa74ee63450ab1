#include "equalizer/cuda/steps.h"

#include <stdlib.h>
#include <string.h>

#include "equalizer/cuda/frame.h"
#include "equalizer/cuda/memory.h"
#include "equalizer/cuda/pictures.h"
#include "equalizer/last_error.h"
#include "equalizer/measure.h"

/* Alignment of the parts of a step's memory. */
#define PART_ALIGNMENT 256

/* Minimum memory of a step, in bytes. Sizes are powers of two. Steps are freed only on
 * closing, because freeing memory waits for the whole device. */
#define LEAST_MEMORY ((size_t)256 << 10)

_Static_assert(sizeof(LumeqCudaTally) <= LEAST_MEMORY, "every step has room for a tally");

/* Times are relative to an event at most this old, because CUDA reports them in float32. */
#define ANCHOR_MAX_US 1e6

struct LumeqCudaStep {
    LumeqCudaStep *next;
    int busy;         /* belongs to a call, to a pending measure, or to a frame in flight */
    int used;         /* `done` has been recorded, and is not known to have passed */
    int finished;     /* leaders only: `done` has passed since it was last recorded */
    int zeroed;       /* the tally is zero */
    int tiles_zeroed; /* the TileCounters after the tally are zero */
    cudaStream_t stream;
    cudaEvent_t done; /* after the step's last work */
    cudaEvent_t uploaded;
    cudaEvent_t begun, written; /* of frames in flight, only if stages are timed */
    uint8_t *device, *host;
    size_t device_size, host_size;

    LumeqMeasureJob job; /* its pointers are valid only until the frame has begun */
    LumeqFlight flight;
    int in_flight; /* 1: for a frame in flight; 0: for lumeq_measure() or lumeq_apply() */
    int unfetched; /* it is in LumeqCudaSteps.unfetched */
    LumeqCudaStep *next_unfetched;
    LumeqCudaStep *leader;      /* the last of the steps that are launched together; all use its
                                 * stream and events */
    LumeqCudaPictures pictures; /* on the device */
    LumeqImage previous;
    int missed;                 /* the previous frame is not on the device and has to be uploaded */
    int waited_for;             /* the input is on the device only after `uploaded` */
    size_t counts, counts_size; /* offset (after the tally) and size, in device and host memory */
    size_t curve;               /* offset of the curve's parts, after the counts */
    size_t past;                /* offset of previous frames, after the pictures */
    LumeqCounts counted;        /* only cells and tiles, on the host */
    double asked;               /* time of the first call that polled; 0: none yet */
};

/* ---- steps --------------------------------------------------------------------------------- */

static int lose(const LumeqCudaSteps *steps, cudaError_t error, const char *what)
{
    return lumeq_cuda_lose(steps->loss, error, what);
}

/* The device must have finished with the step. */
static void destroy(const LumeqCudaSteps *steps, LumeqCudaStep *step)
{
    const cudaEvent_t events[] = {step->done, step->begun, step->uploaded, step->written};
    for (int i = 0; i < 4; i++)
        if (events[i])
            cudaEventDestroy(events[i]);
    if (step->stream)
        cudaStreamDestroy(step->stream);
    lumeq_cuda_give(steps->home, step->host);
    lumeq_cuda_give(steps->home, step->device);
    free(step);
}

void lumeq_cuda_steps_close(LumeqCudaSteps *steps)
{
    if (!steps->opened)
        return;
    int lost = lumeq_cuda_is_lost(steps->loss);
    for (LumeqCudaStep *step = steps->first; step && !lost; step = step->next) {
        cudaError_t error = cudaSuccess;
        if (step->used || step->busy)
            error = lumeq_cuda_await_event(step->done, lumeq_cuda_now(), LUMEQ_CUDA_SPIN);
        if (error)
            lose(steps, error, "closing");
        lost = error != cudaSuccess;
    }
    while (steps->first) {
        LumeqCudaStep *step = steps->first;
        steps->first = step->next;
        if (lost)
            free(step);
        else
            destroy(steps, step);
    }
    if (steps->anchor && !lost)
        cudaEventDestroy(steps->anchor);
    pthread_mutex_destroy(&steps->lock);
    steps->opened = 0;
}

static size_t memory_for(size_t size)
{
    size_t memory = LEAST_MEMORY;
    while (memory < size)
        memory *= 2;
    return memory;
}

static cudaError_t fill_step(const LumeqCudaSteps *steps, LumeqCudaStep *step)
{
    cudaError_t error = cudaStreamCreateWithFlags(&step->stream, cudaStreamNonBlocking);
    cudaEvent_t *const events[] = {&step->done, &step->uploaded, &step->begun, &step->written};
    for (int i = 0; i < (steps->timed ? 4 : 2) && !error; i++)
        error = cudaEventCreateWithFlags(events[i],
                                         steps->timed ? cudaEventDefault : cudaEventDisableTiming);
    if (!error)
        error = lumeq_cuda_take(steps->home, LUMEQ_CUDA_PINNED, 1, (void **)&step->host,
                                step->host_size);
    return error ? error
                 : lumeq_cuda_take(steps->home, LUMEQ_CUDA_DEVICE, 1, (void **)&step->device,
                                   step->device_size);
}

/* Returns the smallest free step that is large enough, or NULL. */
static LumeqCudaStep *find_step(LumeqCudaSteps *steps, size_t device_size, size_t host_size)
{
    LumeqCudaStep *found = NULL;
    pthread_mutex_lock(&steps->lock);
    for (LumeqCudaStep *step = steps->first; step; step = step->next) {
        if (step->busy || step->device_size < device_size || step->host_size < host_size ||
            (found && found->device_size <= step->device_size))
            continue;
        if (step->used && lumeq_cuda_await_event(step->done, 0, LUMEQ_CUDA_LOOK) == cudaSuccess)
            step->used = 0;
        if (!step->used)
            found = step;
        if (found && found->device_size == memory_for(device_size))
            break;
    }
    if (found)
        found->busy = 1;
    pthread_mutex_unlock(&steps->lock);
    return found;
}

/* Takes a free step for the caller, or creates one. `tiles`: it needs TileCounters. */
static cudaError_t take_step(LumeqCudaSteps *steps, size_t device_size, size_t host_size, int tiles,
                             LumeqCudaStep **taken)
{
    LumeqCudaStep *step = *taken = find_step(steps, device_size, host_size);
    if (step) {
        step->tiles_zeroed &= tiles;
        return cudaSuccess;
    }
    step = calloc(1, sizeof(*step));
    if (!step)
        return cudaErrorMemoryAllocation;
    step->busy = 1;
    step->device_size = memory_for(device_size);
    step->host_size = memory_for(host_size);
    const cudaError_t error = fill_step(steps, step);
    if (error) {
        if (error == cudaErrorMemoryAllocation)
            destroy(steps, step);
        else
            free(step);
        return error;
    }
    pthread_mutex_lock(&steps->lock);
    step->next = steps->first;
    steps->first = step;
    pthread_mutex_unlock(&steps->lock);
    *taken = step;
    return cudaSuccess;
}

/* Gives a step back. `done`: its work is known to have finished. */
static void give_step(LumeqCudaSteps *steps, LumeqCudaStep *step, int done)
{
    pthread_mutex_lock(&steps->lock);
    step->used = !done;
    step->busy = 0;
    if (done)
        steps->progress = lumeq_cuda_now();
    pthread_mutex_unlock(&steps->lock);
}

cudaError_t lumeq_cuda_steps_open(LumeqCudaSteps *steps, const LumeqCudaHome *home,
                                  const LumeqCudaDevice *device, LumeqCudaLoss *loss)
{
    LumeqCudaStep *step = NULL;
    steps->home = home;
    steps->loss = loss;
    steps->device = *device;
    steps->early = device->early_launches;
    /* The caller's earlier kernels may write what ours read, so ours must wait for their end. */
    steps->device.early_launches = 0;
    steps->opened = pthread_mutex_init(&steps->lock, NULL) == 0;
    cudaError_t error =
        steps->opened ? take_step(steps, 0, 0, 0, &step) : cudaErrorMemoryAllocation;
    if (!error)
        error = cudaEventCreate(&steps->anchor);
    if (!error)
        error = cudaMemsetAsync(step->device, 0, sizeof(LumeqCudaTally), step->stream);
    if (!error)
        error = cudaEventRecord(steps->anchor, step->stream);
    if (!error)
        error = lumeq_cuda_await_event(steps->anchor, lumeq_cuda_now(), LUMEQ_CUDA_SPIN);
    if (step) {
        step->zeroed = !error;
        give_step(steps, step, 1);
    }
    return error;
}

/* Waits for the work queued so far. Others may queue more, so the stream might never be empty. */
static cudaError_t finish_so_far(const LumeqCudaStep *step, cudaStream_t stream)
{
    const cudaError_t error = cudaEventRecord(step->done, stream);
    return error ? error : lumeq_cuda_await_event(step->done, lumeq_cuda_now(), LUMEQ_CUDA_SPIN);
}

/* ---- the caller's streams and events ------------------------------------------------------- */

static cudaStream_t stream_of(const LumeqCudaStep *step, const LumeqSync *sync)
{
    return sync && sync->stream ? (cudaStream_t)sync->stream : step->stream;
}

/* Makes the stream wait for the caller's work on the planes. */
static cudaError_t begin(const LumeqSync *sync, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    if (sync && sync->ready)
        error = cudaStreamWaitEvent(stream, (cudaEvent_t)sync->ready, 0);
    if (!error && sync && sync->after)
        error = lumeq_cuda_follow(stream, (cudaStream_t)sync->after);
    return error;
}

/* Records `done` last, so that all earlier work has finished when it passes. */
static cudaError_t end(LumeqCudaStep *step, const LumeqSync *sync, cudaStream_t stream)
{
    step->finished = 0;
    const cudaError_t error =
        sync && sync->finished ? cudaEventRecord((cudaEvent_t)sync->finished, stream) : cudaSuccess;
    return error ? error : cudaEventRecord(step->done, stream);
}

/* True if the library waits for the output, because the caller gave no event or stream. If the GPU
 * is lost meanwhile, the CPU writes the output, and a GPU that recovers must not overwrite it. So
 * the copy to the host is queued only after the GPU has written the picture. */
static int waits(const LumeqSync *sync)
{
    return !sync || (!sync->stream && !sync->finished);
}

/* A copy from pageable memory blocks inside the driver, without a time limit, until earlier work
 * has finished. So this first waits for that work, with a time limit. */
static cudaError_t upload(const LumeqCudaSteps *steps, const LumeqCudaStep *step,
                          const LumeqImage *to, const LumeqImage *from, int planes,
                          cudaStream_t stream)
{
    if (from->memory != LUMEQ_MEMORY_HOST)
        return cudaSuccess;
    const cudaError_t error = lumeq_pageable_planes(steps->home, from, planes)
                                  ? finish_so_far(step, stream)
                                  : cudaSuccess;
    return error ? error : lumeq_pictures_copy(to, from, planes, cudaMemcpyHostToDevice, stream);
}

static int to_host(const LumeqCudaStep *step)
{
    return step->flight.write && step->flight.out.memory == LUMEQ_MEMORY_HOST;
}

static cudaError_t download(const LumeqCudaStep *step, cudaStream_t stream)
{
    return lumeq_pictures_copy(&step->flight.out, &step->pictures.out, step->flight.write,
                               cudaMemcpyDeviceToHost, stream);
}

static void fetch_later(LumeqCudaSteps *steps, LumeqCudaStep *const *run, int count)
{
    LumeqCudaStep **end = &steps->unfetched;
    while (*end)
        end = &(*end)->next_unfetched;
    for (int i = 0; i < count; i++) {
        if (!to_host(run[i]))
            continue;
        run[i]->unfetched = 1;
        run[i]->next_unfetched = NULL;
        *end = run[i];
        end = &run[i]->next_unfetched;
    }
}

/* Returns cudaErrorNotReady until a frame's queued work has finished. */
static cudaError_t ask_done(const LumeqCudaStep *step)
{
    LumeqCudaStep *leader = step->leader;
    const cudaError_t error =
        leader->finished ? cudaSuccess : lumeq_cuda_await_event(leader->done, 0, LUMEQ_CUDA_LOOK);
    leader->finished = !error;
    return error;
}

/* Queues the copies to the host, oldest frame first, up to the first frame not written yet. */
static cudaError_t fetch(LumeqCudaSteps *steps)
{
    while (steps->unfetched) {
        LumeqCudaStep *step = steps->unfetched, *const leader = step->leader;
        cudaError_t error = ask_done(step);
        for (; !error && step && step->leader == leader; step = step->next_unfetched)
            error = download(step, leader->stream);
        if (!error)
            error = end(leader, NULL, leader->stream);
        if (error)
            return error == cudaErrorNotReady ? cudaSuccess : error;
        for (; steps->unfetched != step; steps->unfetched = steps->unfetched->next_unfetched)
            steps->unfetched->unfetched = 0;
    }
    return cudaSuccess;
}

static cudaError_t ask(LumeqCudaSteps *steps, const LumeqCudaStep *step)
{
    const cudaError_t error = step->in_flight ? fetch(steps) : cudaSuccess;
    if (error)
        return error;
    return step->unfetched ? cudaErrorNotReady : ask_done(step);
}

/* Waits for the last work on a frame in flight, or for a measure. Meanwhile, fetch() queues copies
 * of other frames. */
static cudaError_t await_done(LumeqCudaSteps *steps, const LumeqCudaStep *step, double since,
                              LumeqCudaWait wait)
{
    const double now = lumeq_cuda_now();
    cudaError_t error;
    do
        error = ask(steps, step);
    while (error == cudaErrorNotReady && lumeq_cuda_keep_waiting(since, now, wait));
    return error == cudaErrorNotReady && wait ? ask(steps, step) : error;
}

/* Reserves a part of a step's memory; returns its offset. */
static size_t part_of(size_t *used, size_t size)
{
    const size_t start = *used;
    *used += (size + PART_ALIGNMENT - 1) / PART_ALIGNMENT * PART_ALIGNMENT;
    return start;
}

/* Bytes of the used part of a curve's table. */
static size_t table_size(const CurveParams *p)
{
    const size_t bins = (size_t)p->bins;
    return offsetof(CurveTable, codes8) + (curve_has_nodes(p) ? (bins + 1) * sizeof(uint32_t)
                                           : p->depth == 8    ? bins
                                                              : bins * sizeof(uint16_t));
}

/* Bytes of the used part of the tiles' tables. */
static size_t tiles_size(size_t tiles)
{
    return tiles ? offsetof(TileTables, nodes) + tiles * sizeof(((TileTables *)NULL)->nodes[0]) : 0;
}

/* ---- measure ------------------------------------------------------------------------------- */

static void copy_counts(const LumeqCounts *to, const LumeqCudaStep *step)
{
    const MeasureShape *shape = &step->job.shape;
    const LumeqCudaTally *tally = (const LumeqCudaTally *)(const void *)step->host;
    const size_t tiles = (size_t)shape->tiles_x * (size_t)shape->tiles_y;
    memcpy(to->hist, tally->hist, (size_t)shape->bins * sizeof(*to->hist));
    if (step->flight.reference) {
        if (tiles)
            memcpy(to->sums, step->host + step->counts, sizeof(*to->sums));
        return;
    }
    if (step->job.previous.plane[0])
        memcpy(to->noise, &tally->noise, sizeof(*to->noise));
    else
        memset(to->noise, 0, sizeof(*to->noise));
    memcpy(to->haze, tally->haze, sizeof(tally->haze));
    memcpy(to->lit[BARS_COLUMNS], tally->lit[BARS_COLUMNS], (size_t)shape->width);
    memcpy(to->lit[BARS_ROWS], tally->lit[BARS_ROWS], (size_t)shape->height);
    if (step->counted.cells)
        memcpy(to->cells, step->counted.cells, MEASURE_CELLS * sizeof(*to->cells));
    if (tiles)
        memcpy(to->tiles, step->counted.tiles, tiles * sizeof(*to->tiles));
    if (tiles && shape->reference)
        memcpy(to->padding, step->counted.padding, tiles * sizeof(*to->padding));
}

/* Places cells and tiles in `memory`, unless it is NULL. Returns their size. */
static size_t place_counts(LumeqCounts *counts, const MeasureShape *shape, int cells,
                           uint8_t *memory)
{
    const size_t tiles = (size_t)shape->tiles_x * (size_t)shape->tiles_y;
    size_t size = 0;
    const size_t at[] = {
        part_of(&size, cells ? MEASURE_CELLS * sizeof(*counts->cells) : 0),
        part_of(&size, tiles * sizeof(*counts->tiles)),
        part_of(&size, shape->reference ? tiles * sizeof(*counts->padding) : 0),
    };
    *counts = (LumeqCounts){0};
    if (memory && cells)
        counts->cells = (uint64_t *)(void *)(memory + at[0]);
    if (memory && tiles)
        counts->tiles = (uint32_t(*)[TILE_CELLS])(void *)(memory + at[1]);
    if (memory && tiles && shape->reference)
        counts->padding = (uint32_t(*)[TILE_CELLS])(void *)(memory + at[2]);
    return size;
}

/* Bytes of the curve's parts: its table, the tiles' tables, and the bars. */
static size_t curve_size(const LumeqMeasureJob *job)
{
    const size_t tiles = job->clahe ? (size_t)tile_count(&job->grid) : 0;
    size_t size = 0;
    part_of(&size, table_size(&job->curve));
    part_of(&size, tiles_size(tiles));
    part_of(&size, sizeof(BarsState));
    return size;
}

static int same_luma(const LumeqImage *a, const LumeqImage *b)
{
    return a->memory == b->memory && a->plane[0] == b->plane[0] && a->stride[0] == b->stride[0] &&
           a->width == b->width && a->height == b->height && a->depth == b->depth &&
           a->shift == b->shift;
}

static int check_places(const LumeqCudaSteps *steps, const LumeqMeasureJob *job,
                        const LumeqFlight *flight)
{
    const int planes = flight->write > 1 || job->chroma ? lumeq_planes(&job->in) : 1;
    int ret = lumeq_check_places(steps->home, &job->in, planes, "input");
    if (ret == 0)
        ret = lumeq_check_places(steps->home, &flight->out, flight->write, "output");
    if (ret == 0 && job->previous.plane[0])
        ret = lumeq_check_places(steps->home, &job->previous, 1, "previous frame");
    return ret;
}

/* Checks a frame, and takes a step for its work. `more`: bytes for previous frames. */
static int place(LumeqCudaSteps *steps, const LumeqMeasureJob *job, const LumeqFlight *flight,
                 int in_flight, size_t more, LumeqCudaStep **placed)
{
    const LumeqCudaStep *before = flight->before;
    const LumeqImage *previous = &job->previous;
    const int ret = check_places(steps, job, flight);
    if (ret < 0)
        return ret;
    const int on_host = previous->plane[0] && previous->memory == LUMEQ_MEMORY_HOST;
    const int missed = on_host && !(before && same_luma(previous, &before->job.in));
    const int tiles = flight->reference && job->clahe;
    LumeqCounts counts;
    const size_t counts_size =
        flight->reference ? 0 : place_counts(&counts, &job->shape, job->counts.cells != NULL, NULL);
    size_t size = 0;
    part_of(&size, sizeof(LumeqCudaTally));
    const size_t at = part_of(&size, tiles ? sizeof(TileCounters) : counts_size);
    const size_t curve = part_of(&size, flight->write || flight->reference ? curve_size(job) : 0);
    const size_t host_size = flight->reference ? at + tiles * sizeof(TileSums) : size;
    const size_t pictures = part_of(
        &size, lumeq_pictures_place(NULL, &job->in, &flight->out, flight->write, job->chroma).size);
    const size_t past = part_of(&size, missed ? lumeq_pictures_size(previous, 1) : more);
    LumeqCudaStep *step;
    const cudaError_t error = take_step(steps, size, host_size, tiles, &step);
    if (error == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError(); /* otherwise, the caller's next CUDA call returns the error */
        return lumeq_refuse_with(LUMEQ_ERR_MEMORY, "GPU %d is out of memory", steps->home->number);
    }
    if (error)
        return lose(steps, error, "allocating memory");
    step->job = *job;
    step->flight = *flight;
    step->in_flight = in_flight;
    step->leader = step;
    step->pictures = lumeq_pictures_place(step->device + pictures, &job->in, &flight->out,
                                          flight->write, job->chroma);
    step->previous = missed    ? lumeq_pictures_on_device(step->device + past, previous, 1)
                     : on_host ? before->pictures.in
                               : *previous;
    step->missed = missed;
    step->waited_for = job->in.memory == LUMEQ_MEMORY_HOST || job->sync;
    step->counts = at;
    step->counts_size = counts_size;
    step->curve = curve;
    step->past = past;
    step->asked = 0;
    *placed = step;
    return 0;
}

/* ---- frames that are launched together ------------------------------------------------------- */

static LumeqMeasureJob on_device(const LumeqCudaStep *step)
{
    LumeqMeasureJob job = step->job;
    job.in = step->pictures.in;
    job.previous = step->previous;
    return job;
}

static LumeqCudaTally *tally_of(uint8_t *memory)
{
    return (LumeqCudaTally *)(void *)memory;
}

/* Byte offsets from the first frame's memory to each frame's. */
static LumeqCudaBatch batch_of(LumeqCudaStep *const *run, int count)
{
    LumeqCudaBatch batch = {.count = count};
    for (int i = 0; i < count; i++) {
        const LumeqCudaPictures *first = &run[0]->pictures, *own = &run[i]->pictures;
        LumeqCudaInBatch *of = &batch.of[i];
        for (int k = 0; k < 3; k++) {
            of->in[k] = (uint8_t *)own->in.plane[k] - (uint8_t *)first->in.plane[k];
            of->out[k] = (uint8_t *)own->written.plane[k] - (uint8_t *)first->written.plane[k];
        }
        of->before = (uint8_t *)run[i]->previous.plane[0] - (uint8_t *)run[0]->previous.plane[0];
        of->device = run[i]->device - run[0]->device;
        of->host = run[i]->host - run[0]->host;
        of->frame = run[i]->job.curve.frame;
    }
    return batch;
}

/* Zeroes the kernels' counters before their first use. */
static cudaError_t zero_counters(LumeqCudaStep *step, int tiles, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    if (!step->zeroed)
        error = cudaMemsetAsync(step->device, 0, sizeof(LumeqCudaTally), stream);
    if (!error && tiles && !step->tiles_zeroed)
        error = cudaMemsetAsync(step->device + step->counts, 0, sizeof(TileCounters), stream);
    step->zeroed = 1;
    step->tiles_zeroed = tiles;
    return error;
}

/* Counts pictures on the device, and copies the counts to the host. */
static cudaError_t count_all(const LumeqCudaSteps *steps, LumeqCudaStep *const *run, int count,
                             cudaStream_t stream)
{
    const LumeqCudaBatch batch = batch_of(run, count);
    LumeqMeasureJob job = on_device(run[0]);
    const int cells = job.counts.cells != NULL;
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < count && !error; i++) {
        LumeqCudaStep *step = run[i];
        place_counts(&step->counted, &step->job.shape, cells, step->host + step->counts);
        error = zero_counters(step, 0, stream);
        if (!error && step->counts_size)
            error = cudaMemsetAsync(step->device + step->counts, 0, step->counts_size, stream);
    }
    place_counts(&job.counts, &job.shape, cells, run[0]->device + run[0]->counts);
    if (!error)
        error = lumeq_cuda_measure(&steps->device, &job, tally_of(run[0]->device),
                                   tally_of(run[0]->host), &batch, stream);
    for (int i = 0; i < count && !error; i++) {
        const LumeqCudaStep *step = run[i];
        if (step->counts_size)
            error = cudaMemcpyAsync(step->host + step->counts, step->device + step->counts,
                                    step->counts_size, cudaMemcpyDeviceToHost, stream);
    }
    return error;
}

/* Makes the curves of the reference, and writes the pictures. If no other frame is in flight, the
 * kernel that writes starts early. An early start would delay the curves of other frames. */
static cudaError_t equalize(const LumeqCudaSteps *steps, LumeqCudaStep *const *run, int count,
                            cudaStream_t stream)
{
    LumeqCudaStep *first = run[0];
    const LumeqCudaBatch batch = batch_of(run, count);
    const LumeqMeasureJob job = on_device(first);
    size_t size = first->curve;
    uint8_t *const table = first->device + part_of(&size, table_size(&job.curve));
    const LumeqCudaReference parts = {
        .tally = tally_of(first->device),
        .host = tally_of(first->host),
        .counters = (TileCounters *)(void *)(first->device + first->counts),
        .sums = (TileSums *)(void *)(first->host + first->counts),
        .table = (CurveTable *)(void *)table,
        .tables = (TileTables *)(void *)(first->device + size),
    };
    const LumeqApplyJob apply = {
        .in = job.in,
        .out = first->pictures.written,
        .write = first->pictures.planes,
        .curve = job.curve,
        .table = parts.table,
        .clahe = job.clahe,
        .grid = &job.grid,
        .tables = parts.tables,
    };
    const int early = steps->early && first->flight.alone && stream == first->stream;
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < count && !error; i++)
        error = zero_counters(run[i], job.clahe, stream);
    if (!error)
        error = lumeq_cuda_find_curve(&steps->device, &job, &parts, &batch, stream);
    if (!error && first->flight.write)
        error = lumeq_cuda_apply_curve(&steps->device, &apply, &batch, early, stream);
    return error;
}

static cudaError_t upload_all(const LumeqCudaSteps *steps, LumeqCudaStep *const *run, int count,
                              cudaStream_t stream)
{
    const LumeqCudaStep *leader = run[count - 1];
    int waited_for = steps->timed && leader->in_flight;
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < count && !error; i++) {
        const LumeqCudaStep *step = run[i], *before = step->flight.before;
        if (before && step->job.previous.plane[0] && before->waited_for && before->leader != leader)
            error = cudaStreamWaitEvent(stream, before->leader->uploaded, 0);
        if (!error)
            error = upload(steps, leader, &step->pictures.in, &step->job.in, step->pictures.planes,
                           stream);
        if (!error && step->missed)
            error = upload(steps, leader, &step->previous, &step->job.previous, 1, stream);
        waited_for |= step->waited_for && step->in_flight;
    }
    return error || !waited_for ? error : cudaEventRecord(leader->uploaded, stream);
}

/* Converts written frames to the output's layout. Downloads them, unless fetch() will. */
static cudaError_t hand_out(const LumeqCudaSteps *steps, LumeqCudaStep *const *run, int count,
                            const LumeqSync *sync, cudaStream_t stream)
{
    LumeqCudaStep *leader = run[0]->leader;
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < count && !error; i++)
        error = lumeq_pictures_convert(&run[i]->pictures, stream);
    if (!error && steps->timed && leader->in_flight)
        error = cudaEventRecord(leader->written, stream);
    for (int i = 0; i < count && !error; i++) {
        const LumeqCudaStep *step = run[i];
        if (!to_host(step) || (step->in_flight && waits(sync)))
            continue;
        if (waits(sync) ||
            lumeq_pageable_planes(steps->home, &step->flight.out, step->flight.write))
            error = finish_so_far(leader, stream);
        if (!error)
            error = download(step, stream);
    }
    return error;
}

static cudaError_t start(LumeqCudaSteps *steps, LumeqCudaStep *const *run, int count,
                         cudaStream_t stream)
{
    LumeqCudaStep *leader = run[count - 1];
    const LumeqSync *sync = leader->job.sync;
    const int whole = leader->flight.reference;
    cudaError_t error = begin(sync, stream);
    if (!error && steps->timed && leader->in_flight)
        error = cudaEventRecord(leader->begun, stream);
    if (!error)
        error = upload_all(steps, run, count, stream);
    if (!error)
        error = (whole ? equalize : count_all)(steps, run, count, stream);
    if (!error && whole)
        error = hand_out(steps, run, count, sync, stream);
    if (!error)
        error = end(leader, whole || !leader->in_flight ? sync : NULL, stream);
    if (!error && whole && waits(sync))
        fetch_later(steps, run, count);
    return error;
}

/* True if the frame can be launched with the first one. */
static int joins(const LumeqCudaStep *first, const LumeqCudaStep *other)
{
    const LumeqMeasureJob *a = &first->job, *b = &other->job;
    return !a->sync && !b->sync && first->flight.reference == other->flight.reference &&
           first->flight.write == other->flight.write && a->clahe == b->clahe &&
           lumeq_cuda_same_params(&a->curve, &b->curve) &&
           !memcmp(&a->bars, &b->bars, sizeof(a->bars)) &&
           lumeq_cuda_same_images(&first->pictures.in, &other->pictures.in) &&
           lumeq_cuda_same_images(&first->pictures.written, &other->pictures.written) &&
           lumeq_cuda_same_images(&first->previous, &other->previous) &&
           (!a->clahe ||
            (a->grid.limit == b->grid.limit && !memcmp(&a->grid.x, &b->grid.x, sizeof(a->grid.x)) &&
             !memcmp(&a->grid.y, &b->grid.y, sizeof(a->grid.y))));
}

int lumeq_cuda_steps_place(LumeqCudaSteps *steps, const LumeqMeasureJob *job,
                           const LumeqFlight *flight, void **pending)
{
    LumeqCudaStep *step = NULL;
    const int ret = place(steps, job, flight, 1, 0, &step);
    *pending = step;
    return ret;
}

int lumeq_cuda_steps_begin(LumeqCudaSteps *steps, void *const *pendings, int count)
{
    LumeqCudaStep *run[LUMEQ_MAX_BATCH];
    for (int first = 0, n = 0; first < count; first += n) {
        n = 0;
        do
            run[n] = pendings[first + n];
        while (++n + first < count && joins(run[0], pendings[first + n]));
        for (int i = 0; i < n; i++)
            run[i]->leader = run[n - 1];
        const cudaError_t error = start(steps, run, n, stream_of(run[n - 1], run[0]->job.sync));
        if (error)
            return lose(steps, error, "equalizing");
    }
    return 0;
}

int lumeq_cuda_steps_measure(LumeqCudaSteps *steps, const LumeqMeasureJob *job, void **pending)
{
    static const LumeqFlight none;
    *pending = NULL;
    LumeqCudaStep *step;
    const int ret = place(steps, job, &none, 0, 0, &step);
    if (ret < 0)
        return ret;
    const cudaError_t error = start(steps, &step, 1, stream_of(step, job->sync));
    if (error)
        return lose(steps, error, "measuring");
    if (!job->sync)
        return lumeq_cuda_steps_finish(steps, step, &job->counts, 1);
    *pending = step;
    return 0;
}

/* Waits for the last work on a step. With LUMEQ_CUDA_LOOK, the device counts as lost 10 s after the
 * first call for this step, or 10 s after any step last finished, whichever is later. */
static int await(LumeqCudaSteps *steps, LumeqCudaStep *step, LumeqCudaWait wait, const char *what)
{
    double since = lumeq_cuda_now();
    if (!wait) {
        if (step->asked <= 0)
            step->asked = since;
        pthread_mutex_lock(&steps->lock);
        since = steps->progress > step->asked ? steps->progress : step->asked;
        pthread_mutex_unlock(&steps->lock);
    }
    const cudaError_t error = await_done(steps, step, since, wait);
    if (error == cudaErrorNotReady && !wait && !lumeq_cuda_overdue(since))
        return LUMEQ_ERR_AGAIN;
    return error ? lose(steps, error, what) : 0;
}

int lumeq_cuda_steps_finish(LumeqCudaSteps *steps, void *pending, const LumeqCounts *counts,
                            int wait)
{
    LumeqCudaStep *step = pending;
    const LumeqCudaWait awake = step->in_flight ? steps->waits : LUMEQ_CUDA_SPIN;
    const int ret = await(steps, step, wait ? awake : LUMEQ_CUDA_LOOK, "measuring");
    if (ret < 0)
        return ret;
    copy_counts(counts, step);
    if (!step->in_flight)
        give_step(steps, step, 1);
    return 0;
}

/* ---- apply --------------------------------------------------------------------------------- */

/* Number of previous frames that the filter reads. */
static int count_previous(const LumeqApplyJob *job)
{
    const LiftTables *lift = &job->table->lift;
    const int used = lift->luma_on && !job->clahe ? lift->past : 0;
    return used < job->previous_count ? used : job->previous_count;
}

static size_t tiles_of(const LumeqApplyJob *job)
{
    return job->clahe ? (size_t)tile_count(job->grid) : 0;
}

static int32_t lift_of(const LumeqApplyJob *job)
{
    const LiftTables *lift = &job->table->lift;
    return (lift->luma_on ? LUMEQ_CUDA_LIFT_LUMA : 0) |
           (lift->chroma_on ? LUMEQ_CUDA_LIFT_CHROMA : 0);
}

/* Uploads the curve's parts, and sets them in the job. */
static cudaError_t upload_curve(const LumeqCudaStep *step, LumeqApplyJob *job, cudaStream_t stream)
{
    size_t size = step->curve;
    const size_t table = part_of(&size, table_size(&job->curve));
    const size_t tiles = part_of(&size, tiles_size(tiles_of(job)));
    const size_t bars = part_of(&size, sizeof(*job->bars));
    memcpy(step->host + table, job->table, table_size(&job->curve));
    if (job->clahe)
        memcpy(step->host + tiles, job->tables, tiles_size(tiles_of(job)));
    memcpy(step->host + bars, job->bars, sizeof(*job->bars));
    job->curve.lift = lift_of(job);
    job->table = (const CurveTable *)(const void *)(step->device + table);
    job->tables = (const TileTables *)(const void *)(step->device + tiles);
    job->bars = (const BarsState *)(const void *)(step->device + bars);
    return cudaMemcpyAsync(step->device + table, step->host + table, size - table,
                           cudaMemcpyHostToDevice, stream);
}

/* Writes frames of one shape, whose pictures are on the device. Only the first frame may read
 * previous frames. They are in its step if it is in flight, otherwise in its job. */
static cudaError_t write_all(const LumeqCudaSteps *steps, LumeqCudaStep *const *run,
                             const LumeqApplyJob *jobs, int count, cudaStream_t stream)
{
    LumeqCudaBatch batch = batch_of(run, count);
    LumeqApplyJob first = {.write = 0};
    cudaError_t error = cudaSuccess;
    for (int i = count - 1; i >= 0 && !error; i--) {
        first = jobs[i];
        error = upload_curve(run[i], &first, stream);
        batch.of[i].frame = first.curve.frame;
    }
    first.in = run[0]->pictures.in;
    first.out = run[0]->pictures.written;
    first.write = run[0]->pictures.planes;
    first.previous_count = count_previous(jobs);
    if (run[0]->in_flight)
        first.previous[0] = run[0]->previous;
    if (!error)
        error = lumeq_cuda_apply_curve(&steps->device, &first, &batch, 0, stream);
    for (int i = 0; i < count && !error; i++) {
        LumeqApplyJob own = jobs[i];
        own.in = run[i]->pictures.in;
        own.out = run[i]->pictures.written;
        own.write = run[i]->pictures.planes;
        error = lumeq_cuda_clear_frame(&own, stream);
    }
    return error;
}

/* True if the frame can be written in a batch with the first one. The filter of such frames reads
 * no previous frames. */
static int writes_with(const LumeqApplyJob *first, const LumeqApplyJob *other)
{
    const LumeqCudaStep *a = first->flight, *b = other->flight;
    return a->leader == b->leader && first->write && other->write &&
           first->fields == other->fields && !count_previous(first) && !count_previous(other) &&
           lift_of(first) == lift_of(other) && lumeq_cuda_same_params(&first->curve, &other->curve);
}

int lumeq_cuda_steps_write(LumeqCudaSteps *steps, const LumeqApplyJob *jobs, int count)
{
    LumeqCudaStep *run[LUMEQ_MAX_BATCH];
    for (int first = 0, n = 0; first < count; first += n) {
        n = 0;
        do
            run[n] = jobs[first + n].flight;
        while (++n + first < count && writes_with(&jobs[first], &jobs[first + n]));
        const LumeqSync *sync = jobs[first].sync;
        LumeqCudaStep *leader = run[0]->leader;
        const cudaStream_t stream = stream_of(leader, sync);
        cudaError_t error = cudaSuccess;
        for (int i = 0; i < n; i++)
            run[i]->asked = 0;
        if (jobs[first].write)
            error = write_all(steps, run, &jobs[first], n, stream);
        if (!error)
            error = hand_out(steps, run, n, sync, stream);
        if (!error)
            error = end(leader, sync, stream);
        if (!error && waits(sync))
            fetch_later(steps, run, n);
        if (error)
            return lose(steps, error, "equalizing");
    }
    return 0;
}

static cudaError_t read_times(LumeqCudaSteps *steps, LumeqCudaStep *step,
                              double begin_us[LUMEQ_STAGES], double end_us[LUMEQ_STAGES])
{
    const LumeqCudaStep *leader = step->leader;
    const cudaEvent_t events[] = {leader->begun, leader->uploaded, leader->written, leader->done};
    double us[LUMEQ_STAGES + 1];
    for (int i = 0; i <= LUMEQ_STAGES; i++) {
        float ms = 0;
        const cudaError_t error = cudaEventElapsedTime(&ms, steps->anchor, events[i]);
        if (error)
            return error;
        us[i] = steps->anchor_us + 1e3 * (double)ms;
    }
    memcpy(begin_us, us, LUMEQ_STAGES * sizeof(*us));
    memcpy(end_us, us + 1, LUMEQ_STAGES * sizeof(*us));
    /* The leader lands last of its batch, so no other step will need its events. */
    if (step == leader && us[0] - steps->anchor_us > ANCHOR_MAX_US) {
        step->begun = steps->anchor;
        steps->anchor = events[0];
        steps->anchor_us = us[0];
    }
    return cudaSuccess;
}

int lumeq_cuda_steps_land(LumeqCudaSteps *steps, void *pending, const LumeqCounts *counts, int wait,
                          double begin_us[LUMEQ_STAGES], double end_us[LUMEQ_STAGES])
{
    LumeqCudaStep *step = pending;
    const int ret = await(steps, step, wait ? steps->waits : LUMEQ_CUDA_LOOK, "equalizing");
    if (ret < 0)
        return ret;
    const cudaError_t error =
        steps->timed ? read_times(steps, step, begin_us, end_us) : cudaSuccess;
    if (!error && counts)
        copy_counts(counts, step);
    return error ? lose(steps, error, "equalizing") : 0;
}

void lumeq_cuda_steps_leave(LumeqCudaSteps *steps, void *pending)
{
    give_step(steps, pending, 1);
}

/* Uploads the luma of previous frames that are in host memory. The job then has the copies. */
static cudaError_t upload_previous(const LumeqCudaSteps *steps, const LumeqCudaStep *step,
                                   LumeqApplyJob *job, cudaStream_t stream)
{
    size_t at = step->past;
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < count_previous(job) && !error; i++) {
        const LumeqImage from = job->previous[i];
        if (from.memory != LUMEQ_MEMORY_HOST)
            continue;
        job->previous[i] = lumeq_pictures_on_device(step->device + at, &from, 1);
        part_of(&at, lumeq_pictures_size(&from, 1));
        error = upload(steps, step, &job->previous[i], &from, 1, stream);
    }
    return error;
}

static cudaError_t start_apply(const LumeqCudaSteps *steps, LumeqCudaStep *step,
                               const LumeqApplyJob *job, cudaStream_t stream)
{
    const LumeqCudaPictures *pictures = &step->pictures;
    LumeqApplyJob own = *job;
    cudaError_t error = begin(job->sync, stream);
    if (!error)
        error = upload(steps, step, &pictures->in, &job->in, pictures->planes, stream);
    if (!error)
        error = upload_previous(steps, step, &own, stream);
    if (!error)
        error = write_all(steps, &step, &own, 1, stream);
    if (!error)
        error = hand_out(steps, &step, 1, job->sync, stream);
    return error ? error : end(step, job->sync, stream);
}

int lumeq_cuda_steps_apply(LumeqCudaSteps *steps, const LumeqApplyJob *job)
{
    LumeqMeasureJob measured = {.in = job->in, .curve = job->curve, .clahe = job->clahe};
    const LumeqFlight flight = {.out = job->out, .write = job->write};
    LumeqCudaStep *step = NULL;
    size_t past = 0;
    int ret = 0;
    if (job->clahe)
        measured.grid = *job->grid;
    for (int i = 0; i < count_previous(job) && ret == 0; i++) {
        ret = lumeq_check_places(steps->home, &job->previous[i], 1, "previous frame");
        part_of(&past, lumeq_pictures_size(&job->previous[i], 1));
    }
    if (ret == 0)
        ret = place(steps, &measured, &flight, 0, past, &step);
    if (ret < 0)
        return ret;
    const int wait = waits(job->sync);
    cudaError_t error = start_apply(steps, step, job, stream_of(step, job->sync));
    if (!error && wait)
        error = lumeq_cuda_await_event(step->done, lumeq_cuda_now(), LUMEQ_CUDA_SPIN);
    if (error)
        return lose(steps, error, "equalizing");
    give_step(steps, step, wait);
    return 0;
}
