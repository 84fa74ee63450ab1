#include "player/view/view_cuda.h"

#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime_api.h>

#include <cuda_gl_interop.h>

#include <time.h>

#include "player/clock.h"

/* Maximum number of registered textures: one for each plane of each side. */
#define TEXTURES (3 * VIEW_SIDES)

/* A GPU that makes no progress for this long is considered lost. */
#define PATIENCE_US 10000000

/* Polling interval; spinning would cost a tenth of a core at 60 fps. */
#define NAP_NS 100000

/* Maximum number of linked GPUs that OpenGL runs on. */
#define GL_DEVICES 16

/* A texture registered with CUDA. */
typedef struct Texture {
    unsigned texture; /* 0: unused */
    cudaGraphicsResource_t resource;
} Texture;

struct ViewCuda {
    int device;
    cudaStream_t stream;
    Texture textures[TEXTURES];
    int next; /* index of the next texture to evict */
    ViewUploader uploader;
    uint8_t *fetched; /* rows from the device, pinned */
    size_t fetched_size;
    char failure[256];
};

/* Number of a frame's planes in each kind of memory. */
typedef struct Places {
    int device, pageable;
} Places;

void view_cuda_give_up(ViewCuda *cuda, const char *why)
{
    snprintf(cuda->failure, sizeof(cuda->failure),
             "frames of GPU %d are now shown through host memory: %s", cuda->device, why);
}

static void give_up(ViewCuda *cuda, cudaError_t error)
{
    const int hangs = error == cudaErrorNotReady;
    if (!hangs)
        (void)cudaGetLastError(); /* clear the error, so that later calls do not report it */
    view_cuda_give_up(cuda, hangs ? "no progress for 10 s" : cudaGetErrorString(error));
}

/* Waits for the stream. Returns cudaErrorNotReady if the GPU hangs. */
static cudaError_t await(const ViewCuda *cuda)
{
    const int64_t begin = clock_now();
    const struct timespec nap = {0, NAP_NS};
    cudaError_t error;
    while ((error = cudaStreamQuery(cuda->stream)) == cudaErrorNotReady) {
        (void)cudaGetLastError(); /* clear the sticky status */
        if (clock_now() - begin > PATIENCE_US)
            break;
        nanosleep(&nap, NULL);
    }
    return error;
}

static void unregister(Texture *t)
{
    if (t->texture && cudaGraphicsUnregisterResource(t->resource) != cudaSuccess)
        (void)cudaGetLastError(); /* ignored: the texture is deleted, or about to be */
    *t = (Texture){0};
}

static Texture *find(ViewCuda *cuda, unsigned texture)
{
    for (int i = 0; i < TEXTURES; i++)
        if (cuda->textures[i].texture == texture)
            return &cuda->textures[i];
    return NULL;
}

static Texture *make_room(ViewCuda *cuda)
{
    Texture *t = find(cuda, 0);
    if (!t) {
        t = &cuda->textures[cuda->next];
        cuda->next = (cuda->next + 1) % TEXTURES;
        unregister(t);
    }
    return t;
}

static cudaError_t resource_of(ViewCuda *cuda, unsigned texture, cudaGraphicsResource_t *resource)
{
    Texture *t = find(cuda, texture);
    if (!t) {
        t = make_room(cuda);
        const cudaError_t error = cudaGraphicsGLRegisterImage(
            &t->resource, texture, GL_TEXTURE_2D, cudaGraphicsRegisterFlagsWriteDiscard);
        if (error)
            return error;
        t->texture = texture;
    }
    *resource = t->resource;
    return cudaSuccess;
}

static cudaError_t copy(ViewCuda *cuda, cudaGraphicsResource_t resource, const ViewPlane *plane)
{
    const size_t row = (size_t)plane->bytes_per_row, rows = (size_t)plane->height;
    cudaArray_t array = NULL;
    cudaError_t error = cudaGraphicsSubResourceGetMappedArray(&array, resource, 0, 0);
    if (!error && plane->stride >= plane->bytes_per_row)
        return cudaMemcpy2DToArrayAsync(array, 0, 0, plane->data, (size_t)plane->stride, row, rows,
                                        cudaMemcpyDefault, cuda->stream);
    const char *from = plane->data; /* bottom-up frame: CUDA copies take no negative stride */
    for (size_t y = 0; y < rows && !error; y++, from += plane->stride)
        error = cudaMemcpy2DToArrayAsync(array, 0, y, from, row, row, 1, cudaMemcpyDefault,
                                         cuda->stream);
    return error;
}

/* Waits for the copies, because the caller may free the frame at once. A copy from pageable memory
 * blocks without a time limit if the GPU hangs, so such copies begin only when the GPU responds. */
static cudaError_t fill(ViewCuda *cuda, cudaGraphicsResource_t *resources, const ViewPlane *planes,
                        int count, int pageable)
{
    cudaError_t error = cudaGraphicsMapResources(count, resources, cuda->stream);
    if (error)
        return error;
    if (pageable)
        error = await(cuda);
    for (int i = 0; i < count && !error; i++)
        error = copy(cuda, resources[i], &planes[i]);
    const cudaError_t waited = error == cudaErrorNotReady ? error : await(cuda);
    if (waited == cudaErrorNotReady)
        return waited;
    const cudaError_t unmapped = cudaGraphicsUnmapResources(count, resources, cuda->stream);
    if (error || waited)
        return error ? error : waited;
    return unmapped;
}

