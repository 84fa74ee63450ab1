#include "media/output/encoder_choice.h"

#include <string.h>

#include <libavutil/avstring.h>
#include <libavutil/macros.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>

#include "media/compat.h"
#include "media/convert.h"
#include "media/output/container.h"

/* Longer than any encoder's list of pixel formats. */
#define MAX_FORMATS 128

/* Bits of the deepest video that phones, TVs and browsers decode: HEVC Main 10. */
#define COMMON_DEPTH 10

/* Maximum picture size and side of H.264 level 5.2, in macroblocks of 16x16 (ITU-T H.264, A.3.1).
 * Hardware decodes no higher level. 4096x2304 pixels are exactly MOST_MACROBLOCKS. */
#define MOST_MACROBLOCKS 36864
#define MOST_SIDE 543

static const AVCodec *usual_encoder(const AVOutputFormat *format, const char *path)
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
    const enum AVCodecID picture = container_picture_codec(format, path);
    return avcodec_find_encoder(picture != AV_CODEC_ID_NONE ? picture : format->video_codec);
}

bool encoder_has_option(const AVCodec *codec, const char *name)
{
    return codec->priv_class &&
           av_opt_find((void *)&codec->priv_class, name, NULL, 0, AV_OPT_SEARCH_FAKE_OBJ) != NULL;
}

/* x264 and x265 would report a bad preset later, and not through FFmpeg's log. */
static int check_preset(const AVCodec *codec, const char *preset, MediaError *error)
{
    static const char x26x[] = "ultrafast,superfast,veryfast,faster,fast,medium,slow,slower,"
                               "veryslow,placebo";
    if (!preset)
        return 0;
    if (!encoder_has_option(codec, "preset"))
        return media_fail(error, MEDIA_USAGE, "--preset: the encoder %s has no presets",
                          codec->name);
    if (av_match_name(codec->name, "libx264,libx264rgb,libx265") && !av_match_name(preset, x26x) &&
        !(preset[0] >= '0' && preset[0] <= '9' && !preset[1]))
        return media_fail(error, MEDIA_USAGE, "--preset %s: the encoder %s accepts %s",
                          media_quote(preset), codec->name, x26x);
    return 0;
}

/* Names of codecs, such as h264, are refused, because a codec may have several encoders. */
static int no_encoder(const char *name, MediaError *error)
{
    if (strcmp(name, "copy") == 0)
        return media_fail(
            error, MEDIA_USAGE,
            "--vcodec copy: equalized video has to be re-encoded; all other tracks are copied");
    return media_fail(error, MEDIA_USAGE,
                      "--vcodec %s: this FFmpeg has no encoder of that name; --vcodec help lists "
                      "those it has, with their codecs",
                      media_quote(name));
}

static const enum AVPixelFormat *formats_of(const AVCodec *codec)
{
    /* Wrapped frames must have a format that the YUV4MPEG2 muxer knows. */
    static const enum AVPixelFormat y4m[] = {
        AV_PIX_FMT_YUV420P,   AV_PIX_FMT_YUV422P,   AV_PIX_FMT_YUV444P,   AV_PIX_FMT_YUV411P,
        AV_PIX_FMT_GRAY8,     AV_PIX_FMT_GRAY9,     AV_PIX_FMT_GRAY10,    AV_PIX_FMT_GRAY12,
        AV_PIX_FMT_GRAY16,    AV_PIX_FMT_YUV420P9,  AV_PIX_FMT_YUV422P9,  AV_PIX_FMT_YUV444P9,
        AV_PIX_FMT_YUV420P10, AV_PIX_FMT_YUV422P10, AV_PIX_FMT_YUV444P10, AV_PIX_FMT_YUV420P12,
        AV_PIX_FMT_YUV422P12, AV_PIX_FMT_YUV444P12, AV_PIX_FMT_YUV420P14, AV_PIX_FMT_YUV422P14,
        AV_PIX_FMT_YUV444P14, AV_PIX_FMT_YUV420P16, AV_PIX_FMT_YUV422P16, AV_PIX_FMT_YUV444P16,
        AV_PIX_FMT_NONE,
    };
    return codec->id == AV_CODEC_ID_WRAPPED_AVFRAME ? y4m : codec_pixel_formats(codec);
}

/* True if convert.h can make frames that the encoder takes, or if the encoder lists no formats. */
static bool takes_host_frames(const AVCodec *codec)
{
    int least, most;
    encoder_depths(codec, &least, &most);
    return most > 0 || !formats_of(codec);
}

