/* Tests every encoder of this FFmpeg: its pixel formats, and its default settings. */
#include "check.h"

#include <libavutil/pixdesc.h>

#include "media/output/encoder.h"
#include "media/output/encoder_choice.h"

static const EncoderOptions usual = {.crf = -1, .bitrate = -1};

TEST(every_encoder_has_a_format_or_is_refused)
{
    static const enum AVPixelFormat from[] = {AV_PIX_FMT_YUV420P, AV_PIX_FMT_GRAY8, AV_PIX_FMT_NV12,
                                              AV_PIX_FMT_YUV422P12, AV_PIX_FMT_YUVA444P16};
    const AVOutputFormat *nut = av_guess_format("nut", NULL, NULL);
    const AVCodec *codec, *found;
    void *at = NULL;
    while ((codec = av_codec_iterate(&at))) {
        if (!av_codec_is_encoder(codec) || codec->type != AVMEDIA_TYPE_VIDEO)
            continue;
        MediaError error = {0};
        EncoderOptions options = usual;
        options.codec = codec->name;
        if (encoder_find(&found, &options, nut, "x.nut", &error) < 0) {
            CHECK(error.text[0] && !strstr(error.text, "none"), "%s: '%s'", codec->name,
                  error.text);
            continue;
        }
        for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
            enum AVPixelFormat to = AV_PIX_FMT_NONE;
            CHECK(encoder_choose_format(&to, codec, &options, from[i], &error) == 0, "%s: %s",
                  codec->name, error.text);
            CHECK(av_pix_fmt_desc_get(to), "%s has no format for %s", codec->name,
                  av_get_pix_fmt_name(from[i]));
        }
    }
}

TEST(encoder_for_gpu_memory_only_is_refused)
{
    MediaError error = {0};
    EncoderOptions options = usual;
    const AVCodec *codec;
    options.codec = "h264_vaapi";
    if (!avcodec_find_encoder_by_name(options.codec)) {
        check_skip("this FFmpeg has no %s", options.codec);
        return;
    }
    const int ret =
        encoder_find(&codec, &options, av_guess_format("matroska", NULL, NULL), "x.mkv", &error);
    CHECK(ret == MEDIA_USAGE && strstr(error.text, "h264_vaapi") && strstr(error.text, "memory"),
          "%d: %s", ret, error.text);
}

/* The wrapped av_dict_set() fails for the setting of this name. */
static const char *no_room_for;
int __real_av_dict_set(AVDictionary **dict, const char *key, const char *value, int flags);
int __wrap_av_dict_set(AVDictionary **dict, const char *key, const char *value, int flags);

int __wrap_av_dict_set(AVDictionary **dict, const char *key, const char *value, int flags)
{
    if (no_room_for && strcmp(no_room_for, key) == 0)
        return AVERROR(ENOMEM);
    return __real_av_dict_set(dict, key, value, flags);
}

/* A default that cannot be set is an error. */
TEST(defaults_without_memory)
{
    static const struct {
        const char *codec, *setting;
    } cases[] = {{"libx264", "preset"},      {"libx264", "crf"},         {"libx265", "preset"},
                 {"libx265", "x265-params"}, {"libvpx-vp9", "deadline"}, {"libvpx-vp9", "crf"},
                 {"libvpx-vp9", "cpu-used"}, {"libvpx-vp9", "row-mt"}};
    FREED_BY(av_frame_free) AVFrame *frame = av_frame_alloc();
    if (!CHECK(frame != NULL, "no frame"))
        return;
    frame->format = AV_PIX_FMT_YUV420P;
    frame->width = frame->height = 64;
    frame->time_base = (AVRational){1, 25};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const AVCodec *codec = avcodec_find_encoder_by_name(cases[i].codec);
        const EncoderTrack track = {.time_base = {1, 25}, .frame_rate = {25, 1}};
        EncoderOptions options = usual;
        FREED_BY(encoder_close) Encoder *encoder = NULL;
        MediaError error = {0};
        options.live = 1;
        if (!codec)
            continue;
        no_room_for = cases[i].setting;
        const int ret = encoder_open(&encoder, codec, &options, frame, &track, 0, &error);
        no_room_for = NULL;
        CHECK(ret == MEDIA_OUTPUT && strcmp(error.text, "out of memory") == 0, "%s, %s: %d '%s'",
              cases[i].codec, cases[i].setting, ret, error.text);
    }
}

TEST_MAIN
