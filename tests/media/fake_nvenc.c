/* A fake NVIDIA encoder: libnvidia-encode.so.1, as FFmpeg loads it. A packet is a text about its
 * picture: memory, format, size, a checksum, and whether the picture changed after its encoding. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ffnvcodec/nvEncodeAPI.h>

#include "fake_nvidia.h"

#define PITCH 4096 /* bytes from row to row of pictures in host memory */

typedef struct Format {
    NV_ENC_BUFFER_FORMAT format;
    const char *name;
    uint32_t bytes, planes; /* bytes per sample; 2 * rows of all planes / rows of luma */
} Format;

static const Format formats[] = {{NV_ENC_BUFFER_FORMAT_NV12, "nv12", 1, 3},
                                 {NV_ENC_BUFFER_FORMAT_YUV444, "yuv444p", 1, 6},
                                 {NV_ENC_BUFFER_FORMAT_YUV420_10BIT, "p010", 2, 3},
                                 {NV_ENC_BUFFER_FORMAT_YUV444_10BIT, "yuv444p16", 2, 6},
                                 {NV_ENC_BUFFER_FORMAT_UNDEFINED, "other", 1, 2}};

typedef struct Picture {
    unsigned char *data;
    uint32_t width, height, pitch;
    const Format *format;
    int on_gpu, mapped;
} Picture;

typedef struct Packet {
    const Picture *picture;
    uint32_t sum;
    uint64_t pts;
    char text[256];
} Packet;

/* zlib's adler32() of all rows. NVENC's planes follow each other without a gap. */
static uint32_t sum_of(const Picture *p)
{
    uint32_t a = 1, b = 0;
    for (uint32_t y = 0; y < p->height * p->format->planes / 2; y++)
        for (uint32_t x = 0; x < p->width * p->format->bytes; x++) {
            a = (a + p->data[(size_t)y * p->pitch + x]) % 65521;
            b = (b + a) % 65521;
        }
    return b << 16 | a;
}

/* ---- the session ---------------------------------------------------------------------------- */

static NVENCSTATUS open_session(NV_ENC_OPEN_ENCODE_SESSION_EX_PARAMS *p, void **encoder)
{
    *encoder = &fake_nvidia;
    return p->device ? NV_ENC_SUCCESS : NV_ENC_ERR_INVALID_DEVICE;
}

