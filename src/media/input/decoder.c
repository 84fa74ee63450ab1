#include "media/input/decoder.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include <libavutil/avstring.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>

#include "media/compat.h"
#include "media/convert.h"
#include "media/gpu_frame.h"
#include "media/log.h"
#include "media/side_data.h"

/* Added to max_pixels, because FFmpeg rounds widths up to multiples of 64 before it checks them. */
#define MAX_ALIGNMENT_PIXELS (63 * 65535) /* 63 columns of the highest picture */

/* Maximum number of broken frames in a row to drop. Further ones are shown, because some cameras
 * send only broken frames. */
#define MOST_HIDDEN 25

/* Maximum number of incomplete frames to drop at the start of a film: leading frames of an open
 * group of pictures, or frames of a gradual refresh. */
#define MOST_LEADING 64

struct Decoder {
    const Source *source; /* only its constant fields are used: name, limits */
    AVCodecContext *codec;
    CodecLog log;
    atomic_int no_memory; /* a frame could not be allocated; decoders report this as damage */
    AVStream *stream;
    AVCodecParameters *parameters; /* a copy, because the demuxer may change its own */
    int64_t usual_duration;        /* of a frame, in the track's time base */
    int64_t start;                 /* start of the track, in its time base */
    DecoderOptions options;
    AVFrame *raw;
    size_t packet_size;                     /* size of the last packet */
    int hurry;                              /* see decoder_hurry() */
    unsigned refused_width, refused_height; /* a frame size beyond max_pixels, or 0 */
    Damage damage;
    int joins;       /* maximum number of incomplete frames to drop before the first complete one */
    int joined_late; /* the GPU has failed, so dropped frames count as lost */
    int hides_broken; /* drops frames with errors */
    int hidden;       /* number of frames dropped in a row */
    bool is_broken;   /* `raw` has errors */
    Converter converter;
    CodeStretch *stretch; /* NULL: no gray frame of more than 8 bits so far */

    VideoShape shape;          /* of the first frame */
    enum AVPixelFormat format; /* of the output; AV_PIX_FMT_NONE: no frame yet */
    VideoChanges changes;

    atomic_int deinterlace;     /* DeinterlaceMode */
    atomic_int codes;           /* CodeRangeMode */
    Deinterlacer *deinterlacer; /* NULL: nothing is interlaced so far */
    int deinterlaces_all;       /* `deinterlacer` was opened for all frames */
    int leaving;                /* `deinterlacer` is being drained */
    int ended;                  /* the codec has no more frames */

    enum { DECODING, DRAINING, DRAINED } drain; /* draining the codec before a discontinuity */
    int returned;                               /* see decoder_take_return() */

    int on_gpu, refused;  /* refused: the GPU does not support this video */
    int leaves;           /* true if options.gpu_frames frames may stay on the GPU */
    int64_t reserved;     /* GPU memory reserved for surfaces */
    AVCodecContext *left; /* the GPU's decoder after a failure; not freed at once, since the GPU may
                             turn out to be lost */
    int begun;            /* the decoder has received a packet since the last flush */
    int64_t inside;       /* number of frames in the decoder */
    int awaits;     /* maximum number of packets to skip before the next key frame; their frames
                       count as lost */
    int fails_next; /* decoder_receive() must return MEDIA_LOST */

    int depth; /* see decoder_deepen() */
    int64_t last_pts, last_duration;
    char conversion[96];
};

/* Prefers libvpx for VP8 and VP9 with alpha, because FFmpeg's own decoders ignore alpha. */
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

/* Rounds down, like libavformat when it sets missing durations of packets. */
static int64_t usual_duration(const Source *source)
{
    const AVStream *stream = source->video;
    const AVRational rate = source_frame_rate(source);
    if (rate.num <= 0 || rate.den <= 0)
        return 1;
    const int64_t ticks = av_rescale_q_rnd(1, av_inv_q(rate), stream->time_base, AV_ROUND_DOWN);
    return ticks > 0 ? ticks : 1;
}

