/*
 * A fake NVIDIA driver and video decoder: libcuda.so.1 and libnvcuvid.so.1, as lumeq and FFmpeg
 * load them. fake_nvenc.c adds the encoder. Nothing is computed; all memory is the host's. A
 * decoder maps no more pictures at a time than it was created for. Environment:
 *
 *   FAKE_DRIVER          words: init=N, the error of cuInit(); cuda=N, the CUDA version [13000];
 *                        count=N, the number of GPUs [1]; hang, crash: cuInit() hangs or crashes
 *   FAKE_OPENGL          hang, crash: loading this library hangs or crashes
 *   FAKE_NVDEC           none: no decoder can be created; N: decoding fails after N pictures;
 *                        map N: mapping fails after N pictures; only N: only the codec with this
 *                        number is supported
 *   FAKE_NVDEC_PICTURES  a folder with a file WxH.nv12 for each coded size: the decoded pictures,
 *                        in decoding order, without padding. By default, pictures are blank.
 *   FAKE_CUDA_COPIES     copies fail after this many planes
 *   FAKE_NVIDIA_TELLS    if set, logs to standard error what is released, and at exit the number of
 *                        contexts created and of memory blocks not freed
 */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_nvidia.h"

#define PITCH 2048
#define ERROR_UNKNOWN 999

/* Attributes of devices. */
#define MULTIPROCESSORS 16
#define MAJOR 75
#define MINOR 76

FakeNvidia fake_nvidia;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* several threads decode */

void fake_nvidia_log(const char *what)
{
    if (getenv("FAKE_NVIDIA_TELLS"))
        (void)fprintf(stderr, "%s is given back\n", what);
}

/* The rest of FAKE_DRIVER after this word, or NULL. */
static const char *word(const char *name)
{
    const char *words = getenv("FAKE_DRIVER"), *at = words ? strstr(words, name) : NULL;
    return at ? at + strlen(name) : NULL;
}

static int number(const char *name, int by_default)
{
    return word(name) ? atoi(word(name)) : by_default;
}

static void fail(int hangs, int crashes)
{
    while (hangs)
        pause();
    if (crashes)
        (void)kill(getpid(), SIGKILL); /* sanitizers cannot catch this signal */
}

__attribute__((constructor)) static void load(void)
{
    const char *how = getenv("FAKE_OPENGL");
    fail(how && !strcmp(how, "hang"), how && !strcmp(how, "crash"));
}

__attribute__((destructor)) static void unload(void)
{
    if (getenv("FAKE_NVIDIA_TELLS"))
        (void)fprintf(stderr, "contexts %d blocks %d\n", fake_nvidia.contexts, fake_nvidia.blocks);
}

/* ---- functions that FFmpeg needs to find, but that do nothing here -------------------------- */

static int succeed(void)
{
    return 0;
}

__attribute__((alias("succeed"))) extern __typeof__(succeed) cuArray3DCreate_v2, cuArrayDestroy,
    cuCtxDestroy_v2, cuCtxGetDevice, cuCtxPopCurrent_v2, cuCtxPushCurrent_v2, cuCtxSetLimit,
    cuDevicePrimaryCtxGetState, cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxReset,
    cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxSetFlags, cuEventCreate, cuEventDestroy_v2,
    cuEventQuery, cuEventRecord, cuEventSynchronize, cuGLGetDevices_v2, cuGraphicsGLRegisterImage,
    cuGraphicsMapResources, cuGraphicsResourceGetMappedPointer_v2,
    cuGraphicsSubResourceGetMappedArray, cuGraphicsUnmapResources, cuGraphicsUnregisterResource,
    cuLaunchKernel, cuLinkAddData, cuLinkComplete, cuLinkCreate, cuLinkDestroy, cuMemAllocManaged,
    cuMemAllocPitch_v2, cuMemcpy, cuMemcpy2D_v2, cuMemcpyAsync, cuMemcpyDtoDAsync_v2,
    cuMemcpyDtoD_v2, cuMemcpyDtoHAsync_v2, cuMemcpyDtoH_v2, cuMemcpyHtoDAsync_v2, cuMemcpyHtoD_v2,
    cuMemsetD8Async, cuModuleGetFunction, cuModuleGetGlobal, cuModuleLoadData, cuModuleUnload,
    cuStreamAddCallback, cuStreamCreate, cuStreamDestroy_v2, cuStreamQuery, cuStreamSynchronize,
    cuTexObjectCreate, cuTexObjectDestroy, cuvidCreateVideoParser, cuvidCreateVideoSource,
    cuvidCreateVideoSourceW, cuvidCtxLock, cuvidCtxLockCreate, cuvidCtxLockDestroy, cuvidCtxUnlock,
    cuvidDestroyVideoParser, cuvidDestroyVideoSource, cuvidGetDecodeStatus,
    cuvidGetSourceAudioFormat, cuvidGetSourceVideoFormat, cuvidGetVideoSourceState,
    cuvidParseVideoData, cuvidReconfigureDecoder, cuvidSetVideoSourceState;

