/*
 * A fake NVIDIA driver and decoder: libcuda.so.1 and libnvcuvid.so.1 in one, as FFmpeg loads them.
 * Nothing is computed; all memory is the host's. FAKE_NVDEC in the environment sets the decoder's
 * behaviour:
 *
 * - none: it cannot be created
 * - N: N pictures are decoded, and each one after that fails
 * - map N: all are decoded, but only N can be mapped
 *
 * FAKE_NVDEC_PICTURES: a file of NV12 pictures without padding, of FAKE_NVDEC_SIZE (160x90), which
 * the decoder returns in decoding order; without it, pictures have one colour. It may list several
 * files, separated by commas, with as many sizes: a decoder takes the first file of its size.
 * FAKE_CUDA_COPIES: copies fail after this many planes.
 * FAKE_NVIDIA_TELLS: writes a line to standard error whenever a picture or a decoder is released.
 * FAKE_NVIDIA_LOG: a file that gets a line at the end: contexts created, and resources not
 * released. As with a real decoder, no more pictures can be mapped at a time than it was created
 * for.
 */
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PITCH 2048
#define ROWS (1080 * 2)

#define ERROR_UNKNOWN 999

/* Decoders at a time. */
#define DECODERS 64

static int contexts, decoders, mapped, most_mapped, decoded, blocks, copied, refused;

/* A decoder: its parameters, mapped pictures, and the pictures it decodes. */
typedef struct Decoder {
    int open, outputs, mapped;
    FILE *pictures; /* NULL: of one colour */
    int decoded;    /* of them */
    unsigned width, height, coded_height;
    int numbers[256]; /* of surfaces: of the picture that was decoded there */
} Decoder;

