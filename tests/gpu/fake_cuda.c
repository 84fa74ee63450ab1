#include "fake_cuda.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cudaTypedefs.h>
#include <cuda_gl_interop.h>

#include "equalizer/backend.h"
#include "equalizer/cuda/devices.h"
#include "equalizer/cuda/frame.h"
#include "equalizer/rule/curve.h"

FakeCuda fake_cuda;

#define BLOCKS 4096

/* Blocks from cudaMalloc and cudaHostAlloc. */
static struct {
    uint8_t *memory;
    size_t size;
    enum cudaMemoryType type;
} blocks[BLOCKS];

/* Rows to write when the device wakes up. */
#define LATE_COPIES 256
static struct {
    uint8_t *to;
    size_t pitch, row, height;
} late[LATE_COPIES];
static int late_count;

static double last_event; /* time at which a slow device finishes its last work */

struct CUevent_st {
    double done; /* time at which the event happens */
};

struct CUstream_st {
    double done;
};

/* Counts a call of CUDA. Returns the error that the test wants, or cudaSuccess. */
static cudaError_t call(void)
{
    fake_cuda.calls++;
    fake_cuda.outside += fake_cuda.context && !fake_cuda.pushed;
    if (fake_cuda.fail_at && fake_cuda.calls == fake_cuda.fail_at)
        fake_cuda.failed = 1;
    const int fails =
        fake_cuda.failed && (fake_cuda.sticky || fake_cuda.calls == fake_cuda.fail_at);
    return fails ? fake_cuda.error : cudaSuccess;
}

#define CALL()                                                                                     \
    do {                                                                                           \
        const cudaError_t failure = call();                                                        \
        if (failure)                                                                               \
            return failure;                                                                        \
    } while (0)

/* ---- time ---------------------------------------------------------------------------------- */

/* Each call advances the clock, so that polling always ends. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    fake_cuda.now += 1e-5;
    now->tv_sec = (time_t)fake_cuda.now;
    now->tv_nsec = (long)((fake_cuda.now - (double)now->tv_sec) * 1e9);
    return 0;
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    (void)left;
    fake_cuda.now += (double)wanted->tv_sec + 1e-9 * (double)wanted->tv_nsec;
    return 0;
}

/* The time at which work that is queued now finishes. */
static double done_at(void)
{
    if (!fake_cuda.hangs)
        return 0;
    if (fake_cuda.stage_takes <= 0)
        return 1e300;
    last_event = (last_event > fake_cuda.now ? last_event : fake_cuda.now) + fake_cuda.stage_takes;
    return last_event;
}

/* Queues work, which finishes after earlier work on the stream. */
static void work(cudaStream_t stream)
{
    const double done = done_at();
    if (done > stream->done)
        stream->done = done;
}

/* Queues a copy. With `late`, copies do not hang unless `copies_hang` is set. */
static void work_of_copy(cudaStream_t stream)
{
    if (!fake_cuda.late || fake_cuda.copies_hang)
        work(stream);
}

/* Waits for the stream like a blocking CUDA call, unless `stream` is NULL. */
static void wait_for(cudaStream_t stream)
{
    if (!stream)
        return;
    if (stream->done > fake_cuda.now + 1e6)
        abort(); /* the call would block for ever */
    if (stream->done > fake_cuda.now)
        fake_cuda.now = stream->done;
}

/* ---- memory -------------------------------------------------------------------------------- */

static cudaError_t add_block(void **memory, size_t size, enum cudaMemoryType type)
{
    for (int i = 0; i < BLOCKS; i++)
        if (!blocks[i].memory) {
            *memory = aligned_alloc(256, (size + 255) / 256 * 256);
            if (!*memory)
                return cudaErrorMemoryAllocation;
            blocks[i].memory = *memory;
            blocks[i].size = size;
            blocks[i].type = type;
            *(type == cudaMemoryTypeDevice ? &fake_cuda.on_device : &fake_cuda.pinned) += size;
            return cudaSuccess;
        }
    return cudaErrorMemoryAllocation;
}

static cudaError_t remove_block(void *memory)
{
    for (int i = 0; i < BLOCKS && memory; i++)
        if (blocks[i].memory == memory) {
            *(blocks[i].type == cudaMemoryTypeDevice ? &fake_cuda.on_device : &fake_cuda.pinned) -=
                blocks[i].size;
            blocks[i].memory = NULL;
            free(memory);
            return cudaSuccess;
        }
    return memory ? cudaErrorInvalidValue : cudaSuccess;
}

