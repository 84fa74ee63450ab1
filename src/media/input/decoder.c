#include "media/input/decoder.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include <libavutil/avstring.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>

#include "media/codec_name.h"
#include "media/compat.h"
#include "media/convert.h"
#include "media/log.h"
#include "media/side_data.h"

/* FFmpeg holds frames against the limit with their width aligned to 64, whose sides go to 65535. */
#define MAX_ALIGNMENT_PIXELS (63 * 65535)

struct Decoder {
    const Source *source; /* its name and limits, which do not change */
    AVCodecContext *codec;
    CodecLog log;
    atomic_int no_memory; /* for a frame; decoders tell that as damage */
    AVStream *stream;
    int64_t usual_duration, start; /* of the track, in its time base */
    FrameMemory *memory;
    AVFrame *raw;
    size_t packet_size;                     /* of the last one */
    unsigned refused_width, refused_height; /* beyond max_pixels, or 0 */
    Damage damage;
    Converter converter;

    /* Of the first frame; all others are brought to it. */
    int width, height;
    enum AVPixelFormat format;
    enum AVColorRange range;
    enum AVColorSpace space;

    atomic_int deinterlace;     /* DeinterlaceMode */
    Deinterlacer *deinterlacer; /* NULL: nothing is interlaced so far */
    int deinterlaces_all;       /* it was opened for all frames */
    int leaving;                /* it is told the end, of the video or of its work */
    int ended;                  /* the codec has nothing more */

    enum { GOING_ON, DRAINING, DRAINED } coming_back; /* what was before comes out first */
    int returned;                                     /* see decoder_take_return() */

    int full_rgb, depth;
    int64_t last_pts, last_duration;
    char conversion[96];
};

/* FFmpeg's own decoders of VP8 and VP9 do not see the alpha beside the packets. */
static const AVCodec *find_decoder(const AVStream *stream)
{
    const enum AVCodecID id = stream->codecpar->codec_id;
    const AVDictionaryEntry *alpha = av_dict_get(stream->metadata, "alpha_mode", NULL, 0);
    const AVCodec *codec = NULL;
    if (alpha && strcmp(alpha->value, "1") == 0 && id == AV_CODEC_ID_VP8)
        codec = avcodec_find_decoder_by_name("libvpx");
    if (alpha && strcmp(alpha->value, "1") == 0 && id == AV_CODEC_ID_VP9)
        codec = avcodec_find_decoder_by_name("libvpx-vp9");
    return codec ? codec : avcodec_find_decoder(id);
}

static int64_t usual_duration(const Source *source)
{
    AVStream *stream = source->video;
    const AVRational rate = av_guess_frame_rate(source->format, stream, NULL);
    if (rate.num <= 0 || rate.den <= 0)
        return 1;
    const int64_t ticks = av_rescale_q(1, av_inv_q(rate), stream->time_base);
    return ticks > 0 ? ticks : 1;
}

/* A thread for each frame would hold as many frames back. */
static void avoid_delay(AVCodecContext *codec, const AVCodecParameters *par)
{
    codec->thread_type = FF_THREAD_SLICE;
    if (par->video_delay == 0)
        codec->flags |= AV_CODEC_FLAG_LOW_DELAY;
}

static int get_buffer(AVCodecContext *codec, AVFrame *frame, int flags)
{
    Decoder *d = codec->opaque;
    const int ret = d->memory ? frame_memory_get_buffer(d->memory, codec, frame, flags)
                              : avcodec_default_get_buffer2(codec, frame, flags);
    if (ret == AVERROR(ENOMEM))
        atomic_store(&d->no_memory, 1);
    return ret;
}

