#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

#include "equalizer/backend.h"
#include "equalizer/cuda/clahe_kernels.h"
#include "equalizer/cuda/cuda_context.h"
#include "equalizer/cuda/device_memory.h"
#include "equalizer/cuda/devices.h"
#include "equalizer/cuda/frame.h"
#include "equalizer/cuda/kernels.h"
#include "equalizer/cuda/loss.h"
#include "equalizer/cuda/pictures.h"
#include "equalizer/cuda/pinned_memory.h"
#include "equalizer/cuda/shared_streams.h"
#include "equalizer/cuda/steps.h"
#include "equalizer/cuda/waiting.h"

/* Batches in flight: one in each stage. With two, the copy engines idle while the host receives a
 * frame and submits the next; a fourth gains nothing. */
#define SLOTS 3

_Static_assert(SLOTS *LUMEQ_MAX_BATCH <= LUMEQ_MAX_SLOTS, "the caller keeps all jobs");

/* Alignment of the pictures of a batch's frames. */
#define BATCH_ALIGNMENT 256

/* Times are measured relative to an event at most this old, since CUDA reports them in float32. */
#define ANCHOR_MAX_US 1e6

enum {
    UPLOAD = LUMEQ_STAGE_UPLOAD,
    EQUALIZE = LUMEQ_STAGE_EQUALIZE,
    DOWNLOAD = LUMEQ_STAGE_DOWNLOAD,
    STAGES = LUMEQ_STAGES,
    /* Each stage has a stream; EQUALIZE has a second one, so that the next frame's curve is
     * computed while this frame is written. */
    WRITE = STAGES,
    STREAMS
};

_Static_assert(STREAMS == LUMEQ_CUDA_STREAMS, "as many as there are");

static const char *const stream_names[STREAMS] = {"upload", "equalize", "download", "equalize"};

/* A frame of a batch. */
typedef struct Item {
    LumeqJob *job;
    LumeqCudaPictures pictures;
    int pageable_out; /* number of output planes in ordinary memory */
} Item;

/* A batch of frames that are launched together. */
typedef struct Slot {
    uint8_t *pictures;             /* on the device */
    size_t size, each;             /* bytes of `pictures`, and of those of each frame */
    cudaStream_t streams[STREAMS]; /* of the batch: the backend's, or all the caller's stream */
    const LumeqCudaDevice *device;
    cudaEvent_t begin[STAGES], end[STAGES]; /* begin: only if stages are timed */
    cudaEvent_t curve;                      /* the curves are complete */
    Item items[LUMEQ_MAX_BATCH];
    LumeqCudaWork work[LUMEQ_MAX_BATCH]; /* of the items */
    int count, received;                 /* items; 0: none, or the launch failed */
    int launched;
    double begin_us[STAGES], end_us[STAGES];
} Slot;

/* Memory of pictures that became too small, to be freed later. */
typedef struct Outgrown {
    struct Outgrown *next;
    uint8_t *pictures;
} Outgrown;

typedef struct CudaBackend {
    LumeqCudaHome home;
    LumeqCudaDevice device;
    LumeqCudaDevice in_turn; /* `device` without early launches, for streams shared with others */
    char name[256];
    int started; /* CUDA has been used, so closing has to clean up */

    LumeqCudaStreams *all_streams; /* its own, or shared with other backends */
    int sharing;                   /* all_streams is shared */
    LumeqCudaWait waits;           /* how receive() waits */
    int timed;                     /* stages are timed */
    cudaStream_t streams[STREAMS]; /* copies of all_streams, or NULL */
    cudaEvent_t mark;              /* to wait for work on a shared stream */
    cudaStream_t decoder;          /* for the caller's decoder; NULL: not created yet */
    cudaStream_t named; /* the caller's stream of the frame that is being submitted, or NULL */
    Outgrown *outgrown;
    LumeqCudaFrame *frames; /* of each slot, as many as there are in a batch; on the device */
    LumeqState *results;    /* the same on the host, pinned */

    int batch, room;   /* most frames of a batch: requested; fewer if the GPU lacks memory */
    Slot slots[SLOTS]; /* a ring: `in_flight` of them, the oldest at `first`; all but the last have
                        * been launched */
    int first, in_flight;
    int passed;      /* stages that the oldest frame has finished */
    double progress; /* seconds: when it last finished a stage, or became the oldest */

    LumeqCudaSteps steps; /* of all other frames */
    LumeqCudaLoss loss;
} CudaBackend;

static int lose(CudaBackend *cuda, cudaError_t error, const char *what, char *text,
                size_t text_size)
{
    return lumeq_cuda_lose(&cuda->loss, error, what, text, text_size);
}

static int is_lost(CudaBackend *cuda)
{
    return lumeq_cuda_is_lost(&cuda->loss);
}

static cudaError_t finish_stages(const Slot *slot, int stages)
{
    cudaError_t error = cudaSuccess;
    for (int stage = 0; stage < stages && !error; stage++)
        error = lumeq_cuda_await_event(slot->end[stage], lumeq_cuda_now(), LUMEQ_CUDA_SPIN);
    return error;
}