static Decoder all[DECODERS];
static unsigned char picture[PITCH * ROWS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* several decode at a time */

/* Counters for the tests. */
int fake_contexts(void);
int fake_open(void);
int fake_most_mapped(void);
int fake_mapped(void);
int fake_outputs(void);
int fake_refused(void);
int fake_decoders(void);
int fake_reset(void);
int fake_forget(void);

int fake_contexts(void)
{
    return contexts;
}

int fake_open(void)
{
    return decoders + mapped + blocks;
}

int fake_most_mapped(void)
{
    return most_mapped;
}

/* Pictures mapped now, the most at a time over all decoders, and refused requests for more. */
int fake_mapped(void)
{
    return mapped;
}

int fake_outputs(void)
{
    int outputs = 0;
    for (int i = 0; i < DECODERS; i++)
        outputs += all[i].open * all[i].outputs;
    return outputs;
}

int fake_refused(void)
{
    return refused;
}

int fake_decoders(void)
{
    return decoders;
}

int fake_reset(void)
{
    return contexts = most_mapped = decoded = refused = copied = 0;
}

/* Forgets resources that were leaked on purpose. */
int fake_forget(void)
{
    memset(all, 0, sizeof(all));
    return decoders = mapped = blocks = 0;
}

static const char *word(void)
{
    const char *words = getenv("FAKE_NVDEC");
    return words ? words : "";
}

static void tell(const char *what)
{
    if (getenv("FAKE_NVIDIA_TELLS"))
        (void)fprintf(stderr, "%s is given back\n", what);
}

/* Each has arguments of its own, which are not looked at. */
#define NOTHING(name)                                                                              \
    int name(void);                                                                                \
    int name(void)                                                                                 \
    {                                                                                              \
        return 0;                                                                                  \
    }

NOTHING(cuInit)
NOTHING(cuDeviceGet)
NOTHING(cuDeviceGetName)
NOTHING(cuCtxSetLimit)
NOTHING(cuCtxPushCurrent_v2)
NOTHING(cuCtxPopCurrent_v2)
NOTHING(cuCtxDestroy_v2)
NOTHING(cuMemAllocPitch_v2)
NOTHING(cuMemAllocManaged)
NOTHING(cuMemsetD8Async)
NOTHING(cuMemcpy)
NOTHING(cuMemcpyAsync)
NOTHING(cuMemcpy2D_v2)
NOTHING(cuMemcpyHtoD_v2)
NOTHING(cuMemcpyHtoDAsync_v2)
NOTHING(cuMemcpyDtoH_v2)
NOTHING(cuMemcpyDtoHAsync_v2)
NOTHING(cuMemcpyDtoD_v2)
NOTHING(cuMemcpyDtoDAsync_v2)
NOTHING(cuCtxGetDevice)
NOTHING(cuDevicePrimaryCtxRetain)
NOTHING(cuDevicePrimaryCtxRelease)
NOTHING(cuDevicePrimaryCtxSetFlags)
NOTHING(cuDevicePrimaryCtxGetState)
NOTHING(cuDevicePrimaryCtxReset)
NOTHING(cuStreamCreate)
NOTHING(cuStreamQuery)
NOTHING(cuStreamSynchronize)
NOTHING(cuStreamDestroy_v2)
NOTHING(cuStreamAddCallback)
NOTHING(cuEventCreate)
NOTHING(cuEventDestroy_v2)
NOTHING(cuEventSynchronize)
NOTHING(cuEventQuery)
NOTHING(cuEventRecord)
NOTHING(cuLaunchKernel)
NOTHING(cuLinkCreate)
NOTHING(cuLinkAddData)
NOTHING(cuLinkComplete)
NOTHING(cuLinkDestroy)
NOTHING(cuModuleLoadData)
NOTHING(cuModuleUnload)
NOTHING(cuModuleGetFunction)
NOTHING(cuModuleGetGlobal)
NOTHING(cuTexObjectCreate)
NOTHING(cuTexObjectDestroy)
NOTHING(cuGLGetDevices_v2)
NOTHING(cuGraphicsGLRegisterImage)
NOTHING(cuGraphicsUnregisterResource)
NOTHING(cuGraphicsMapResources)
NOTHING(cuGraphicsUnmapResources)
NOTHING(cuGraphicsSubResourceGetMappedArray)
NOTHING(cuGraphicsResourceGetMappedPointer_v2)
NOTHING(cuDeviceGetUuid)
NOTHING(cuImportExternalMemory)
NOTHING(cuDestroyExternalMemory)
NOTHING(cuExternalMemoryGetMappedBuffer)
NOTHING(cuExternalMemoryGetMappedMipmappedArray)
NOTHING(cuMipmappedArrayGetLevel)
NOTHING(cuMipmappedArrayDestroy)
NOTHING(cuImportExternalSemaphore)
NOTHING(cuDestroyExternalSemaphore)
NOTHING(cuSignalExternalSemaphoresAsync)
NOTHING(cuWaitExternalSemaphoresAsync)
NOTHING(cuArray3DCreate_v2)
NOTHING(cuArrayDestroy)
NOTHING(cuEGLStreamProducerConnect)
NOTHING(cuEGLStreamProducerDisconnect)
NOTHING(cuEGLStreamConsumerDisconnect)
NOTHING(cuEGLStreamProducerPresentFrame)
NOTHING(cuEGLStreamProducerReturnFrame)
NOTHING(cuvidGetDecodeStatus)
NOTHING(cuvidReconfigureDecoder)
NOTHING(cuvidCtxLockCreate)
NOTHING(cuvidCtxLockDestroy)
NOTHING(cuvidCtxLock)
NOTHING(cuvidCtxUnlock)
NOTHING(cuvidCreateVideoSource)
NOTHING(cuvidCreateVideoSourceW)
NOTHING(cuvidDestroyVideoSource)
NOTHING(cuvidSetVideoSourceState)
NOTHING(cuvidGetVideoSourceState)
NOTHING(cuvidGetSourceVideoFormat)
NOTHING(cuvidGetSourceAudioFormat)
NOTHING(cuvidCreateVideoParser)
NOTHING(cuvidParseVideoData)
NOTHING(cuvidDestroyVideoParser)

int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetCount(int *count);
int cuDeviceComputeCapability(int *major, int *minor, int device);
int cuGetErrorName(int error, const char **text);
int cuGetErrorString(int error, const char **text);
int cuCtxCreate_v2(void **context, unsigned flags, int device);
int cuMemAlloc_v2(unsigned long long *memory, size_t size);
int cuMemFree_v2(unsigned long long memory);
int cuMemcpy2DAsync_v2(const void *copy, void *stream);
int cuvidCreateDecoder(void **decoder, void *info);
int cuvidDestroyDecoder(void *decoder);
int cuvidDecodePicture(void *decoder, void *parameters);
int cuvidMapVideoFrame64(void *decoder, int index, unsigned long long *memory, unsigned *pitch,
                         void *parameters);
int cuvidUnmapVideoFrame64(void *decoder, unsigned long long memory);

/* FFmpeg queries the alignment of planes. */
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)attribute;
    (void)device;
    *value = 512;
    return 0;
}