int decoder_open(Decoder **decoder, const Source *source, FrameMemory *memory, int threads,
                 MediaError *error)
{
    AVStream *stream = source->video;
    *decoder = NULL;
    const AVCodec *codec = find_decoder(stream);
    if (!codec && stream->codecpar->codec_id == AV_CODEC_ID_NONE)
        return media_fail(error, MEDIA_INPUT,
                          "the video is of an %s, which this FFmpeg cannot decode",
                          codec_name(stream->codecpar));
    if (!codec)
        return media_fail(error, MEDIA_INPUT, "this FFmpeg has no decoder for %s",
                          codec_name(stream->codecpar));
    Decoder *d = av_mallocz(sizeof(*d));
    if (!d)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    d->source = source;
    d->stream = stream;
    d->usual_duration = usual_duration(source);
    d->start = stream->start_time == AV_NOPTS_VALUE ? 0 : stream->start_time;
    d->memory = memory;
    d->last_pts = AV_NOPTS_VALUE;
    atomic_init(&d->deinterlace, DEINTERLACE_OFF);
    d->raw = av_frame_alloc();
    d->codec = avcodec_alloc_context3(codec);
    int ret = d->raw && d->codec ? 0 : AVERROR(ENOMEM);
    if (ret >= 0)
        ret = avcodec_parameters_to_context(d->codec, stream->codecpar);
    if (ret >= 0) {
        d->codec->pkt_timebase = stream->time_base;
        d->codec->framerate = stream->avg_frame_rate;
        d->codec->thread_count = threads;
        d->codec->flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT;
        if (source->live)
            avoid_delay(d->codec, stream->codecpar);
        d->codec->strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL; /* a PSD of 31,000 lines */
        d->codec->max_pixels = source->max_pixels + MAX_ALIGNMENT_PIXELS;
        d->codec->opaque = d;
        d->codec->get_buffer2 = get_buffer;
        allow_threaded_callbacks(d->codec);
        codec_log_open(&d->log, d->codec);
        ret = avcodec_open2(d->codec, codec, NULL);
    }
    if (ret < 0) {
        decoder_close(&d);
        return media_fail(error, MEDIA_INPUT, "cannot open the decoder %s: %s", codec->name,
                          media_av_text(ret));
    }
    *decoder = d;
    return 0;
}

void decoder_keep_full_rgb(Decoder *d)
{
    d->full_rgb = 1;
}

void decoder_deepen(Decoder *d, int depth)
{
    d->depth = depth;
}

void decoder_deinterlace(Decoder *d, DeinterlaceMode mode)
{
    atomic_store(&d->deinterlace, (int)mode);
}

/* Many decoders tell it as damage. */
static int is_out_of_memory(const Decoder *d, int ret)
{
    const int failed = ret < 0 && ret != AVERROR(EAGAIN) && ret != AVERROR_EOF;
    return ret == AVERROR(ENOMEM) || (ret < 0 && atomic_load(&d->no_memory)) ||
           (failed && media_lacks_memory(d->packet_size));
}

/* Of a size that FFmpeg decodes, but which is not allowed. */
static int is_too_large(const Decoder *d, unsigned width, unsigned height)
{
    return (int64_t)width * height > d->source->max_pixels &&
           av_image_check_size2(width, height, INT64_MAX, AV_PIX_FMT_NONE, 0, NULL) >= 0;
}

static void note_damage(Decoder *d, int64_t *count, int ret)
{
    const LogNote note = codec_log_take(&d->log);
    damage_note(&d->damage, count, &note, ret);
    if (is_too_large(d, note.refused_width, note.refused_height)) {
        d->refused_width = note.refused_width;
        d->refused_height = note.refused_height;
    }
}

/* What is decoded from now on has nothing to do with what was before. 0; EAGAIN: that is still to
 * come out. */
static int come_back(Decoder *d)
{
    if (d->coming_back == GOING_ON) {
        (void)avcodec_send_packet(d->codec, NULL);
        d->coming_back = DRAINING;
    }
    if (d->coming_back == DRAINING)
        return AVERROR(EAGAIN);
    d->coming_back = GOING_ON;
    d->returned = 1;
    return 0;
}

int decoder_send(Decoder *d, const AVPacket *packet)
{
    if (source_is_return(packet) && come_back(d) < 0)
        return AVERROR(EAGAIN);
    if (source_is_return(packet) && !packet->size)
        return 0;
    media_log_clear();
    errno = 0;
    if (packet)
        d->packet_size = (size_t)packet->size;
    const int ret = avcodec_send_packet(d->codec, packet);
    if (ret == AVERROR(EAGAIN))
        return ret;
    if (is_out_of_memory(d, ret))
        return AVERROR(ENOMEM);
    if (ret < 0 && ret != AVERROR_EOF)
        note_damage(d, &d->damage.decode_errors, ret);
    return 0;
}

