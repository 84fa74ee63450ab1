#include "media/output/encoder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavutil/avstring.h>
#include <libavutil/imgutils.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/pixdesc.h>

#include "media/compat.h"
#include "media/convert.h"
#include "media/gpu_frame.h"
#include "media/log.h"
#include "media/output/encoder_choice.h"
#include "media/printable.h"
#include "media/process.h"
#include "media/side_data.h"

/* ---- user data ---- */

/* UUIDs of the user data (SEI) by which x264, x265, FFmpeg's VA-API and Vulkan encoders, and
 * VideoToolbox identify themselves. */
static const char *const signatures[] = {
    "\xdc\x45\xe9\xbd\xe6\xd9\x48\xb7\x96\x2c\xd8\x20\xd9\x23\xee\xef",
    "\x2c\xa2\xde\x09\xb5\x17\x47\xdb\xbb\x55\xa4\xfe\x7f\xc2\xfc\x4e"
    "x265",
    "\x59\x94\x8b\x28\x11\xec\x45\xaf\x96\x75\x19\xd4\x1f\xea\xa9\x4d",
    "\x03\xfd\xf2\x0a\x5d\x4c\x05\x48\x20\x98\xca\x6b\x0c\x95\x30\x1c",
    "\x47\x56\x4a\xdc\x5c\x4c\x43\x3f\x94\xef\xc5\x11\x3c\xd1\x43\xa8",
};

static bool is_signature(const AVFrameSideData *data)
{
    if (data->type != AV_FRAME_DATA_SEI_UNREGISTERED)
        return false;
    for (size_t i = 0; i < sizeof(signatures) / sizeof(signatures[0]); i++)
        if (data->size >= strlen(signatures[i]) &&
            memcmp(data->data, signatures[i], strlen(signatures[i])) == 0)
            return true;
    return false;
}

/* True if the encoder copies user data unchanged; libx265 replaces the UUID. */
static bool keeps_user_data(const AVCodec *codec)
{
    return encoder_has_option(codec, "udu_sei") && strcmp(codec->name, "libx265") != 0;
}

/* Removes the signature of the input's encoder. Otherwise the new encoder would copy it. */
static void drop_signature(AVFrame *frame)
{
    for (int i = 0; i < frame->nb_side_data; i++)
        if (is_signature(frame->side_data[i]))
            frame->side_data[i]->type = AV_FRAME_DATA_REPLAYGAIN; /* ignored for video */
}

/* ---- adaptation of frames ---- */

typedef struct Adapter {
    Converter converter;
    enum AVPixelFormat format;
    enum AVColorRange range;
    enum AVColorSpace space; /* AVCOL_SPC_UNSPECIFIED: any */
    int width, height;
    char description[160];
} Adapter;

static void describe(Adapter *a, const AVFrame *first)
{
    const size_t size = sizeof(a->description);
    if (a->width != first->width || a->height != first->height)
        snprintf(a->description, size, "padded from %dx%d to %dx%d", first->width, first->height,
                 a->width, a->height);
    if (a->format != first->format)
        av_strlcatf(a->description, size, "%sconverted from %s to %s",
                    a->description[0] ? ", " : "", av_get_pix_fmt_name(first->format),
                    av_get_pix_fmt_name(a->format));
    if (a->range != first->color_range)
        av_strlcatf(a->description, size, "%sconverted to %s range", a->description[0] ? ", " : "",
                    a->range == AVCOL_RANGE_JPEG ? "full" : "limited");
}

typedef struct Samples {
    uint8_t *data;
    ptrdiff_t stride;
    int step, bytes; /* bytes from one sample to the next; bytes per sample */
    int width, height;
} Samples;

static Samples samples_of(const AVFrame *frame, int component)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(frame->format);
    const AVComponentDescriptor *c = &desc->comp[component];
    const int chroma = component == 1 || component == 2;
    return (Samples){
        .data = frame->data[c->plane] + c->offset,
        .stride = frame->linesize[c->plane],
        .step = c->step,
        .bytes = c->depth + c->shift > 8 ? 2 : 1,
        .width = AV_CEIL_RSHIFT(frame->width, chroma ? desc->log2_chroma_w : 0),
        .height = AV_CEIL_RSHIFT(frame->height, chroma ? desc->log2_chroma_h : 0),
    };
}

