#include "equalizer/cuda/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "equalizer/cuda/device_memory.h"
#include "equalizer/cuda/frame.h"
#include "equalizer/cuda/pictures.h"
#include "equalizer/cuda/pinned_memory.h"
#include "equalizer/cuda/waiting.h"
#include "equalizer/measure.h"

/* Alignment of the parts of a step's memory. */
#define PART_ALIGNMENT 256

/* Smallest memory of a step. Sizes are powers of two, and steps are kept until the end, because
 * freeing memory waits for the whole device. So all steps that became too small take at most as
 * much memory as the largest. */
#define LEAST_MEMORY ((size_t)256 << 10)

_Static_assert(sizeof(LumeqCudaTally) <= LEAST_MEMORY, "it comes first, on the device and host");

/* Times are measured relative to an event at most this old, since CUDA reports them in float32. */
#define ANCHOR_MAX_US 1e6

/* Memory and events for work on one frame. */
struct LumeqCudaStep {
    LumeqCudaStep *next;
    int busy;   /* belongs to a call, to a pending measure, or to a frame in flight */
    int used;   /* `done` has been recorded, and is not known to have passed */
    int zeroed; /* the tally is; each measure leaves it so */
    cudaStream_t stream;
    cudaEvent_t done; /* after its last work */
    /* The same for frames in flight; begun and written only if stages are timed. */
    cudaEvent_t begun, uploaded, written;
    uint8_t *device, *host;
    size_t device_size, host_size;

    /* For a pending measure; the counts are in `host`. */
    MeasureShape shape;
    LumeqCounts counts; /* only cells and tiles */
    int noise;          /* noise was counted */
    double asked;       /* time of the first lumeq_cuda_steps_finish(); 0: none yet */

    int flight;                 /* it is a frame in flight; only then the members below count */
    LumeqImage host_image;      /* the input, if it was in host memory; else plane[0] is NULL */
    int waited_for;             /* it is there only after `uploaded` */
    LumeqCudaPictures pictures; /* on the device */
    LumeqImage previous;
    size_t curve; /* offset of the curve's parts in device and host memory */
};

/* ---- steps --------------------------------------------------------------------------------- */

int lumeq_cuda_steps_open(LumeqCudaSteps *steps, const LumeqCudaHome *home,
                          const LumeqCudaDevice *device, LumeqCudaLoss *loss)
{
    steps->home = home;
    steps->loss = loss;
    steps->device = *device;
    /* The caller's kernels before these may write what these read, so they must not overlap. */
    steps->device.early_launches = 0;
    steps->opened = pthread_mutex_init(&steps->lock, NULL) == 0;
    return steps->opened ? 0 : LUMEQ_ERR_MEMORY;
}

static int lose(const LumeqCudaSteps *steps, cudaError_t error, const char *what, char *text,
                size_t text_size)
{
    return lumeq_cuda_lose(steps->loss, error, what, text, text_size);
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
    if (step->host)
        lumeq_pinned_free(steps->home, step->host);
    (void)lumeq_device_give(step->device);
    free(step);
}

static cudaError_t finish_all(const LumeqCudaSteps *steps)
{
    cudaError_t error = cudaSuccess;
    for (LumeqCudaStep *step = steps->first; step && !error; step = step->next)
        if (step->used || step->busy)
            error = lumeq_cuda_await_event(step->done, lumeq_cuda_now(), LUMEQ_CUDA_SPIN);
    return error;
}

void lumeq_cuda_steps_close(LumeqCudaSteps *steps)
{
    if (!steps->opened)
        return;
    char text[256];
    const cudaError_t error = lumeq_cuda_is_lost(steps->loss) ? cudaSuccess : finish_all(steps);
    if (error)
        lose(steps, error, "the end", text, sizeof(text));
    const int lost = lumeq_cuda_is_lost(steps->loss);
    while (steps->first) {
        LumeqCudaStep *step = steps->first;
        steps->first = step->next;
        if (lost)
            free(step);
        else
            destroy(steps, step);
    }
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
    if (!error) {
        step->host = lumeq_pinned_alloc_needed(steps->home, step->host_size);
        error = step->host ? cudaSuccess : cudaErrorMemoryAllocation;
    }
    return error ? error
                 : lumeq_device_take(steps->home, (void **)&step->device, step->device_size);
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
    }
    if (found)
        found->busy = 1;
    pthread_mutex_unlock(&steps->lock);
    return found;
}