static NVENCSTATUS count_codecs(void *encoder, uint32_t *count)
{
    *count = 2;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS list_codecs(void *encoder, GUID *codecs, uint32_t room, uint32_t *count)
{
    codecs[0] = NV_ENC_CODEC_H264_GUID;
    codecs[1] = NV_ENC_CODEC_HEVC_GUID;
    return count_codecs(encoder, count);
}

static NVENCSTATUS get_caps(void *encoder, GUID codec, NV_ENC_CAPS_PARAM *asked, int *answer)
{
    const int side =
        asked->capsToQuery == NV_ENC_CAPS_WIDTH_MAX || asked->capsToQuery == NV_ENC_CAPS_HEIGHT_MAX;
    *answer = side ? PITCH : 1;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS get_preset(void *encoder, GUID codec, GUID name, NV_ENC_TUNING_INFO tuning,
                              NV_ENC_PRESET_CONFIG *config)
{
    config->presetCfg.gopLength = 25;
    config->presetCfg.frameIntervalP = 1;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS begin(void *encoder, NV_ENC_INITIALIZE_PARAMS *p)
{
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS set_streams(void *encoder, NV_ENC_CUSTREAM_PTR in, NV_ENC_CUSTREAM_PTR out)
{
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS end(void *encoder)
{
    fake_nvidia_log("an encoder");
    return NV_ENC_SUCCESS;
}

static const char *get_error(void *encoder)
{
    return "made-up error";
}

/* ---- pictures ------------------------------------------------------------------------------- */

/* Returns a copy of the picture, or NULL if memory runs out. */
static Picture *add_picture(Picture picture, NV_ENC_BUFFER_FORMAT format)
{
    Picture *added = picture.data ? malloc(sizeof(*added)) : NULL;
    picture.format = formats;
    while (picture.format->format && picture.format->format != format)
        picture.format++;
    if (added)
        *added = picture;
    return added;
}

static NVENCSTATUS register_memory(void *encoder, NV_ENC_REGISTER_RESOURCE *p)
{
    if (p->resourceType != NV_ENC_INPUT_RESOURCE_TYPE_CUDADEVICEPTR)
        return NV_ENC_ERR_INVALID_PARAM;
    p->registeredResource =
        add_picture((Picture){p->resourceToRegister, p->width, p->height, p->pitch, .on_gpu = 1},
                    p->bufferFormat);
    return p->registeredResource ? NV_ENC_SUCCESS : NV_ENC_ERR_OUT_OF_MEMORY;
}

static NVENCSTATUS make_picture(void *encoder, NV_ENC_CREATE_INPUT_BUFFER *p)
{
    p->inputBuffer = add_picture(
        (Picture){calloc((size_t)PITCH * 3, p->height), p->width, p->height, PITCH, .on_gpu = 0},
        p->bufferFmt);
    return p->inputBuffer ? NV_ENC_SUCCESS : NV_ENC_ERR_OUT_OF_MEMORY;
}

static NVENCSTATUS free_picture(void *encoder, void *picture)
{
    const Picture p = *(Picture *)picture;
    if (!p.on_gpu)
        free(p.data);
    free(picture);
    return p.mapped ? NV_ENC_ERR_INVALID_CALL : NV_ENC_SUCCESS;
}

static NVENCSTATUS map(void *encoder, NV_ENC_MAP_INPUT_RESOURCE *p)
{
    Picture *picture = p->registeredResource;
    p->mappedResource = picture;
    p->mappedBufferFmt = picture->format->format;
    return picture->mapped++ ? NV_ENC_ERR_MAP_FAILED : NV_ENC_SUCCESS;
}

static NVENCSTATUS unmap(void *encoder, NV_ENC_INPUT_PTR picture)
{
    ((Picture *)picture)->mapped--;
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS lock_picture(void *encoder, NV_ENC_LOCK_INPUT_BUFFER *p)
{
    const Picture *picture = p->inputBuffer;
    p->bufferDataPtr = picture->data;
    p->pitch = picture->pitch;
    return NV_ENC_SUCCESS;
}

/* Unlocks a picture or a packet. */
static NVENCSTATUS unlock(void *encoder, void *locked)
{
    return NV_ENC_SUCCESS;
}

/* ---- packets -------------------------------------------------------------------------------- */

static NVENCSTATUS make_packet(void *encoder, NV_ENC_CREATE_BITSTREAM_BUFFER *p)
{
    p->bitstreamBuffer = calloc(1, sizeof(Packet));
    return p->bitstreamBuffer ? NV_ENC_SUCCESS : NV_ENC_ERR_OUT_OF_MEMORY;
}

static NVENCSTATUS free_packet(void *encoder, NV_ENC_OUTPUT_PTR packet)
{
    free(packet);
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS encode(void *encoder, NV_ENC_PIC_PARAMS *p)
{
    Packet *packet = p->outputBitstream;
    if (p->encodePicFlags & NV_ENC_PIC_FLAG_EOS)
        return NV_ENC_SUCCESS;
    packet->picture = p->inputBuffer;
    packet->pts = p->inputTimeStamp;
    packet->sum = sum_of(packet->picture);
    return NV_ENC_SUCCESS;
}

static NVENCSTATUS lock_packet(void *encoder, NV_ENC_LOCK_BITSTREAM *p)
{
    Packet *packet = p->outputBitstream;
    const Picture *picture = packet->picture;
    const uint32_t sum = sum_of(picture);
    const int is_key = packet->pts == 0;
    const int length = snprintf(
        packet->text, sizeof(packet->text), "....%cframe %llu %s %s %ux%u pitch %u %s %08x\n",
        is_key ? 0x65 : 0x41, (unsigned long long)packet->pts, picture->on_gpu ? "gpu" : "host",
        picture->format->name, picture->width, picture->height, picture->pitch,
        sum == packet->sum ? "kept" : "changed", sum);
    memcpy(packet->text, "\0\0\0\1", 4);
    p->bitstreamBufferPtr = packet->text;
    p->bitstreamSizeInBytes = (uint32_t)length;
    p->outputTimeStamp = packet->pts;
    p->pictureType = is_key ? NV_ENC_PIC_TYPE_IDR : NV_ENC_PIC_TYPE_P;
    p->pictureStruct = NV_ENC_PIC_STRUCT_FRAME;
    return NV_ENC_SUCCESS;
}

/* ---- entry points --------------------------------------------------------------------------- */

NVENCSTATUS NvEncodeAPIGetMaxSupportedVersion(uint32_t *version)
{
    *version = NVENCAPI_MAJOR_VERSION << 4 | NVENCAPI_MINOR_VERSION;
    return NV_ENC_SUCCESS;
}

NVENCSTATUS NvEncodeAPICreateInstance(NV_ENCODE_API_FUNCTION_LIST *list)
{
    *list = (NV_ENCODE_API_FUNCTION_LIST){
        .version = list->version,
        .nvEncOpenEncodeSessionEx = open_session,
        .nvEncGetEncodeGUIDCount = count_codecs,
        .nvEncGetEncodeGUIDs = list_codecs,
        .nvEncGetEncodeCaps = get_caps,
        .nvEncGetEncodePresetConfigEx = get_preset,
        .nvEncInitializeEncoder = begin,
        .nvEncSetIOCudaStreams = set_streams,
        .nvEncDestroyEncoder = end,
        .nvEncGetLastErrorString = get_error,
        .nvEncRegisterResource = register_memory,
        .nvEncUnregisterResource = free_picture,
        .nvEncMapInputResource = map,
        .nvEncUnmapInputResource = unmap,
        .nvEncCreateInputBuffer = make_picture,
        .nvEncDestroyInputBuffer = free_picture,
        .nvEncLockInputBuffer = lock_picture,
        .nvEncUnlockInputBuffer = unlock,
        .nvEncCreateBitstreamBuffer = make_packet,
        .nvEncDestroyBitstreamBuffer = free_packet,
        .nvEncEncodePicture = encode,
        .nvEncLockBitstream = lock_packet,
        .nvEncUnlockBitstream = unlock,
    };
    return NV_ENC_SUCCESS;
}
