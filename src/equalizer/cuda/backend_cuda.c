#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "equalizer/backend.h"
#include "equalizer/cuda/clahe_kernels.h"
#include "equalizer/cuda/device_memory.h"
#include "equalizer/cuda/devices.h"
#include "equalizer/cuda/frame.h"
#include "equalizer/cuda/kernels.h"
#include "equalizer/cuda/pictures.h"
#include "equalizer/cuda/pinned_memory.h"
#include "equalizer/cuda/waiting.h"

/* Frames in flight: one in each stage. With two, the copies are idle while the host takes the frame
 * that is done and hands in the next; a fourth gains nothing. */
#define SLOTS 3

/* Times are measured from an event at most this old: they are answered in float32. */
#define ANCHOR_MAX_US 1e6

enum {
    UPLOAD = LUMEQ_STAGE_UPLOAD,
    EQUALIZE = LUMEQ_STAGE_EQUALIZE,
    DOWNLOAD = LUMEQ_STAGE_DOWNLOAD,
    STAGES = LUMEQ_STAGES,
    /* Streams: one for each stage, but two to equalize, so that the curve of the next frame is
     * found while this one is written. */
    WRITE = STAGES,
    /* Before it, bars are found while the curve of the frame before is. */
    BARS,
    STREAMS
};

static const char *const stream_names[STREAMS] = {"upload", "equalize", "download", "equalize",
                                                  "equalize"};

typedef struct DeviceMemory {
    LumeqCudaFrame frames[SLOTS];
    LumeqState restore[SLOTS], empty;
} DeviceMemory;

/* Its other end on the host, pinned. */
typedef struct HostMemory {
    LumeqState result[SLOTS], restore[SLOTS];
} HostMemory;

typedef struct Slot {
    uint8_t *in, *out;   /* pictures on the device: the planes one after the other */
    size_t picture_size; /* of each of the two */
    cudaEvent_t begin[STAGES], end[STAGES];
    cudaEvent_t bars;     /* they are there */
    cudaEvent_t curve;    /* it is there */
    cudaEvent_t reported; /* and so on the host */
} Slot;

typedef struct CudaBackend {
    int number; /* of the device */
    LumeqCudaDevice device;
    char name[256];
    int started; /* CUDA has been used: there may be something to clean up */

    cudaStream_t streams[STREAMS];
    DeviceMemory *on_device;
    HostMemory *on_host;
    LumeqCudaHistory history; /* after the frame submitted last */

    Slot slots[SLOTS]; /* a ring: `in_flight` of them, the oldest at `first` */
    int first, in_flight;
    int passed;      /* stages of the oldest one */
    double progress; /* when the last of them had, in seconds, or when work began */

    cudaEvent_t anchor; /* an event at anchor_us since the backend was opened */
    double anchor_us;

    /* The device has failed in mid-work. Such errors poison the process' use of it, and copies may
     * still be under way: nothing is called, freed or reused after it. */
    atomic_int lost;
    char lost_text[256];
} CudaBackend;

static int lose(CudaBackend *cuda, cudaError_t error, const char *what, char *text,
                size_t text_size)
{
    if (!atomic_load(&cuda->lost)) {
        if (error == cudaErrorNotReady)
            snprintf(cuda->lost_text, sizeof(cuda->lost_text),
                     "GPU %d makes no progress: %s is not done after 10 s", cuda->number, what);
        else
            snprintf(cuda->lost_text, sizeof(cuda->lost_text), "%s failed on GPU %d: %s", what,
                     cuda->number, cudaGetErrorString(error));
        atomic_store(&cuda->lost, 1);
    }
    snprintf(text, text_size, "%s", cuda->lost_text);
    return LUMEQ_ERR_GPU;
}

/* Errors after which no call succeeds: those that the CUDA runtime's documentation says leave the
 * process in an inconsistent state, and a device that is gone. Others that are as bad are seen when
 * the streams are waited for. */
static int is_loss(cudaError_t error)
{
    switch (error) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorContextIsDestroyed:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorUnknown: return 1;
    default: return 0;
    }
}