int encoder_find(const AVCodec **codec, const EncoderOptions *options, const AVOutputFormat *format,
                 const char *path, MediaError *error)
{
    *codec =
        options->codec ? avcodec_find_encoder_by_name(options->codec) : usual_encoder(format, path);
    if (!*codec && options->codec)
        return no_encoder(options->codec, error);
    if (!*codec)
        return media_fail(error, MEDIA_USAGE,
                          "this FFmpeg has no video encoder for the container %s; name one with "
                          "--vcodec",
                          format->name);
    if ((*codec)->type != AVMEDIA_TYPE_VIDEO)
        return media_fail(error, MEDIA_USAGE,
                          "--vcodec %s is not a video encoder; --vcodec help lists those",
                          (*codec)->name);
    if (!takes_host_frames(*codec))
        return media_fail(error, MEDIA_USAGE,
                          "--vcodec %s: this encoder only takes frames in GPU memory; --vcodec "
                          "help lists the others",
                          (*codec)->name);
    if (((*codec)->id == AV_CODEC_ID_WRAPPED_AVFRAME) !=
        (strcmp(format->name, "yuv4mpegpipe") == 0))
        return media_fail(error, MEDIA_USAGE, "the encoder %s does not suit the container %s",
                          (*codec)->name, format->name);
    if ((*codec)->id != AV_CODEC_ID_WRAPPED_AVFRAME &&
        avformat_query_codec(format, (*codec)->id, FF_COMPLIANCE_NORMAL) == 0)
        return media_fail(error, MEDIA_USAGE, "the container %s does not support %s", format->name,
                          avcodec_get_name((*codec)->id));
    /* Encoders would silently reduce a larger --crf. */
    const double most = av_match_name((*codec)->name, "libx264,libx264rgb,libx265") ? 51 : 63;
    if (options->crf > most)
        return media_fail(error, MEDIA_USAGE, "--crf %g: the encoder %s takes 0 to %g",
                          options->crf, (*codec)->name, most);
    return check_preset(*codec, options->preset, error);
}

static bool is_one_of(enum AVPixelFormat format, const enum AVPixelFormat *list)
{
    for (; *list != AV_PIX_FMT_NONE; list++)
        if (*list == format)
            return true;
    return false;
}

static bool is_large(int width, int height)
{
    const int columns = (width + 15) / 16, rows = (height + 15) / 16;
    return (int64_t)columns * rows > MOST_MACROBLOCKS || FFMAX(columns, rows) > MOST_SIDE;
}

void encoder_choose_default(const AVCodec **codec, EncoderOptions *options,
                            const AVOutputFormat *format, enum AVPixelFormat from, int width,
                            int height)
{
    const AVCodec *h264 = avcodec_find_encoder_by_name("libx264");
    const AVCodec *hevc = avcodec_find_encoder_by_name("libx265");
    const enum AVPixelFormat asked =
        options->pixel_format ? av_get_pix_fmt(options->pixel_format) : from;
    const int deep = convert_depth(asked) > 8;
    options->eight_bits = options->too_large = 0;
    if (options->codec || !h264 || (*codec != h264 && *codec != hevc) ||
        (!container_is_mp4(format) && strcmp(format->name, "matroska") != 0))
        return;
    *codec = h264;
    if ((!deep && !is_large(width, height)) || encoder_is_lossless(h264, options))
        return;
    if (hevc && avformat_query_codec(format, AV_CODEC_ID_HEVC, FF_COMPLIANCE_NORMAL) == 1 &&
        (!options->pixel_format || is_one_of(asked, codec_pixel_formats(hevc)) ||
         !is_one_of(asked, codec_pixel_formats(h264)))) {
        *codec = hevc;
        return;
    }
    options->eight_bits = deep && !options->pixel_format && !options->keep_format;
    options->too_large = is_large(width, height);
}

static bool has_chroma(enum AVPixelFormat format)
{
    return !convert_is_rgb(format) && av_pix_fmt_desc_get(format)->nb_components >= 3;
}

/* True for picture formats that cannot tag YUV, although their encoders accept YUV. */
static int prefers_rgb(const AVCodec *codec)
{
    return codec->id == AV_CODEC_ID_TIFF || codec->id == AV_CODEC_ID_JPEG2000;
}

/* Lists the formats of `list` to which YUV and gray frames can be converted; RGB only if `list` has
 * no YUV. */