/* Takes a free step for the caller, or creates one. */
static cudaError_t take_step(LumeqCudaSteps *steps, size_t device_size, size_t host_size,
                             LumeqCudaStep **taken)
{
    *taken = find_step(steps, device_size, host_size);
    if (*taken)
        return cudaSuccess;
    LumeqCudaStep *step = calloc(1, sizeof(*step));
    if (!step)
        return cudaErrorMemoryAllocation;
    step->busy = 1;
    step->device_size = memory_for(device_size);
    step->host_size = memory_for(host_size);
    const cudaError_t error = fill_step(steps, step);
    if (error) {
        (void)cudaGetLastError(); /* the caller reports it */
        if (lumeq_cuda_is_loss(error))
            free(step);
        else
            destroy(steps, step);
        return error;
    }
    pthread_mutex_lock(&steps->lock);
    step->next = steps->first;
    steps->first = step;
    pthread_mutex_unlock(&steps->lock);
    *taken = step;
    return cudaSuccess;
}

/* Returns a step. `done`: its work is known to have finished. */
static void give_step(LumeqCudaSteps *steps, LumeqCudaStep *step, int done)
{
    step->flight = 0;
    pthread_mutex_lock(&steps->lock);
    step->used = !done;
    step->busy = 0;
    if (done)
        steps->progress = lumeq_cuda_now();
    pthread_mutex_unlock(&steps->lock);
}

/* Waits for work that is already queued: others may queue more all the time. */
static cudaError_t finish_so_far(const LumeqCudaStep *step, cudaStream_t stream)
{
    const cudaError_t error = cudaEventRecord(step->done, stream);
    return error ? error : lumeq_cuda_await_event(step->done, lumeq_cuda_now(), LUMEQ_CUDA_SPIN);
}

/* Handles a failed call: either the device is lost, or it cannot do this frame; then this waits for
 * the work that was started on `stream`. `step` NULL: nothing was started. */
static int refuse(LumeqCudaSteps *steps, LumeqCudaStep *step, cudaStream_t stream,
                  cudaError_t error, const char *what, char *text, size_t text_size)
{
    if (lumeq_cuda_is_loss(error) || error == cudaErrorNotReady)
        return lose(steps, error, what, text, text_size);
    (void)cudaGetLastError(); /* it is reported here, not to the caller's next CUDA call */
    /* cudaFree(NULL) reports a permanent error. */
    const cudaError_t after = step ? finish_so_far(step, stream) : cudaFree(NULL);
    if (after)
        return lose(steps, after, what, text, text_size);
    if (step && !step->flight)
        give_step(steps, step, 1);
    snprintf(text, text_size, "%s failed on GPU %d: %s", what, steps->home->number,
             cudaGetErrorString(error));
    return error == cudaErrorMemoryAllocation ? LUMEQ_ERR_MEMORY : LUMEQ_ERR_UNAVAILABLE;
}

/* True if a call failed that may succeed when it is repeated: the device is not lost. */
static int may_repeat(cudaError_t error)
{
    if (!error || error == cudaErrorNotReady || lumeq_cuda_is_loss(error))
        return 0;
    (void)cudaGetLastError();
    return 1;
}

/* Waits for the step's last work. */
static cudaError_t await_done(const LumeqCudaStep *step, double since, LumeqCudaWait wait)
{
    const cudaError_t error = lumeq_cuda_await_event(step->done, since, wait);
    return may_repeat(error) ? lumeq_cuda_await_event(step->done, since, wait) : error;
}

/* ---- the caller's streams and events ------------------------------------------------------- */

static cudaStream_t stream_of(const LumeqCudaStep *step, const LumeqSync *sync)
{
    return sync && sync->stream ? (cudaStream_t)sync->stream : step->stream;
}