/* Waits for the frames in flight, stage by stage, since the time limit is for a stage. */
static cudaError_t finish_frames(const CudaBackend *cuda)
{
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < cuda->in_flight && !error; i++) {
        const Slot *slot = &cuda->slots[(cuda->first + i) % SLOTS];
        if (slot->launched)
            error = finish_stages(slot, STAGES);
    }
    return error;
}

/* Waits for work that is already queued: on a shared stream others may queue more all the time. */
static cudaError_t finish_stream(const CudaBackend *cuda, cudaStream_t stream)
{
    if (!cuda->sharing)
        return lumeq_cuda_await_stream(stream, lumeq_cuda_now());
    const cudaError_t error = cudaEventRecord(cuda->mark, stream);
    return error ? error : lumeq_cuda_await_event(cuda->mark, lumeq_cuda_now(), LUMEQ_CUDA_SPIN);
}

/* Waits until the backend has no work in flight. */
static cudaError_t finish_streams(const CudaBackend *cuda)
{
    cudaError_t error = finish_frames(cuda);
    for (int i = 0; i < STREAMS && !error; i++)
        if (cuda->streams[i] && (cuda->mark || !cuda->sharing))
            error = finish_stream(cuda, cuda->streams[i]);
    if (!error && cuda->named)
        error = lumeq_cuda_await_stream(cuda->named, lumeq_cuda_now());
    return error;
}

/* Handles a failed call: either the device is lost, or it cannot do this frame; then this waits
 * until no work is in flight. */
static int refuse(CudaBackend *cuda, cudaError_t error, const char *what, char *text,
                  size_t text_size)
{
    if (lumeq_cuda_is_loss(error) || error == cudaErrorNotReady)
        return lose(cuda, error, what, text, text_size);
    (void)cudaGetLastError(); /* it is reported here, not to the caller's next CUDA call */
    const cudaError_t after = finish_streams(cuda);
    if (after)
        return lose(cuda, after, what, text, text_size);
    snprintf(text, text_size, "%s failed on GPU %d: %s", what, cuda->home.number,
             cudaGetErrorString(error));
    return error == cudaErrorMemoryAllocation ? LUMEQ_ERR_MEMORY : LUMEQ_ERR_UNAVAILABLE;
}

static cudaError_t create_events(Slot *slot, int timed)
{
    cudaError_t error = cudaSuccess;
    for (int stage = 0; stage < STAGES && !error; stage++) {
        if (timed)
            error = cudaEventCreate(&slot->begin[stage]);
        if (!error)
            error = cudaEventCreateWithFlags(&slot->end[stage],
                                             timed ? cudaEventDefault : cudaEventDisableTiming);
    }
    if (!error)
        error = cudaEventCreateWithFlags(&slot->curve, cudaEventDisableTiming);
    return error;
}

static cudaError_t create_all(CudaBackend *cuda)
{
    const size_t frames = (size_t)SLOTS * (size_t)cuda->batch;
    const size_t on_device = frames * sizeof(*cuda->frames);
    cudaError_t error = lumeq_cuda_streams_open(&cuda->all_streams, &cuda->home, cuda->sharing);
    if (!error)
        memcpy(cuda->streams, cuda->all_streams->stream, sizeof(cuda->streams));
    if (!error && cuda->sharing)
        error = cudaEventCreateWithFlags(&cuda->mark, cudaEventDisableTiming);
    for (int i = 0; i < SLOTS && !error; i++)
        error = create_events(&cuda->slots[i], cuda->timed);
    if (!error)
        error = lumeq_device_take(&cuda->home, (void **)&cuda->frames, on_device);
    if (!error) {
        cuda->results = lumeq_pinned_alloc_needed(&cuda->home, frames * sizeof(*cuda->results));
        error = cuda->results ? cudaSuccess : cudaErrorMemoryAllocation;
    }
    if (!error)
        error = cudaMemsetAsync(cuda->frames, 0, on_device, cuda->streams[EQUALIZE]);
    if (!error)
        error = cudaEventCreate(&cuda->steps.anchor);
    if (!error)
        error = cudaEventRecord(cuda->steps.anchor, cuda->streams[EQUALIZE]);
    if (!error)
        error = lumeq_cuda_await_event(cuda->steps.anchor, lumeq_cuda_now(), LUMEQ_CUDA_SPIN);
    return error;
}

/* Reports why the backend could not be opened. */
static int open_failed(CudaBackend *cuda, cudaError_t error, char *text, size_t text_size)
{
    if (error == cudaErrorNotReady)
        return lose(cuda, error, "its start", text, text_size);
    cudaGetLastError(); /* it is reported here, not to the caller's next CUDA call */
    const char *reason = cudaGetErrorString(error);
    switch (error) {
    case cudaErrorMemoryAllocation:
        snprintf(text, text_size, "%s (GPU %d) is out of memory", cuda->name, cuda->home.number);
        return LUMEQ_ERR_MEMORY;
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorInvalidDeviceFunction:
        snprintf(text, text_size, "this build has no code for %s (GPU %d): %s", cuda->name,
                 cuda->home.number, reason);
        return LUMEQ_ERR_UNAVAILABLE;
    case cudaErrorDevicesUnavailable:
        snprintf(text, text_size, "%s (GPU %d) is kept by another program: %s", cuda->name,
                 cuda->home.number, reason);
        return LUMEQ_ERR_UNAVAILABLE;
    default:
        snprintf(text, text_size, "%s (GPU %d) does not start: %s", cuda->name, cuda->home.number,
                 reason);
        return LUMEQ_ERR_GPU;
    }
}