static void list_makeable(enum AVPixelFormat *makeable, const AVCodec *codec,
                          const enum AVPixelFormat *list)
{
    int count = 0, yuv = 0;
    for (int i = 0; list[i] != AV_PIX_FMT_NONE; i++)
        yuv |= convert_can_make(list[i]) && has_chroma(list[i]) && !prefers_rgb(codec);
    for (; *list != AV_PIX_FMT_NONE && count < MAX_FORMATS - 1; list++)
        if (convert_can_make(*list) && (yuv ? !convert_is_rgb(*list) : !has_chroma(*list)))
            makeable[count++] = *list;
    makeable[count] = AV_PIX_FMT_NONE;
}

void encoder_depths(const AVCodec *codec, int *least, int *most)
{
    const enum AVPixelFormat *list = formats_of(codec);
    enum AVPixelFormat makeable[MAX_FORMATS] = {AV_PIX_FMT_NONE};
    if (list)
        list_makeable(makeable, codec, list);
    *most = 0;
    for (int i = 0; makeable[i] != AV_PIX_FMT_NONE; i++)
        *most = FFMAX(*most, convert_depth(makeable[i]));
    *least = *most;
    for (int i = 0; makeable[i] != AV_PIX_FMT_NONE; i++)
        if (convert_depth(makeable[i]) >= 8) /* frames have at least 8 bits */
            *least = FFMIN(*least, convert_depth(makeable[i]));
}

bool encoder_takes_gpu_frames(const AVCodec *codec)
{
    const enum AVPixelFormat *list = formats_of(codec);
    return list && is_one_of(AV_PIX_FMT_CUDA, list);
}

/* Keeps the formats with at least this many components (4: alpha). If none has, keeps all. */
static void prefer(enum AVPixelFormat *list, int components)
{
    int count = 0;
    for (int i = 0; list[i] != AV_PIX_FMT_NONE; i++)
        if (av_pix_fmt_desc_get(list[i])->nb_components >= components)
            list[count++] = list[i];
    if (count)
        list[count] = AV_PIX_FMT_NONE;
}

/* Keeps the formats of at least this depth, or the deepest formats if none has it. */
static void keep_deep(enum AVPixelFormat *list, int depth)
{
    int deepest = 0, count = 0;
    for (int i = 0; list[i] != AV_PIX_FMT_NONE; i++)
        deepest = FFMAX(deepest, convert_depth(list[i]));
    for (int i = 0; list[i] != AV_PIX_FMT_NONE; i++)
        if (convert_depth(list[i]) >= FFMIN(depth, deepest))
            list[count++] = list[i];
    list[count] = AV_PIX_FMT_NONE;
}

static int bits_per_pixel(enum AVPixelFormat format)
{
    return av_get_padded_bits_per_pixel(av_pix_fmt_desc_get(format));
}

/* Keeping chroma comes first, then alpha, then depth. Among formats that differ only in depth,
 * takes the shallowest one with at least the depth of `from`. */
static enum AVPixelFormat nearest(enum AVPixelFormat from, const AVCodec *codec,
                                  const enum AVPixelFormat *encodable)
{
    enum AVPixelFormat list[MAX_FORMATS];
    list_makeable(list, codec, encodable);
    if (has_chroma(from))
        prefer(list, 3);
    if (format_has_alpha(from))
        prefer(list, 4);
    keep_deep(list, convert_depth(from));
    enum AVPixelFormat best = list[0];
    if (!has_chroma(from)) {
        /* Gray is full range by definition, like YUVJ420P. */
        if (is_one_of(AV_PIX_FMT_YUVJ420P, list))
            return AV_PIX_FMT_YUVJ420P;
        for (int i = 0; list[i] != AV_PIX_FMT_NONE; i++)
            if (bits_per_pixel(list[i]) < bits_per_pixel(best))
                best = list[i];
        return best;
    }
    best = avcodec_find_best_pix_fmt_of_list(list, from, format_has_alpha(from), NULL);
    for (int i = 0; best != AV_PIX_FMT_NONE && list[i] != AV_PIX_FMT_NONE; i++) {
        const AVPixFmtDescriptor *a = av_pix_fmt_desc_get(list[i]), *b = av_pix_fmt_desc_get(best);
        if (a->nb_components == b->nb_components && a->log2_chroma_w == b->log2_chroma_w &&
            a->log2_chroma_h == b->log2_chroma_h &&
            convert_is_rgb(list[i]) == convert_is_rgb(best) &&
            convert_depth(list[i]) < convert_depth(best))
            best = list[i];
    }
    return best;
}

bool format_has_alpha(enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);
    return desc && (desc->flags & AV_PIX_FMT_FLAG_ALPHA) != 0;
}