static cudaError_t finish_stages(const Slot *slot, int stages)
{
    cudaError_t error = cudaSuccess;
    for (int stage = 0; stage < stages && !error; stage++)
        error = lumeq_cuda_await_event(slot->end[stage], lumeq_cuda_now(), 1);
    return error;
}

/* Waits for the frames in flight, one stage after the other: each has its time. */
static cudaError_t finish_frames(const CudaBackend *cuda)
{
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < cuda->in_flight && !error; i++)
        error = finish_stages(&cuda->slots[(cuda->first + i) % SLOTS], STAGES);
    return error;
}

/* Waits until nothing is under way. */
static cudaError_t finish_streams(const CudaBackend *cuda)
{
    cudaError_t error = finish_frames(cuda);
    for (int i = 0; i < STREAMS && !error; i++)
        if (cuda->streams[i])
            error = lumeq_cuda_await_stream(cuda->streams[i], lumeq_cuda_now());
    return error;
}

/* What follows from a call that failed: the device is lost, or it cannot do this frame, and nothing
 * is under way any more. */
static int refuse(CudaBackend *cuda, cudaError_t error, const char *what, char *text,
                  size_t text_size)
{
    if (is_loss(error) || error == cudaErrorNotReady)
        return lose(cuda, error, what, text, text_size);
    (void)cudaGetLastError(); /* it is reported here, not to the caller's next CUDA call */
    const cudaError_t after = finish_streams(cuda);
    if (after)
        return lose(cuda, after, what, text, text_size);
    snprintf(text, text_size, "%s failed on GPU %d: %s", what, cuda->number,
             cudaGetErrorString(error));
    return error == cudaErrorMemoryAllocation ? LUMEQ_ERR_MEMORY : LUMEQ_ERR_UNAVAILABLE;
}

static cudaError_t create_events(Slot *slot)
{
    cudaError_t error = cudaSuccess;
    for (int stage = 0; stage < STAGES && !error; stage++) {
        /* Waiting for one spins: it takes less than a frame, and the host asleep slowed the copies
         * of an H200's machine by 8 %. */
        error = cudaEventCreate(&slot->begin[stage]);
        if (!error)
            error = cudaEventCreate(&slot->end[stage]);
    }
    if (!error)
        error = cudaEventCreateWithFlags(&slot->bars, cudaEventDisableTiming);
    if (!error)
        error = cudaEventCreateWithFlags(&slot->curve, cudaEventDisableTiming);
    if (!error)
        error = cudaEventCreateWithFlags(&slot->reported, cudaEventDisableTiming);
    return error;
}

static cudaError_t create_all(CudaBackend *cuda)
{
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < STREAMS && !error; i++)
        error = cudaStreamCreateWithFlags(&cuda->streams[i], cudaStreamNonBlocking);
    for (int i = 0; i < SLOTS && !error; i++)
        error = create_events(&cuda->slots[i]);
    if (!error)
        error = cudaMalloc((void **)&cuda->on_device, sizeof(*cuda->on_device));
    if (!error) {
        cuda->on_host = lumeq_pinned_alloc_needed(cuda->number, sizeof(*cuda->on_host));
        error = cuda->on_host ? cudaSuccess : cudaErrorMemoryAllocation;
    }
    if (!error)
        error =
            cudaMemsetAsync(cuda->on_device, 0, sizeof(*cuda->on_device), cuda->streams[EQUALIZE]);
    if (!error)
        error = cudaEventCreate(&cuda->anchor);
    if (!error)
        error = cudaEventRecord(cuda->anchor, cuda->streams[EQUALIZE]);
    if (!error)
        error = lumeq_cuda_await_event(cuda->anchor, lumeq_cuda_now(), 1);
    return error;
}