static cudaError_t begin(const LumeqSync *sync, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    if (sync && sync->ready)
        error = cudaStreamWaitEvent(stream, (cudaEvent_t)sync->ready, 0);
    if (!error && sync && sync->after)
        error = lumeq_cuda_follow(stream, (cudaStream_t)sync->after);
    return error;
}

/* Records `done` last, so that everything before it has finished when it passes. */
static cudaError_t end(const LumeqCudaStep *step, const LumeqSync *sync, cudaStream_t stream)
{
    const cudaError_t error =
        sync && sync->finished ? cudaEventRecord((cudaEvent_t)sync->finished, stream) : cudaSuccess;
    return error ? error : cudaEventRecord(step->done, stream);
}

/* True if the call must wait for the output, since no event or stream of the caller can. */
static int waits(const LumeqSync *sync)
{
    return !sync || (!sync->stream && !sync->finished);
}

/* CUDA's copies from ordinary memory block inside CUDA without a limit, so this waits for earlier
 * work first. */
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

/* If the call waits, the CPU may write the output after a GPU is lost, which must not write it as
 * well when it wakes up. So the copy is queued only after the data are ready. */
static cudaError_t download(const LumeqCudaSteps *steps, const LumeqCudaStep *step,
                            const LumeqApplyJob *job, const LumeqImage *from, cudaStream_t stream)
{
    const LumeqImage *to = &job->out;
    if (to->memory != LUMEQ_MEMORY_HOST)
        return cudaSuccess;
    const int first = (!step->flight && waits(job->sync)) ||
                      lumeq_pageable_planes(steps->home, to, job->write) > 0;
    const cudaError_t error = first ? finish_so_far(step, stream) : cudaSuccess;
    return error ? error
                 : lumeq_pictures_copy(to, from, job->write, cudaMemcpyDeviceToHost, stream);
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

/* The same for the tables of tiles. */
static size_t tiles_size(size_t tiles)
{
    return tiles ? offsetof(TileTables, nodes) + tiles * sizeof(((TileTables *)NULL)->nodes[0]) : 0;
}

/* ---- measure ------------------------------------------------------------------------------- */

static MeasureShape shape_of(const LumeqMeasureJob *job)
{
    MeasureShape shape = {
        .width = job->in.width,
        .height = job->in.height,
        .depth = job->in.depth,
        .shift = job->in.shift,
        .range = job->in.range,
        .bins = job->curve.bins,
    };
    if (job->clahe) {
        shape.tiles_x = job->grid.x.tiles;
        shape.tiles_y = job->grid.y.tiles;
        shape.reference = job->grid.curve.reference;
    }
    return shape;
}

static void copy_counts(const LumeqCounts *to, const LumeqCudaStep *step)
{
    const MeasureShape *shape = &step->shape;
    const LumeqCudaTally *tally = (const LumeqCudaTally *)(const void *)step->host;
    const size_t tiles = (size_t)shape->tiles_x * (size_t)shape->tiles_y;
    memcpy(to->hist, tally->hist, (size_t)shape->bins * sizeof(*to->hist));
    if (step->noise)
        memcpy(to->noise, &tally->noise, sizeof(*to->noise));
    else
        memset(to->noise, 0, sizeof(*to->noise));
    memcpy(to->lit[BARS_COLUMNS], tally->lit[BARS_COLUMNS], (size_t)shape->width);
    memcpy(to->lit[BARS_ROWS], tally->lit[BARS_ROWS], (size_t)shape->height);
    if (step->counts.cells)
        memcpy(to->cells, step->counts.cells, MEASURE_CELLS * sizeof(*to->cells));
    if (tiles)
        memcpy(to->tiles, step->counts.tiles, tiles * sizeof(*to->tiles));
    if (tiles && shape->reference)
        memcpy(to->padding, step->counts.padding, tiles * sizeof(*to->padding));
}

/* Places cells and tiles in `memory` (NULL: nowhere), and returns their size. */
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

/* Offsets of a measure's parts in device memory. */
typedef struct MeasurePlaces {
    size_t counts, pictures, previous;
    size_t counts_size, size;
} MeasurePlaces;

static MeasurePlaces begin_places(const LumeqMeasureJob *job, const MeasureShape *shape)
{
    LumeqCounts counts;
    MeasurePlaces at = {.counts_size =
                            place_counts(&counts, shape, job->counts.cells != NULL, NULL)};
    part_of(&at.size, sizeof(LumeqCudaTally));
    at.counts = part_of(&at.size, at.counts_size);
    return at;
}

static MeasurePlaces place_measure(const LumeqMeasureJob *job, const MeasureShape *shape)
{
    static const LumeqImage none;
    MeasurePlaces at = begin_places(job, shape);
    at.pictures = part_of(&at.size, lumeq_pictures_place(NULL, &job->in, &none, 0).size);
    if (job->previous.plane[0])
        at.previous = part_of(&at.size, lumeq_pictures_place(NULL, &job->previous, &none, 0).size);
    return at;
}

/* Zeroes the tally before its first measure, or after one that failed. */
static cudaError_t zero_tally(LumeqCudaStep *step, cudaStream_t stream)
{
    return step->zeroed ? cudaSuccess
                        : cudaMemsetAsync(step->device, 0, sizeof(LumeqCudaTally), stream);
}

/* Counts a picture on the device, and copies the counts to the host. */
static cudaError_t count(const LumeqCudaSteps *steps, LumeqCudaStep *step,
                         const LumeqMeasureJob *job, const MeasurePlaces *at, cudaStream_t stream)
{
    LumeqMeasureJob on_device = *job;
    uint8_t *const counts = step->device + at->counts, *const host = step->host + at->counts;
    const int cells = job->counts.cells != NULL;
    step->noise = job->previous.plane[0] != NULL;
    place_counts(&on_device.counts, &step->shape, cells, counts);
    place_counts(&step->counts, &step->shape, cells, host);
    cudaError_t error = zero_tally(step, stream);
    step->zeroed = 0;
    if (!error && at->counts_size)
        error = cudaMemsetAsync(counts, 0, at->counts_size, stream);
    if (!error)
        error =
            lumeq_cuda_measure(&steps->device, &on_device, (LumeqCudaTally *)(void *)step->device,
                               (LumeqCudaTally *)(void *)step->host, stream);
    step->zeroed = !error;
    return error || !at->counts_size
               ? error
               : cudaMemcpyAsync(host, counts, at->counts_size, cudaMemcpyDeviceToHost, stream);
}

static cudaError_t start_measure(const LumeqCudaSteps *steps, LumeqCudaStep *step,
                                 const LumeqMeasureJob *job, const MeasurePlaces *at,
                                 cudaStream_t stream)
{
    static const LumeqImage none;
    const LumeqCudaPictures pictures =
        lumeq_pictures_place(step->device + at->pictures, &job->in, &none, 0);
    LumeqMeasureJob on_device = *job;
    on_device.in = pictures.in;
    if (job->previous.plane[0])
        on_device.previous =
            lumeq_pictures_place(step->device + at->previous, &job->previous, &none, 0).in;

    cudaError_t error = begin(job->sync, stream);
    if (!error)
        error = upload(steps, step, &pictures.in, &job->in, pictures.planes, stream);
    if (!error && job->previous.plane[0])
        error = upload(steps, step, &on_device.previous, &job->previous, 1, stream);
    if (!error)
        error = count(steps, step, &on_device, at, stream);
    return error ? error : end(step, job->sync, stream);
}

/* ---- frames in flight: measure --------------------------------------------------------------- */

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
    return a->plane[0] == b->plane[0] && a->stride[0] == b->stride[0] && a->width == b->width &&
           a->height == b->height && a->depth == b->depth && a->shift == b->shift;
}

