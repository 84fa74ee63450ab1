#include "media/encoder.h"

#include <string.h>

#include <libavutil/avstring.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>

#include "media/adapt.h"
#include "media/compat.h"
#include "media/log.h"

/* Frames an encoder may hold back; beyond that a packet's duration is left to the muxer. */
#define DURATIONS 1024

/* MPEG-4 part 2 writes the time base's denominator in 16 bits. */
#define MPEG4_MAX_TICKS 65535

struct Encoder {
    AVCodecContext *codec;
    Adapter *adapter;
    AVFrame *adapted;
    struct {
        int64_t pts, duration;
    } durations[DURATIONS]; /* by frame number */
    int64_t frames, last_pts;
};

static const AVCodec *usual_encoder(const AVOutputFormat *format)
{
    static const struct {
        const char *formats, *encoder;
    } usual[] = {
        {"mp4,mov,matroska,ismv,3gp,3g2,ipod,psp,f4v,flv,mpegts,avi", "libx264"},
        {"webm", "libvpx-vp9"},
        {"yuv4mpegpipe", "wrapped_avframe"},
    };
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
        if (av_match_name(format->name, usual[i].formats)) {
            const AVCodec *codec = avcodec_find_encoder_by_name(usual[i].encoder);
            if (codec)
                return codec;
        }
    return avcodec_find_encoder(format->video_codec);
}

static int has_option(const AVCodec *codec, const char *name)
{
    return codec->priv_class &&
           av_opt_find((void *)&codec->priv_class, name, NULL, 0, AV_OPT_SEARCH_FAKE_OBJ) != NULL;
}

static int is_y4m(const AVOutputFormat *format)
{
    return strcmp(format->name, "yuv4mpegpipe") == 0;
}

/* The library behind an encoder would only complain later, and on its own. */
static int check_preset(const AVCodec *codec, const char *preset, MediaError *error)
{
    static const char x26x[] = "ultrafast,superfast,veryfast,faster,fast,medium,slow,slower,"
                               "veryslow,placebo";
    if (!preset)
        return 0;
    if (!has_option(codec, "preset"))
        return media_fail(error, MEDIA_USAGE, "--preset: the encoder %s has no presets",
                          codec->name);
    if (av_match_name(codec->name, "libx264,libx264rgb,libx265") && !av_match_name(preset, x26x) &&
        !(preset[0] >= '0' && preset[0] <= '9' && !preset[1]))
        return media_fail(error, MEDIA_USAGE, "--preset %s: the encoder %s has %s",
                          media_quote(preset), codec->name, x26x);
    return 0;
}

int encoder_find(const AVCodec **codec, const EncoderOptions *options, const AVOutputFormat *format,
                 MediaError *error)
{
    *codec = options->codec ? avcodec_find_encoder_by_name(options->codec) : usual_encoder(format);
    if (!*codec && options->codec)
        return media_fail(error, MEDIA_USAGE,
                          "--vcodec %s: this FFmpeg has no such encoder (libx264, libx265, "
                          "libvpx-vp9 and ffv1 are common ones)",
                          media_quote(options->codec));
    if (!*codec || format->video_codec == AV_CODEC_ID_NONE)
        return media_fail(error, MEDIA_USAGE,
                          "the container %s holds no video, or no encoder for it "
                          "is in this FFmpeg",
                          format->name);
    if (((*codec)->id == AV_CODEC_ID_WRAPPED_AVFRAME) != is_y4m(format))
        return media_fail(error, MEDIA_USAGE,
                          "the encoder %s and the container %s do not go together", (*codec)->name,
                          format->name);
    if ((*codec)->type != AVMEDIA_TYPE_VIDEO)
        return media_fail(error, MEDIA_USAGE, "--vcodec %s is not a video encoder", (*codec)->name);
    /* Raw frames in a pipe have no tag that a muxer could be asked for. */
    if ((*codec)->id != AV_CODEC_ID_WRAPPED_AVFRAME &&
        avformat_query_codec(format, (*codec)->id, FF_COMPLIANCE_NORMAL) == 0)
        return media_fail(error, MEDIA_USAGE, "the container %s does not hold %s", format->name,
                          avcodec_get_name((*codec)->id));
    return check_preset(*codec, options->preset, error);
}

