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
    STREAMS
};

static const char *const stream_names[STREAMS] = {"upload", "equalize", "download", "equalize"};

typedef struct DeviceMemory {
    LumeqCudaFrame frames[SLOTS];
    LumeqHistory restore[SLOTS], empty;
} DeviceMemory;

/* Its other end on the host, pinned. */
typedef struct HostMemory {
    LumeqHistory result[SLOTS], restore[SLOTS];
} HostMemory;

typedef struct Slot {
    uint8_t *in, *out; /* pictures on the device: the planes one after the other */
    cudaEvent_t begin[STAGES], end[STAGES];
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
    size_t picture_size; /* of each slot */

    cudaEvent_t anchor; /* an event at anchor_us since the backend was opened */
    double anchor_us;

    PinnedMemory pinned; /* what alloc_host gives out */

    /* A CUDA call has failed in mid-work. Such errors poison the process' use of the device, and
     * copies may still be under way: nothing is called, freed or reused after it. */
    atomic_int lost;
    char lost_text[256];
} CudaBackend;

static int lose(CudaBackend *cuda, cudaError_t error, const char *what, char *text,
                size_t text_size)
{
    if (!atomic_load(&cuda->lost)) {
        snprintf(cuda->lost_text, sizeof(cuda->lost_text), "%s failed on GPU %d: %s", what,
                 cuda->number, cudaGetErrorString(error));
        atomic_store(&cuda->lost, 1);
    }
    snprintf(text, text_size, "%s", cuda->lost_text);
    return LUMEQ_ERR_GPU;
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
    if (!error)
        error = cudaHostAlloc((void **)&cuda->on_host, sizeof(*cuda->on_host),
                              cudaHostAllocPortable | cudaHostAllocMapped);
    if (!error)
        error =
            cudaMemsetAsync(cuda->on_device, 0, sizeof(*cuda->on_device), cuda->streams[EQUALIZE]);
    if (!error)
        error = cudaEventCreate(&cuda->anchor);
    if (!error)
        error = cudaEventRecord(cuda->anchor, cuda->streams[EQUALIZE]);
    if (!error)
        error = cudaStreamSynchronize(cuda->streams[EQUALIZE]);
    return error;
}

/* What went wrong while the backend was opened. */
static int open_failed(const CudaBackend *cuda, cudaError_t error, char *text, size_t text_size)
{
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
    lumeq_pinned_init(&cuda->pinned, cuda->number);
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
    for (int i = 0; i < STREAMS; i++)
        if (cuda->streams[i])
            cudaStreamSynchronize(cuda->streams[i]);
    for (int i = 0; i < SLOTS; i++) {
        for (int stage = 0; stage < STAGES; stage++) {
            destroy_event(cuda->slots[i].begin[stage]);
            destroy_event(cuda->slots[i].end[stage]);
        }
        destroy_event(cuda->slots[i].curve);
        destroy_event(cuda->slots[i].reported);
        cudaFree(cuda->slots[i].in);
    }
    destroy_event(cuda->anchor);
    for (int i = 0; i < STREAMS; i++)
        if (cuda->streams[i])
            cudaStreamDestroy(cuda->streams[i]);
    cudaFree(cuda->on_device);
    cudaFreeHost(cuda->on_host);
    memset(cuda, 0, sizeof(*cuda));
}