/* What went wrong while the backend was opened. */
static int open_failed(CudaBackend *cuda, cudaError_t error, char *text, size_t text_size)
{
    if (error == cudaErrorNotReady)
        return lose(cuda, error, "its start", text, text_size);
    cudaGetLastError(); /* it is reported here, not to the caller's next CUDA call */
    const char *reason = cudaGetErrorString(error);
    switch (error) {
    case cudaErrorMemoryAllocation:
        snprintf(text, text_size, "%s (GPU %d) is out of memory", cuda->name, cuda->number);
        return LUMEQ_ERR_MEMORY;
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorInvalidDeviceFunction:
        snprintf(text, text_size, "this build has no code for %s (GPU %d): %s", cuda->name,
                 cuda->number, reason);
        return LUMEQ_ERR_UNAVAILABLE;
    case cudaErrorDevicesUnavailable:
        snprintf(text, text_size, "%s (GPU %d) is kept by another program: %s", cuda->name,
                 cuda->number, reason);
        return LUMEQ_ERR_UNAVAILABLE;
    default:
        snprintf(text, text_size, "%s (GPU %d) does not start: %s", cuda->name, cuda->number,
                 reason);
        return LUMEQ_ERR_GPU;
    }
}

static int open_cuda(void *priv, const LumeqConfig *config, char *text, size_t text_size)
{
    CudaBackend *cuda = priv;
    cuda->number = config->device;
    const int ret = lumeq_cuda_check(cuda->number, text, text_size);
    if (ret < 0)
        return ret;

    struct cudaDeviceProp properties;
    cudaError_t error = cudaGetDeviceProperties(&properties, cuda->number);
    snprintf(cuda->name, sizeof(cuda->name), "%s", error ? "the GPU" : properties.name);
    cuda->started = 1;
    if (!error)
        error = lumeq_cuda_prepare(&cuda->device, cuda->number);
    if (!error)
        error = create_all(cuda);
    if (error)
        return open_failed(cuda, error, text, text_size);
    cuda->history = (LumeqCudaHistory){&cuda->on_device->empty.curve, NULL};
    snprintf(text, text_size, "%s (GPU %d)", cuda->name, cuda->number);
    return 0;
}

static void destroy_event(cudaEvent_t event)
{
    if (event)
        cudaEventDestroy(event);
}

static void close_cuda(void *priv)
{
    CudaBackend *cuda = priv;
    if (!cuda->started || atomic_load(&cuda->lost))
        return;
    cudaSetDevice(cuda->number);
    if (finish_streams(cuda))
        return; /* lost at last */
    for (int i = 0; i < SLOTS; i++) {
        for (int stage = 0; stage < STAGES; stage++) {
            destroy_event(cuda->slots[i].begin[stage]);
            destroy_event(cuda->slots[i].end[stage]);
        }
        destroy_event(cuda->slots[i].bars);
        destroy_event(cuda->slots[i].curve);
        destroy_event(cuda->slots[i].reported);
        cudaFree(cuda->slots[i].in);
    }
    destroy_event(cuda->anchor);
    for (int i = 0; i < STREAMS; i++)
        if (cuda->streams[i])
            cudaStreamDestroy(cuda->streams[i]);
    cudaFree(cuda->on_device);
    if (cuda->on_host)
        lumeq_pinned_free(cuda->number, cuda->on_host);
    memset(cuda, 0, sizeof(*cuda));
}

/* Makes room for larger pictures in a slot that is not in flight; without memory it keeps what it
 * has. */
static int grow(CudaBackend *cuda, Slot *slot, size_t picture_size, char *text, size_t text_size)
{
    uint8_t *larger = NULL;
    cudaError_t error = cudaMalloc((void **)&larger, 2 * picture_size);
    if (error == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError(); /* it is reported here */
        snprintf(text, text_size, "%s (GPU %d) is out of memory: a frame needs %zu MB more",
                 cuda->name, cuda->number, (2 * picture_size >> 20) + 1);
        return LUMEQ_ERR_MEMORY;
    }
    if (error)
        return refuse(cuda, error, "allocating memory", text, text_size);
    error = finish_streams(cuda); /* freeing would wait for them, and for ever */
    if (!error)
        error = cudaFree(slot->in);
    slot->in = larger;
    slot->out = larger + picture_size;
    slot->picture_size = picture_size;
    return error ? refuse(cuda, error, "freeing memory", text, text_size) : 0;
}