/* Returns the formats of `list` that phones, TVs and browsers decode, and GPU formats, in `common`.
 * Returns `list` itself if devices decode none, or if the options ask for other formats. */
static const enum AVPixelFormat *keep_common(enum AVPixelFormat common[MAX_FORMATS],
                                             const AVCodec *codec, const EncoderOptions *options,
                                             const enum AVPixelFormat *list)
{
    const int most = options->eight_bits ? 8 : COMMON_DEPTH;
    int count = 0, any = 0;
    if (!list || (codec->id != AV_CODEC_ID_H264 && codec->id != AV_CODEC_ID_HEVC) ||
        options->keep_format || encoder_is_lossless(codec, options))
        return list;
    for (; *list != AV_PIX_FMT_NONE && count < MAX_FORMATS - 1; list++) {
        const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(*list);
        int full = 0; /* set for yuvj formats, which are yuv formats of full range */
        (void)convert_without_j(*list, &full);
        const bool is_common = has_chroma(*list) && desc->log2_chroma_w == 1 &&
                               desc->log2_chroma_h == 1 && !full && convert_depth(*list) <= most;
        if (is_common || (desc->flags & AV_PIX_FMT_FLAG_HWACCEL))
            common[count++] = *list;
        any |= is_common;
    }
    common[count] = AV_PIX_FMT_NONE;
    return any ? common : formats_of(codec);
}

int encoder_choose_format(enum AVPixelFormat *format, const AVCodec *codec,
                          const EncoderOptions *options, enum AVPixelFormat from, MediaError *error)
{
    const char *asked = options->pixel_format;
    enum AVPixelFormat common[MAX_FORMATS];
    const enum AVPixelFormat *list = formats_of(codec);
    *format = from;
    if (!asked)
        list = keep_common(common, codec, options, list);
    if (asked) {
        *format = av_get_pix_fmt(asked);
        if (*format == AV_PIX_FMT_NONE || (list && !is_one_of(*format, list)))
            return media_fail(error, MEDIA_USAGE,
                              "--pix-fmt %s: the encoder %s does not accept this format",
                              media_quote(asked), codec->name);
    } else if (list && (!is_one_of(from, list) || (prefers_rgb(codec) && has_chroma(from)))) {
        *format = nearest(from, codec, list);
    }
    return 0;
}

bool encoder_is_full_range(const AVCodec *codec)
{
    const enum AVPixelFormat *list = formats_of(codec);
    int rgb = 0;
    for (; list && *list != AV_PIX_FMT_NONE; list++) {
        if (has_chroma(*list) && !prefers_rgb(codec))
            return codec->id == AV_CODEC_ID_MJPEG;
        rgb |= convert_is_rgb(*list);
    }
    return rgb;
}

/* True if one of the ':'-separated words of a value, as in x264-params, is in the list. */
static bool has_word(const char *value, const char *const *words)
{
    for (size_t n; *value; value += n + (value[n] == ':')) {
        n = strcspn(value, ":");
        for (const char *const *word = words; *word; word++)
            if (strlen(*word) == n && strncmp(value, *word, n) == 0)
                return true;
    }
    return false;
}

bool encoder_is_lossless(const AVCodec *codec, const EncoderOptions *options)
{
    static const char *const words[] = {"lossless", "lossless=1", "lossless=true", NULL};
    const AVCodecDescriptor *desc = avcodec_descriptor_get(codec->id);
    const int kinds = AV_CODEC_PROP_LOSSLESS | AV_CODEC_PROP_LOSSY;
    const bool is_x264 = strncmp(codec->name, "libx264", 7) == 0;
    if (codec->id == AV_CODEC_ID_WRAPPED_AVFRAME || (is_x264 && options->crf == 0) ||
        (desc && (desc->props & kinds) == AV_CODEC_PROP_LOSSLESS))
        return true;
    for (const char *const *o = options->options; o && *o; o++)
        if (strcmp(*o, "lossless=1") == 0 || (is_x264 && strcmp(*o, "qp=0") == 0) ||
            /* A quantizer of 0 does not make x265 lossless. */
            (strncmp(*o, "x265-params=", 12) == 0 && has_word(*o + 12, words)))
            return true;
    return false;
}

int encoder_usual_quantizer(enum AVCodecID id)
{
    if (av_match_name(avcodec_get_name(id), "mpeg1video,mpeg2video,mpeg4,msmpeg4v2,msmpeg4v3,"
                                            "wmv1,wmv2,h263,flv1"))
        return 3;
    if (id == AV_CODEC_ID_THEORA)
        return 8; /* 0 to 10; higher is better */
    return id == AV_CODEC_ID_MJPEG ? 2 : 0;
}