/* Repeats the last column and row into the padding. */
static int pad(const Adapter *a, const AVFrame *frame, AVFrame *to)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(frame->format);
    to->format = frame->format;
    to->width = a->width;
    to->height = a->height;
    const int ret = av_frame_get_buffer(to, 0);
    if (ret < 0)
        return ret;
    av_image_copy(to->data, to->linesize, (const uint8_t **)(uintptr_t)frame->data, frame->linesize,
                  frame->format, frame->width, frame->height);
    for (int i = 0; i < desc->nb_components && !(desc->flags & AV_PIX_FMT_FLAG_BITSTREAM); i++) {
        const Samples from = samples_of(frame, i), s = samples_of(to, i);
        for (int y = 0; y < s.height; y++)
            for (int x = y < from.height ? from.width : 0; x < s.width; x++)
                memcpy(s.data + y * s.stride + (ptrdiff_t)x * s.step,
                       s.data + FFMIN(y, from.height - 1) * s.stride +
                           (ptrdiff_t)FFMIN(x, from.width - 1) * s.step,
                       (size_t)s.bytes);
    }
    return 0;
}

/* True if the frame must be converted to a->space. BT470BG and SMPTE170M are the same matrix. */
static int changes_matrix(const Adapter *a, const AVFrame *frame)
{
    return a->space != AVCOL_SPC_UNSPECIFIED && frame->colorspace != AVCOL_SPC_UNSPECIFIED &&
           frame->colorspace != AVCOL_SPC_BT470BG && frame->colorspace != a->space;
}

static int convert(Adapter *a, const AVFrame *frame, AVFrame *to)
{
    to->format = a->format;
    to->width = frame->width;
    to->height = frame->height;
    to->color_range = a->range;
    to->colorspace = changes_matrix(a, frame) ? a->space : frame->colorspace;
    to->chroma_location = frame->chroma_location;
    return convert_frame(&a->converter, frame, to);
}

/* Writes the adapted frame, with all its properties, to `to`, which is unreferenced first. Returns
 * 0 or AVERROR. */
static int adapter_run(Adapter *a, const AVFrame *frame, AVFrame *to)
{
    const int converts =
        frame->format != a->format || frame->color_range != a->range || changes_matrix(a, frame);
    const int pads = frame->width != a->width || frame->height != a->height;
    AVFrame *converted = converts && pads ? av_frame_alloc() : to;
    int ret = converted ? 0 : AVERROR(ENOMEM);
    av_frame_unref(to);
    if (ret >= 0 && converts)
        ret = convert(a, frame, converted);
    if (ret >= 0 && pads)
        ret = pad(a, converts ? converted : frame, to);
    if (ret >= 0)
        ret = converts || pads ? av_frame_copy_props(to, frame) : av_frame_ref(to, frame);
    to->color_range = a->range;
    /* padding is part of the picture */
    to->crop_left = to->crop_right = to->crop_top = to->crop_bottom = 0;
    if (converted != to)
        av_frame_free(&converted);
    return ret;
}

/* Number of sent frames whose durations are remembered. If the encoder holds more frames, the
 * muxer derives the durations. */
#define SENT_FRAMES 1024

/* MPEG-4 part 2 stores the time base's denominator in 16 bits. */
#define MPEG4_MAX_TICKS 65535

/* Every encoder accepts frames up to this width and height. */
#define USUAL_SIDE 8191

/* With at most this many threads, x264 is as fast without its separate lookahead thread, which
 * would hold four more frames in memory. */
#define FEW_THREADS 2

/* Frames per second, assumed for a track without a rate. */
#define USUAL_RATE 25

/* Seconds between key frames of a live stream. */
#define LIVE_KEY_SECONDS 2

typedef struct SentFrame {
    int64_t pts, duration;
} SentFrame;