/* Where the kernels write: the caller's picture itself, or what is downloaded into it. */
static LumeqImage output_of(const Slot *slot, const LumeqJob *job)
{
    const LumeqImage *out = &job->frame.out;
    return out->memory == LUMEQ_MEMORY_CUDA ? *out
                                            : lumeq_pictures_on_device(slot->out, out, job->write);
}

/* Planes that are uploaded. */
static int planes_in(const LumeqJob *job)
{
    return job->write ? job->write : 1;
}

/* The history that the job says is to be gone on from. */
static cudaError_t upload_history(CudaBackend *cuda, int index, const LumeqState *history)
{
    const cudaStream_t stream = cuda->streams[UPLOAD];
    LumeqState *const to = &cuda->on_device->restore[index];
    LumeqState *const from = &cuda->on_host->restore[index];
    const size_t tiles = lumeq_tiles_size(&history->tiles);
    lumeq_copy_state(from, history);
    cudaError_t error =
        cudaMemcpyAsync(&to->curve, &from->curve, lumeq_result_size(history->curve.bins),
                        cudaMemcpyHostToDevice, stream);
    if (!error)
        error = cudaMemcpyAsync(&to->tiles, &from->tiles, tiles, cudaMemcpyHostToDevice, stream);
    cuda->history = (LumeqCudaHistory){&to->curve, &to->tiles};
    return error;
}

static cudaError_t upload(CudaBackend *cuda, int index, const LumeqJob *job)
{
    const cudaStream_t stream = cuda->streams[UPLOAD];
    const LumeqImage *in = &job->frame.in;
    Slot *slot = &cuda->slots[index];
    const LumeqImage copy = lumeq_pictures_on_device(slot->in, in, planes_in(job));
    cudaError_t error = cudaEventRecord(slot->begin[UPLOAD], stream);
    if (!error)
        error = lumeq_pictures_copy(&copy, in, planes_in(job), cudaMemcpyHostToDevice, stream);
    if (!error && job->restore)
        error = upload_history(cuda, index, job->restore);
    if (!error)
        error = cudaEventRecord(slot->end[UPLOAD], stream);
    return error;
}

/* The curve to the host. */
static cudaError_t report(CudaBackend *cuda, int index, const LumeqJob *job)
{
    const cudaStream_t stream = cuda->streams[EQUALIZE];
    const size_t size = lumeq_result_size((uint32_t)job->curve.bins);
    const cudaError_t error =
        lumeq_cuda_report(&cuda->on_host->result[index].curve,
                          &cuda->on_device->frames[index].result.curve, size, stream);
    return error ? error : cudaEventRecord(cuda->slots[index].reported, stream);
}

static cudaError_t equalize(CudaBackend *cuda, int index, const LumeqJob *job)
{
    const cudaStream_t stream = cuda->streams[EQUALIZE], write = cuda->streams[WRITE];
    const cudaStream_t bars = cuda->streams[BARS];
    Slot *slot = &cuda->slots[index];
    LumeqCudaFrame *frame = &cuda->on_device->frames[index];
    const LumeqImage in = lumeq_pictures_on_device(slot->in, &job->frame.in, planes_in(job));
    const LumeqImage out = output_of(slot, job);
    LumeqCudaHistory before = cuda->history;
    if (!before.tiles)
        before.tiles = &cuda->on_device->empty.tiles;
    cudaError_t error = cudaStreamWaitEvent(bars, slot->end[UPLOAD], 0);
    if (!error)
        error = cudaEventRecord(slot->begin[EQUALIZE], bars);
    if (!error)
        error = lumeq_cuda_find_bars(&cuda->device, job, &in, before.curve, frame, bars);
    if (!error)
        error = cudaEventRecord(slot->bars, bars);
    if (!error)
        error = cudaStreamWaitEvent(stream, slot->bars, 0);
    if (!error)
        error = lumeq_cuda_find_curve(&cuda->device, job, &in, before, frame, stream);
    cuda->history =
        (LumeqCudaHistory){&frame->result.curve, job->clahe ? &frame->result.tiles : NULL};
    if (!error)
        error = cudaEventRecord(slot->curve, stream);
    if (!error)
        error = report(cuda, index, job);
    if (!error)
        error = cudaStreamWaitEvent(write, slot->curve, 0);
    if (!error)
        error = lumeq_cuda_write(&cuda->device, job, &in, &out, frame, write);
    if (!error)
        error = cudaEventRecord(slot->end[EQUALIZE], write);
    return error;
}