/* ---- parts ---- */

/* An encoder's threads wait for rows of earlier frames, so one core is busy per ROWS_OF_CORE
 * picture rows, but at most THREADED_CORES cores. */
#define ROWS_OF_CORE 60
#define THREADED_CORES 16

/* True if the option has this name, or sets an option of this name within its value, as x264-params
 * does. In a value, the name may be quoted or follow a space. x264 and x265 accept '_' for '-'. */
static int sets_option(const char *option, const char *name)
{
    for (const char *at = option; *at; at++) {
        const char *text = at, *wanted = name;
        if (at > option && !strchr("=: '\"\\", at[-1]))
            continue;
        while (*wanted && (*text == *wanted || (*text == '_' && *wanted == '-')))
            text++, wanted++;
        text += strspn(text, " '\"");
        if (!*wanted && *text == '=')
            return 1;
    }
    return 0;
}

static const char *first_named(const EncoderOptions *o, const char *const *names)
{
    for (const char *const *option = o->options; option && *option; option++)
        for (const char *const *name = names; *name; name++)
            if (sets_option(*option, *name))
                return *option;
    return NULL;
}

/* True if the encoder aims at a quality, not at a bit rate. */
static bool has_quality(const AVCodec *codec, const EncoderOptions *o)
{
    static const char *const names[] = {"crf", "qp", "cq", "q", "global_quality", "qscale", NULL};
    const AVCodecDescriptor *desc = avcodec_descriptor_get(codec->id);
    return o->crf >= 0 || first_named(o, names) || encoder_is_lossless(codec, o) ||
           (desc && (desc->props & AV_CODEC_PROP_INTRA_ONLY)) ||
           encoder_usual_quantizer(codec->id) ||
           av_match_name(codec->name, "libx264,libx264rgb,libx265,libvpx-vp9,libsvtav1");
}

int encoder_cores(const AVCodec *codec, int rows)
{
    if (!av_match_name(codec->name, "libx264,libx264rgb,libx265,libsvtav1"))
        return 0;
    return rows > 0 && rows < THREADED_CORES * ROWS_OF_CORE ? rows / ROWS_OF_CORE : THREADED_CORES;
}

int encoder_check_parts(const AVCodec *codec, const EncoderOptions *o, MediaError *error)
{
    static const char *const rates[] = {"b",           "bitrate",     "maxrate", "minrate",
                                        "bufsize",     "vbv-maxrate", "pass",    "vbv-bufsize",
                                        "passlogfile", "rc_max_rate", NULL};
    static const char *const files[] = {"stats", "dump-yuv",      "log-file",      "csv",
                                        "recon", "analysis-save", "analysis-file", NULL};
    static const char *const why = "a bit rate is for the whole film, and parts are encoded "
                                   "independently; --crf gives all parts the same quality";
    const char *rate = first_named(o, rates), *file = first_named(o, files);
    for (const char *const *option = o->options; option && *option; option++)
        if (strncmp(*option, "flags=", 6) == 0 && strstr(*option, "pass"))
            rate = *option;
    if (file)
        return media_fail(error, MEDIA_USAGE,
                          "--vopt %s writes a file, which each part would overwrite",
                          media_quote(file));
    if (o->bitrate >= 0)
        return media_fail(error, MEDIA_USAGE, "--bitrate: %s", why);
    if (rate)
        return media_fail(error, MEDIA_USAGE, "--vopt %s: %s", media_quote(rate), why);
    if (codec->id == AV_CODEC_ID_WRAPPED_AVFRAME)
        return media_fail(
            error, MEDIA_USAGE,
            "y4m cannot be written in parts; use --vcodec ffv1 in mkv, which is lossless as well");
    if (!has_quality(codec, o))
        return media_fail(
            error, MEDIA_USAGE,
            "the encoder %s aims at a bit rate unless --crf or --vopt sets a quality: %s",
            codec->name, why);
    return 0;
}

bool encoder_is_listed(const AVCodec *codec, enum AVMediaType type)
{
    return av_codec_is_encoder(codec) && codec->type == type &&
           !(codec->capabilities & AV_CODEC_CAP_EXPERIMENTAL) &&
           codec->id != AV_CODEC_ID_WRAPPED_AVFRAME &&
           (type != AVMEDIA_TYPE_VIDEO || takes_host_frames(codec));
}
