#include "media/output/encoder_names.h"

#include <string.h>

#include <libavutil/avstring.h>
#include <libavutil/macros.h>

#include "media/output/encoder_choice.h"

/* Fewer letters are a part of nearly every name, and more encoders no answer. */
#define MIN_PART 3
#define MAX_MEANT 8

int encoder_is_listed(const AVCodec *codec, enum AVMediaType type)
{
    return av_codec_is_encoder(codec) && codec->type == type &&
           !(codec->capabilities & AV_CODEC_CAP_EXPERIMENTAL) &&
           codec->id != AV_CODEC_ID_WRAPPED_AVFRAME &&
           (type != AVMEDIA_TYPE_VIDEO || encoder_takes_frames(codec));
}

static const char *usual_name(const char *name)
{
    static const char *const other[][2] = {
        {"h265", "hevc"}, {"h.265", "hevc"},  {"hvc1", "hevc"},        {"h.264", "h264"},
        {"avc", "h264"},  {"avc1", "h264"},   {"svt-av1", "svtav1"},   {"jpeg", "mjpeg"},
        {"jpg", "mjpeg"}, {"dnxhr", "dnxhd"}, {"mpeg2", "mpeg2video"},
    };
    for (size_t i = 0; i < FF_ARRAY_ELEMS(other); i++)
        if (av_strcasecmp(name, other[i][0]) == 0)
            return other[i][1];
    return name;
}

void encoder_names_meant(enum AVMediaType type, const char *name, char *text, size_t size)
{
    const char *usual = usual_name(name);
    const AVCodec *codec;
    void *at = NULL;
    int count = 0;
    text[0] = '\0';
    while (count < MAX_MEANT && (codec = av_codec_iterate(&at))) {
        const int meant = av_strcasecmp(avcodec_get_name(codec->id), usual) == 0 ||
                          (strlen(usual) >= MIN_PART && av_stristr(codec->name, usual));
        if (meant && encoder_is_listed(codec, type))
            av_strlcatf(text, size, "%s%s", count++ ? ", " : "", codec->name);
    }
}