static int start(CudaBackend *cuda, char *text, size_t text_size)
{
    struct cudaDeviceProp properties;
    cudaError_t error = cudaGetDeviceProperties(&properties, cuda->home.number);
    snprintf(cuda->name, sizeof(cuda->name), "%s", error ? "the GPU" : properties.name);
    if (!error)
        lumeq_device_limit(cuda->home.number, properties.totalGlobalMem);
    cuda->started = 1;
    if (!error)
        error = lumeq_cuda_enter(&cuda->home);
    if (!error) {
        error = lumeq_cuda_load(&cuda->device, cuda->home.number);
        cuda->in_turn = cuda->device;
        cuda->in_turn.early_launches = 0;
        if (!error)
            error = create_all(cuda);
        lumeq_cuda_leave(&cuda->home);
    }
    return error ? open_failed(cuda, error, text, text_size) : 0;
}

static int open_cuda(void *priv, const LumeqConfig *config, char *text, size_t text_size)
{
    CudaBackend *cuda = priv;
    cuda->home = (LumeqCudaHome){config->device, config->cuda_context};
    cuda->loss.number = config->device;
    cuda->loss.process = getpid();
    cuda->sharing = config->share_streams != 0;
    cuda->waits = config->real_time ? LUMEQ_CUDA_NAP : LUMEQ_CUDA_SPIN;
    cuda->timed = !config->no_stage_times;
    cuda->batch = cuda->room = lumeq_batch(config);
    int ret = lumeq_cuda_check(cuda->home.number, text, text_size);
    if (ret == 0)
        ret = lumeq_cuda_home_check(&cuda->home, text, text_size);
    if (ret == 0)
        ret = start(cuda, text, text_size);
    if (ret < 0)
        return ret;
    cuda->steps.waits = cuda->waits;
    cuda->steps.timed = cuda->timed;
    if (cuda->sharing) {
        cuda->steps.shared[0] = cuda->streams[UPLOAD];
        cuda->steps.shared[1] = cuda->streams[EQUALIZE];
    }
    if (lumeq_cuda_steps_open(&cuda->steps, &cuda->home, &cuda->device, &cuda->loss) < 0) {
        snprintf(text, text_size, "out of memory");
        return LUMEQ_ERR_MEMORY;
    }
    snprintf(text, text_size, "%s (GPU %d)", cuda->name, cuda->home.number);
    return 0;
}

static void destroy_event(cudaEvent_t event)
{
    if (event)
        cudaEventDestroy(event);
}

/* Frees the outgrown memory. No queued work may still use it. */
static void free_outgrown(CudaBackend *cuda)
{
    while (cuda->outgrown) {
        Outgrown *old = cuda->outgrown;
        cuda->outgrown = old->next;
        (void)lumeq_device_give(old->pictures);
        free(old);
    }
}

static void destroy_slot(Slot *slot)
{
    for (int stage = 0; stage < STAGES; stage++) {
        destroy_event(slot->begin[stage]);
        destroy_event(slot->end[stage]);
    }
    destroy_event(slot->curve);
    (void)lumeq_device_give(slot->pictures);
}

static void destroy_all(CudaBackend *cuda)
{
    for (int i = 0; i < SLOTS; i++)
        destroy_slot(&cuda->slots[i]);
    free_outgrown(cuda);
    destroy_event(cuda->steps.anchor);
    destroy_event(cuda->mark);
    lumeq_cuda_streams_close(&cuda->all_streams, 0);
    if (cuda->decoder)
        cudaStreamDestroy(cuda->decoder);
    (void)lumeq_device_give(cuda->frames);
    if (cuda->results)
        lumeq_pinned_free(&cuda->home, cuda->results);
}

/* Frees host memory only: a lost device may still use the rest. */
static void forget(CudaBackend *cuda)
{
    lumeq_cuda_steps_close(&cuda->steps);
    lumeq_cuda_streams_close(&cuda->all_streams, 1);
    while (cuda->outgrown) {
        Outgrown *old = cuda->outgrown;
        cuda->outgrown = old->next;
        free(old);
    }
}

static void close_cuda(void *priv)
{
    CudaBackend *cuda = priv;
    char text[256];
    if (!cuda->started)
        return;
    const int here = !is_lost(cuda) && lumeq_cuda_enter(&cuda->home) == cudaSuccess;
    if (here && !finish_streams(cuda))
        lumeq_cuda_steps_close(&cuda->steps);
    else
        lose(cuda, cudaErrorUnknown, "the end", text, sizeof(text));
    if (is_lost(cuda))
        forget(cuda);
    else
        destroy_all(cuda);
    if (here)
        lumeq_cuda_leave(&cuda->home);
    memset(cuda, 0, sizeof(*cuda));
}

/* For calls that must not wait: a later call frees the memory. */
static cudaError_t free_later(CudaBackend *cuda, uint8_t *pictures)
{
    if (!pictures)
        return cudaSuccess;
    Outgrown *old = malloc(sizeof(*old));
    if (!old)
        return cudaErrorMemoryAllocation;
    *old = (Outgrown){cuda->outgrown, pictures};
    cuda->outgrown = old;
    return cudaSuccess;
}