static cudaError_t download_tiles(CudaBackend *cuda, int index, const LumeqJob *job)
{
    TileResult *to = &cuda->on_host->result[index].tiles;
    lumeq_no_tiles(to);
    return job->clahe ? cudaMemcpyAsync(to, &cuda->on_device->frames[index].result.tiles,
                                        tile_result_size(&job->grid), cudaMemcpyDeviceToHost,
                                        cuda->streams[DOWNLOAD])
                      : cudaSuccess;
}

/* Planes of the output that lie in ordinary memory. */
static int pageable_planes(const CudaBackend *cuda, const LumeqJob *job)
{
    int count = 0;
    for (int i = 0; i < job->write; i++)
        count += lumeq_device_place(cuda->number, job->frame.out.plane[i]) == LUMEQ_PLACE_PAGEABLE;
    return count;
}

/* CUDA's copies into ordinary memory are waited for inside CUDA, for ever: not before there is
 * something to copy. */
static cudaError_t prepare_copy(const CudaBackend *cuda, const Slot *slot, const LumeqJob *job)
{
    const int pageable = pageable_planes(cuda, job);
    const cudaError_t error = pageable ? finish_frames(cuda) : cudaSuccess;
    return error || !pageable ? error : finish_stages(slot, DOWNLOAD);
}

static cudaError_t download_pictures(const CudaBackend *cuda, const Slot *slot, const LumeqJob *job)
{
    const LumeqImage *out = &job->frame.out;
    if (!job->write || out->memory != LUMEQ_MEMORY_HOST)
        return cudaSuccess;
    const LumeqImage copy = lumeq_pictures_on_device(slot->out, out, job->write);
    const cudaError_t error = prepare_copy(cuda, slot, job);
    return error ? error
                 : lumeq_pictures_copy(out, &copy, job->write, cudaMemcpyDeviceToHost,
                                       cuda->streams[DOWNLOAD]);
}

static cudaError_t download(CudaBackend *cuda, int index, const LumeqJob *job)
{
    const cudaStream_t stream = cuda->streams[DOWNLOAD];
    Slot *slot = &cuda->slots[index];
    cudaError_t error = cudaStreamWaitEvent(stream, slot->end[EQUALIZE], 0);
    if (!error)
        error = cudaEventRecord(slot->begin[DOWNLOAD], stream);
    if (!error)
        error = download_tiles(cuda, index, job);
    if (!error)
        error = download_pictures(cuda, slot, job);
    if (!error)
        error = cudaStreamWaitEvent(stream, slot->reported, 0);
    if (!error)
        error = cudaEventRecord(slot->end[DOWNLOAD], stream);
    return error;
}

/* A picture that does not lie where it is said to is nobody's to read or write. */
static int check_places(const CudaBackend *cuda, const LumeqImage *image, int planes,
                        const char *name, char *text, size_t text_size)
{
    const int on_device = image->memory == LUMEQ_MEMORY_CUDA;
    for (int i = 0; i < planes; i++) {
        const LumeqPlace place = lumeq_device_place(cuda->number, image->plane[i]);
        const int right = on_device ? place == LUMEQ_PLACE_DEVICE : place <= LUMEQ_PLACE_HOST;
        if (right || place == LUMEQ_PLACE_UNKNOWN)
            continue;
        if (!on_device)
            snprintf(text, text_size, "the %s lies in memory of a GPU, not in host memory", name);
        else if (place == LUMEQ_PLACE_OTHER_CONTEXT)
            snprintf(text, text_size,
                     "the %s lies in memory of another CUDA context of GPU %d; the device's "
                     "primary context, which cudaMalloc() uses, is needed",
                     name, cuda->number);
        else
            snprintf(text, text_size, "the %s does not lie in memory of GPU %d", name,
                     cuda->number);
        return LUMEQ_ERR_ARGUMENT;
    }
    return 0;
}