static int get_buffer(AVCodecContext *codec, AVFrame *frame, int flags)
{
    Decoder *d = codec->opaque;
    FrameMemory *memory = d->options.memory;
    const int ret = memory ? frame_memory_get_buffer(memory, codec, frame, flags)
                           : avcodec_default_get_buffer2(codec, frame, flags);
    if (ret == AVERROR(ENOMEM))
        atomic_store(&d->no_memory, 1);
    return ret;
}

static enum AVPixelFormat choose_format(AVCodecContext *codec, const enum AVPixelFormat *formats)
{
    Decoder *d = codec->opaque;
    const GpuBudget *budget = &d->options.budget;
    const int frames = FFMAX(d->options.gpu_frames, 1);
    enum AVPixelFormat format =
        gpu_device_choose(codec, formats, d->options.gpu, frames, budget, &d->reserved);
    d->leaves = d->options.gpu_frames > 0 && format != AV_PIX_FMT_NONE;
    if (format == AV_PIX_FMT_NONE && frames > 1) /* no room for this many frames: try one */
        format = gpu_device_choose(codec, formats, d->options.gpu, 1, budget, &d->reserved);
    if (format != AV_PIX_FMT_NONE && !d->refused)
        return format;
    d->refused = 1;
    gpu_budget_release(&d->options.budget, &d->reserved);
    while (formats[1] != AV_PIX_FMT_NONE) /* the last format is for decoding in software */
        formats++;
    return *formats;
}

/* Allocates a codec context with the settings that software and GPU share. NULL: out of memory. */
static AVCodecContext *prepare(Decoder *d, const AVCodec *decoder)
{
    AVCodecContext *codec = avcodec_alloc_context3(decoder);
    if (!codec || avcodec_parameters_to_context(codec, d->parameters) < 0) {
        avcodec_free_context(&codec);
        return NULL;
    }
    codec->pkt_timebase = d->stream->time_base;
    codec->framerate = d->stream->avg_frame_rate;
    codec->thread_count = d->options.threads;
    codec->flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT;
    codec->strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL; /* for PSD beyond 30,000 lines */
    codec->max_pixels = d->source->options.max_pixels + MAX_ALIGNMENT_PIXELS;
    return codec;
}

static int open_codec(Decoder *d, const AVCodec *codec)
{
    int ret = 0;
    d->codec = prepare(d, codec);
    if (!d->codec)
        return AVERROR(ENOMEM);
    if (d->source->live) {
        d->codec->thread_type = FF_THREAD_SLICE; /* frame threads would delay frames */
        if (d->stream->codecpar->video_delay == 0)
            d->codec->flags |= AV_CODEC_FLAG_LOW_DELAY;
    }
    d->codec->opaque = d;
    d->codec->get_buffer2 = get_buffer;
    allow_threaded_callbacks(d->codec);
    if (d->on_gpu) {
        d->codec->thread_count = 1;
        d->codec->get_format = choose_format;
        d->codec->hw_device_ctx = av_buffer_ref(d->options.gpu);
        ret = d->codec->hw_device_ctx ? 0 : AVERROR(ENOMEM);
    }
    return ret < 0 ? ret : avcodec_open2(d->codec, codec, NULL);
}