static void set_times(Decoder *d, AVFrame *frame)
{
    int64_t pts = frame->best_effort_timestamp;
    int64_t duration = FRAME_DURATION(frame);
    if (duration <= 0)
        duration = d->usual_duration;
    if (pts == AV_NOPTS_VALUE && d->last_pts == AV_NOPTS_VALUE)
        pts = d->start;
    else if (pts == AV_NOPTS_VALUE)
        pts = d->last_pts + d->last_duration;
    if (d->last_pts != AV_NOPTS_VALUE && pts <= d->last_pts)
        pts = d->last_pts + 1;
    frame->pts = d->last_pts = pts;
    FRAME_DURATION(frame) = d->last_duration = duration;
    frame->time_base = d->stream->time_base;
}

/* What the container says of the shape of pixels comes first, as in other players. */
static int set_shape(const Decoder *d, AVFrame *frame)
{
    frame->sample_aspect_ratio = av_guess_sample_aspect_ratio(NULL, d->stream, frame);
    return side_data_orient(frame, d->stream);
}

static void set_range(AVFrame *frame)
{
    int full = 0;
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(frame->format);
    frame->format = convert_without_j(frame->format, &full);
    if (full)
        frame->color_range = AVCOL_RANGE_JPEG;
    else if (frame->color_range == AVCOL_RANGE_UNSPECIFIED)
        frame->color_range = desc && desc->nb_components < 3 ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
}

/* Of two formats, one is taken: RGB becomes limited YUV, what players expect of it. */
static void take_first(Decoder *d, const AVFrame *frame)
{
    d->width = frame->width;
    d->height = frame->height;
    d->format = convert_deeper(convert_nearest_direct(frame->format), d->depth);
    d->range = frame->color_range;
    d->space = frame->colorspace;
    if (convert_is_rgb(frame->format))
        d->range = d->full_rgb ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
}

static int convert(Decoder *d, AVFrame *frame, MediaError *error)
{
    AVFrame *from = d->raw;
    if (!d->conversion[0])
        snprintf(d->conversion, sizeof(d->conversion), "%s %dx%d to %s %dx%d",
                 av_get_pix_fmt_name(from->format), from->width, from->height,
                 av_get_pix_fmt_name(d->format), d->width, d->height);
    int ret = av_frame_copy_props(frame, from);
    frame->format = d->format;
    frame->width = d->width;
    frame->height = d->height;
    frame->color_range = d->range;
    frame->colorspace = d->space;
    if (ret >= 0)
        ret = convert_frame(&d->converter, from, frame);
    if (ret >= 0)
        d->space = frame->colorspace;
    av_frame_unref(from);
    if (ret < 0) {
        av_frame_unref(frame);
        return media_fail(error, MEDIA_INPUT, "cannot convert %s: %s", d->conversion,
                          media_av_text(ret));
    }
    return 0;
}

/* The next frame as it is stored. */
static int receive_stored(Decoder *d, AVFrame *frame, MediaError *error)
{
    int ret;
    do {
        if (d->refused_width)
            return source_refuse_size(d->source, d->refused_width, d->refused_height, error);
        media_log_clear();
        errno = 0;
        ret = avcodec_receive_frame(d->codec, d->raw);
        if (is_out_of_memory(d, ret))
            return media_fail(error, MEDIA_INPUT, "out of memory");
        if (ret == AVERROR_EOF && d->coming_back == DRAINING) {
            avcodec_flush_buffers(d->codec);
            d->coming_back = DRAINED;
            return AVERROR(EAGAIN);
        }
        if (ret == AVERROR(EAGAIN) || ret == AVERROR_EOF)
            return ret;
        if (ret < 0)
            note_damage(d, &d->damage.decode_errors, ret);
    } while (ret < 0);

    if ((int64_t)d->raw->width * d->raw->height > d->source->max_pixels)
        return source_refuse_size(d->source, (unsigned)d->raw->width, (unsigned)d->raw->height,
                                  error);
    if (d->raw->decode_error_flags || (d->raw->flags & AV_FRAME_FLAG_CORRUPT))
        note_damage(d, &d->damage.corrupt_frames, AVERROR_INVALIDDATA);
    if (set_shape(d, d->raw) < 0)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    set_times(d, d->raw);
    set_range(d->raw);
    if (!d->width)
        take_first(d, d->raw);
    if (source_check_picture(d->source, d->raw, d->width, d->height, error) < 0)
        return error->fault;
    if (d->raw->width != d->width || d->raw->height != d->height || d->raw->format != d->format ||
        d->raw->color_range != d->range)
        ret = convert(d, frame, error);
    else
        av_frame_move_ref(frame, d->raw);
    return ret;
}

/* ---- fields -------------------------------------------------------------------------------- */