/* Makes up for a frame of which a part may have been done: the next one in its slot counts from
 * zero, and goes on from the history before it. */
static int take_back(CudaBackend *cuda, int index, LumeqCudaHistory history, int ret, char *text,
                     size_t text_size)
{
    LumeqCudaFrame *frame = &cuda->on_device->frames[index];
    const cudaStream_t stream = cuda->streams[EQUALIZE];
    cuda->history = history;
    cudaError_t error = cudaMemsetAsync(&frame->counters, 0, sizeof(frame->counters), stream);
    if (!error)
        error = cudaMemsetAsync(&frame->profile.blocks_done, 0, sizeof(frame->profile.blocks_done),
                                cuda->streams[BARS]);
    if (!error)
        error = cudaMemsetAsync(&frame->tile_counters, 0, sizeof(frame->tile_counters), stream);
    return error ? lose(cuda, error, "clearing memory", text, text_size) : ret;
}

static int start_stages(CudaBackend *cuda, int index, const LumeqJob *job, char *text,
                        size_t text_size)
{
    cudaError_t (*const stages[STAGES])(CudaBackend *, int, const LumeqJob *) = {upload, equalize,
                                                                                 download};
    const LumeqCudaHistory history = cuda->history;
    for (int stage = 0; stage < STAGES; stage++) {
        const cudaError_t error = stages[stage](cuda, index, job);
        if (!error)
            continue;
        const int ret = refuse(cuda, error, stream_names[stage], text, text_size);
        return ret == LUMEQ_ERR_GPU ? ret : take_back(cuda, index, history, ret, text, text_size);
    }
    return 0;
}

/* Waits for nothing, unless the planes must grow or the caller's memory is not pinned: CUDA's
 * copies of that are not asynchronous. */
static int submit_cuda(void *priv, LumeqJob *job, char *text, size_t text_size)
{
    CudaBackend *cuda = priv;
    const int index = (cuda->first + cuda->in_flight) % SLOTS;
    Slot *slot = &cuda->slots[index];
    if (atomic_load(&cuda->lost))
        return lose(cuda, cudaSuccess, "", text, text_size);
    const cudaError_t error = cudaSetDevice(cuda->number);
    if (error)
        return refuse(cuda, error, "selecting the device", text, text_size);

    int ret = check_places(cuda, &job->frame.in, planes_in(job), "input", text, text_size);
    if (ret == 0)
        ret = check_places(cuda, &job->frame.out, job->write, "output", text, text_size);
    const size_t size = lumeq_pictures_size(&job->frame.in, planes_in(job));
    if (ret == 0) /* into ordinary memory nothing is copied once the call has returned */
        job->late = pageable_planes(cuda, job) < job->write;
    if (ret == 0 && size > slot->picture_size)
        ret = grow(cuda, slot, size, text, text_size);
    if (ret == 0)
        ret = start_stages(cuda, index, job, text, text_size);
    if (ret < 0)
        return ret;
    if (!cuda->in_flight)
        cuda->progress = lumeq_cuda_now();
    cuda->in_flight++;
    return 0;
}

static cudaError_t time_of(const CudaBackend *cuda, cudaEvent_t event, double *us)
{
    float ms = 0;
    const cudaError_t error = cudaEventElapsedTime(&ms, cuda->anchor, event);
    *us = cuda->anchor_us + 1e3 * (double)ms;
    return error;
}