int cuDeviceGetCount(int *count)
{
    *count = 1;
    return 0;
}

int cuDeviceComputeCapability(int *major, int *minor, int device)
{
    (void)device;
    *major = 9;
    *minor = 0;
    return 0;
}

int cuGetErrorName(int error, const char **text)
{
    (void)error;
    *text = "a requested error";
    return 0;
}

int cuGetErrorString(int error, const char **text)
{
    return cuGetErrorName(error, text);
}

int cuCtxCreate_v2(void **context, unsigned flags, int device)
{
    (void)flags;
    (void)device;
    *context = picture;
    contexts++;
    return 0;
}

int cuMemAlloc_v2(unsigned long long *memory, size_t size)
{
    void *block = aligned_alloc(512, (size + 511) / 512 * 512);
    *memory = (unsigned long long)(size_t)block;
    blocks += block != NULL;
    return block ? 0 : ERROR_UNKNOWN;
}

int cuMemFree_v2(unsigned long long memory)
{
    free((void *)(size_t)memory);
    blocks--;
    return 0;
}

/* Of CUDA_MEMCPY2D. */
typedef struct Place {
    size_t x, y;
    int kind; /* 1: the host's memory */
    unsigned char *host, *device;
    void *array;
    size_t pitch;
} Place;

static unsigned char *address(const Place *p)
{
    return (p->kind == 1 ? p->host : p->device) + p->y * p->pitch + p->x;
}

int cuMemcpy2DAsync_v2(const void *copy, void *stream)
{
    struct {
        Place from, to;
        size_t width, height;
    } c;
    const char *copies = getenv("FAKE_CUDA_COPIES");
    (void)stream;
    if (copies && copied++ >= atoi(copies))
        return ERROR_UNKNOWN;
    memcpy(&c, copy, sizeof(c));
    for (size_t y = 0; y < c.height; y++)
        memcpy(address(&c.to) + y * c.to.pitch, address(&c.from) + y * c.from.pitch, c.width);
    return 0;
}

__attribute__((destructor)) static void note_end(void)
{
    const char *path = getenv("FAKE_NVIDIA_LOG");
    FILE *log = path ? fopen(path, "w") : NULL;
    if (!log)
        return;
    (void)fprintf(log, "contexts %d blocks %d\n", contexts, blocks);
    (void)fclose(log);
}

/* The output surfaces in CUVIDDECODECREATEINFO, whose layout nvcuvid never changes. */
#define OUTPUTS_AT 112

/* Entry `number` of a list separated by commas; NULL if it has fewer. */
static const char *entry(const char *list, int number, char *text, size_t size)
{
    for (; number && list; number--) {
        list = strchr(list, ',');
        list += list != NULL;
    }
    if (list)
        (void)snprintf(text, size, "%.*s", (int)strcspn(list, ","), list);
    return list ? text : NULL;
}

/* Sizes are coded in blocks of 16. */
static int is_size(const Decoder *d, const unsigned long coded[2])
{
    return coded[0] >= d->width && coded[0] - d->width < 16 && coded[1] >= d->height &&
           coded[1] - d->height < 16;
}

/* 0: the given pictures cannot be opened. */
static int open_pictures(Decoder *d, const unsigned long coded[2])
{
    const char *paths = getenv("FAKE_NVDEC_PICTURES"), *sizes = getenv("FAKE_NVDEC_SIZE");
    char path[4096], size[64];
    if (!paths || !*paths)
        return 1;
    for (int i = 0; sizes && entry(sizes, i, size, sizeof(size)); i++) {
        if (sscanf(size, "%ux%u", &d->width, &d->height) != 2 ||
            !entry(paths, i, path, sizeof(path)))
            return 0;
        if (is_size(d, coded) || !strchr(sizes, ',')) {
            d->pictures = fopen(path, "rb");
            break;
        }
    }
    return d->pictures != NULL;
}