int decoder_open(Decoder **decoder, const Source *source, const DecoderOptions *options,
                 MediaError *error)
{
    AVStream *stream = source->video;
    *decoder = NULL;
    const AVCodec *codec = find_decoder(stream);
    if (!codec)
        return media_fail(error, MEDIA_INPUT, "this FFmpeg has no decoder for the video (%s)",
                          codec_name(stream->codecpar));
    Decoder *d = av_mallocz(sizeof(*d));
    if (!d)
        return media_no_memory(error, MEDIA_INPUT);
    d->source = source;
    d->stream = stream;
    d->usual_duration = usual_duration(source);
    d->start = stream->start_time == AV_NOPTS_VALUE ? 0 : stream->start_time;
    d->options = *options;
    d->shape = options->shape;
    d->last_pts = AV_NOPTS_VALUE;
    d->hides_broken = options->hides_broken || source->live || source->network || source->reconnect;
    d->joins = MOST_LEADING;
    d->format = AV_PIX_FMT_NONE;
    atomic_init(&d->deinterlace, DEINTERLACE_OFF);
    atomic_init(&d->codes, (int)options->codes.mode);
    /* False if find_decoder() chose libvpx for alpha: no GPU decodes alpha. */
    const int usual = codec == avcodec_find_decoder(stream->codecpar->codec_id);
    /* False for a pipe that is not live: it cannot be read again after a loss. */
    const bool can_lose =
        source_can_begin_again(source) || source->live || source->network || source->reconnect;
    const bool can = usual && options->gpu && can_lose && !gpu_device_is_lost(options->gpu);
    /* For these codecs, FFmpeg's own decoders have the same output on the GPU and in software. */
    const char *name = avcodec_get_name(stream->codecpar->codec_id);
    const AVCodec *on_gpu = can && av_match_name(name, "h264,hevc,vp8,vp9,av1")
                                ? avcodec_find_decoder_by_name(name)
                                : NULL;
    d->on_gpu = on_gpu != NULL;
    d->raw = av_frame_alloc();
    d->parameters = avcodec_parameters_alloc();
    int ret = d->raw && d->parameters ? 0 : AVERROR(ENOMEM);
    if (ret >= 0)
        ret = avcodec_parameters_copy(d->parameters, stream->codecpar);
    if (ret >= 0)
        ret = open_codec(d, on_gpu ? on_gpu : codec);
    if (ret < 0) {
        decoder_close(&d);
        return media_fail(error, MEDIA_INPUT, "cannot open the decoder %s: %s", codec->name,
                          media_av_text(ret));
    }
    codec_log_open(&d->log, d->codec);
    *decoder = d;
    return 0;
}

bool decoder_is_on_gpu(const Decoder *d)
{
    return d->on_gpu && !d->refused;
}

VideoShape decoder_shape(const Decoder *d)
{
    return d->shape;
}

void decoder_deepen(Decoder *d, int depth)
{
    d->depth = depth;
}

void decoder_set_codes(Decoder *d, CodeRangeMode mode)
{
    atomic_store(&d->codes, (int)mode);
}

void decoder_deinterlace(Decoder *d, DeinterlaceMode mode)
{
    atomic_store(&d->deinterlace, (int)mode);
}

void decoder_join(Decoder *d)
{
    d->joins = SOURCE_PACKETS_TO_KEY;
    d->joined_late = 0;
}

/* True if memory ran out, which many decoders report as damaged data. */
static bool is_out_of_memory(const Decoder *d, int ret)
{
    const int failed = ret < 0 && ret != AVERROR(EAGAIN) && ret != AVERROR_EOF;
    return ret == AVERROR(ENOMEM) || (ret < 0 && atomic_load(&d->no_memory)) ||
           (failed && media_lacks_memory(d->packet_size));
}

static void note_damage(Decoder *d, int64_t *count, int ret)
{
    const LogNote note = codec_log_take(&d->log);
    ++*count;
    damage_note(&d->damage, &note, ret);
    if ((int64_t)note.refused_width * note.refused_height > d->source->options.max_pixels &&
        av_image_check_size2(note.refused_width, note.refused_height, INT64_MAX, AV_PIX_FMT_NONE, 0,
                             NULL) >= 0) { /* only max_pixels, not FFmpeg, refuses this size */
        d->refused_width = note.refused_width;
        d->refused_height = note.refused_height;
    }
}

static void note_undecodable(Decoder *d, int ret)
{
    note_damage(d, &d->damage.packets, ret);
    d->inside--;
    if (d->joins <= MOST_LEADING)
        d->joins = 0; /* this damage, not a late start, makes later frames incomplete */
}

/* Counts damage that the codec reports after its last frame. */
static void note_end(Decoder *d)
{
    if (codec_log_has_damage(&d->log))
        note_damage(d, &d->damage.frames, AVERROR_INVALIDDATA);
    d->inside = 0;
}