/* The --vopt settings; FFmpeg checks their values. */
static int add_options(AVDictionary **dict, const char *const *options, MediaError *error)
{
    for (; options && *options; options++)
        if (av_dict_parse_string(dict, *options, "=", "", 0) < 0)
            return media_fail(error, MEDIA_USAGE, "--vopt %s: expected key=value",
                              media_quote(*options));
    return 0;
}

/* Good pictures without asking; whoever names a rate or quality gets that one instead. */
static int set_defaults(AVDictionary **dict, const AVCodec *codec, int64_t bitrate)
{
    const int rated = bitrate >= 0 || av_dict_get(*dict, "crf", NULL, 0) ||
                      av_dict_get(*dict, "qp", NULL, 0) || av_dict_get(*dict, "b", NULL, 0);
    const int flags = AV_DICT_DONT_OVERWRITE;
    int ret = 0;
    if (strcmp(codec->name, "libx264") == 0 && !rated)
        ret = av_dict_set(dict, "crf", "18", flags);
    if (strcmp(codec->name, "libx265") == 0) /* it prints by itself, past FFmpeg's log */
        ret = av_dict_set(dict, "x265-params", "log-level=none", flags);
    if (strcmp(codec->name, "libvpx-vp9") == 0) {
        if (!rated)
            ret = av_dict_set(dict, "crf", "24", flags);
        if (ret >= 0)
            ret = av_dict_set(dict, "row-mt", "1", flags);
        if (ret >= 0)
            ret = av_dict_set(dict, "cpu-used", "4", flags);
    }
    return ret;
}

static int set_options(AVDictionary **dict, AVCodecContext *c, const AVCodec *codec,
                       const EncoderOptions *options, MediaError *error)
{
    if (options->crf >= 0 && !has_option(codec, "crf"))
        return media_fail(error, MEDIA_USAGE,
                          "--crf: the encoder %s has no such setting; try --bitrate", codec->name);
    if (options->bitrate >= 0)
        c->bit_rate = options->bitrate;
    int ret = add_options(dict, options->options, error);
    if (ret < 0)
        return ret;
    if (options->crf >= 0) {
        char crf[32];
        snprintf(crf, sizeof(crf), "%g", options->crf);
        ret = av_dict_set(dict, "crf", crf, 0);
    }
    if (ret >= 0 && options->preset)
        ret = av_dict_set(dict, "preset", options->preset, 0);
    if (ret >= 0)
        ret = set_defaults(dict, codec, options->bitrate);
    return ret < 0 ? media_fail(error, MEDIA_OUTPUT, "out of memory") : 0;
}

static int is_one_of(enum AVPixelFormat format, const enum AVPixelFormat *list)
{
    for (; *list != AV_PIX_FMT_NONE; list++)
        if (*list == format)
            return 1;
    return 0;
}

static int choose_format(AVCodecContext *c, const AVCodec *codec, const EncoderOptions *options,
                         const AVFrame *first, MediaError *error)
{
    /* Frames that are only wrapped must be what the one muxer for them, YUV4MPEG2, knows. */
    static const enum AVPixelFormat y4m[] = {
        AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUV444P,
        AV_PIX_FMT_YUV411P, AV_PIX_FMT_GRAY8,   AV_PIX_FMT_NONE,
    };
    const enum AVPixelFormat *list =
        codec->id == AV_CODEC_ID_WRAPPED_AVFRAME ? y4m : codec_pixel_formats(codec);
    c->pix_fmt = first->format;
    if (options->pixel_format) {
        c->pix_fmt = av_get_pix_fmt(options->pixel_format);
        if (c->pix_fmt == AV_PIX_FMT_NONE || (list && !is_one_of(c->pix_fmt, list)))
            return media_fail(error, MEDIA_USAGE, "--pix-fmt %s: the encoder %s does not take it",
                              media_quote(options->pixel_format), codec->name);
    } else if (list && !is_one_of(first->format, list)) {
        const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(first->format);
        const int alpha = desc && (desc->flags & AV_PIX_FMT_FLAG_ALPHA);
        c->pix_fmt = avcodec_find_best_pix_fmt_of_list(list, first->format, alpha, NULL);
    }
    return 0;
}

