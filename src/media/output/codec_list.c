#include "media/output/codec_list.h"

#include <stdio.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavutil/avstring.h>
#include <libavutil/macros.h>

#include "media/log.h"
#include "media/output/container.h"
#include "media/output/encoder.h"
#include "media/output/encoder_choice.h"

#define LINE_SIZE 256

/* A video that every encoder accepts: size in pixels, frames per second. */
#define TRIAL_WIDTH 640
#define TRIAL_HEIGHT 360
#define TRIAL_RATE 25

/* OMX encoders do not set these capabilities. */
static bool is_hardware(const AVCodec *codec)
{
    return (codec->capabilities & (AV_CODEC_CAP_HARDWARE | AV_CODEC_CAP_HYBRID)) != 0 ||
           strstr(codec->name, "_omx");
}

/* Pads the line to `columns`, but by at least one space, and appends the text. */
static void add_column(char *line, int columns, const char *text)
{
    const int used = (int)strlen(line);
    av_strlcatf(line, LINE_SIZE, "%*s%s", used ? FFMAX(columns - used, 1) : 0, "", text);
}

const AVCodec *codec_list_next(void **at, int hardware)
{
    const AVCodec *codec;
    while ((codec = av_codec_iterate(at)))
        if (encoder_is_listed(codec, AVMEDIA_TYPE_VIDEO) && is_hardware(codec) == hardware)
            return codec;
    return NULL;
}

void codec_list_encoder(const AVCodec *codec, void (*print)(const char *line))
{
    char line[LINE_SIZE] = "", bits[32] = "";
    int least, most;
    encoder_depths(codec, &least, &most);
    if (most && !is_hardware(codec)) /* hardware depths depend on the device */
        snprintf(bits, sizeof(bits), least < most ? "%d-%d bits" : "%d bits", least, most);
    add_column(line, 0, codec->name);
    add_column(line, 19, avcodec_get_name(codec->id));
    add_column(line, 31, is_hardware(codec) ? "hardware" : "CPU");
    if (bits[0])
        add_column(line, 41, bits);
    print(line);
}

void codec_list_video(void (*print)(const char *line))
{
    for (int hardware = 1; hardware >= 0; hardware--) {
        const AVCodec *codec;
        void *at = NULL;
        while ((codec = codec_list_next(&at, hardware)))
            codec_list_encoder(codec, print);
    }
}

void codec_list_sound(void (*print)(const char *line))
{
    const AVCodec *codec;
    void *at = NULL;
    while ((codec = av_codec_iterate(&at)))
        if (encoder_is_listed(codec, AVMEDIA_TYPE_AUDIO)) {
            char line[LINE_SIZE] = "";
            add_column(line, 0, codec->name);
            add_column(line, 19, avcodec_get_name(codec->id));
            print(line);
        }
}

/* Skips containers that hold no video, and muxers that do not write to a file. */
void codec_list_containers(void (*print)(const char *line))
{
    const EncoderOptions usual = {.crf = -1, .bitrate = -1};
    const AVOutputFormat *muxer, *found;
    void *at = NULL;
    while ((muxer = av_muxer_iterate(&at))) {
        MediaError unused = {0};
        const AVCodec *codec;
        char line[LINE_SIZE] = "";
        if (!muxer->extensions || container_find(&found, muxer->name, NULL, &unused) < 0 ||
            found != muxer || encoder_find(&codec, &usual, muxer, "", &unused) < 0)
            continue;
        add_column(line, 0, muxer->name);
        add_column(line, 19, codec->name);
        add_column(line, 36, muxer->extensions);
        print(line);
    }
}

bool codec_list_has_nvdec(const char *decoder)
{
    const AVCodec *codec = avcodec_find_decoder_by_name(decoder);
    const AVCodecHWConfig *config = NULL;
    int i = 0;
    while (codec && (config = avcodec_get_hw_config(codec, i++)) &&
           config->device_type != AV_HWDEVICE_TYPE_CUDA) {
    }
    return config != NULL;
}

int codec_list_try(const AVCodec *codec, MediaError *error)
{
    const EncoderOptions usual = {.crf = -1, .bitrate = -1};
    enum AVPixelFormat format;
    const int ret = encoder_choose_format(&format, codec, &usual, AV_PIX_FMT_YUV420P, error);
    AVCodecContext *context = ret < 0 ? NULL : avcodec_alloc_context3(codec);
    if (!context)
        return media_no_memory(error, MEDIA_OUTPUT);
    context->width = TRIAL_WIDTH;
    context->height = TRIAL_HEIGHT;
    context->pix_fmt = format;
    context->time_base = (AVRational){1, TRIAL_RATE};
    context->framerate = (AVRational){TRIAL_RATE, 1};
    media_log_clear();
    const int opened = avcodec_open2(context, codec, NULL);
    if (opened < 0)
        media_fail(error, MEDIA_OUTPUT, "%s",
                   *media_log_error() ? media_log_error() : media_av_text(opened));
    avcodec_free_context(&context);
    return opened < 0 ? MEDIA_OUTPUT : 0;
}