static cudaError_t free_now(CudaBackend *cuda, uint8_t *pictures)
{
    const cudaError_t error = finish_streams(cuda); /* cudaFree() waits without a limit */
    if (error)
        return error;
    free_outgrown(cuda);
    return lumeq_device_give(pictures);
}

/* Makes room for larger pictures in a slot that is not in flight; without memory it keeps what it
 * has. */
static int grow(CudaBackend *cuda, Slot *slot, size_t size, int at_once, char *text,
                size_t text_size)
{
    uint8_t *larger = NULL;
    cudaError_t error = lumeq_device_take(&cuda->home, (void **)&larger, size);
    if (error == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError(); /* it is reported here */
        snprintf(text, text_size, "%s (GPU %d) is out of memory: a frame needs %zu MB more",
                 cuda->name, cuda->home.number, (size >> 20) + 1);
        return LUMEQ_ERR_MEMORY;
    }
    if (error)
        return refuse(cuda, error, "allocating memory", text, text_size);
    error = at_once ? free_later(cuda, slot->pictures) : free_now(cuda, slot->pictures);
    slot->pictures = larger;
    slot->size = size;
    return error ? refuse(cuda, error, "freeing memory", text, text_size) : 0;
}

/* Frees the pictures of all slots, for batches of half as many frames. No slot is in flight. */
static int halve_batches(CudaBackend *cuda, char *text, size_t text_size)
{
    cuda->room /= 2;
    for (int i = 0; i < SLOTS; i++) {
        Slot *slot = &cuda->slots[i];
        const cudaError_t error = free_now(cuda, slot->pictures);
        slot->pictures = NULL;
        slot->size = 0;
        slot->count = 0;
        if (error)
            return refuse(cuda, error, "freeing memory", text, text_size);
    }
    return 0;
}

static cudaError_t stage_begins(const CudaBackend *cuda, const Slot *slot, int stage,
                                cudaStream_t stream)
{
    return cuda->timed ? cudaEventRecord(slot->begin[stage], stream) : cudaSuccess;
}

/* Makes the stream wait for the caller's events. */
static cudaError_t wait_for_others(const LumeqSync *sync, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    if (sync && sync->ready)
        error = cudaStreamWaitEvent(stream, (cudaEvent_t)sync->ready, 0);
    if (!error && sync && sync->after)
        error = lumeq_cuda_follow(stream, (cudaStream_t)sync->after);
    return error;
}

/* CUDA's copies from ordinary memory may wait for earlier work, without a limit; so this waits
 * first. */
static cudaError_t prepare_upload(const CudaBackend *cuda, const LumeqImage *in, int planes,
                                  const LumeqJob *job, cudaStream_t stream)
{
    return job->frame.sync && lumeq_pageable_planes(&cuda->home, in, planes)
               ? finish_stream(cuda, stream)
               : cudaSuccess;
}

static cudaError_t upload_item(const CudaBackend *cuda, const Item *item, cudaStream_t stream)
{
    const LumeqJob *job = item->job;
    const LumeqImage *in = &job->frame.in;
    cudaError_t error = cudaSuccess;
    if (in->memory == LUMEQ_MEMORY_HOST)
        error = prepare_upload(cuda, in, item->pictures.planes, job, stream);
    if (!error && in->memory == LUMEQ_MEMORY_HOST)
        error = lumeq_pictures_copy(&item->pictures.in, in, item->pictures.planes,
                                    cudaMemcpyHostToDevice, stream);
    return error;
}

/* True if there is anything to upload, or if uploads are timed. */
static int uploads(const CudaBackend *cuda, const Slot *slot)
{
    int any = cuda->timed;
    for (int i = 0; i < slot->count; i++)
        any |= slot->items[i].job->frame.in.memory == LUMEQ_MEMORY_HOST;
    return any;
}

/* Without an upload nothing is queued between kernels, so that they start early. That is safe: the
 * last frames in this slot have finished, and later kernels that read their results are ahead on
 * the streams. */
static cudaError_t upload(CudaBackend *cuda, int index)
{
    Slot *slot = &cuda->slots[index];
    const LumeqSync *sync = slot->items[0].job->frame.sync;
    if (!uploads(cuda, slot))
        return wait_for_others(sync, slot->streams[EQUALIZE]);
    const cudaStream_t stream = slot->streams[UPLOAD];
    cudaError_t error = wait_for_others(sync, stream);
    if (!error)
        error = stage_begins(cuda, slot, UPLOAD, stream);
    for (int i = 0; i < slot->count && !error; i++)
        error = upload_item(cuda, &slot->items[i], stream);
    if (!error)
        error = cudaEventRecord(slot->end[UPLOAD], stream);
    return error ? error : cudaStreamWaitEvent(slot->streams[EQUALIZE], slot->end[UPLOAD], 0);
}

/* The results of a slot's first frame, on the device and on the host. */
static LumeqCudaFrame *frames_of(const CudaBackend *cuda, int index)
{
    return &cuda->frames[index * cuda->batch];
}

static LumeqState *results_of(const CudaBackend *cuda, int index)
{
    return &cuda->results[index * cuda->batch];
}