/* The first two members of CUVIDDECODECREATEINFO are the coded width and height. */
static int create(void **decoder, void *info)
{
    unsigned long coded[2], outputs;
    Decoder *made = all;
    while (made < all + DECODERS && made->open)
        made++;
    if (strcmp(word(), "none") == 0 || made == all + DECODERS)
        return ERROR_UNKNOWN;
    memcpy(&outputs, (char *)info + OUTPUTS_AT, sizeof(outputs));
    memcpy(coded, info, sizeof(coded));
    *made = (Decoder){.open = 1, .outputs = (int)outputs, .coded_height = (unsigned)coded[1]};
    if (!open_pictures(made, coded)) {
        made->open = 0;
        return ERROR_UNKNOWN;
    }
    *decoder = made;
    decoders++;
    return 0;
}

int cuvidCreateDecoder(void **decoder, void *info)
{
    pthread_mutex_lock(&lock);
    const int ret = create(decoder, info);
    pthread_mutex_unlock(&lock);
    return ret;
}

int cuvidDestroyDecoder(void *decoder)
{
    Decoder *d = decoder;
    tell("a decoder");
    pthread_mutex_lock(&lock);
    if (d->pictures)
        (void)fclose(d->pictures);
    d->open = 0;
    decoders--;
    pthread_mutex_unlock(&lock);
    return 0;
}

/* CUVIDPICPARAMS: the third number is that of the surface. */
int cuvidDecodePicture(void *decoder, void *parameters)
{
    Decoder *d = decoder;
    int begin[3], fails;
    memcpy(begin, parameters, sizeof(begin));
    pthread_mutex_lock(&lock);
    if (d->pictures) {
        d->numbers[begin[2] & 255] = d->decoded;
        fails = d->decoded++ >= atoi(word()) && isdigit((unsigned char)*word());
    } else {
        fails = strncmp(word(), "map ", 4) != 0 && decoded++ >= atoi(word());
    }
    pthread_mutex_unlock(&lock);
    return fails ? ERROR_UNKNOWN : 0;
}

/* The picture of a surface, with chroma behind the rows that are coded. NULL: it cannot be read. */
static unsigned char *read_picture(const Decoder *d, int number)
{
    unsigned char *memory = calloc(PITCH, d->coded_height * 3 / 2);
    const long size = (long)d->width * d->height * 3 / 2;
    int whole = memory && fseek(d->pictures, number * size, SEEK_SET) == 0;
    for (unsigned y = 0; y < d->height * 3 / 2 && whole; y++) {
        const unsigned row = y < d->height ? y : d->coded_height + y - d->height;
        whole = fread(memory + (size_t)row * PITCH, 1, d->width, d->pictures) == d->width;
    }
    if (!whole)
        free(memory);
    return whole ? memory : NULL;
}

static int map(Decoder *d, int index, unsigned long long *memory, unsigned *pitch)
{
    unsigned char *at = picture;
    refused += d->mapped == d->outputs;
    if (d->mapped == d->outputs ||
        (!d->pictures && strncmp(word(), "map ", 4) == 0 && decoded++ >= atoi(word() + 4)))
        return ERROR_UNKNOWN;
    if (d->pictures)
        at = read_picture(d, d->numbers[index & 255]);
    if (!at)
        return ERROR_UNKNOWN;
    *memory = (unsigned long long)(size_t)at;
    *pitch = PITCH;
    d->mapped++;
    mapped++;
    most_mapped = mapped > most_mapped ? mapped : most_mapped;
    return 0;
}

int cuvidMapVideoFrame64(void *decoder, int index, unsigned long long *memory, unsigned *pitch,
                         void *parameters)
{
    (void)parameters;
    pthread_mutex_lock(&lock);
    const int ret = map(decoder, index, memory, pitch);
    pthread_mutex_unlock(&lock);
    return ret;
}

int cuvidUnmapVideoFrame64(void *decoder, unsigned long long memory)
{
    Decoder *d = decoder;
    tell("a picture");
    pthread_mutex_lock(&lock);
    if (d->pictures)
        free((void *)(size_t)memory);
    d->mapped--;
    mapped--;
    pthread_mutex_unlock(&lock);
    return 0;
}
