#include "media/output/encoder_trial.h"

#include <libavcodec/avcodec.h>

#include "media/log.h"
#include "media/output/codec_list.h"
#include "media/output/encoder_choice.h"

#define WIDTH 640
#define HEIGHT 360
#define RATE 25

const AVCodec *encoder_trial_next(void **at, int hardware)
{
    const AVCodec *codec;
    while ((codec = av_codec_iterate(at)))
        if (encoder_is_listed(codec, AVMEDIA_TYPE_VIDEO) &&
            codec_list_is_hardware(codec) == hardware)
            return codec;
    return NULL;
}

int encoder_trial_open(const AVCodec *codec, MediaError *error)
{
    const EncoderOptions usual = {.crf = -1, .bitrate = -1};
    enum AVPixelFormat format;
    const int ret = encoder_choose_format(&format, codec, &usual, AV_PIX_FMT_YUV420P, error);
    AVCodecContext *context = ret < 0 ? NULL : avcodec_alloc_context3(codec);
    if (!context)
        return media_fail(error, MEDIA_OUTPUT, "out of memory");
    context->width = WIDTH;
    context->height = HEIGHT;
    context->pix_fmt = format;
    context->time_base = (AVRational){1, RATE};
    context->framerate = (AVRational){RATE, 1};
    media_log_clear();
    const int opened = avcodec_open2(context, codec, NULL);
    if (opened < 0)
        media_fail(error, MEDIA_OUTPUT, "%s",
                   *media_log_error() ? media_log_error() : media_av_text(opened));
    avcodec_free_context(&context);
    return opened < 0 ? MEDIA_OUTPUT : 0;
}