/* Makes stream `to` wait for the curves. */
static cudaError_t wait_for_curve(const Slot *slot, cudaStream_t from, cudaStream_t to)
{
    const cudaError_t error = cudaEventRecord(slot->curve, from);
    return error ? error : cudaStreamWaitEvent(to, slot->curve, 0);
}

static cudaError_t equalize(CudaBackend *cuda, int index)
{
    Slot *slot = &cuda->slots[index];
    const cudaStream_t stream = slot->streams[EQUALIZE], write = slot->streams[WRITE];
    const LumeqJob *job = slot->items[0].job;
    LumeqCudaFrame *frames = frames_of(cuda, index);
    const LumeqCudaReport report = {&results_of(cuda, index)->curve, &frames->result.curve,
                                    lumeq_result_size((uint32_t)job->curve.bins),
                                    sizeof(LumeqState)};
    cudaError_t error = stage_begins(cuda, slot, EQUALIZE, stream);
    if (!error)
        error = lumeq_cuda_find_curve(slot->device, slot->work, slot->count, frames, stream);
    if (!error && write != stream)
        error = wait_for_curve(slot, stream, write);
    if (!error)
        error = lumeq_cuda_write(slot->device, slot->work, slot->count, frames, &report,
                                 write == stream, write);
    for (int i = 0; i < slot->count && !error; i++)
        error = lumeq_pictures_convert(&slot->items[i].pictures, write);
    if (!error)
        error = cudaEventRecord(slot->end[EQUALIZE], write);
    return error;
}

static cudaError_t download_tiles(CudaBackend *cuda, int index, int number)
{
    const LumeqJob *job = cuda->slots[index].items[number].job;
    TileResult *to = &results_of(cuda, index)[number].tiles;
    lumeq_no_tiles(to);
    return job->clahe ? cudaMemcpyAsync(to, &frames_of(cuda, index)[number].result.tiles,
                                        tile_result_size(&job->grid), cudaMemcpyDeviceToHost,
                                        cuda->slots[index].streams[DOWNLOAD])
                      : cudaSuccess;
}

/* CUDA's copies to ordinary memory block inside CUDA without a limit, so this waits until the data
 * are ready. */
static cudaError_t download_pictures(const CudaBackend *cuda, const Slot *slot, const Item *item)
{
    const LumeqImage *out = &item->job->frame.out;
    if (!item->job->write || out->memory != LUMEQ_MEMORY_HOST)
        return cudaSuccess;
    cudaError_t error = cudaSuccess;
    if (item->pageable_out)
        error = finish_frames(cuda);
    if (!error && item->pageable_out)
        error = finish_stages(slot, DOWNLOAD);
    return error ? error
                 : lumeq_pictures_copy(out, &item->pictures.out, item->job->write,
                                       cudaMemcpyDeviceToHost, slot->streams[DOWNLOAD]);
}

static cudaError_t download(CudaBackend *cuda, int index)
{
    Slot *slot = &cuda->slots[index];
    const LumeqJob *job = slot->items[0].job;
    const LumeqSync *sync = job->frame.sync;
    int downloads = cuda->timed || job->clahe;
    for (int i = 0; i < slot->count; i++)
        downloads |= slot->items[i].job->frame.out.memory == LUMEQ_MEMORY_HOST;
    const cudaStream_t stream = slot->streams[downloads ? DOWNLOAD : WRITE];
    cudaError_t error = cudaSuccess;
    if (downloads)
        error = cudaStreamWaitEvent(stream, slot->end[EQUALIZE], 0);
    if (!error)
        error = stage_begins(cuda, slot, DOWNLOAD, stream);
    for (int i = 0; i < slot->count && !error; i++) {
        error = download_tiles(cuda, index, i);
        if (!error)
            error = download_pictures(cuda, slot, &slot->items[i]);
    }
    if (!error && sync && sync->finished)
        error = cudaEventRecord((cudaEvent_t)sync->finished, stream);
    if (!error) /* last: a frame that was received is finished */
        error = cudaEventRecord(slot->end[DOWNLOAD], stream);
    return error;
}

/* Undoes a frame that failed halfway: clears its counters. */
static int take_back(CudaBackend *cuda, int index, int ret, char *text, size_t text_size)
{
    LumeqCudaFrame *frame = frames_of(cuda, index);
    const cudaStream_t stream = cuda->streams[EQUALIZE];
    cudaError_t error = cudaMemsetAsync(&frame->counters, 0, sizeof(frame->counters), stream);
    if (!error)
        error = cudaMemsetAsync(&frame->tile_counters, 0, sizeof(frame->tile_counters), stream);
    if (!error) /* the next frame may come on any stream */
        error = finish_streams(cuda);
    return error ? lose(cuda, error, "clearing memory", text, text_size) : ret;
}

/* A single frame is written on the stream of its curve, so that the kernel that writes it starts
 * early and has loaded its samples when the curve is ready. With other frames in flight this would
 * delay their curves. */
static void choose_streams(CudaBackend *cuda, Slot *slot, const LumeqSync *sync)
{
    cuda->named = sync ? (cudaStream_t)sync->stream : NULL;
    slot->device = cuda->named || cuda->sharing ? &cuda->in_turn : &cuda->device;
    for (int i = 0; i < STREAMS; i++)
        slot->streams[i] = cuda->named ? cuda->named : cuda->streams[i];
    if (cuda->in_flight == 1 && slot->count == 1)
        slot->streams[WRITE] = slot->streams[EQUALIZE];
}

