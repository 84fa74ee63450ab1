/*
 * A fake NVIDIA encoder: libnvidia-encode.so.1, as FFmpeg loads it. Its packets are no pictures,
 * but text about one: the place of its memory, the layout of its rows, a checksum of each plane,
 * and whether these were still the same when the packet was fetched.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ffnvcodec/nvEncodeAPI.h>

#include "fake_nvidia.h"

#define PITCH 4096 /* of pictures in its own memory */

typedef struct Picture {
    unsigned char *data;
    uint32_t width, height, pitch;
    NV_ENC_BUFFER_FORMAT format;
    int on_gpu, used; /* used: is mapped, or locked */
} Picture;

typedef struct Packet {
    const Picture *picture;
    uint32_t sums[3];
    uint64_t pts;
    int key;
    char text[256];
} Packet;

static int pictures; /* that are registered or made, and not given back */
static const char *last_error = "none";

/* zlib's adler32(), of the samples of a plane. */
static uint32_t sum_of(const unsigned char *plane, size_t row, uint32_t rows, size_t pitch)
{
    uint32_t a = 1, b = 0;
    for (uint32_t y = 0; y < rows; y++)
        for (size_t x = 0; x < row; x++) {
            a = (a + plane[y * pitch + x]) % 65521;
            b = (b + a) % 65521;
        }
    return b << 16 | a;
}

static const char *name_of(NV_ENC_BUFFER_FORMAT format)
{
    switch (format) {
    case NV_ENC_BUFFER_FORMAT_NV12: return "nv12";
    case NV_ENC_BUFFER_FORMAT_YUV444: return "yuv444p";
    case NV_ENC_BUFFER_FORMAT_YUV420_10BIT: return "p010";
    case NV_ENC_BUFFER_FORMAT_YUV444_10BIT: return "yuv444p16";
    default: return "other";
    }
}

/* The planes follow each other without a gap, as NVENC has them. */
static void sum_up(const Picture *p, uint32_t sums[3])
{
    const int deep = p->format == NV_ENC_BUFFER_FORMAT_YUV420_10BIT ||
                     p->format == NV_ENC_BUFFER_FORMAT_YUV444_10BIT;
    const int whole =
        p->format == NV_ENC_BUFFER_FORMAT_YUV444 || p->format == NV_ENC_BUFFER_FORMAT_YUV444_10BIT;
    const size_t row = (size_t)p->width << deep, plane = (size_t)p->pitch * p->height;
    memset(sums, 0, 3 * sizeof(sums[0]));
    sums[0] = sum_of(p->data, row, p->height, p->pitch);
    sums[1] = sum_of(p->data + plane, row, whole ? p->height : p->height / 2, p->pitch);
    if (whole)
        sums[2] = sum_of(p->data + 2 * plane, row, p->height, p->pitch);
}

/* ---- the session ---------------------------------------------------------------------------- */

static NVENCSTATUS NVENCAPI open_session(NV_ENC_OPEN_ENCODE_SESSION_EX_PARAMS *p, void **encoder)
{
    static int session;
    *encoder = &session;
    return p->device ? NV_ENC_SUCCESS : NV_ENC_ERR_INVALID_DEVICE;
}