struct Encoder {
    AVCodecContext *codec;
    CodecLog log;
    Adapter adapter;
    AVFrame *adapted;
    SentFrame sent[SENT_FRAMES]; /* frame n is at n % SENT_FRAMES */
    int64_t frames, last_pts;
    int64_t packets;
    int ended;      /* the end was sent */
    bool wants_key; /* the next frame should be a key frame */
    EncoderNotes notes;
    int top_first;        /* not 0: the last interlaced frame had its upper field first */
    AVFrame *first_frame; /* for SVT-AV1 until a frame is sent, see feed_one(); else NULL */
};

static bool has_control_character(const char *text)
{
    for (uint32_t c; *text;) {
        const int n = utf8_read(text, &c);
        if (n ? is_control_character(c) : (unsigned char)*text < 0xa0)
            return true;
        text += n ? n : 1;
    }
    return false;
}

/* Disables B-frames and lookahead, and sets a key frame interval suitable for live streams. */
static int set_low_latency(AVDictionary **dict, AVCodecContext *c, const AVCodec *codec,
                           const EncoderTrack *track)
{
    const int flags = AV_DICT_DONT_OVERWRITE;
    const double rate = track->frame_rate.num > 0 ? av_q2d(track->frame_rate) : USUAL_RATE;
    const AVCodecDescriptor *desc = avcodec_descriptor_get(codec->id);
    if (desc && (desc->props & AV_CODEC_PROP_INTRA_ONLY))
        return 0;
    c->max_b_frames = 0;
    c->gop_size = (int)FFMAX(rate * LIVE_KEY_SECONDS + 0.5, 1);
    if (av_match_name(codec->name, "libx264,libx264rgb,libx265"))
        return av_dict_set(dict, "tune", "zerolatency", flags);
    return encoder_has_option(codec, "lag-in-frames")
               ? av_dict_set(dict, "lag-in-frames", "0", flags)
               : 0;
}

/* Lets the caller choose key frames. FFV1 supports only fixed intervals, so all its frames become
 * key frames. */
static int set_cuts(AVDictionary **dict, AVCodecContext *c, const AVCodec *codec)
{
    c->flags |= AV_CODEC_FLAG_CLOSED_GOP;
    if (codec->id == AV_CODEC_ID_FFV1)
        c->gop_size = 1;
    /* Disable scene detection: MPEG encoders do not support it with closed groups. */
    if (encoder_has_option(codec, "sc_threshold") &&
        av_dict_set(dict, "sc_threshold", "1000000000", AV_DICT_DONT_OVERWRITE) < 0)
        return AVERROR(ENOMEM);
    return encoder_has_option(codec, "forced-idr")
               ? av_dict_set(dict, "forced-idr", "1", AV_DICT_DONT_OVERWRITE)
               : 0;
}

/* Sets defaults. A quality is set only if the options set neither a bit rate nor a quality. */
static int set_defaults(AVDictionary **dict, const AVCodec *codec, const EncoderOptions *options)
{
    const int rated = options->bitrate >= 0 || av_dict_get(*dict, "crf", NULL, 0) ||
                      av_dict_get(*dict, "qp", NULL, 0) ||
                      av_dict_get(*dict, "lossless", NULL, 0) || av_dict_get(*dict, "b", NULL, 0);
    const int flags = AV_DICT_DONT_OVERWRITE;
    const int quantizer = encoder_usual_quantizer(codec->id);
    const int threads = options->threads > 0 ? options->threads : process_cores();
    int ret = 0;
    if (quantizer && !rated)
        ret = av_dict_set_int(dict, "global_quality", (int64_t)quantizer * FF_QP2LAMBDA, flags);
    if (ret >= 0 && quantizer && !rated)
        ret = av_dict_set(dict, "flags", "+qscale", AV_DICT_APPEND);
    const struct {
        const char *encoder;
        int applies;
        const char *key, *value;
    } defaults[] = {
        {"libx264", options->live, "preset", "veryfast"},
        {"libx264", !rated, "crf", "18"},
        {"libx264", threads <= FEW_THREADS, "x264-params", "sync-lookahead=0"},
        {"libx265", options->live, "preset", "veryfast"},
        {"libx265", !rated, "crf", "20"},
        {"libx265", 1, "x265-params", "log-level=none"}, /* x265 does not use FFmpeg's log */
        {"libvpx-vp9", options->live, "deadline", "realtime"},
        {"libvpx-vp9", !rated, "crf", "24"},
        {"libvpx-vp9", 1, "row-mt", "1"},
        {"libvpx-vp9", 1, "cpu-used", options->live ? "8" : "4"},
    };
    if (ret >= 0 && keeps_user_data(codec))
        ret = av_dict_set(dict, "udu_sei", "1", flags);
    for (size_t i = 0; ret >= 0 && i < FF_ARRAY_ELEMS(defaults); i++)
        if (defaults[i].applies && strcmp(codec->name, defaults[i].encoder) == 0)
            ret = av_dict_set(dict, defaults[i].key, defaults[i].value, flags);
    return ret;
}