/* ---- the driver ----------------------------------------------------------------------------- */

int cuInit(unsigned flags)
{
    fail(word("hang") != NULL, word("crash") != NULL);
    return number("init=", 0);
}

int cuDriverGetVersion(int *version)
{
    *version = number("cuda=", 13000);
    return 0;
}

int cuDeviceGetCount(int *count)
{
    *count = number("count=", 1);
    return 0;
}

int cuDeviceGet(int *device, int index)
{
    *device = index;
    return 0;
}

int cuDeviceGetName(char *name, int size, int device)
{
    (void)snprintf(name, (size_t)size, "Made-up GPU %d", device);
    return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    *bytes = (size_t)8 << 30;
    return 0;
}

int cuDeviceComputeCapability(int *major, int *minor, int device)
{
    *major = 9;
    *minor = 0;
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    switch (attribute) {
    case MULTIPROCESSORS: *value = 132; break;
    case MAJOR: *value = 9; break;
    case MINOR: *value = 0; break;
    default: *value = 512; /* FFmpeg queries the alignment of planes */
    }
    return 0;
}

int cuGetErrorString(int error, const char **text)
{
    *text = "made-up error";
    return 0;
}

int cuGetErrorName(int error, const char **text)
{
    return cuGetErrorString(error, text);
}

int cuCtxCreate_v2(void **context, unsigned flags, int device)
{
    *context = &fake_nvidia;
    fake_nvidia.contexts++;
    return 0;
}

int cuMemAlloc_v2(uintptr_t *memory, size_t size)
{
    *memory = (uintptr_t)aligned_alloc(512, (size + 511) / 512 * 512);
    fake_nvidia.blocks += *memory != 0;
    return *memory ? 0 : ERROR_UNKNOWN;
}

int cuMemFree_v2(uintptr_t memory)
{
    free((void *)memory);
    fake_nvidia.blocks--;
    return 0;
}

/* The source or the destination in CUDA_MEMCPY2D. */
typedef struct Place {
    size_t x, y;
    int kind; /* 1: the host's memory */
    unsigned char *host, *device;
    void *array;
    size_t pitch;
} Place;

typedef struct Copy {
    Place from, to;
    size_t width, height;
} Copy;

static unsigned char *row(const Place *p, size_t y)
{
    return (p->kind == 1 ? p->host : p->device) + (p->y + y) * p->pitch + p->x;
}

int cuMemcpy2DAsync_v2(const Copy *c, void *stream)
{
    const char *copies = getenv("FAKE_CUDA_COPIES");
    if (copies && fake_nvidia.copies++ >= atoi(copies))
        return ERROR_UNKNOWN;
    for (size_t y = 0; y < c->height; y++)
        memcpy(row(&c->to, y), row(&c->from, y), c->width);
    return 0;
}

/* ---- the decoder ---------------------------------------------------------------------------- */

typedef struct Decoder {
    FILE *pictures; /* NULL: blank pictures */
    size_t width, height;
    int outputs, mapped, maps; /* pictures: maximum to map at a time; mapped now; mapped so far */
    int decoded;
    int numbers[256]; /* number of the picture in each surface */
} Decoder;

/* Returns the number that FAKE_NVDEC has in this format, or INT_MAX. */
static int limit(const char *format)
{
    const char *words = getenv("FAKE_NVDEC");
    int n;
    return words && sscanf(words, format, &n) == 1 ? n : INT_MAX;
}