/* Uploads a frame, and counts it. `missed`: the previous frame must be uploaded as well. */
static cudaError_t start_flight(const LumeqCudaSteps *steps, LumeqCudaStep *step,
                                const LumeqMeasureJob *job, const MeasurePlaces *at, int missed,
                                cudaStream_t stream)
{
    const LumeqCudaStep *before = job->flight->before;
    LumeqMeasureJob on_device = *job;
    on_device.in = step->pictures.in;
    on_device.previous = step->previous;
    cudaError_t error = begin(job->sync, stream);
    if (!error && before && job->previous.plane[0] && before->waited_for)
        error = cudaStreamWaitEvent(stream, before->uploaded, 0);
    if (!error && steps->timed)
        error = cudaEventRecord(step->begun, stream);
    if (!error)
        error = upload(steps, step, &step->pictures.in, &job->in, step->pictures.planes, stream);
    if (!error && missed)
        error = upload(steps, step, &step->previous, &job->previous, 1, stream);
    if (!error && (step->waited_for || steps->timed))
        error = cudaEventRecord(step->uploaded, stream);
    if (!error)
        error = count(steps, step, &on_device, at, stream);
    return error ? error : cudaEventRecord(step->done, stream);
}

static cudaStream_t stream_of_flight(const LumeqCudaSteps *steps, const LumeqCudaStep *step,
                                     const LumeqSync *sync, int part)
{
    return steps->shared[part] && !(sync && sync->stream) ? steps->shared[part]
                                                          : stream_of(step, sync);
}