/* Makes room for larger pictures: waits until nothing is in flight. */
static int grow(CudaBackend *cuda, size_t picture_size, char *text, size_t text_size)
{
    for (int i = 0; i < STREAMS; i++) {
        const cudaError_t error = cudaStreamSynchronize(cuda->streams[i]);
        if (error)
            return lose(cuda, error, stream_names[i], text, text_size);
    }
    cuda->picture_size = 0;
    for (int i = 0; i < SLOTS; i++) {
        const cudaError_t error = cudaFree(cuda->slots[i].in);
        cuda->slots[i].in = NULL;
        if (error)
            return lose(cuda, error, "freeing memory", text, text_size);
    }
    for (int i = 0; i < SLOTS; i++) {
        Slot *slot = &cuda->slots[i];
        const cudaError_t error = cudaMalloc((void **)&slot->in, 2 * picture_size);
        if (error == cudaErrorMemoryAllocation) {
            cudaGetLastError();
            snprintf(text, text_size, "%s (GPU %d) is out of memory: %d x %zu MB are needed",
                     cuda->name, cuda->number, SLOTS, 2 * picture_size >> 20);
            return LUMEQ_ERR_MEMORY;
        }
        if (error)
            return lose(cuda, error, "allocating memory", text, text_size);
        slot->out = slot->in + picture_size;
    }
    cuda->picture_size = picture_size;
    return 0;
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
static cudaError_t upload_history(CudaBackend *cuda, int index, const LumeqHistory *history)
{
    const cudaStream_t stream = cuda->streams[UPLOAD];
    LumeqHistory *const to = &cuda->on_device->restore[index];
    LumeqHistory *const from = &cuda->on_host->restore[index];
    const size_t tiles = lumeq_tiles_size(&history->tiles);
    lumeq_copy_history(from, history);
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
    Slot *slot = &cuda->slots[index];
    LumeqCudaFrame *frame = &cuda->on_device->frames[index];
    const LumeqImage in = lumeq_pictures_on_device(slot->in, &job->frame.in, planes_in(job));
    const LumeqImage out = output_of(slot, job);
    LumeqCudaHistory before = cuda->history;
    if (!before.tiles)
        before.tiles = &cuda->on_device->empty.tiles;
    cudaError_t error = cudaStreamWaitEvent(stream, slot->end[UPLOAD], 0);
    if (!error)
        error = cudaEventRecord(slot->begin[EQUALIZE], stream);
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

static cudaError_t download(CudaBackend *cuda, int index, const LumeqJob *job)
{
    const cudaStream_t stream = cuda->streams[DOWNLOAD];
    const LumeqImage *out = &job->frame.out;
    Slot *slot = &cuda->slots[index];
    cudaError_t error = cudaStreamWaitEvent(stream, slot->end[EQUALIZE], 0);
    if (!error)
        error = cudaEventRecord(slot->begin[DOWNLOAD], stream);
    if (!error)
        error = download_tiles(cuda, index, job);
    if (!error && job->write && out->memory == LUMEQ_MEMORY_HOST) {
        const LumeqImage copy = lumeq_pictures_on_device(slot->out, out, job->write);
        error = lumeq_pictures_copy(out, &copy, job->write, cudaMemcpyDeviceToHost, stream);
    }
    if (!error)
        error = cudaStreamWaitEvent(stream, slot->reported, 0);
    if (!error)
        error = cudaEventRecord(slot->end[DOWNLOAD], stream);
    return error;
}

/* Waits for nothing, unless the planes must grow or the caller's memory is not pinned: CUDA's
 * copies of that are not asynchronous. */
static int submit_cuda(void *priv, LumeqJob *job, char *text, size_t text_size)
{
    CudaBackend *cuda = priv;
    const int index = (cuda->first + cuda->in_flight) % SLOTS;
    if (atomic_load(&cuda->lost))
        return lose(cuda, cudaSuccess, "", text, text_size);
    cudaError_t error = cudaSetDevice(cuda->number);
    if (error)
        return lose(cuda, error, "selecting the device", text, text_size);

    const LumeqImage *out = &job->frame.out;
    for (int i = 0; i < job->write; i++)
        if (out->memory == LUMEQ_MEMORY_CUDA && !lumeq_device_owns(cuda->number, out->plane[i])) {
            snprintf(text, text_size, "the output does not lie in memory of GPU %d", cuda->number);
            return LUMEQ_ERR_ARGUMENT;
        }
    const size_t size = lumeq_pictures_size(&job->frame.in, planes_in(job));
    const int ret = size > cuda->picture_size ? grow(cuda, size, text, text_size) : 0;
    if (ret < 0)
        return ret;

    cudaError_t (*const stages[STAGES])(CudaBackend *, int, const LumeqJob *) = {upload, equalize,
                                                                                 download};
    for (int stage = 0; stage < STAGES; stage++) {
        error = stages[stage](cuda, index, job);
        if (error)
            return lose(cuda, error, stream_names[stage], text, text_size);
    }
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

static int receive_cuda(void *priv, LumeqJob *job, int wait, char *text, size_t text_size)
{
    CudaBackend *cuda = priv;
    Slot *slot = &cuda->slots[cuda->first];
    if (atomic_load(&cuda->lost))
        return lose(cuda, cudaSuccess, "", text, text_size);
    cudaError_t error = cudaSetDevice(cuda->number);
    if (!error)
        error =
            wait ? cudaEventSynchronize(slot->end[DOWNLOAD]) : cudaEventQuery(slot->end[DOWNLOAD]);
    if (error == cudaErrorNotReady) {
        (void)cudaGetLastError(); /* no error to leave behind */
        return LUMEQ_ERR_AGAIN;
    }
    if (!error)
        error = read_times(cuda, slot, job);
    if (error)
        return lose(cuda, error, "a frame", text, text_size);
    lumeq_copy_history(&job->result, &cuda->on_host->result[cuda->first]);
    cuda->first = (cuda->first + 1) % SLOTS;
    cuda->in_flight--;
    return 0;
}

static void *alloc_cuda(void *priv, size_t size)
{
    CudaBackend *cuda = priv;
    return atomic_load(&cuda->lost) ? NULL : lumeq_pinned_alloc(&cuda->pinned, size);
}

static void free_cuda(void *priv, void *memory)
{
    CudaBackend *cuda = priv;
    if (!atomic_load(&cuda->lost))
        lumeq_pinned_free(&cuda->pinned, memory);
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