static cudaError_t read_times(CudaBackend *cuda, Slot *slot, LumeqJob *job)
{
    cudaError_t error = cudaSuccess;
    for (int stage = 0; stage < STAGES && !error; stage++) {
        error = time_of(cuda, slot->begin[stage], &job->stage_begin_us[stage]);
        if (!error)
            error = time_of(cuda, slot->end[stage], &job->stage_end_us[stage]);
    }
    if (!error && job->stage_begin_us[UPLOAD] - cuda->anchor_us > ANCHOR_MAX_US) {
        const cudaEvent_t old = cuda->anchor;
        cuda->anchor = slot->begin[UPLOAD];
        cuda->anchor_us = job->stage_begin_us[UPLOAD];
        slot->begin[UPLOAD] = old;
    }
    return error;
}

/* Whether the oldest frame is done: cudaErrorNotReady if not. Each stage has its time. */
static cudaError_t await_oldest(CudaBackend *cuda, int wait)
{
    const Slot *slot = &cuda->slots[cuda->first];
    cudaError_t error = cudaSuccess;
    while (cuda->passed < STAGES && !error) {
        error = lumeq_cuda_await_event(slot->end[cuda->passed], cuda->progress, wait);
        if (!error) {
            cuda->passed++;
            cuda->progress = lumeq_cuda_now();
        }
    }
    return error;
}

static int receive_cuda(void *priv, LumeqJob *job, int wait, char *text, size_t text_size)
{
    CudaBackend *cuda = priv;
    if (atomic_load(&cuda->lost))
        return lose(cuda, cudaSuccess, "", text, text_size);
    memset(job->stage_begin_us, 0, sizeof(job->stage_begin_us));
    memset(job->stage_end_us, 0, sizeof(job->stage_end_us));
    cudaError_t error = cudaSetDevice(cuda->number);
    if (!error)
        error = await_oldest(cuda, wait);
    if (error == cudaErrorNotReady && !lumeq_cuda_overdue(cuda->progress))
        return LUMEQ_ERR_AGAIN;
    if (!error)
        error = read_times(cuda, &cuda->slots[cuda->first], job);
    /* With what does not poison anything, all that was started is done after refuse(). */
    if (error && refuse(cuda, error, "a frame", text, text_size) == LUMEQ_ERR_GPU)
        return LUMEQ_ERR_GPU;
    lumeq_copy_state(&job->result, &cuda->on_host->result[cuda->first]);
    cuda->first = (cuda->first + 1) % SLOTS;
    cuda->in_flight--;
    cuda->passed = 0;
    cuda->progress = lumeq_cuda_now();
    return 0;
}

static void *alloc_cuda(void *priv, size_t size)
{
    CudaBackend *cuda = priv;
    return atomic_load(&cuda->lost) ? NULL : lumeq_pinned_alloc(cuda->number, size);
}

static void free_cuda(void *priv, void *memory)
{
    CudaBackend *cuda = priv;
    if (!atomic_load(&cuda->lost))
        lumeq_pinned_free(cuda->number, memory);
}

static void *alloc_device_cuda(void *priv, size_t size)
{
    CudaBackend *cuda = priv;
    return atomic_load(&cuda->lost) ? NULL : lumeq_device_alloc(cuda->number, size);
}

static void free_device_cuda(void *priv, void *memory)
{
    CudaBackend *cuda = priv;
    if (!atomic_load(&cuda->lost))
        lumeq_device_free(cuda->number, memory);
}

const LumeqBackend lumeq_backend_cuda = {
    .name = "cuda",
    .build_info = "CPU and CUDA " LUMEQ_CUDA_TOOLKIT,
    .list_gpus = lumeq_cuda_list,
    .priv_size = sizeof(CudaBackend),
    .slots = SLOTS,
    .open = open_cuda,
    .submit = submit_cuda,
    .receive = receive_cuda,
    .alloc_host = alloc_cuda,
    .free_host = free_cuda,
    .alloc_device = alloc_device_cuda,
    .free_device = free_device_cuda,
    .close = close_cuda,
};