static int begin_flight(LumeqCudaSteps *steps, const LumeqMeasureJob *job, void **pending,
                        char *text, size_t text_size)
{
    const LumeqFlight *flight = job->flight;
    const LumeqCudaStep *before = flight->before;
    const LumeqImage *previous = &job->previous;
    const int planes = flight->write > 1 ? lumeq_planes(&job->in) : 1;
    int ret = lumeq_check_places(steps->home, &job->in, planes, "input", NULL, text, text_size);
    if (ret == 0)
        ret = lumeq_check_places(steps->home, &flight->out, flight->write, "output", NULL, text,
                                 text_size);
    if (ret == 0 && previous->plane[0])
        ret = lumeq_check_places(steps->home, previous, 1, "frame before", NULL, text, text_size);
    if (ret < 0)
        return ret;
    const int missed = previous->plane[0] && previous->memory == LUMEQ_MEMORY_HOST &&
                       !(before && same_luma(previous, &before->host_image));
    const MeasureShape shape = shape_of(job);
    MeasurePlaces at = begin_places(job, &shape);
    const size_t curve = part_of(&at.size, curve_size(job)), host_size = at.size;
    at.pictures =
        part_of(&at.size, lumeq_pictures_place(NULL, &job->in, &flight->out, flight->write).size);
    if (missed)
        at.previous = part_of(&at.size, lumeq_pictures_size(previous, 1));
    LumeqCudaStep *step;
    cudaError_t error = take_step(steps, at.size, host_size, &step);
    if (error)
        return refuse(steps, NULL, NULL, error, "allocating memory", text, text_size);
    step->shape = shape;
    step->asked = 0;
    step->curve = curve;
    step->host_image = (LumeqImage){.plane = {NULL}};
    if (job->in.memory == LUMEQ_MEMORY_HOST)
        step->host_image = job->in;
    step->pictures =
        lumeq_pictures_place(step->device + at.pictures, &job->in, &flight->out, flight->write);
    step->waited_for = job->in.memory == LUMEQ_MEMORY_HOST || job->sync;
    step->previous = *previous;
    if (missed)
        step->previous = lumeq_pictures_on_device(step->device + at.previous, previous, 1);
    else if (previous->plane[0] && previous->memory == LUMEQ_MEMORY_HOST)
        step->previous = before->pictures.in;
    const cudaStream_t stream = stream_of_flight(steps, step, job->sync, 0);
    error = start_flight(steps, step, job, &at, missed, stream);
    if (error)
        return refuse(steps, step, stream, error, "a measure", text, text_size);
    step->flight = 1;
    *pending = step;
    return 0;
}