static int set_options(AVDictionary **dict, AVCodecContext *c, const AVCodec *codec,
                       const EncoderOptions *options, MediaError *error)
{
    if (options->crf >= 0 && !encoder_has_option(codec, "crf"))
        return media_fail(error, MEDIA_USAGE,
                          "--crf: the encoder %s has no such setting; try --bitrate", codec->name);
    if (options->bitrate >= 0)
        c->bit_rate = options->bitrate;
    /* libx264 prints bad values to the terminal itself, so control characters are refused. */
    for (const char *const *o = options->options; o && *o; o++)
        if (av_dict_parse_string(dict, *o, "=", "", 0) < 0)
            return media_fail(error, MEDIA_USAGE, "--vopt %s: expected key=value", media_quote(*o));
        else if (has_control_character(*o))
            return media_fail(error, MEDIA_USAGE, "--vopt %s has a control character",
                              media_quote(*o));
    int ret = 0;
    if (options->crf >= 0) {
        char crf[32];
        snprintf(crf, sizeof(crf), "%g", options->crf);
        ret = av_dict_set(dict, "crf", crf, 0);
    }
    if (ret >= 0 && options->preset)
        ret = av_dict_set(dict, "preset", options->preset, 0);
    if (ret >= 0)
        ret = set_defaults(dict, codec, options);
    return ret < 0 ? media_no_memory(error, MEDIA_OUTPUT) : 0;
}

static void set_picture(AVCodecContext *c, const AVFrame *first, int pad)
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
    c->sample_aspect_ratio = first->sample_aspect_ratio;
    /* MJPEG and WebP have no colour tags; range and matrix are fixed. */
    if (c->codec_id == AV_CODEC_ID_MJPEG)
        c->color_range = AVCOL_RANGE_JPEG;
    if (c->codec_id == AV_CODEC_ID_WEBP)
        c->color_range = AVCOL_RANGE_MPEG;
    if (c->codec_id == AV_CODEC_ID_MJPEG || c->codec_id == AV_CODEC_ID_WEBP)
        c->colorspace = AVCOL_SPC_SMPTE170M;
    if (desc->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL)) {
        c->colorspace = AVCOL_SPC_RGB;
        c->color_range = AVCOL_RANGE_JPEG;
    }
}

static bool has_fields(enum AVFieldOrder order)
{
    return order != AV_FIELD_UNKNOWN && order != AV_FIELD_PROGRESSIVE;
}

static bool is_top_first(const AVFrame *first, enum AVFieldOrder order)
{
    return FRAME_IS_INTERLACED(first) ? FRAME_IS_TOP_FIRST(first)
                                      : order == AV_FIELD_TT || order == AV_FIELD_BT;
}