/* CUVIDDECODECAPS. */
typedef struct Caps {
    int codec, asked[5];
    unsigned char supported, engines;
    unsigned short formats;
    unsigned most[3];
    unsigned short least[2];
} Caps;

int cuvidGetDecoderCaps(Caps *caps)
{
    const int only = limit("only %d");
    caps->supported = only == INT_MAX || only == caps->codec;
    caps->formats = 3;
    caps->most[0] = caps->most[1] = caps->most[2] = 1 << 20;
    return 0;
}

/* Index of ulNumOutputSurfaces in CUVIDDECODECREATEINFO as an array. 0 and 1: the coded size. */
#define OUTPUTS_AT 14

int cuvidCreateDecoder(Decoder **decoder, const unsigned long *info)
{
    const char *words = getenv("FAKE_NVDEC"), *folder = getenv("FAKE_NVDEC_PICTURES");
    char path[4096];
    Decoder *d = words && !strcmp(words, "none") ? NULL : malloc(sizeof(*d));
    if (!d)
        return ERROR_UNKNOWN;
    *d = (Decoder){.width = info[0], .height = info[1], .outputs = (int)info[OUTPUTS_AT]};
    if (folder && *folder) {
        (void)snprintf(path, sizeof(path), "%s/%zux%zu.nv12", folder, d->width, d->height);
        d->pictures = fopen(path, "rb");
        if (!d->pictures) {
            free(d);
            return ERROR_UNKNOWN;
        }
    }
    *decoder = d;
    pthread_mutex_lock(&lock);
    fake_nvidia.decoders++;
    pthread_mutex_unlock(&lock);
    return 0;
}

int cuvidDestroyDecoder(Decoder *d)
{
    fake_nvidia_log("a decoder");
    if (d->pictures)
        (void)fclose(d->pictures);
    free(d);
    pthread_mutex_lock(&lock);
    fake_nvidia.decoders--;
    pthread_mutex_unlock(&lock);
    return 0;
}

/* CUVIDPICPARAMS: its third number is the index of the surface. */
int cuvidDecodePicture(Decoder *d, const int *parameters)
{
    pthread_mutex_lock(&lock);
    d->numbers[parameters[2] & 255] = d->decoded;
    const int fails = d->decoded++ >= limit("%d");
    pthread_mutex_unlock(&lock);
    return fails ? ERROR_UNKNOWN : 0;
}

/* Returns NULL if the picture cannot be read. */
static unsigned char *read_picture(const Decoder *d, int number)
{
    const size_t rows = d->height * 3 / 2;
    unsigned char *memory = calloc(PITCH, rows);
    if (!memory || !d->pictures)
        return memory;
    int whole = fseek(d->pictures, number * (long)(d->width * rows), SEEK_SET) == 0;
    for (size_t y = 0; y < rows && whole; y++)
        whole = fread(memory + y * PITCH, 1, d->width, d->pictures) == d->width;
    if (!whole)
        free(memory);
    return whole ? memory : NULL;
}

int cuvidMapVideoFrame64(Decoder *d, int index, uintptr_t *memory, unsigned *pitch, void *params)
{
    FakeNvidia *all = &fake_nvidia;
    unsigned char *picture = NULL;
    pthread_mutex_lock(&lock);
    if (d->mapped == d->outputs)
        all->refused++;
    else if (d->maps++ < limit("map %d"))
        picture = read_picture(d, d->numbers[index & 255]);
    if (picture) {
        d->mapped++;
        all->mapped++;
        all->most_mapped = all->mapped > all->most_mapped ? all->mapped : all->most_mapped;
    }
    pthread_mutex_unlock(&lock);
    *memory = (uintptr_t)picture;
    *pitch = PITCH;
    return picture ? 0 : ERROR_UNKNOWN;
}

int cuvidUnmapVideoFrame64(Decoder *d, uintptr_t memory)
{
    fake_nvidia_log("a picture");
    free((void *)memory);
    pthread_mutex_lock(&lock);
    d->mapped--;
    fake_nvidia.mapped--;
    pthread_mutex_unlock(&lock);
    return 0;
}