/* Starts the work of the last slot. If the GPU cannot do it, the slot is empty again. Frames that
 * were accepted earlier cannot be refused, so the GPU counts as lost, unless the only frame is
 * `submitted`, the job that is being submitted (NULL: none). */
static int launch(CudaBackend *cuda, const LumeqJob *submitted, char *text, size_t text_size)
{
    cudaError_t (*const stages[STAGES])(CudaBackend *, int) = {upload, equalize, download};
    const int index = (cuda->first + cuda->in_flight - 1) % SLOTS;
    Slot *slot = &cuda->slots[index];
    int ret = 0;
    choose_streams(cuda, slot, slot->items[0].job->frame.sync);
    for (int stage = 0; stage < STAGES && ret == 0; stage++) {
        const cudaError_t error = stages[stage](cuda, index);
        if (error)
            ret = refuse(cuda, error, stream_names[stage], text, text_size);
        if (error && ret != LUMEQ_ERR_GPU)
            ret = slot->items[0].job == submitted
                      ? take_back(cuda, index, ret, text, text_size)
                      : lose(cuda, error, stream_names[stage], text, text_size);
    }
    if (ret == 0) {
        slot->launched = 1;
    } else {
        slot->count = 0;
        cuda->in_flight--;
    }
    if (cuda->in_flight == 1)
        cuda->progress = lumeq_cuda_now();
    cuda->named = NULL;
    return ret;
}

/* Any thread may call it. After success, lumeq_cuda_leave() must follow. */
static int enter(CudaBackend *cuda, char *text, size_t text_size)
{
    if (is_lost(cuda))
        return lose(cuda, cudaSuccess, "", text, text_size);
    cudaError_t error = lumeq_cuda_enter(&cuda->home);
    if (error && !lumeq_cuda_is_loss(error)) {
        (void)cudaGetLastError(); /* it may be an earlier call's */
        error = lumeq_cuda_enter(&cuda->home);
    }
    return error ? lose(cuda, error, "selecting the device", text, text_size) : 0;
}

/* The slot to which frames are still added, or NULL. */
static Slot *open_slot(CudaBackend *cuda)
{
    Slot *last = &cuda->slots[(cuda->first + cuda->in_flight + SLOTS - 1) % SLOTS];
    return cuda->in_flight && !last->launched ? last : NULL;
}

/* Bytes on the device for the pictures of a job. */
static size_t size_of(const LumeqJob *job)
{
    return lumeq_pictures_place(NULL, &job->frame.in, &job->frame.out, job->write).size;
}

/* Describes the next item of a slot, whose memory is large enough. */
static void place_item(CudaBackend *cuda, int index, LumeqJob *job, int pageable_out)
{
    Slot *slot = &cuda->slots[index];
    const int number = slot->count;
    Item *item = &slot->items[number];
    uint8_t *const memory = slot->pictures + (size_t)number * slot->each;
    item->job = job;
    item->pageable_out = pageable_out;
    item->pictures = lumeq_pictures_place(memory, &job->frame.in, &job->frame.out, job->write);
    slot->work[number] = (LumeqCudaWork){
        .job = job,
        .in = item->pictures.in,
        .out = item->pictures.written,
    };
}

/* Adds the frame to the slot that is open, if there is one and the frame fits. Frames that are
 * synchronized with the caller's are launched by themselves. */
static int joins(CudaBackend *cuda, LumeqJob *job, int pageable_out)
{
    Slot *slot = open_slot(cuda);
    if (!slot || job->frame.sync)
        return 0;
    const int index = (int)(slot - cuda->slots);
    if (size_of(job) > slot->each)
        return 0;
    place_item(cuda, index, job, pageable_out);
    if (!lumeq_cuda_same_shape(&slot->work[0], &slot->work[slot->count]))
        return 0;
    slot->count++;
    return 1;
}

/* Opens a slot with the frame. */
static int begin_slot(CudaBackend *cuda, LumeqJob *job, int pageable_out, char *text,
                      size_t text_size)
{
    const int index = (cuda->first + cuda->in_flight) % SLOTS;
    const LumeqSync *sync = job->frame.sync;
    const int at_once = sync && (sync->stream || sync->finished);
    Slot *slot = &cuda->slots[index];
    slot->count = slot->received = slot->launched = 0;
    slot->each = (size_of(job) + BATCH_ALIGNMENT - 1) / BATCH_ALIGNMENT * BATCH_ALIGNMENT;
    const size_t size = slot->each * (size_t)(sync ? 1 : cuda->room);
    int ret = size > slot->size ? grow(cuda, slot, size, at_once, text, text_size) : 0;
    if (ret == LUMEQ_ERR_MEMORY && size > slot->each) {
        if (cuda->in_flight)
            return LUMEQ_ERR_AGAIN;
        ret = halve_batches(cuda, text, text_size);
        return ret < 0 ? ret : begin_slot(cuda, job, pageable_out, text, text_size);
    }
    if (ret < 0)
        return ret;
    place_item(cuda, index, job, pageable_out);
    slot->count = 1;
    cuda->in_flight++;
    return 0;
}