static void set_picture(AVCodecContext *c, const AVFrame *first, const EncoderTrack *track, int pad)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(c->pix_fmt);
    const int step_x = pad ? 1 << desc->log2_chroma_w : 1,
              step_y = pad ? 1 << desc->log2_chroma_h : 1;
    c->width = FFALIGN(first->width, step_x);
    c->height = FFALIGN(first->height, step_y);
    c->color_range = first->color_range;
    c->color_primaries = first->color_primaries;
    c->color_trc = first->color_trc;
    c->colorspace = first->colorspace;
    c->chroma_sample_location = first->chroma_location;
    c->sample_aspect_ratio =
        first->sample_aspect_ratio.num ? first->sample_aspect_ratio : track->aspect;
    if (c->codec_id == AV_CODEC_ID_MJPEG) /* JPEG knows no other */
        c->color_range = AVCOL_RANGE_JPEG;
    if (desc->flags & AV_PIX_FMT_FLAG_RGB)
        c->colorspace = AVCOL_SPC_RGB;
}

static void set_time(AVCodecContext *c, const AVCodec *codec, const EncoderTrack *track)
{
    const AVRational *rates = codec_frame_rates(codec);
    c->time_base = track->time_base;
    c->framerate = track->frame_rate;
    if (rates) {
        c->framerate = rates[av_find_nearest_q_idx(track->frame_rate, rates)];
        c->time_base = av_inv_q(c->framerate);
    }
    if (c->codec_id == AV_CODEC_ID_WRAPPED_AVFRAME) /* y4m counts frames and has no timestamps */
        c->time_base = track->frame_rate.num ? av_inv_q(track->frame_rate) : (AVRational){1, 25};
    if (c->codec_id == AV_CODEC_ID_MPEG4 && c->time_base.den > MPEG4_MAX_TICKS)
        c->time_base = (AVRational){1, MPEG4_MAX_TICKS};
}

/* Any setting that came from the user, and may be why an encoder does not open. */
static int has_settings(const EncoderOptions *o)
{
    return o->preset || o->crf >= 0 || o->bitrate >= 0 || (o->options && o->options[0]);
}

static int open_codec(AVCodecContext *c, const AVCodec *codec, const EncoderOptions *options,
                      AVDictionary **dict, MediaError *error)
{
    const int ret = avcodec_open2(c, codec, dict);
    const AVDictionaryEntry *left = av_dict_get(*dict, "", NULL, AV_DICT_IGNORE_SUFFIX);
    if (ret >= 0 && left)
        return media_fail(error, MEDIA_USAGE, "--vopt %s: the encoder %s has no such option",
                          media_quote(left->key), codec->name);
    if (ret == AVERROR(EINVAL) && has_settings(options) && !((c->width | c->height) & 1))
        return media_fail(
            error, MEDIA_USAGE,
            "the encoder %s refuses its settings (--vopt, --preset, --crf, --bitrate): "
            "%s",
            codec->name, media_log_error());
    return ret;
}

static int try_open(Encoder *e, const AVCodec *codec, const EncoderOptions *options,
                    const AVFrame *first, const EncoderTrack *track, int global_header, int pad,
                    MediaError *error)
{
    AVDictionary *dict = NULL;
    avcodec_free_context(&e->codec);
    e->codec = avcodec_alloc_context3(codec);
    if (!e->codec)
        return media_fail(error, MEDIA_OUTPUT, "out of memory");
    int ret = choose_format(e->codec, codec, options, first, error);
    if (ret >= 0)
        ret = set_options(&dict, e->codec, codec, options, error);
    if (ret >= 0) {
        set_picture(e->codec, first, track, pad);
        set_time(e->codec, codec, track);
        e->codec->thread_count = options->threads;
        e->codec->strict_std_compliance = FF_COMPLIANCE_UNOFFICIAL;
        if (global_header)
            e->codec->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
        ret = open_codec(e->codec, codec, options, &dict, error);
    }
    av_dict_free(&dict);
    return ret;
}