static void stop_deinterlacing(Decoder *d)
{
    deinterlacer_close(&d->deinterlacer);
    d->leaving = 0;
}

static int cannot_deinterlace(int ret, AVFrame *frame, MediaError *error)
{
    av_frame_unref(frame);
    return media_fail(error, MEDIA_INPUT, "cannot deinterlace: %s", media_av_text(ret));
}

/* What one frame after the other goes through, from the first one on that needs it. */
static int deinterlace(Decoder *d, AVFrame *frame, MediaError *error)
{
    const int mode = atomic_load(&d->deinterlace);
    if (!d->deinterlacer && mode != DEINTERLACE_OFF &&
        (mode == DEINTERLACE_ON || FRAME_IS_INTERLACED(frame))) {
        d->deinterlaces_all = mode == DEINTERLACE_ON;
        const int ret =
            deinterlacer_open(&d->deinterlacer, frame, d->deinterlaces_all, d->codec->thread_count);
        if (ret < 0)
            return cannot_deinterlace(ret, frame, error);
    }
    if (!d->deinterlacer)
        return 0;
    const int ret = deinterlacer_send(d->deinterlacer, frame);
    return ret < 0 ? cannot_deinterlace(ret, frame, error) : AVERROR(EAGAIN);
}

/* It is told the end where another mode is wanted now, so that the frame inside comes out. */
static int leave(Decoder *d)
{
    d->leaving = 1;
    return deinterlacer_send(d->deinterlacer, NULL);
}

/* The next frame that comes out of it. EAGAIN: it wants one; it may be gone. */
static int receive_deinterlaced(Decoder *d, AVFrame *frame, MediaError *error)
{
    const int mode = atomic_load(&d->deinterlace);
    const int changed = mode == DEINTERLACE_OFF || d->deinterlaces_all != (mode == DEINTERLACE_ON);
    int ret = (changed || d->ended) && !d->leaving ? leave(d) : 0;
    if (ret >= 0)
        ret = deinterlacer_receive(d->deinterlacer, frame);
    if (ret == AVERROR_EOF) {
        stop_deinterlacing(d);
        return AVERROR(EAGAIN);
    }
    return ret < 0 && ret != AVERROR(EAGAIN) ? cannot_deinterlace(ret, frame, error) : ret;
}

int decoder_receive(Decoder *d, AVFrame *frame, MediaError *error)
{
    int ret;
    do {
        ret = d->deinterlacer ? receive_deinterlaced(d, frame, error) : AVERROR(EAGAIN);
        if (ret != AVERROR(EAGAIN))
            break;
        if (d->deinterlacer && d->ended)
            return AVERROR_EOF;
        ret = receive_stored(d, frame, error);
        if (ret >= 0)
            ret = deinterlace(d, frame, error);
        else if (ret == AVERROR(EAGAIN))
            return ret;
        d->ended = ret == AVERROR_EOF;
    } while (ret == AVERROR(EAGAIN) || (d->ended && d->deinterlacer));
    if (ret >= 0 && d->memory)
        frame_memory_adopt(d->memory, frame);
    return ret;
}

const Damage *decoder_damage(const Decoder *d)
{
    return &d->damage;
}

void decoder_forget_damage(Decoder *d)
{
    d->damage = (Damage){0};
}

int decoder_frame_threads(const Decoder *d)
{
    return d->codec->active_thread_type & FF_THREAD_FRAME ? d->codec->thread_count : 1;
}

void decoder_hurry(Decoder *d, int hurry)
{
    d->codec->skip_frame = hurry ? AVDISCARD_NONREF : AVDISCARD_DEFAULT;
}

const char *decoder_conversion(const Decoder *d)
{
    return d->conversion[0] ? d->conversion : NULL;
}

void decoder_flush(Decoder *d)
{
    avcodec_flush_buffers(d->codec);
    stop_deinterlacing(d);
    d->ended = 0;
    d->last_pts = AV_NOPTS_VALUE;
    d->coming_back = GOING_ON;
    d->returned = 0;
}

int decoder_take_return(Decoder *d)
{
    const int returned = d->returned;
    d->returned = 0;
    return returned;
}

void decoder_close(Decoder **decoder)
{
    Decoder *d = *decoder;
    if (!d)
        return;
    convert_close(&d->converter);
    deinterlacer_close(&d->deinterlacer);
    av_frame_free(&d->raw);
    avcodec_free_context(&d->codec);
    codec_log_close(&d->log);
    av_freep(decoder);
}