void fake_cuda_start(FakeCuda cuda)
{
    for (int i = 0; i < BLOCKS; i++)
        remove_block(blocks[i].memory);
    fake_cuda = cuda;
    last_event = 0;
    late_count = 0;
}

void fake_cuda_wake(void)
{
    while (late_count) {
        late_count--;
        for (size_t y = 0; y < late[late_count].height; y++)
            memset(late[late_count].to + y * late[late_count].pitch, 0xA5, late[late_count].row);
    }
}

static enum cudaMemoryType type_of(const uint8_t *at)
{
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].memory && at >= blocks[i].memory && at < blocks[i].memory + blocks[i].size)
            return blocks[i].type;
    return cudaMemoryTypeUnregistered;
}

cudaError_t cudaMalloc(void **memory, size_t size)
{
    CALL();
    if (fake_cuda.memory && fake_cuda.on_device + size > fake_cuda.memory)
        return cudaErrorMemoryAllocation;
    return add_block(memory, size, cudaMemoryTypeDevice);
}

cudaError_t cudaHostAlloc(void **memory, size_t size, unsigned flags)
{
    (void)flags;
    CALL();
    return add_block(memory, size, cudaMemoryTypeHost);
}

cudaError_t cudaFree(void *memory)
{
    CALL();
    return remove_block(memory);
}

cudaError_t cudaFreeHost(void *memory)
{
    CALL();
    return remove_block(memory);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *memory)
{
    CALL();
    *attributes = (struct cudaPointerAttributes){.type = type_of(memory)};
    return cudaSuccess;
}

static CUresult CUDAAPI pointer_attribute(void *data, CUpointer_attribute attribute,
                                          CUdeviceptr pointer)
{
    fake_cuda.checked++;
    if (attribute != CU_POINTER_ATTRIBUTE_CONTEXT)
        return CUDA_ERROR_INVALID_VALUE;
    const uintptr_t start = (uintptr_t)fake_cuda.foreign;
    const int foreign = pointer >= start && pointer < start + (uintptr_t)fake_cuda.foreign_size;
    *(CUcontext *)data = foreign             ? (CUcontext)&blocks[1]
                         : fake_cuda.context ? (CUcontext)fake_cuda.context
                                             : (CUcontext)&blocks[0];
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI current_context(CUcontext *context)
{
    *context = fake_cuda.pushed ? (CUcontext)fake_cuda.context : (CUcontext)&blocks[0];
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI push_context(CUcontext context)
{
    if (context != (CUcontext)fake_cuda.context)
        return CUDA_ERROR_INVALID_CONTEXT;
    fake_cuda.pushed++;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI pop_context(CUcontext *context)
{
    if (!fake_cuda.pushed)
        abort();
    *context = (CUcontext)fake_cuda.context;
    fake_cuda.pushed--;
    return CUDA_SUCCESS;
}

static cudaError_t entry_point(const char *name, void **function,
                               enum cudaDriverEntryPointQueryResult *result)
{
    const PFN_cuPointerGetAttribute_v4000 attribute = pointer_attribute;
    const PFN_cuCtxGetCurrent_v4000 current = current_context;
    const PFN_cuCtxPushCurrent_v4000 push = push_context;
    const PFN_cuCtxPopCurrent_v4000 pop = pop_context;
    *result = cudaDriverEntryPointSuccess;
    if (!strcmp(name, "cuPointerGetAttribute"))
        memcpy(function, &attribute, sizeof(attribute));
    else if (!strcmp(name, "cuCtxGetCurrent"))
        memcpy(function, &current, sizeof(current));
    else if (!strcmp(name, "cuCtxPushCurrent"))
        memcpy(function, &push, sizeof(push));
    else if (!strcmp(name, "cuCtxPopCurrent"))
        memcpy(function, &pop, sizeof(pop));
    else
        *result = cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}

#if CUDART_VERSION >= 12050
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *result)
{
    (void)version;
    (void)flags;
    return entry_point(name, function, result);
}
#else
cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *result)
{
    (void)flags;
    return entry_point(name, function, result);
}
#endif

/* ---- copies, streams and events ------------------------------------------------------------ */

/* If a copy is behind hanging work, postpones it until the device wakes up, and returns 1. */
static int put_off(void *to, size_t pitch, size_t row, size_t height, cudaStream_t stream)
{
    if (!fake_cuda.late || stream->done <= fake_cuda.now || type_of(to) != cudaMemoryTypeHost)
        return 0;
    if (late_count == LATE_COPIES)
        abort();
    late[late_count].to = to;
    late[late_count].pitch = pitch;
    late[late_count].row = row;
    late[late_count++].height = height;
    return 1;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    (void)kind;
    CALL();
    work_of_copy(stream);
    if (!put_off(to, size, size, 1, stream))
        memcpy(to, from, size);
    return cudaSuccess;
}

/* Copies at once, because only tests call this function. */
cudaError_t cudaMemcpy(void *to, const void *from, size_t size, enum cudaMemcpyKind kind)
{
    (void)kind;
    CALL();
    memcpy(to, from, size);
    return cudaSuccess;
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t pitch, size_t row,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    (void)kind;
    CALL();
    work_of_copy(stream);
    if (put_off(to, to_pitch, row, height, stream))
        return cudaSuccess;
    for (size_t y = 0; y < height; y++)
        memcpy((uint8_t *)to + y * to_pitch, (const uint8_t *)from + y * pitch, row);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t size, cudaStream_t stream)
{
    CALL();
    work(stream);
    memset(memory, value, size);
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    (void)flags;
    CALL();
    *stream = calloc(1, sizeof(**stream));
    fake_cuda.streams++;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    CALL();
    fake_cuda.streams--;
    free(stream);
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    wait_for(stream);
    return call();
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    CALL();
    return stream->done <= fake_cuda.now ? cudaSuccess : cudaErrorNotReady;
}

/* Keeps the stream busy for 5 s instead of calling the function. */
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *user)
{
    (void)function;
    (void)user;
    CALL();
    stream->done = (stream->done > fake_cuda.now ? stream->done : fake_cuda.now) + 5;
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    (void)flags;
    CALL();
    if (event->done > stream->done)
        stream->done = event->done;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    CALL();
    *event = calloc(1, sizeof(**event));
    fake_cuda.events++;
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    (void)flags;
    return cudaEventCreate(event);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    CALL();
    fake_cuda.events--;
    free(event);
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    CALL();
    event->done = stream->done;
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    CALL();
    return event->done <= fake_cuda.now ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    CALL();
    if (event->done > fake_cuda.now)
        fake_cuda.now = event->done;
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end)
{
    (void)begin;
    (void)end;
    CALL();
    *ms = 1;
    return cudaSuccess;
}