int encoder_open(Encoder **encoder, const AVCodec *codec, const EncoderOptions *options,
                 const AVFrame *first, const EncoderTrack *track, int global_header,
                 MediaError *error)
{
    *encoder = NULL;
    Encoder *e = av_mallocz(sizeof(*e));
    if (!e)
        return media_fail(error, MEDIA_OUTPUT, "out of memory");
    media_log_clear();
    const int odd = (first->width | first->height) & 1;
    /* Most encoders of subsampled chroma want even sides; of the others only trying tells. */
    const int pad = odd && av_match_name(codec->name, "libx264,libx265");
    int ret = try_open(e, codec, options, first, track, global_header, pad, error);
    if (ret < 0 && !error->fault && odd && !pad)
        ret = try_open(e, codec, options, first, track, global_header, 1, error);
    if (ret >= 0) {
        e->adapted = av_frame_alloc();
        e->adapter = adapter_create(first, e->codec);
        ret = e->adapted && e->adapter ? 0 : AVERROR(ENOMEM);
    }
    if (ret < 0) {
        const char *detail = media_log_error();
        media_fail(error, MEDIA_OUTPUT, "the encoder %s cannot be opened for %dx%d %s: %s%s%s",
                   codec->name, first->width, first->height, av_get_pix_fmt_name(first->format),
                   media_av_text(ret), detail[0] ? "; " : "", detail);
        encoder_close(&e);
        return error->fault;
    }
    *encoder = e;
    return 0;
}

const AVCodecContext *encoder_context(const Encoder *e)
{
    return e->codec;
}

const char *encoder_adaptation(const Encoder *e)
{
    return adapter_description(e->adapter);
}

int encoder_send(Encoder *e, const AVFrame *frame, MediaError *error)
{
    int ret = 0;
    media_log_clear();
    if (frame) {
        const AVRational from = frame->time_base;
        ret = adapter_run(e->adapter, frame, e->adapted);
        if (ret >= 0) {
            e->adapted->pict_type = AV_PICTURE_TYPE_NONE; /* the encoder chooses its own */
            e->adapted->pts = av_rescale_q(frame->pts, from, e->codec->time_base);
            if (e->frames && e->adapted->pts <= e->last_pts)
                e->adapted->pts = e->last_pts + 1; /* a coarser time base made two of them one */
            e->last_pts = e->adapted->pts;
            const size_t slot = (size_t)(e->frames++ % DURATIONS);
            e->durations[slot].pts = e->adapted->pts;
            e->durations[slot].duration =
                av_rescale_q(FRAME_DURATION(frame), from, e->codec->time_base);
        }
    }
    if (ret >= 0)
        ret = avcodec_send_frame(e->codec, frame ? e->adapted : NULL);
    if (ret < 0) {
        const char *detail = media_log_error();
        return media_fail(error, MEDIA_OUTPUT, "the encoder %s failed: %s%s%s",
                          e->codec->codec->name, media_av_text(ret), detail[0] ? "; " : "", detail);
    }
    return 0;
}

static int64_t find_duration(const Encoder *e, int64_t pts)
{
    const int64_t oldest = e->frames > DURATIONS ? e->frames - DURATIONS : 0;
    for (int64_t i = e->frames - 1; i >= oldest; i--)
        if (e->durations[i % DURATIONS].pts == pts)
            return e->durations[i % DURATIONS].duration;
    return 0;
}

int encoder_receive(Encoder *e, AVPacket *packet, MediaError *error)
{
    const int ret = avcodec_receive_packet(e->codec, packet);
    if (ret == AVERROR(EAGAIN) || ret == AVERROR_EOF)
        return ret;
    if (ret < 0)
        return media_fail(error, MEDIA_OUTPUT, "the encoder %s failed: %s", e->codec->codec->name,
                          media_av_text(ret));
    if (packet->duration <= 0)
        packet->duration = find_duration(e, packet->pts);
    return 0;
}

void encoder_close(Encoder **encoder)
{
    Encoder *e = *encoder;
    if (!e)
        return;
    adapter_close(&e->adapter);
    av_frame_free(&e->adapted);
    avcodec_free_context(&e->codec);
    av_freep(encoder);
}