/* Drains the codec before a packet that is unrelated to earlier ones. Returns AVERROR(EAGAIN) until
 * the codec is drained. */
static int drain_codec(Decoder *d)
{
    if (d->drain == DECODING) {
        (void)avcodec_send_packet(d->codec, NULL);
        d->drain = DRAINING;
    }
    if (d->drain == DRAINING)
        return AVERROR(EAGAIN);
    d->drain = DECODING;
    return 0;
}

/* ---- failures of the GPU ------------------------------------------------------------------- */

/* Frees the GPU's decoder. If the GPU is lost, leaks the decoder, because freeing it would call the
 * GPU. */
static void free_on_gpu(Decoder *d, AVCodecContext **codec)
{
    if (*codec && !gpu_device_is_lost(d->options.gpu)) {
        avcodec_free_context(codec);
        gpu_budget_release(&d->options.budget, &d->reserved);
    }
    gpu_abandon(*codec);
    *codec = NULL;
}

/* Replaces the GPU's decoder by a software decoder. If packets were sent before, the frames up to
 * the next key frame are lost. Changes nothing if out of memory. */
static int leave_gpu(Decoder *d)
{
    AVCodecContext *const before = d->codec;
    d->on_gpu = 0;
    if (open_codec(d, find_decoder(d->stream)) < 0) {
        avcodec_free_context(&d->codec);
        d->codec = before;
        d->on_gpu = 1;
        return AVERROR(ENOMEM);
    }
    d->left = before;
    if (d->drain == DRAINING)
        d->drain = DRAINED;
    d->awaits = d->begun ? SOURCE_PACKETS_TO_KEY : 0;
    d->fails_next = d->begun && d->options.lossless;
    if (!d->options.lossless)
        d->damage.lost_frames += FFMAX(d->inside, 0);
    (void)codec_log_take(&d->log); /* messages of the GPU's decoder do not count as damage */
    media_log_clear();
    atomic_store(&d->no_memory, 0);
    errno = 0;
    return 0;
}

static void set_hurry(AVCodecContext *codec, int hurry)
{
    codec->skip_frame = hurry ? AVDISCARD_NONREF : AVDISCARD_DEFAULT;
}

/* If the packet's references are lost, counts its frame as lost and returns true. */
static bool drop_before_key(Decoder *d, const AVPacket *packet)
{
    if (!d->awaits)
        return false;
    if (packet->flags & AV_PKT_FLAG_KEY) {
        d->awaits = 0;
        d->joins = SOURCE_PACKETS_TO_KEY;
        d->joined_late = 1;
        return false;
    }
    d->awaits--;
    d->damage.lost_frames++;
    return true;
}

/* Like avcodec_receive_frame(), but if the GPU fails, software takes over. A frame without a
 * surface is a failure, too. */
static int receive_raw(Decoder *d)
{
    const AVFrame *f = d->raw;
    const bool is_lost = d->on_gpu && gpu_device_is_lost(d->options.gpu);
    const int ret = is_lost ? AVERROR_EXTERNAL : avcodec_receive_frame(d->codec, d->raw);
    const bool failed = ret < 0 && ret != AVERROR(EAGAIN) && ret != AVERROR_EOF;
    const bool empty = ret >= 0 && f->buf[0] && gpu_frame_is(f) &&
                       (!f->data[0] || (!f->buf[1] && (NVDEC_MAPS || f->buf[0]->size <= 1)));
    if (d->on_gpu && (failed || empty)) {
        gpu_frame_unref(d->raw);
        return leave_gpu(d) < 0 ? AVERROR(ENOMEM) : AVERROR(EAGAIN);
    }
    d->inside -= ret >= 0;
    return ret;
}