static int submit_here(CudaBackend *cuda, LumeqJob *job, char *text, size_t text_size)
{
    const int planes = job->write > 1 ? lumeq_planes(&job->frame.in) : 1;
    int pageable_out = 0;
    int ret =
        lumeq_check_places(&cuda->home, &job->frame.in, planes, "input", NULL, text, text_size);
    if (ret == 0)
        ret = lumeq_check_places(&cuda->home, &job->frame.out, job->write, "output", &pageable_out,
                                 text, text_size);
    if (ret < 0)
        return ret;
    job->late =
        pageable_out < job->write; /* copies to ordinary memory end before launch() returns */
    if (!joins(cuda, job, pageable_out)) {
        if (open_slot(cuda))
            ret = launch(cuda, NULL, text, text_size);
        if (ret == 0 && cuda->in_flight == SLOTS)
            return LUMEQ_ERR_AGAIN;
        if (ret == 0)
            ret = begin_slot(cuda, job, pageable_out, text, text_size);
        if (ret < 0)
            return ret;
    }
    const Slot *slot = open_slot(cuda);
    return slot->count == cuda->room || job->frame.sync ? launch(cuda, job, text, text_size) : 0;
}

/* Does not wait, unless memory must grow, or the caller's memory is not pinned: CUDA does not copy
 * that asynchronously. */
static int submit_cuda(void *priv, LumeqJob *job, char *text, size_t text_size)
{
    CudaBackend *cuda = priv;
    int ret = enter(cuda, text, text_size);
    if (ret < 0)
        return ret;
    ret = submit_here(cuda, job, text, text_size);
    lumeq_cuda_leave(&cuda->home);
    return ret;
}

static cudaError_t time_of(const CudaBackend *cuda, cudaEvent_t event, double *us)
{
    float ms = 0;
    const cudaError_t error = cudaEventElapsedTime(&ms, cuda->steps.anchor, event);
    *us = cuda->steps.anchor_us + 1e3 * (double)ms;
    return error;
}

static cudaError_t read_times(CudaBackend *cuda, Slot *slot)
{
    cudaError_t error = cudaSuccess;
    if (!cuda->timed)
        return error;
    for (int stage = 0; stage < STAGES && !error; stage++) {
        error = time_of(cuda, slot->begin[stage], &slot->begin_us[stage]);
        if (!error)
            error = time_of(cuda, slot->end[stage], &slot->end_us[stage]);
    }
    if (!error && slot->begin_us[UPLOAD] - cuda->steps.anchor_us > ANCHOR_MAX_US) {
        const cudaEvent_t old = cuda->steps.anchor;
        cuda->steps.anchor = slot->begin[UPLOAD];
        cuda->steps.anchor_us = slot->begin_us[UPLOAD];
        slot->begin[UPLOAD] = old;
    }
    return error;
}

/* Waits for the oldest frame; each stage has its own time limit. Returns cudaErrorNotReady if it
 * has not finished. */
static cudaError_t await_oldest(CudaBackend *cuda, LumeqCudaWait wait)
{
    const Slot *slot = &cuda->slots[cuda->first];
    /* Usually all stages have finished. */
    cudaError_t error =
        lumeq_cuda_await_event(slot->end[STAGES - 1], cuda->progress, LUMEQ_CUDA_LOOK);
    if (!error)
        cuda->passed = STAGES;
    if (error == cudaErrorNotReady)
        error = cudaSuccess;
    while (cuda->passed < STAGES && !error) {
        error = lumeq_cuda_await_event(slot->end[cuda->passed], cuda->progress, wait);
        if (!error) {
            cuda->passed++;
            cuda->progress = lumeq_cuda_now();
        }
    }
    return error;
}

/* Waits for the oldest batch. */
static int finish_batch(CudaBackend *cuda, Slot *slot, int wait, char *text, size_t text_size)
{
    if (!slot->launched && launch(cuda, NULL, text, text_size) < 0)
        return LUMEQ_ERR_GPU;
    cudaError_t error = await_oldest(cuda, wait ? cuda->waits : LUMEQ_CUDA_LOOK);
    if (error == cudaErrorNotReady && !lumeq_cuda_overdue(cuda->progress))
        return LUMEQ_ERR_AGAIN;
    if (!error)
        error = read_times(cuda, slot);
    /* If the device is not lost, refuse() has waited for all work: the frames are complete. */
    return error && refuse(cuda, error, "a frame", text, text_size) == LUMEQ_ERR_GPU ? LUMEQ_ERR_GPU
                                                                                     : 0;
}

static int receive_here(CudaBackend *cuda, LumeqJob *job, int wait, char *text, size_t text_size)
{
    Slot *slot = &cuda->slots[cuda->first];
    const int ret = slot->received ? 0 : finish_batch(cuda, slot, wait, text, text_size);
    if (ret < 0)
        return ret;
    memcpy(job->stage_begin_us, slot->begin_us, sizeof(job->stage_begin_us));
    memcpy(job->stage_end_us, slot->end_us, sizeof(job->stage_end_us));
    const LumeqState *result = &results_of(cuda, cuda->first)[slot->received++];
    memcpy(job->result.curve.bin, result->curve.bin,
           (size_t)job->curve.bins * sizeof(result->curve.bin[0]));
    memcpy(&job->result.tiles, &result->tiles, lumeq_tiles_size(&result->tiles));
    if (slot->received < slot->count)
        return 0;
    cuda->first = (cuda->first + 1) % SLOTS;
    cuda->in_flight--;
    cuda->passed = 0;
    cuda->progress = lumeq_cuda_now();
    return 0;
}