/* For interlaced video, sets the field order, and field coding in encoders that have it. */
static int set_fields(AVDictionary **dict, AVCodecContext *c, const AVCodec *codec,
                      const AVFrame *first, const EncoderTrack *track)
{
    const bool top_first = is_top_first(first, track->field_order);
    c->field_order = track->field_order;
    /* An interlaced frame shows that the track is interlaced, whatever its tag. */
    if (FRAME_IS_INTERLACED(first) && c->field_order != AV_FIELD_TB &&
        c->field_order != AV_FIELD_BT)
        c->field_order = top_first ? AV_FIELD_TT : AV_FIELD_BB;
    if (!has_fields(c->field_order))
        return 0;
    /* x264 needs a height that is a multiple of 4 for interlaced video. */
    if (c->codec_id == AV_CODEC_ID_H264 && c->height % 4)
        return 0;
    if (av_match_name(avcodec_get_name(c->codec_id), "h264,mpeg2video,mpeg4,prores,dnxhd"))
        c->flags |= AV_CODEC_FLAG_INTERLACED_DCT | AV_CODEC_FLAG_INTERLACED_ME;
    if (top_first || !av_match_name(codec->name, "libx264,libx264rgb"))
        return 0;
    /* FFmpeg tells x264 the field order too late. The user's options come last, so they win. */
    const AVDictionaryEntry *more = av_dict_get(*dict, "x264-params", NULL, 0);
    char *params = av_asprintf("bff=1%s%s", more ? ":" : "", more ? more->value : "");
    return params ? av_dict_set(dict, "x264-params", params, AV_DICT_DONT_STRDUP_VAL)
                  : AVERROR(ENOMEM);
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
    if (c->codec_id == AV_CODEC_ID_WRAPPED_AVFRAME) /* y4m has no timestamps */
        c->time_base = track->frame_rate.num ? av_inv_q(track->frame_rate) : (AVRational){1, 25};
    if (track->constant_rate)
        c->max_b_frames = 0;
    if (c->codec_id == AV_CODEC_ID_MPEG4 && c->time_base.den > MPEG4_MAX_TICKS)
        c->time_base = (AVRational){1, MPEG4_MAX_TICKS};
}

static int open_codec(Encoder *e, const AVCodec *codec, const EncoderOptions *options,
                      AVDictionary **dict, MediaError *error)
{
    const AVCodecContext *c = e->codec;
    codec_log_open(&e->log, e->codec);
    errno = 0;
    const int ret = avcodec_open2(e->codec, codec, dict);
    /* EAGAIN comes from pthread_create(): no thread could be started */
    if (ret < 0 && (ret == AVERROR(EAGAIN) || errno == EAGAIN))
        return media_fail(error, MEDIA_INPUT, "cannot start a thread for the encoder %s",
                          codec->name);
    const AVDictionaryEntry *left = av_dict_get(*dict, "", NULL, AV_DICT_IGNORE_SUFFIX);
    if (ret >= 0 && left)
        return media_fail(error, MEDIA_USAGE, "--vopt %s: the encoder %s has no such option",
                          media_quote(left->key), codec->name);
    const bool has_settings = options->preset || options->crf >= 0 || options->bitrate >= 0 ||
                              (options->options && options->options[0]);
    if (ret == AVERROR(EINVAL) && has_settings && !((c->width | c->height) & 1))
        return media_fail(
            error, MEDIA_USAGE,
            "the encoder %s refuses its settings (--vopt, --preset, --crf, --bitrate): "
            "%s",
            codec->name, codec_log_take(&e->log).error);
    return ret;
}

static const char *size_hint(int width, int height)
{
    return width > USUAL_SIDE || height > USUAL_SIDE
               ? "; many encoders limit the frame size: --vcodec ffv1 takes frames of any size"
               : "";
}

/* True if the encoder's GPU was lost. Then the encoder must not be called. */
static bool is_lost(const Encoder *e)
{
    return e->codec && e->codec->hw_frames_ctx && gpu_surfaces_are_lost(e->codec->hw_frames_ctx);
}

static void close_codec(Encoder *e)
{
    if (is_lost(e)) {
        gpu_abandon(e->codec);
        e->codec = NULL;
    }
    avcodec_free_context(&e->codec);
    codec_log_close(&e->log);
}