/* Returns 0, AVERROR(EAGAIN) (receive frames first) or another AVERROR. */
static int send_packet(Decoder *d, const AVPacket *packet)
{
    if (packet && drop_before_key(d, packet))
        return 0;
    const bool is_shown = packet && !(packet->flags & AV_PKT_FLAG_DISCARD);
    const bool is_lost = d->on_gpu && gpu_device_is_lost(d->options.gpu);
    const int ret = is_lost ? AVERROR_EXTERNAL : avcodec_send_packet(d->codec, packet);
    if (ret == AVERROR(EAGAIN))
        return ret;
    const int failed = ret < 0 && ret != AVERROR_EOF;
    if (d->on_gpu && (failed || (d->refused && !d->begun)))
        return leave_gpu(d) < 0 ? AVERROR(ENOMEM) : AVERROR(EAGAIN);
    d->begun = 1;
    d->inside += is_shown;
    return ret;
}

/* ---- packets in ---------------------------------------------------------------------------- */

int decoder_send(Decoder *d, const AVPacket *packet)
{
    if (source_is_discontinuity(packet) && drain_codec(d) < 0)
        return AVERROR(EAGAIN);
    d->returned |= source_is_discontinuity(packet);
    if (source_is_discontinuity(packet) && !packet->size)
        return 0;
    media_log_clear();
    errno = 0;
    if (packet) {
        /* Without a key frame at the start, perhaps no frame is ever complete: keep all frames. */
        if (!d->begun && !(packet->flags & AV_PKT_FLAG_KEY) && d->joins == MOST_LEADING)
            d->joins = 0;
        d->packet_size = (size_t)packet->size;
        /* Keep the headers for a decoder that is opened later, because they are sent only once. */
        size_t size = 0;
        AVCodecParameters *par = d->parameters;
        const uint8_t *headers = av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, &size);
        if (headers) {
            av_freep(&par->extradata);
            par->extradata = av_mallocz(size + AV_INPUT_BUFFER_PADDING_SIZE);
            par->extradata_size = par->extradata ? (int)size : 0;
            if (!par->extradata)
                return AVERROR(ENOMEM);
            memcpy(par->extradata, headers, size);
        }
    }
    const int ret = send_packet(d, packet);
    if (ret == AVERROR(EAGAIN))
        return ret;
    if (source_is_joined(packet) || source_is_discontinuity(packet))
        decoder_join(d);
    if (is_out_of_memory(d, ret))
        return AVERROR(ENOMEM);
    if (ret < 0 && ret != AVERROR_EOF)
        note_undecodable(d, ret);
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

/* Like other players, uses the container's pixel aspect ratio until the codec's ratio changes. */
static int set_shape(Decoder *d, AVFrame *frame)
{
    const AVRational coded = frame->sample_aspect_ratio;
    if (!d->shape.width)
        d->shape.coded = coded;
    if (coded.num <= 0 || d->shape.coded.num <= 0 || av_cmp_q(coded, d->shape.coded) == 0)
        frame->sample_aspect_ratio = av_guess_sample_aspect_ratio(NULL, d->stream, frame);
    return side_data_orient(frame, d->stream);
}

static void take_first(Decoder *d, const AVFrame *frame)
{
    const Source *source = d->source;
    VideoShape *s = &d->shape;
    if (!s->width) {
        *s = (VideoShape){
            .width = frame->width,
            .height = frame->height,
            .format = convert_nearest_direct(gpu_frame_format(frame)),
            .range = frame->color_range,
            .space = frame->colorspace,
            .primaries = frame->color_primaries,
            .transfer = frame->color_trc,
            .aspect = frame->sample_aspect_ratio,
            .coded = s->coded,
        };
        if ((int64_t)source->largest_width * source->largest_height >
            (int64_t)s->width * s->height) {
            s->width = source->largest_width;
            s->height = source->largest_height;
        }
        if (convert_is_rgb(frame->format))
            s->range = d->options.full_rgb ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
    }
    d->format = convert_deeper(s->format, d->depth);
}