/* ---- textures ------------------------------------------------------------------------------ */

cudaError_t cudaGLGetDevices(unsigned *count, int *devices, unsigned room,
                             enum cudaGLDeviceList list)
{
    (void)list;
    CALL();
    *count = room ? 1 : 0;
    devices[0] = 0;
    return cudaSuccess;
}

cudaError_t cudaGraphicsGLRegisterImage(cudaGraphicsResource_t *resource, unsigned image,
                                        unsigned target, unsigned flags)
{
    (void)target;
    (void)flags;
    CALL();
    *resource = (cudaGraphicsResource_t)(uintptr_t)image;
    return cudaSuccess;
}

cudaError_t cudaGraphicsUnregisterResource(cudaGraphicsResource_t resource)
{
    (void)resource;
    return call();
}

cudaError_t cudaGraphicsMapResources(int count, cudaGraphicsResource_t *resources,
                                     cudaStream_t stream)
{
    (void)resources;
    CALL();
    work(stream);
    fake_cuda.mapped += count;
    return cudaSuccess;
}

cudaError_t cudaGraphicsUnmapResources(int count, cudaGraphicsResource_t *resources,
                                       cudaStream_t stream)
{
    (void)resources;
    (void)stream;
    CALL();
    fake_cuda.mapped -= count;
    return cudaSuccess;
}

cudaError_t cudaGraphicsSubResourceGetMappedArray(cudaArray_t *array,
                                                  cudaGraphicsResource_t resource, unsigned index,
                                                  unsigned level)
{
    (void)index;
    (void)level;
    CALL();
    *array = (cudaArray_t)resource;
    return cudaSuccess;
}

/* A copy from pageable memory waits for the stream. */
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                     size_t pitch, size_t row, size_t height,
                                     enum cudaMemcpyKind kind, cudaStream_t stream)
{
    (void)to;
    (void)x;
    (void)y;
    (void)pitch;
    (void)row;
    (void)height;
    (void)kind;
    CALL();
    work(stream);
    if (type_of(from) == cudaMemoryTypeUnregistered)
        wait_for(stream);
    return cudaSuccess;
}

/* ---- devices ------------------------------------------------------------------------------- */