int lumeq_cuda_steps_measure(LumeqCudaSteps *steps, const LumeqMeasureJob *job, void **pending,
                             char *text, size_t text_size)
{
    LumeqCudaStep *step;
    *pending = NULL;
    if (job->flight)
        return begin_flight(steps, job, pending, text, text_size);
    int ret = lumeq_check_places(steps->home, &job->in, 1, "input", NULL, text, text_size);
    if (ret == 0 && job->previous.plane[0])
        ret = lumeq_check_places(steps->home, &job->previous, 1, "frame before", NULL, text,
                                 text_size);
    if (ret < 0)
        return ret;
    const MeasureShape shape = shape_of(job);
    const MeasurePlaces at = place_measure(job, &shape);
    cudaError_t error = take_step(steps, at.size, at.counts + at.counts_size, &step);
    if (error)
        return refuse(steps, NULL, NULL, error, "allocating memory", text, text_size);
    step->shape = shape;
    step->asked = 0;
    const cudaStream_t stream = stream_of(step, job->sync);
    error = start_measure(steps, step, job, &at, stream);
    if (error)
        return refuse(steps, step, stream, error, "a measure", text, text_size);
    if (!job->sync)
        return lumeq_cuda_steps_finish(steps, step, &job->counts, 1, text, text_size);
    *pending = step;
    return 0;
}

/* Returns the time from which the time limit counts. Polling calls share one limit. */
static double waiting_since(LumeqCudaSteps *steps, LumeqCudaStep *step, int wait)
{
    const double now = lumeq_cuda_now();
    if (wait)
        return now;
    if (step->asked <= 0)
        step->asked = now;
    pthread_mutex_lock(&steps->lock);
    const double since = steps->progress > step->asked ? steps->progress : step->asked;
    pthread_mutex_unlock(&steps->lock);
    return since;
}

int lumeq_cuda_steps_finish(LumeqCudaSteps *steps, void *pending, const LumeqCounts *counts,
                            int wait, char *text, size_t text_size)
{
    LumeqCudaStep *step = pending;
    const double since = waiting_since(steps, step, wait);
    const LumeqCudaWait awake = step->flight ? steps->waits : LUMEQ_CUDA_SPIN;
    const cudaError_t error = await_done(step, since, wait ? awake : LUMEQ_CUDA_LOOK);
    if (error == cudaErrorNotReady && !wait && !lumeq_cuda_overdue(since))
        return LUMEQ_ERR_AGAIN;
    if (error)
        return lose(steps, error, "a measure", text, text_size);
    copy_counts(counts, step);
    if (!step->flight)
        give_step(steps, step, 1);
    return 0;
}

/* ---- apply --------------------------------------------------------------------------------- */

/* Offsets of the curve's parts in host and device memory; in device memory pictures follow. */
typedef struct ApplyPlaces {
    size_t table, tiles, bars, curve_size;
    size_t pictures, previous[LIFT_PAST], size;
} ApplyPlaces;

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

static ApplyPlaces place_apply(const LumeqApplyJob *job)
{
    ApplyPlaces at = {.size = sizeof(LumeqCudaTally)}; /* which stays zeroed */
    at.table = part_of(&at.size, table_size(&job->curve));
    at.tiles = part_of(&at.size, tiles_size(tiles_of(job)));
    at.bars = part_of(&at.size, sizeof(*job->bars));
    at.curve_size = at.size - at.table;
    at.pictures =
        part_of(&at.size, lumeq_pictures_place(NULL, &job->in, &job->out, job->write).size);
    for (int i = 0; i < count_previous(job); i++)
        at.previous[i] = part_of(&at.size, lumeq_pictures_size(&job->previous[i], 1));
    return at;
}

/* Uploads the curve's parts, and sets them in the job. */
static cudaError_t upload_curve(const LumeqCudaStep *step, LumeqApplyJob *job,
                                const ApplyPlaces *at, cudaStream_t stream)
{
    uint8_t *const host = step->host + at->table, *const device = step->device + at->table;
    const size_t tiles = at->tiles - at->table, bars = at->bars - at->table;
    job->curve.lift = job->table->lift.luma_on || job->table->lift.chroma_on;
    memcpy(host, job->table, table_size(&job->curve));
    if (job->clahe)
        memcpy(host + tiles, job->tables, tiles_size(tiles_of(job)));
    memcpy(host + bars, job->bars, sizeof(*job->bars));
    job->table = (const CurveTable *)(const void *)device;
    job->tables = (const TileTables *)(const void *)(device + tiles);
    job->bars = (const BarsState *)(const void *)(device + bars);
    return cudaMemcpyAsync(device, host, at->curve_size, cudaMemcpyHostToDevice, stream);
}