static int convert(Decoder *d, AVFrame *frame, MediaError *error)
{
    AVFrame *from = d->raw;
    if (!d->conversion[0]) {
        char size[32] = "", to_size[32] = "";
        if (from->width != d->shape.width || from->height != d->shape.height) {
            snprintf(size, sizeof(size), " %dx%d", from->width, from->height);
            snprintf(to_size, sizeof(to_size), " %dx%d", d->shape.width, d->shape.height);
        }
        snprintf(d->conversion, sizeof(d->conversion), "%s%s to %s%s",
                 av_get_pix_fmt_name(from->format), size, av_get_pix_fmt_name(d->format), to_size);
    }
    int ret = av_frame_copy_props(frame, from);
    frame->format = d->format;
    frame->color_range = d->shape.range;
    if (from->colorspace == AVCOL_SPC_UNSPECIFIED && !convert_is_rgb(from->format))
        from->colorspace = d->shape.space;
    if (d->shape.space != AVCOL_SPC_UNSPECIFIED)
        frame->colorspace = d->shape.space;
    video_shape_place(&d->shape, from, d->options.bars, frame);
    if (ret >= 0)
        ret = convert_fit(&d->converter, from, frame);
    if (!d->options.marks_bars)
        frame->crop_left = frame->crop_right = frame->crop_top = frame->crop_bottom = 0;
    if (ret >= 0 && convert_is_rgb(from->format))
        d->shape.space = frame->colorspace;
    av_frame_unref(from);
    if (ret < 0) {
        av_frame_unref(frame);
        return media_fail(error, MEDIA_INPUT, "cannot convert %s: %s", d->conversion,
                          media_av_text(ret));
    }
    return 0;
}

/* True for gray that is decoded to more than 8 bits, unless stretching is off. */
static bool stretches(const Decoder *d)
{
    return atomic_load(&d->codes) != CODE_RANGE_FULL && code_range_suits(d->shape.format);
}

static int stretch(Decoder *d, AVFrame *frame, MediaError *error)
{
    if (!stretches(d))
        return 0;
    if (!d->stretch)
        d->stretch = code_stretch_create(&d->options.codes);
    if (d->stretch)
        code_stretch_set_mode(d->stretch, (CodeRangeMode)atomic_load(&d->codes));
    return d->stretch && code_stretch_frame(d->stretch, frame) >= 0
               ? 0
               : media_no_memory(error, MEDIA_INPUT);
}

/* Downloads `raw`. A failure marks the GPU as lost, unless memory ran out. */
static int download_raw(Decoder *d)
{
    AVFrame *host;
    const int ret = frame_memory_download(d->options.memory, &host, d->raw);
    if (ret < 0 && ret != AVERROR(ENOMEM)) {
        gpu_device_mark_lost(d->options.gpu);
        gpu_frame_abandon(d->raw);
    } else {
        gpu_frame_unref(d->raw);
        if (host)
            av_frame_move_ref(d->raw, host);
    }
    av_frame_free(&host);
    return ret;
}

/* Returns true if the frame must be dropped as incomplete, see decoder_join(). Only FFmpeg's H.264
 * decoder outputs and flags incomplete frames; other decoders drop them. */
static bool drop_incomplete(Decoder *d)
{
    if (!d->joins)
        return 0;
    if (!(d->raw->flags & AV_FRAME_FLAG_CORRUPT)) {
        d->joins = 0;
        return 0;
    }
    d->joins--;
    (void)codec_log_take(&d->log);
    d->damage.lost_frames += d->joined_late;
    return 1;
}

/* Checks the frame for errors. Returns true if it has errors and was dropped. */
static bool drop_broken(Decoder *d)
{
    d->is_broken = codec_log_has_damage(&d->log) || d->raw->decode_error_flags ||
                   (d->raw->flags & AV_FRAME_FLAG_CORRUPT);
    if (!d->is_broken)
        d->hidden = 0;
    if (!d->is_broken || !d->hides_broken || d->hidden >= MOST_HIDDEN)
        return 0;
    d->hidden++;
    note_damage(d, &d->damage.frames, AVERROR_INVALIDDATA);
    gpu_frame_unref(d->raw);
    return 1;
}