/* Replaces the current context with the primary one. */
cudaError_t cudaSetDevice(int device)
{
    (void)device;
    fake_cuda.outside += fake_cuda.context != NULL;
    return call();
}

cudaError_t cudaGetDevice(int *device)
{
    CALL();
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    fake_cuda.calls++;
    return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t error)
{
    static char text[40];
    snprintf(text, sizeof(text), "fake error %d%s", (int)error,
             error == cudaErrorMemoryAllocation ? ": out of memory" : "");
    return text;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    (void)device;
    fake_cuda.outside -= fake_cuda.context && !fake_cuda.pushed; /* needs no context */
    CALL();
    snprintf(properties->name, sizeof(properties->name), "a fake GPU");
    properties->totalGlobalMem = fake_cuda.total ? fake_cuda.total : SIZE_MAX;
    return cudaSuccess;
}

int lumeq_cuda_check(int number)
{
    (void)number;
    return 0;
}

int lumeq_cuda_list(LumeqGpu *gpus, int count)
{
    (void)gpus;
    (void)count;
    return 1;
}

cudaError_t lumeq_cuda_load(LumeqCudaDevice *device, int number)
{
    (void)device;
    (void)number;
    return call();
}

/* ---- kernels ------------------------------------------------------------------------------- */

static void *cpu_backend(void)
{
    static _Alignas(max_align_t) char cpu[1 << 20];
    static const LumeqConfig config = {.threads = 1};
    static int opened;
    char text[256];
    if (!opened && (lumeq_backend_cpu.priv_size > sizeof(cpu) ||
                    lumeq_backend_cpu.open(cpu, &config, text, sizeof(text)) < 0))
        abort();
    opened = 1;
    return cpu;
}

/* Moves a pointer into a batch's first frame to another frame, `distance` bytes away. */
#define AFTER(part, distance) ((void *)((uint8_t *)(part) + (distance)))

static LumeqImage image_after(const LumeqImage *first, const ptrdiff_t *distances)
{
    LumeqImage image = *first;
    for (int i = 0; i < 3; i++)
        if (image.plane[i])
            image.plane[i] = AFTER(image.plane[i], distances[i]);
    return image;
}

int lumeq_cuda_same_params(const CurveParams *a, const CurveParams *b)
{
    return a->strength == b->strength && a->depth == b->depth;
}

int lumeq_cuda_same_images(const LumeqImage *a, const LumeqImage *b)
{
    return a->width == b->width && a->height == b->height && a->depth == b->depth &&
           a->stride[0] == b->stride[0] && !a->plane[0] == !b->plane[0];
}

/* Computes a frame's histogram and curve in the reference mode. */
static int make_curve(void *cpu, const LumeqMeasureJob *of, uint32_t *hist, TileSums *sums,
                      CurveTable *table, TileTables *tables)
{
    static _Thread_local uint32_t counts[2][TILES_MAX][TILE_CELLS];
    static _Thread_local uint8_t columns[LUMEQ_MAX_SIDE], rows[LUMEQ_MAX_SIDE];
    static _Thread_local NoiseProfile noise;
    static _Thread_local HazeCell haze[MEASURE_CELLS];
    static _Thread_local CurveWork work;
    static _Thread_local LumeqState state;
    static const LumeqState none;
    LumeqMeasureJob job = *of;
    void *pending;
    job.sync = NULL;
    job.counts = (LumeqCounts){.hist = hist,
                               .noise = &noise,
                               .haze = haze,
                               .lit = {columns, rows},
                               .tiles = job.clahe ? counts[0] : NULL,
                               .padding = job.clahe ? counts[1] : NULL};
    const int ret = lumeq_backend_cpu.measure(cpu, &job, &pending);
    if (ret < 0)
        return ret;
    memset(&state.curve, 0, offsetof(CurveResult, bin));
    curve_compute(&job.curve, hist, &none.curve, &state.curve, table, &work);
    if (job.clahe)
        lumeq_tile_curves(&job.grid, counts[0], counts[1], &state.curve, &none.tiles, &state.tiles,
                          tables);
    *sums = state.tiles.sums;
    return 0;
}