/* Uploads the luma of previous frames that are not on the device. */
static cudaError_t upload_previous(const LumeqCudaSteps *steps, const LumeqCudaStep *step,
                                   LumeqApplyJob *on_device, const LumeqApplyJob *job,
                                   const ApplyPlaces *at, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    on_device->previous_count = count_previous(job);
    for (int i = 0; i < on_device->previous_count && !error; i++) {
        const LumeqImage *from = &job->previous[i];
        if (from->memory == LUMEQ_MEMORY_HOST)
            on_device->previous[i] =
                lumeq_pictures_on_device(step->device + at->previous[i], from, 1);
        error = upload(steps, step, &on_device->previous[i], from, 1, stream);
    }
    return error;
}

static cudaError_t start_apply(const LumeqCudaSteps *steps, const LumeqCudaStep *step,
                               const LumeqApplyJob *job, const ApplyPlaces *at, cudaStream_t stream)
{
    const LumeqCudaPictures pictures =
        lumeq_pictures_place(step->device + at->pictures, &job->in, &job->out, job->write);
    LumeqApplyJob on_device = *job;
    on_device.in = pictures.in;
    on_device.out = pictures.written;
    on_device.write = pictures.planes;

    cudaError_t error = begin(job->sync, stream);
    if (!error)
        error = upload_curve(step, &on_device, at, stream);
    if (!error)
        error = upload(steps, step, &pictures.in, &job->in, pictures.planes, stream);
    if (!error)
        error = upload_previous(steps, step, &on_device, job, at, stream);
    if (!error)
        error = lumeq_cuda_apply_curve(&steps->device, &on_device, stream);
    if (!error)
        error = lumeq_pictures_convert(&pictures, stream);
    if (!error)
        error = download(steps, step, job, &pictures.out, stream);
    return error ? error : end(step, job->sync, stream);
}

/* ---- frames in flight: apply ----------------------------------------------------------------- */

static cudaError_t write_pictures(const LumeqCudaSteps *steps, const LumeqCudaStep *step,
                                  const LumeqApplyJob *job, cudaStream_t stream)
{
    const LumeqCudaPictures *pictures = &step->pictures;
    ApplyPlaces at = {.size = step->curve};
    at.table = part_of(&at.size, table_size(&job->curve));
    at.tiles = part_of(&at.size, tiles_size(tiles_of(job)));
    at.bars = part_of(&at.size, sizeof(*job->bars));
    at.curve_size = at.size - at.table;
    LumeqApplyJob on_device = *job;
    on_device.in = pictures->in;
    on_device.out = pictures->written;
    on_device.write = pictures->planes;
    on_device.previous[0] = step->previous;
    on_device.previous_count = count_previous(job);
    cudaError_t error = upload_curve(step, &on_device, &at, stream);
    if (!error)
        error = lumeq_cuda_apply_curve(&steps->device, &on_device, stream);
    return error ? error : lumeq_pictures_convert(pictures, stream);
}

static int write_flight(LumeqCudaSteps *steps, const LumeqApplyJob *job, char *text,
                        size_t text_size)
{
    LumeqCudaStep *step = job->flight;
    const cudaStream_t stream = stream_of_flight(steps, step, job->sync, 1);
    cudaError_t error = job->write ? write_pictures(steps, step, job, stream) : cudaSuccess;
    step->asked = 0;
    if (!error && steps->timed)
        error = cudaEventRecord(step->written, stream);
    if (!error && job->write)
        error = download(steps, step, job, &step->pictures.out, stream);
    *job->late = job->write && job->out.memory == LUMEQ_MEMORY_HOST &&
                 lumeq_pageable_planes(steps->home, &job->out, job->write) < job->write;
    if (!error)
        error = end(step, job->sync, stream);
    return error ? refuse(steps, step, stream, error, "a frame", text, text_size) : 0;
}