static bool is_different(const Decoder *d, const AVFrame *frame)
{
    const VideoShape *s = &d->shape;
    return frame->width != s->width || frame->height != s->height ||
           gpu_frame_format(frame) != d->format || frame->color_range != s->range ||
           !video_shape_same_matrix(frame->colorspace, s->space) ||
           (d->options.bars && !video_shape_fills(s, frame));
}

/* Receives the next frame, not yet deinterlaced. Results as for decoder_receive(). */
static int receive_stored(Decoder *d, AVFrame *frame, MediaError *error)
{
    int ret;
    do {
        if (d->fails_next) {
            d->fails_next = 0;
            return media_fail(error, MEDIA_LOST, "frames were lost because the GPU failed");
        }
        if (d->refused_width)
            return source_refuse_size(d->source, d->refused_width, d->refused_height, error);
        media_log_clear();
        errno = 0;
        ret = receive_raw(d);
        if (is_out_of_memory(d, ret))
            return media_no_memory(error, MEDIA_INPUT);
        if (ret == AVERROR_EOF)
            note_end(d);
        if (ret == AVERROR_EOF && d->drain == DRAINING) {
            avcodec_flush_buffers(d->codec);
            d->begun = d->inside = 0;
            d->drain = DRAINED;
            return AVERROR(EAGAIN);
        }
        if (ret == AVERROR(EAGAIN) && d->fails_next)
            continue;
        if (ret == AVERROR(EAGAIN) || ret == AVERROR_EOF)
            return ret;
        if (ret < 0)
            note_undecodable(d, ret);
    } while (ret < 0 || drop_incomplete(d) || drop_broken(d));

    if (gpu_frame_is(d->raw))
        gpu_frame_crop(d->raw);
    if ((int64_t)d->raw->width * d->raw->height > d->source->options.max_pixels)
        return source_refuse_size(d->source, (unsigned)d->raw->width, (unsigned)d->raw->height,
                                  error);
    if (set_shape(d, d->raw) < 0)
        return media_no_memory(error, MEDIA_INPUT);
    set_times(d, d->raw);
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(gpu_frame_format(d->raw));
    int full = 0;
    if (!gpu_frame_is(d->raw))
        d->raw->format = convert_without_j(d->raw->format, &full);
    if (full)
        d->raw->color_range = AVCOL_RANGE_JPEG;
    else if (d->raw->color_range == AVCOL_RANGE_UNSPECIFIED)
        d->raw->color_range = desc && desc->nb_components < 3 ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
    if (d->format == AV_PIX_FMT_NONE)
        take_first(d, d->raw);
    const int differs = is_different(d, d->raw);
    if (d->options.bars)
        video_shape_note(&d->shape, d->raw,
                         (double)(d->raw->pts - d->start) * av_q2d(d->raw->time_base), &d->changes);
    const int fields = atomic_load(&d->deinterlace);
    const bool has_fields =
        fields == DEINTERLACE_ON || (fields == DEINTERLACE_AUTO && FRAME_IS_INTERLACED(d->raw));
    if (gpu_frame_is(d->raw) &&
        (differs || !d->leaves || d->deinterlacer || stretches(d) || has_fields))
        ret = download_raw(d);
    if (ret == AVERROR(ENOMEM))
        return media_no_memory(error, MEDIA_INPUT);
    if (ret < 0) {
        d->inside++;
        return receive_stored(d, frame, error);
    }
    if (d->is_broken)
        note_damage(d, &d->damage.frames, AVERROR_INVALIDDATA);
    if (differs)
        ret = convert(d, frame, error);
    else
        av_frame_move_ref(frame, d->raw);
    return ret < 0 ? ret : stretch(d, frame, error);
}

/* ---- fields -------------------------------------------------------------------------------- */

static int cannot_deinterlace(int ret, AVFrame *frame, MediaError *error)
{
    av_frame_unref(frame);
    return media_fail(error, MEDIA_INPUT, "cannot deinterlace: %s", media_av_text(ret));
}