static NVENCSTATUS NVENCAPI count_codecs(void *encoder, uint32_t *count)
{
    (void)encoder;
    *count = 2;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI list_codecs(void *encoder, GUID *codecs, uint32_t room, uint32_t *count)
{
    (void)encoder;
    *count = room < 2 ? room : 2;
    for (uint32_t i = 0; i < *count; i++)
        codecs[i] = i ? NV_ENC_CODEC_HEVC_GUID : NV_ENC_CODEC_H264_GUID;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI tell_what_it_can(void *encoder, GUID codec, NV_ENC_CAPS_PARAM *asked,
                                             int *answer)
{
    (void)encoder;
    (void)codec;
    const int side =
        asked->capsToQuery == NV_ENC_CAPS_WIDTH_MAX || asked->capsToQuery == NV_ENC_CAPS_HEIGHT_MAX;
    *answer = side ? PITCH : 1;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI preset(void *encoder, GUID codec, GUID name, NV_ENC_TUNING_INFO tuning,
                                   NV_ENC_PRESET_CONFIG *config)
{
    (void)encoder;
    (void)codec;
    (void)name;
    (void)tuning;
    config->presetCfg.gopLength = 25;
    config->presetCfg.frameIntervalP = 1;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI begin(void *encoder, NV_ENC_INITIALIZE_PARAMS *p)
{
    (void)encoder;
    (void)p;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI set_streams(void *encoder, NV_ENC_CUSTREAM_PTR in,
                                        NV_ENC_CUSTREAM_PTR out)
{
    (void)encoder;
    (void)in;
    (void)out;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI end(void *encoder)
{
    (void)encoder;
    fake_nvidia_tell("an encoder");
    return NV_ENC_SUCCESS;
}

static const char *NVENCAPI tell_error(void *encoder)
{
    (void)encoder;
    return last_error;
}

static NVENCSTATUS refuse(const char *why)
{
    last_error = why;
    return NV_ENC_ERR_INVALID_PARAM;
}

/* ---- pictures ------------------------------------------------------------------------------- */

static Picture *add_picture(const Picture *picture)
{
    Picture *added = malloc(sizeof(*added));
    if (added)
        *added = *picture;
    pictures += added != NULL;
    return added;
}

static NVENCSTATUS NVENCAPI take_memory(void *encoder, NV_ENC_REGISTER_RESOURCE *p)
{
    (void)encoder;
    if (p->resourceType != NV_ENC_INPUT_RESOURCE_TYPE_CUDADEVICEPTR)
        return refuse("no memory of CUDA");
    const Picture picture = {.data = p->resourceToRegister,
                             .width = p->width,
                             .height = p->height,
                             .pitch = p->pitch,
                             .format = p->bufferFormat,
                             .on_gpu = 1};
    p->registeredResource = add_picture(&picture);
    return p->registeredResource ? NV_ENC_SUCCESS : NV_ENC_ERR_OUT_OF_MEMORY;
}

static NVENCSTATUS NVENCAPI give_memory_back(void *encoder, NV_ENC_REGISTERED_PTR picture)
{
    (void)encoder;
    const int used = ((Picture *)picture)->used;
    free(picture);
    pictures--;
    return used ? refuse("memory that is still mapped") : NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI map(void *encoder, NV_ENC_MAP_INPUT_RESOURCE *p)
{
    Picture *picture = p->registeredResource;
    (void)encoder;
    if (picture->used++)
        return refuse("memory that is mapped twice");
    p->mappedResource = picture;
    p->mappedBufferFmt = picture->format;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI unmap(void *encoder, NV_ENC_INPUT_PTR picture)
{
    (void)encoder;
    ((Picture *)picture)->used--;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI make_picture(void *encoder, NV_ENC_CREATE_INPUT_BUFFER *p)
{
    (void)encoder;
    const Picture picture = {.data = calloc((size_t)PITCH * 3, p->height),
                             .width = p->width,
                             .height = p->height,
                             .pitch = PITCH,
                             .format = p->bufferFmt};
    p->inputBuffer = picture.data ? add_picture(&picture) : NULL;
    return p->inputBuffer ? NV_ENC_SUCCESS : NV_ENC_ERR_OUT_OF_MEMORY;
}

static NVENCSTATUS NVENCAPI free_picture(void *encoder, NV_ENC_INPUT_PTR picture)
{
    (void)encoder;
    free(((Picture *)picture)->data);
    free(picture);
    pictures--;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI lock_picture(void *encoder, NV_ENC_LOCK_INPUT_BUFFER *p)
{
    const Picture *picture = p->inputBuffer;
    (void)encoder;
    p->bufferDataPtr = picture->data;
    p->pitch = picture->pitch;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI unlock_picture(void *encoder, NV_ENC_INPUT_PTR picture)
{
    (void)encoder;
    (void)picture;
    return NV_ENC_SUCCESS;
}

/* ---- packets -------------------------------------------------------------------------------- */

static NVENCSTATUS NVENCAPI make_packet(void *encoder, NV_ENC_CREATE_BITSTREAM_BUFFER *p)
{
    (void)encoder;
    p->bitstreamBuffer = calloc(1, sizeof(Packet));
    return p->bitstreamBuffer ? NV_ENC_SUCCESS : NV_ENC_ERR_OUT_OF_MEMORY;
}

static NVENCSTATUS NVENCAPI free_packet(void *encoder, NV_ENC_OUTPUT_PTR packet)
{
    (void)encoder;
    free(packet);
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI encode(void *encoder, NV_ENC_PIC_PARAMS *p)
{
    Packet *packet = p->outputBitstream;
    (void)encoder;
    if (p->encodePicFlags & NV_ENC_PIC_FLAG_EOS)
        return NV_ENC_SUCCESS;
    packet->picture = p->inputBuffer;
    packet->pts = p->inputTimeStamp;
    packet->key = packet->pts == 0;
    sum_up(packet->picture, packet->sums);
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI lock_packet(void *encoder, NV_ENC_LOCK_BITSTREAM *p)
{
    Packet *packet = p->outputBitstream;
    const Picture *picture = packet->picture;
    uint32_t now[3];
    (void)encoder;
    sum_up(picture, now);
    const int same = memcmp(now, packet->sums, sizeof(now)) == 0;
    const int length = snprintf(packet->text, sizeof(packet->text),
                                "....%cframe %llu %s %s %ux%u pitch %u %s %08x %08x %08x\n",
                                packet->key ? 0x65 : 0x41, (unsigned long long)packet->pts,
                                picture->on_gpu ? "gpu" : "host", name_of(picture->format),
                                picture->width, picture->height, picture->pitch,
                                same ? "kept" : "changed", now[0], now[1], now[2]);
    memcpy(packet->text, "\0\0\0\1", 4);
    p->bitstreamBufferPtr = packet->text;
    p->bitstreamSizeInBytes = (uint32_t)length;
    p->outputTimeStamp = packet->pts;
    p->pictureType = packet->key ? NV_ENC_PIC_TYPE_IDR : NV_ENC_PIC_TYPE_P;
    p->pictureStruct = NV_ENC_PIC_STRUCT_FRAME;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI unlock_packet(void *encoder, NV_ENC_OUTPUT_PTR packet)
{
    (void)encoder;
    (void)packet;
    return NV_ENC_SUCCESS;
}

/* ---- what FFmpeg looks for ------------------------------------------------------------------- */

int fake_pictures(void);
NVENCSTATUS NVENCAPI NvEncodeAPIGetMaxSupportedVersion(uint32_t *version);
NVENCSTATUS NVENCAPI NvEncodeAPICreateInstance(NV_ENCODE_API_FUNCTION_LIST *list);

int fake_pictures(void)
{
    return pictures;
}

NVENCSTATUS NVENCAPI NvEncodeAPIGetMaxSupportedVersion(uint32_t *version)
{
    *version = NVENCAPI_MAJOR_VERSION << 4 | NVENCAPI_MINOR_VERSION;
    return NV_ENC_SUCCESS;
}

NVENCSTATUS NVENCAPI NvEncodeAPICreateInstance(NV_ENCODE_API_FUNCTION_LIST *list)
{
    list->nvEncOpenEncodeSessionEx = open_session;
    list->nvEncGetEncodeGUIDCount = count_codecs;
    list->nvEncGetEncodeGUIDs = list_codecs;
    list->nvEncGetEncodeCaps = tell_what_it_can;
    list->nvEncGetEncodePresetConfigEx = preset;
    list->nvEncInitializeEncoder = begin;
    list->nvEncSetIOCudaStreams = set_streams;
    list->nvEncDestroyEncoder = end;
    list->nvEncGetLastErrorString = tell_error;
    list->nvEncRegisterResource = take_memory;
    list->nvEncUnregisterResource = give_memory_back;
    list->nvEncMapInputResource = map;
    list->nvEncUnmapInputResource = unmap;
    list->nvEncCreateInputBuffer = make_picture;
    list->nvEncDestroyInputBuffer = free_picture;
    list->nvEncLockInputBuffer = lock_picture;
    list->nvEncUnlockInputBuffer = unlock_picture;
    list->nvEncCreateBitstreamBuffer = make_packet;
    list->nvEncDestroyBitstreamBuffer = free_packet;
    list->nvEncEncodePicture = encode;
    list->nvEncLockBitstream = lock_packet;
    list->nvEncUnlockBitstream = unlock_packet;
    return NV_ENC_SUCCESS;
}