cudaError_t lumeq_cuda_find_curve(const LumeqCudaDevice *device, const LumeqMeasureJob *job,
                                  const LumeqCudaReference *parts, const LumeqCudaBatch *batch,
                                  cudaStream_t stream)
{
    CALL();
    work(stream);
    fake_cuda.batches += batch->count > 1;
    if (device->early_launches || !job->curve.reference)
        abort(); /* outside the reference mode, the host computes the curve */
    for (int i = 0; i < batch->count; i++) {
        const LumeqCudaInBatch *of = &batch->of[i];
        LumeqMeasureJob own = *job;
        own.in = image_after(&job->in, of->in);
        LumeqCudaTally *tally = AFTER(parts->tally, of->device);
        LumeqCudaTally *host = AFTER(parts->host, of->host);
        CurveTable *table = AFTER(parts->table, of->device);
        if (tally->blocks_done ||
            make_curve(cpu_backend(), &own, host->hist, AFTER(parts->sums, of->host), table,
                       AFTER(parts->tables, of->device)) < 0)
            abort();
    }
    return cudaSuccess;
}

cudaError_t lumeq_cuda_measure(const LumeqCudaDevice *device, const LumeqMeasureJob *job,
                               LumeqCudaTally *tally, LumeqCudaTally *host,
                               const LumeqCudaBatch *batch, cudaStream_t stream)
{
    static NoiseProfile noise;
    void *pending;
    CALL();
    work(stream);
    fake_cuda.batches += batch->count > 1;
    for (int i = 0; i < batch->count; i++) {
        const LumeqCudaInBatch *of = &batch->of[i];
        const LumeqCudaTally *counting = AFTER(tally, of->device);
        LumeqCudaTally *counted = AFTER(host, of->host);
        LumeqMeasureJob own = *job;
        if (device->early_launches || counting->blocks_done ||
            (job->counts.cells && job->counts.cells[0]))
            abort();
        own.in = image_after(&job->in, of->in);
        if (job->previous.plane[0])
            own.previous.plane[0] = AFTER(job->previous.plane[0], of->before);
        if (job->counts.tiles)
            own.counts.tiles = AFTER(job->counts.tiles, of->device);
        if (job->counts.padding)
            own.counts.padding = AFTER(job->counts.padding, of->device);
        own.counts.hist = counted->hist;
        own.counts.noise = job->previous.plane[0] ? &counted->noise : &noise;
        own.counts.haze = counted->haze;
        own.counts.lit[BARS_COLUMNS] = counted->lit[BARS_COLUMNS];
        own.counts.lit[BARS_ROWS] = counted->lit[BARS_ROWS];
        if (lumeq_backend_cpu.measure(cpu_backend(), &own, &pending) < 0)
            abort();
    }
    return cudaSuccess;
}

cudaError_t lumeq_cuda_apply_curve(const LumeqCudaDevice *device, const LumeqApplyJob *job,
                                   const LumeqCudaBatch *batch, int early, cudaStream_t stream)
{
    const BarsState no_bars = {.active = {0, 0, job->in.width, job->in.height}};
    CALL();
    if (device->early_launches || (job->write > 1 && lumeq_planes(&job->in) != job->write) ||
        (early && batch->count > 1) || job->in.shift != job->out.shift)
        abort(); /* kernels write in the input's layout */
    work(stream);
    for (int i = 0; i < batch->count; i++) {
        const LumeqCudaInBatch *of = &batch->of[i];
        LumeqApplyJob own = *job;
        own.in = image_after(&job->in, of->in);
        own.out = image_after(&job->out, of->out);
        own.curve.frame = of->frame;
        own.table = AFTER(job->table, of->device);
        own.tables = AFTER(job->tables, of->device);
        own.bars = job->bars ? AFTER(job->bars, of->device) : &no_bars;
        if (lumeq_backend_cpu.apply(cpu_backend(), &own) < 0)
            abort();
    }
    return cudaSuccess;
}

/* Does nothing, because the CPU backend clears haze when it applies the curve. */
cudaError_t lumeq_cuda_clear_frame(const LumeqApplyJob *job, cudaStream_t stream)
{
    (void)job;
    CALL();
    work(stream);
    return cudaSuccess;
}

cudaError_t lumeq_cuda_convert(const LumeqCudaSamples *to, const LumeqCudaSamples *from, int width,
                               int height, int sample_size, int down, int up, cudaStream_t stream)
{
    CALL();
    work(stream);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const uint8_t *in = from->data + y * from->stride + x * from->step * sample_size;
            uint8_t *out = to->data + y * to->stride + x * to->step * sample_size;
            uint16_t sample = 0;
            memcpy(&sample, in, (size_t)sample_size);
            sample = (uint16_t)(sample >> down << up);
            memcpy(out, &sample, (size_t)sample_size);
        }
    return cudaSuccess;
}