/* Opens the deinterlacer for the first frame that needs it. If the deinterlacer is open, sends
 * the frame to it and returns AVERROR(EAGAIN); else returns 0. */
static int deinterlace(Decoder *d, AVFrame *frame, MediaError *error)
{
    const int mode = atomic_load(&d->deinterlace);
    if (!d->deinterlacer && mode != DEINTERLACE_OFF &&
        (mode == DEINTERLACE_ON || FRAME_IS_INTERLACED(frame))) {
        d->deinterlaces_all = mode == DEINTERLACE_ON;
        const int ret =
            deinterlacer_open(&d->deinterlacer, frame, d->deinterlaces_all,
                              d->options.gpu ? d->options.threads : d->codec->thread_count);
        if (ret < 0)
            return cannot_deinterlace(ret, frame, error);
    }
    if (!d->deinterlacer)
        return 0;
    const int ret = deinterlacer_send(d->deinterlacer, frame);
    return ret < 0 ? cannot_deinterlace(ret, frame, error) : AVERROR(EAGAIN);
}

/* Receives a frame. AVERROR(EAGAIN): the deinterlacer needs another frame, or was closed. */
static int receive_deinterlaced(Decoder *d, AVFrame *frame, MediaError *error)
{
    const int mode = atomic_load(&d->deinterlace);
    const int changed = mode == DEINTERLACE_OFF || d->deinterlaces_all != (mode == DEINTERLACE_ON);
    int ret = 0;
    if ((changed || d->ended) && !d->leaving) {
        d->leaving = 1;
        ret = deinterlacer_send(d->deinterlacer, NULL);
    }
    if (ret >= 0)
        ret = deinterlacer_receive(d->deinterlacer, frame);
    if (ret == AVERROR_EOF) {
        deinterlacer_close(&d->deinterlacer);
        d->leaving = 0;
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
    if (ret >= 0 && d->options.memory && !gpu_frame_is(frame))
        frame_memory_copy_in(d->options.memory, frame);
    return ret;
}

const Damage *decoder_damage(const Decoder *d)
{
    return &d->damage;
}

void decoder_forget_damage(Decoder *d)
{
    Damage last = {.frames = 1};
    av_strlcpy(last.first, d->damage.first, sizeof(last.first));
    d->damage = d->is_broken ? last : (Damage){0};
}

void decoder_hurry(Decoder *d, int hurry)
{
    d->hurry = hurry;
    set_hurry(d->codec, hurry);
}

const char *decoder_conversion(const Decoder *d)
{
    return d->conversion[0] ? d->conversion : NULL;
}

const char *decoder_codes(const Decoder *d)
{
    return d->stretch ? code_stretch_text(d->stretch) : NULL;
}

const char *decoder_changes(const Decoder *d)
{
    return d->changes.kinds ? d->changes.text : NULL;
}

void decoder_flush(Decoder *d)
{
    free_on_gpu(d, &d->left);
    if (!d->on_gpu || !gpu_device_is_lost(d->options.gpu) || leave_gpu(d) < 0)
        avcodec_flush_buffers(d->codec);
    set_hurry(d->codec, d->hurry);
    deinterlacer_close(&d->deinterlacer);
    (void)codec_log_take(&d->log);
    d->ended = d->leaving = d->hidden = 0;
    d->last_pts = AV_NOPTS_VALUE;
    if (d->stretch)
        code_stretch_reset(d->stretch);
    d->drain = DECODING;
    d->returned = d->joins = d->awaits = d->fails_next = 0;
    d->begun = d->inside = 0;
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
    code_stretch_free(&d->stretch);
    deinterlacer_close(&d->deinterlacer);
    gpu_frame_free(&d->raw);
    free_on_gpu(d, &d->left);
    if (d->on_gpu)
        free_on_gpu(d, &d->codec);
    avcodec_free_context(&d->codec);
    avcodec_parameters_free(&d->parameters);
    codec_log_close(&d->log);
    av_freep(decoder);
}