static int receive_cuda(void *priv, LumeqJob *job, int wait, char *text, size_t text_size)
{
    CudaBackend *cuda = priv;
    int ret = enter(cuda, text, text_size);
    if (ret < 0)
        return ret;
    ret = receive_here(cuda, job, wait, text, text_size);
    lumeq_cuda_leave(&cuda->home);
    return ret;
}

static int measure_cuda(void *priv, const LumeqMeasureJob *job, void **pending, char *text,
                        size_t text_size)
{
    CudaBackend *cuda = priv;
    *pending = NULL;
    int ret = enter(cuda, text, text_size);
    if (ret < 0)
        return ret;
    ret = lumeq_cuda_steps_measure(&cuda->steps, job, pending, text, text_size);
    lumeq_cuda_leave(&cuda->home);
    return ret;
}

static int measure_finish_cuda(void *priv, void *pending, const LumeqCounts *counts, int wait,
                               char *text, size_t text_size)
{
    CudaBackend *cuda = priv;
    int ret = enter(cuda, text, text_size);
    if (ret < 0)
        return ret;
    ret = lumeq_cuda_steps_finish(&cuda->steps, pending, counts, wait, text, text_size);
    lumeq_cuda_leave(&cuda->home);
    return ret;
}

static int land_cuda(void *priv, void *pending, int wait, double begin_us[LUMEQ_STAGES],
                     double end_us[LUMEQ_STAGES], char *text, size_t text_size)
{
    CudaBackend *cuda = priv;
    int ret = enter(cuda, text, text_size);
    if (ret < 0)
        return ret;
    ret = lumeq_cuda_steps_land(&cuda->steps, pending, wait, begin_us, end_us, text, text_size);
    lumeq_cuda_leave(&cuda->home);
    return ret;
}

static void leave_cuda(void *priv, void *pending)
{
    lumeq_cuda_steps_leave(&((CudaBackend *)priv)->steps, pending);
}

static int apply_cuda(void *priv, const LumeqApplyJob *job, char *text, size_t text_size)
{
    CudaBackend *cuda = priv;
    int ret = enter(cuda, text, text_size);
    if (ret < 0)
        return ret;
    ret = lumeq_cuda_steps_apply(&cuda->steps, job, text, text_size);
    lumeq_cuda_leave(&cuda->home);
    return ret;
}

static void memory_use_cuda(int device, LumeqMemoryUse *use)
{
    lumeq_device_use(device, use);
    lumeq_pinned_use(use);
}

static void *alloc_cuda(void *priv, size_t size)
{
    CudaBackend *cuda = priv;
    return is_lost(cuda) ? NULL : lumeq_pinned_alloc(&cuda->home, size);
}

static void free_cuda(void *priv, void *memory)
{
    CudaBackend *cuda = priv;
    if (!is_lost(cuda))
        lumeq_pinned_free(&cuda->home, memory);
}

static void *alloc_device_cuda(void *priv, size_t size)
{
    CudaBackend *cuda = priv;
    return is_lost(cuda) ? NULL : lumeq_device_alloc(&cuda->home, size);
}

static void free_device_cuda(void *priv, void *memory)
{
    CudaBackend *cuda = priv;
    if (!is_lost(cuda))
        lumeq_device_free(&cuda->home, memory);
}

static int get_cuda(void *priv, void **context, void **stream, char *text, size_t text_size)
{
    CudaBackend *cuda = priv;
    int ret = enter(cuda, text, text_size);
    if (ret < 0)
        return ret;
    cudaError_t error = lumeq_cuda_context(&cuda->home, context);
    if (!error && !cuda->decoder)
        error = cudaStreamCreateWithFlags(&cuda->decoder, cudaStreamNonBlocking);
    ret = error ? refuse(cuda, error, "making a stream for a decoder", text, text_size) : 0;
    lumeq_cuda_leave(&cuda->home);
    *stream = cuda->decoder;
    return ret;
}

const LumeqBackend lumeq_backend_cuda = {
    .name = "cuda",
    .build_info = "CPU and CUDA " LUMEQ_CUDA_TOOLKIT,
    .list_gpus = lumeq_cuda_list,
    .memory_use = memory_use_cuda,
    .reserve = lumeq_device_reserve,
    .priv_size = sizeof(CudaBackend),
    .slots = SLOTS,
    .open = open_cuda,
    .submit = submit_cuda,
    .receive = receive_cuda,
    .measure = measure_cuda,
    .measure_finish = measure_finish_cuda,
    .apply = apply_cuda,
    .land = land_cuda,
    .leave = leave_cuda,
    .alloc_host = alloc_cuda,
    .free_host = free_cuda,
    .alloc_device = alloc_device_cuda,
    .free_device = free_device_cuda,
    .get_cuda = get_cuda,
    .close = close_cuda,
};