static int try_open(Encoder *e, const AVCodec *codec, const EncoderOptions *options,
                    const AVFrame *first, const EncoderTrack *track, int global_header, int pad,
                    MediaError *error)
{
    AVDictionary *dict = NULL;
    close_codec(e);
    e->codec = avcodec_alloc_context3(codec);
    if (!e->codec)
        return media_no_memory(error, MEDIA_OUTPUT);
    int ret = encoder_choose_format(&e->codec->pix_fmt, codec, options, first->format, error);
    if (ret >= 0)
        ret = set_options(&dict, e->codec, codec, options, error);
    if (ret >= 0 && gpu_frame_is(first)) {
        e->codec->hw_frames_ctx = av_buffer_ref(first->hw_frames_ctx);
        ret = e->codec->hw_frames_ctx ? 0 : media_no_memory(error, MEDIA_OUTPUT);
    }
    if (ret >= 0) {
        set_picture(e->codec, first, pad);
        set_time(e->codec, codec, track);
        if (set_fields(&dict, e->codec, codec, first, track) < 0 ||
            (options->low_latency && set_low_latency(&dict, e->codec, codec, track) < 0) ||
            (options->cuts && set_cuts(&dict, e->codec, codec) < 0))
            ret = media_no_memory(error, MEDIA_OUTPUT);
    }
    if (ret >= 0) {
        if (options->closed && !encoder_has_option(codec, "sc_threshold"))
            e->codec->flags |= AV_CODEC_FLAG_CLOSED_GOP;
        e->codec->thread_count = options->threads;
        e->codec->strict_std_compliance = FF_COMPLIANCE_UNOFFICIAL;
        if (global_header)
            e->codec->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
        ret = open_codec(e, codec, options, &dict, error);
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
        return media_no_memory(error, MEDIA_OUTPUT);
    media_log_clear();
    const int odd = (first->width | first->height) & 1;
    /* x264 and x265 need even sizes for subsampled chroma. Try others without padding first. */
    const int pad = odd && av_match_name(codec->name, "libx264,libx265");
    int ret = try_open(e, codec, options, first, track, global_header, pad, error);
    if (ret < 0 && !error->fault && odd && !pad)
        ret = try_open(e, codec, options, first, track, global_header, 1, error);
    if (ret >= 0) {
        e->notes.loses_alpha = format_has_alpha(first->format) && !options->pixel_format &&
                               (!format_has_alpha(e->codec->pix_fmt) || track->no_alpha);
        e->adapted = av_frame_alloc();
        ret = e->adapted ? 0 : AVERROR(ENOMEM);
        const AVCodecContext *c = e->codec;
        const bool has_matrix = c->codec_id == AV_CODEC_ID_MJPEG || c->codec_id == AV_CODEC_ID_WEBP;
        e->adapter = (Adapter){.format = c->pix_fmt,
                               .range = c->color_range,
                               .space = has_matrix ? c->colorspace : AVCOL_SPC_UNSPECIFIED,
                               .width = c->width,
                               .height = c->height};
        describe(&e->adapter, first);
        e->notes.adaptation = e->adapter.description[0] ? e->adapter.description : NULL;
    }
    if (ret < 0) {
        const LogNote note = codec_log_take(&e->log);
        media_fail(error, MEDIA_OUTPUT, "the encoder %s cannot be opened for %dx%d %s: %s%s%s%s%s",
                   codec->name, first->width, first->height, av_get_pix_fmt_name(first->format),
                   media_av_text(ret), note.error[0] ? "; " : "", note.error,
                   size_hint(first->width, first->height), options->hint ? options->hint : "");
        encoder_close(&e);
        return error->fault;
    }
    e->top_first = is_top_first(first, e->codec->field_order);
    if (strcmp(codec->name, "libsvtav1") == 0)
        e->first_frame = av_frame_clone(first);
    *encoder = e;
    return 0;
}

const AVCodecContext *encoder_context(const Encoder *e)
{
    return e->codec;
}

const EncoderNotes *encoder_notes(const Encoder *e)
{
    return &e->notes;
}

int64_t encoder_held(const Encoder *e)
{
    return FFMAX(e->frames - e->packets, 0);
}

static int fail(Encoder *e, int ret, MediaError *error)
{
    const LogNote note = codec_log_take(&e->log);
    return media_fail(error, MEDIA_OUTPUT, "the encoder %s failed: %s%s%s%s", e->codec->codec->name,
                      media_av_text(ret), note.error[0] ? "; " : "", note.error,
                      size_hint(e->codec->width, e->codec->height));
}

static int fail_lost(const Encoder *e, MediaError *error)
{
    return media_fail(error, MEDIA_OUTPUT, "the encoder %s is on the GPU, which was lost",
                      e->codec->codec->name);
}

void encoder_ask_key(Encoder *e)
{
    e->wants_key = true;
}

/* An encoder is opened for either fields or progressive frames. A progressive frame among
 * interlaced frames gets their flag, because x264 would also apply a changed flag to the frames in
 * its lookahead. */
static void match_fields(Encoder *e, AVFrame *frame)
{
    const int coded = has_fields(e->codec->field_order);
    const int fields = FRAME_IS_INTERLACED(frame), top_first = FRAME_IS_TOP_FIRST(frame);
    if (coded && !fields) {
        e->notes.fields = "flags all frames alike: it cannot say which ones are progressive";
        if (e->codec->flags & AV_CODEC_FLAG_INTERLACED_DCT)
            frame_set_fields(frame, 1, e->top_first);
    } else if (!coded && fields) {
        e->notes.fields = "was opened for progressive video: the interlaced frames lose their flag";
    } else if (coded && top_first != e->top_first) {
        e->notes.fields =
            "may flag some frames with the other field order, which changes within the video";
        e->top_first = top_first;
    }
}

int encoder_send(Encoder *e, const AVFrame *frame, MediaError *error)
{
    AVFrame *first_frame = e->first_frame;
    e->first_frame = NULL;
    av_frame_free(&first_frame);
    int ret = 0;
    if (is_lost(e) || (frame && e->codec->hw_frames_ctx && !gpu_frame_is(frame)))
        return fail_lost(e, error);
    media_log_clear();
    e->ended |= !frame;
    if (frame) {
        const AVRational from = frame->time_base;
        ret = adapter_run(&e->adapter, frame, e->adapted);
        if (ret >= 0) {
            match_fields(e, e->adapted);
            const char *dropped = side_data_drop_dynamic(e->adapted);
            e->notes.dropped = e->notes.dropped ? e->notes.dropped : dropped;
            /* Otherwise the encoder would repeat the input's frame types. */
            e->adapted->pict_type = e->wants_key ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE;
            e->wants_key = false;
            e->adapted->pts = av_rescale_q(frame->pts, from, e->codec->time_base);
            if (e->frames && e->adapted->pts <= e->last_pts)
                e->adapted->pts = e->last_pts + 1; /* a coarser time base can merge two times */
            e->notes.is_uneven |= e->frames && e->adapted->pts != e->last_pts + 1;
            e->last_pts = e->adapted->pts;
            SentFrame *sent = &e->sent[e->frames++ % SENT_FRAMES];
            sent->pts = e->adapted->pts;
            sent->duration = av_rescale_q(FRAME_DURATION(frame), from, e->codec->time_base);
            drop_signature(e->adapted);
            e->notes.loses_user_data |=
                !keeps_user_data(e->codec->codec) &&
                av_frame_get_side_data(e->adapted, AV_FRAME_DATA_SEI_UNREGISTERED);
            e->notes.loses_captions |= !encoder_has_option(e->codec->codec, "a53cc") &&
                                       av_frame_get_side_data(e->adapted, AV_FRAME_DATA_A53_CC);
        }
    }
    if (ret >= 0)
        ret = avcodec_send_frame(e->codec, frame ? e->adapted : NULL);
    if (frame)
        gpu_frame_unref(e->adapted);
    return ret < 0 ? fail(e, ret, error) : 0;
}

static SentFrame *find_sent(Encoder *e, int64_t pts)
{
    const int64_t oldest = e->frames > SENT_FRAMES ? e->frames - SENT_FRAMES : 0;
    for (int64_t i = e->frames - 1; i >= oldest; i--)
        if (e->sent[i % SENT_FRAMES].pts == pts)
            return &e->sent[i % SENT_FRAMES];
    return NULL;
}

int encoder_receive(Encoder *e, AVPacket *packet, MediaError *error)
{
    if (is_lost(e))
        return fail_lost(e, error);
    int ret = avcodec_receive_packet(e->codec, packet);
    if (ret == AVERROR(EAGAIN) || ret == AVERROR_EOF)
        return ret;
    SentFrame *sent = ret < 0 ? NULL : find_sent(e, packet->pts);
    if (ret < 0)
        return fail(e, ret, error);
    if (sent && sent->duration > 0)
        packet->duration = sent->duration;
    const bool is_last = ++e->packets == e->frames && e->ended;
    sent = is_last ? find_sent(e, e->last_pts) : NULL;
    if (sent) /* muxers take the end of the video from this packet, the last in decode order */
        packet->duration = FFMAX(packet->duration, sent->duration);
    return 0;
}

/* SVT-AV1 hangs on close if it was given no frame, so encode one and discard the packets. */
static void feed_one(Encoder *e)
{
    MediaError none = {0};
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = e->first_frame;
    e->first_frame = NULL;
    int ret = packet ? encoder_send(e, frame, &none) : AVERROR(ENOMEM);
    if (ret >= 0)
        ret = encoder_send(e, NULL, &none);
    while (ret >= 0 && (ret = encoder_receive(e, packet, &none)) >= 0)
        av_packet_unref(packet);
    av_packet_free(&packet);
    av_frame_free(&frame);
}

void encoder_close(Encoder **encoder)
{
    Encoder *e = *encoder;
    if (!e)
        return;
    if (e->first_frame)
        feed_one(e);
    convert_close(&e->adapter.converter);
    gpu_frame_free(&e->adapted);
    close_codec(e);
    av_freep(encoder);
}

/* ---- description ---- */

static int find_profile(const AVCodecContext *c, const AVPacket *first)
{
    const bool hides_it = c->codec_id == AV_CODEC_ID_H264 || c->codec_id == AV_CODEC_ID_HEVC;
    AVCodecParserContext *parser = hides_it ? av_parser_init(c->codec_id) : NULL;
    AVCodecContext *codec = avcodec_alloc_context3(NULL);
    AVCodecParameters *par = avcodec_parameters_alloc();
    int profile = c->profile, size;
    uint8_t *data;
    if (parser && codec && par && avcodec_parameters_from_context(par, c) >= 0 &&
        avcodec_parameters_to_context(codec, par) >= 0) {
        parser->flags |= PARSER_FLAG_COMPLETE_FRAMES;
        (void)av_parser_parse2(parser, codec, &data, &size, first->data, first->size,
                               AV_NOPTS_VALUE, AV_NOPTS_VALUE, 0);
        profile = codec->profile;
    }
    av_parser_close(parser);
    avcodec_free_context(&codec);
    avcodec_parameters_free(&par);
    return profile;
}

void encoder_describe(const AVCodecContext *c, const AVPacket *first, char *text, size_t size)
{
    const char *format =
        av_get_pix_fmt_name(c->sw_pix_fmt != AV_PIX_FMT_NONE ? c->sw_pix_fmt : c->pix_fmt);
    char codec[32];
    const char *name = avcodec_profile_name(c->codec_id, find_profile(c, first));
    const bool is_raw =
        c->codec_id == AV_CODEC_ID_WRAPPED_AVFRAME || c->codec_id == AV_CODEC_ID_RAWVIDEO;
    av_strlcpy(codec, c->codec_id == AV_CODEC_ID_H264 ? "H.264" : avcodec_get_name(c->codec_id),
               sizeof(codec));
    for (char *letter = codec; *letter; letter++)
        *letter = (char)av_toupper(*letter);
    if (is_raw)
        av_strlcpy(codec, "uncompressed", sizeof(codec));
    snprintf(text, size, "%s%s%s, %s", codec, name ? " " : "", name ? name : "",
             format ? format : "?");
}