static cudaError_t find_places(const ViewPlane *planes, int count, Places *places)
{
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < count && !error; i++) {
        struct cudaPointerAttributes attributes = {0};
        error = cudaPointerGetAttributes(&attributes, planes[i].data);
        places->device += error || attributes.type == cudaMemoryTypeDevice;
        places->pageable += attributes.type == cudaMemoryTypeUnregistered;
    }
    return error;
}

static int upload(void *opaque, const ViewPlane *planes, int count, MediaError *error)
{
    ViewCuda *cuda = opaque;
    cudaGraphicsResource_t resources[TEXTURES];
    Places places = {0, 0};
    if (cuda->failure[0] || count > TEXTURES)
        return 1;
    cudaError_t status = cudaSetDevice(cuda->device);
    if (status) /* lost device: assume that it holds all planes */
        places.device = count;
    else
        status = find_places(planes, count, &places);
    for (int i = 0; i < count && !status; i++)
        status = resource_of(cuda, planes[i].texture, &resources[i]);
    if (!status)
        status = fill(cuda, resources, planes, count, places.pageable);
    if (!status)
        return 0;
    give_up(cuda, status);
    return places.device ? media_fail(error, MEDIA_INPUT, "%s", cuda->failure) : 1;
}

static cudaError_t make_room_for(ViewCuda *cuda, size_t size)
{
    if (size <= cuda->fetched_size)
        return cudaSuccess;
    cudaError_t error = cudaFreeHost(cuda->fetched);
    cuda->fetched = NULL;
    cuda->fetched_size = 0;
    if (!error)
        error = cudaHostAlloc((void **)&cuda->fetched, size, cudaHostAllocDefault);
    if (!error)
        cuda->fetched_size = size;
    return error;
}

static cudaError_t fetch_plane(const ViewCuda *cuda, FrameRows *rows, uint8_t **to)
{
    struct cudaPointerAttributes attributes = {0};
    const size_t bytes = (size_t)rows->bytes, count = (size_t)rows->count;
    cudaError_t error = cudaPointerGetAttributes(&attributes, rows->data);
    if (error || attributes.type != cudaMemoryTypeDevice)
        return error;
    error = cudaMemcpy2DAsync(*to, bytes, rows->data, (size_t)rows->stride, bytes, count,
                              cudaMemcpyDeviceToHost, cuda->stream);
    rows->data = *to;
    rows->stride = rows->bytes;
    *to += bytes * count;
    return error;
}

int view_cuda_fetch(ViewCuda *cuda, FrameRows *rows, int count)
{
    size_t size = 0;
    if (cuda->failure[0])
        return -1;
    for (int i = 0; i < count; i++)
        size += (size_t)rows[i].bytes * (size_t)rows[i].count;
    cudaError_t error = cudaSetDevice(cuda->device);
    if (!error)
        error = make_room_for(cuda, size);
    uint8_t *to = cuda->fetched;
    for (int i = 0; i < count && !error; i++)
        error = fetch_plane(cuda, &rows[i], &to);
    if (!error)
        error = await(cuda);
    if (error)
        give_up(cuda, error);
    return error ? -1 : 0;
}

static void forget(void *opaque, unsigned texture)
{
    ViewCuda *cuda = opaque;
    Texture *t = find(cuda, texture);
    if (t && !cuda->failure[0])
        unregister(t);
}

/* Checks that OpenGL's context runs on the device. */
static int check_device(int device, MediaError *error)
{
    unsigned count = 0;
    int devices[GL_DEVICES];
    const cudaError_t status = cudaGLGetDevices(&count, devices, GL_DEVICES, cudaGLDeviceListAll);
    (void)cudaGetLastError();
    for (unsigned i = 0; i < count && i < GL_DEVICES && !status; i++)
        if (devices[i] == device)
            return 0;
    return media_fail(error, MEDIA_INPUT, "OpenGL does not run on GPU %d%s%s", device,
                      status ? ": " : "", status ? cudaGetErrorString(status) : "");
}

int view_cuda_open(ViewCuda **cuda, int device, MediaError *error)
{
    *cuda = NULL;
    if (check_device(device, error) < 0)
        return -1;
    ViewCuda *c = calloc(1, sizeof(*c));
    if (!c)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    cudaError_t status = cudaSetDevice(device);
    if (!status)
        status = cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking);
    if (status) {
        (void)cudaGetLastError();
        free(c);
        return media_fail(error, MEDIA_INPUT, "cannot create a stream for the window on GPU %d: %s",
                          device, cudaGetErrorString(status));
    }
    c->device = device;
    c->uploader = (ViewUploader){.upload = upload, .forget = forget, .opaque = c};
    *cuda = c;
    return 0;
}

const ViewUploader *view_cuda_uploader(const ViewCuda *cuda)
{
    return &cuda->uploader;
}

const char *view_cuda_failure(const ViewCuda *cuda)
{
    return cuda->failure[0] ? cuda->failure : NULL;
}

void view_cuda_close(ViewCuda **cuda)
{
    ViewCuda *c = *cuda;
    if (!c)
        return;
    if (!c->failure[0]) {
        for (int i = 0; i < TEXTURES; i++)
            unregister(&c->textures[i]);
        cudaFreeHost(c->fetched);
        cudaStreamDestroy(c->stream);
    } /* else the GPU may still use textures and memory */
    free(c);
    *cuda = NULL;
}