static cudaError_t time_of(const LumeqCudaSteps *steps, cudaEvent_t event, double *us)
{
    float ms = 0;
    const cudaError_t error = cudaEventElapsedTime(&ms, steps->anchor, event);
    *us = steps->anchor_us + 1e3 * (double)ms;
    return error;
}

static cudaError_t read_times(LumeqCudaSteps *steps, LumeqCudaStep *step,
                              double begin_us[LUMEQ_STAGES], double end_us[LUMEQ_STAGES])
{
    cudaError_t error = time_of(steps, step->begun, &begin_us[LUMEQ_STAGE_UPLOAD]);
    if (!error)
        error = time_of(steps, step->uploaded, &end_us[LUMEQ_STAGE_UPLOAD]);
    if (!error)
        error = time_of(steps, step->written, &end_us[LUMEQ_STAGE_EQUALIZE]);
    if (!error)
        error = time_of(steps, step->done, &end_us[LUMEQ_STAGE_DOWNLOAD]);
    begin_us[LUMEQ_STAGE_EQUALIZE] = end_us[LUMEQ_STAGE_UPLOAD];
    begin_us[LUMEQ_STAGE_DOWNLOAD] = end_us[LUMEQ_STAGE_EQUALIZE];
    if (!error && begin_us[LUMEQ_STAGE_UPLOAD] - steps->anchor_us > ANCHOR_MAX_US) {
        const cudaEvent_t old = steps->anchor;
        steps->anchor = step->begun;
        steps->anchor_us = begin_us[LUMEQ_STAGE_UPLOAD];
        step->begun = old;
    }
    return error;
}

int lumeq_cuda_steps_land(LumeqCudaSteps *steps, void *pending, int wait,
                          double begin_us[LUMEQ_STAGES], double end_us[LUMEQ_STAGES], char *text,
                          size_t text_size)
{
    LumeqCudaStep *step = pending;
    const double since = waiting_since(steps, step, wait);
    cudaError_t error = await_done(step, since, wait ? steps->waits : LUMEQ_CUDA_LOOK);
    if (error == cudaErrorNotReady && !wait && !lumeq_cuda_overdue(since))
        return LUMEQ_ERR_AGAIN;
    if (!error && steps->timed)
        error = read_times(steps, step, begin_us, end_us);
    if (may_repeat(error))
        error = read_times(steps, step, begin_us, end_us);
    return error ? lose(steps, error, "a frame", text, text_size) : 0;
}

void lumeq_cuda_steps_leave(LumeqCudaSteps *steps, void *pending)
{
    give_step(steps, pending, 1);
}

int lumeq_cuda_steps_apply(LumeqCudaSteps *steps, const LumeqApplyJob *job, char *text,
                           size_t text_size)
{
    LumeqCudaStep *step;
    if (job->flight)
        return write_flight(steps, job, text, text_size);
    const int planes = job->write > 1 ? lumeq_planes(&job->in) : 1;
    int ret = lumeq_check_places(steps->home, &job->in, planes, "input", NULL, text, text_size);
    if (ret == 0)
        ret =
            lumeq_check_places(steps->home, &job->out, job->write, "output", NULL, text, text_size);
    for (int i = 0; i < count_previous(job) && ret == 0; i++)
        ret = lumeq_check_places(steps->home, &job->previous[i], 1, "frame before", NULL, text,
                                 text_size);
    if (ret < 0)
        return ret;
    const ApplyPlaces at = place_apply(job);
    cudaError_t error = take_step(steps, at.size, at.table + at.curve_size, &step);
    if (error)
        return refuse(steps, NULL, NULL, error, "allocating memory", text, text_size);
    const cudaStream_t stream = stream_of(step, job->sync);
    error = start_apply(steps, step, job, &at, stream);
    if (error)
        return refuse(steps, step, stream, error, "a frame", text, text_size);
    const int wait = waits(job->sync);
    if (wait)
        error = lumeq_cuda_await_event(step->done, lumeq_cuda_now(), LUMEQ_CUDA_SPIN);
    if (error)
        return lose(steps, error, "a frame", text, text_size);
    give_step(steps, step, wait);
    return 0;
}
