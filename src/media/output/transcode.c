#include "media/output/transcode.h"

#include <stdbool.h>
#include <string.h>

#include <libavutil/audio_fifo.h>
#include <libavutil/channel_layout.h>
#include <libavutil/fifo.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>

#include "media/compat.h"
#include "media/output/container.h"

int transcode_open_decoder(AVCodecContext **decoder, const AVCodecParameters *in,
                           AVRational time_base)
{
    const AVCodec *codec = avcodec_find_decoder(in->codec_id);
    *decoder = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!*decoder)
        return codec ? AVERROR(ENOMEM) : AVERROR_DECODER_NOT_FOUND;
    const int ret = avcodec_parameters_to_context(*decoder, in);
    (*decoder)->pkt_timebase = time_base;
    return ret < 0 ? ret : avcodec_open2(*decoder, codec, NULL);
}

/* ---- sound ---- */

/* Transparent to most listeners. */
#define BITS_PER_CHANNEL 96000
#define VORBIS_QUALITY 6

/* Most channels that the default layouts of all encoders have. */
#define MOST_DEFAULT 8

/* Channels of Opus without a layout (RFC 7845, 5.1.1). */
#define OPUS_DISCRETE 255

/* Samples per packet if the encoder accepts any number. */
#define USUAL_FRAME 1024

/* Smaller timestamp errors are rounding. Gaps longer than MAX_GAP_S are jumps of the clock: they
 * are followed but not filled. */
#define TOLERANCE_MS 30
#define MAX_GAP_S 60

/* The tolerance after lost packets, whose samples are known to be missing. */
#define LOST_TOLERANCE_MS 5

/* Initial capacity for the times of packets in the decoder. */
#define FIRST_TIMES 16

struct AudioTranscoder {
    AVCodecParameters *from;
    AVRational from_base; /* time base of its packets */
    AVCodecContext *decoder, *encoder;
    SwrContext *resampler;
    AVAudioFifo *samples;
    AVFrame *decoded, *resampled;
    AVPacket *packet;
    int in_rate, in_format; /* input of the resampler */
    AVChannelLayout in_layout;
    int64_t next_in;       /* time due for the next input samples, encoder's time base */
    int64_t next_out;      /* time of the first sample in `samples` */
    AVFifo *pending_times; /* int64_t: times of packets that have not produced a frame yet */
    bool starts_at_zero;   /* the container starts all sound at time 0 */
    int64_t length;        /* of the track, encoder's time base; 0: unknown */
    int64_t begin, end;    /* of all packets, encoder's time base, or AV_NOPTS_VALUE */
    int64_t last_end;      /* end of the last packet */
    int64_t lost_end;      /* end of the last packet that failed to decode */
    int64_t lost;          /* samples replaced by silence */
    int64_t errors;        /* decoder errors since the last frame */
    int64_t other_errors;  /* decoder errors that lost no samples */
    PacketTaker take;      /* during audio_transcoder_run() */
    void *opaque;
    bool needs_reopen; /* the decoder has failed and must be reopened: it may hold state from a
                  damaged packet */
};

/* The nearest rate that is not lower, else the highest. */
static int choose_rate(const AVCodec *codec, int rate)
{
    const int *rates = codec_sample_rates(codec);
    int best = rates ? rates[0] : rate;
    for (; rates && *rates; rates++)
        if (*rates == rate || (*rates > rate && (best < rate || *rates < best)) ||
            (best < rate && best < *rates))
            best = *rates;
    return best;
}

/* Channels that cannot be mixed, since their positions are unknown. */
static bool is_unnamed(const AVChannelLayout *layout)
{
    return layout->order != AV_CHANNEL_ORDER_NATIVE;
}

/* Chooses a layout with this many channels. Returns 0 if the encoder lacks one, or AVERROR. */
static int choose_layout(AVChannelLayout *layout, const AVCodec *codec, const AVChannelLayout *in,
                         int channels)
{
    const AVChannelLayout *list = codec_channel_layouts(codec), *found = NULL;
    av_channel_layout_uninit(layout);
    for (const AVChannelLayout *l = list; l && l->nb_channels; l++)
        if (av_channel_layout_compare(l, in) == 0 || (l->nb_channels == channels && !found))
            found = l;
    if (!list && channels == in->nb_channels && channels > MOST_DEFAULT)
        found = in; /* the encoder knows only the default layout for smaller numbers */
    const int ret = found ? av_channel_layout_copy(layout, found) : 0;
    if (!list && !found)
        av_channel_layout_default(layout, channels);
    return ret < 0 ? ret : layout->nb_channels == channels;
}

/* A `bitrate` of 0 leaves the choice to the encoder. */
static int try_encoder(AudioTranscoder *t, const AVCodec *codec, const AVOutputFormat *muxer,
                       int channels, int64_t bitrate)
{
    const AVCodecParameters *in = t->from;
    const enum AVSampleFormat *formats = codec_sample_formats(codec);
    avcodec_free_context(&t->encoder);
    t->encoder = avcodec_alloc_context3(codec);
    if (!t->encoder)
        return AVERROR(ENOMEM);
    AVCodecContext *c = t->encoder;
    c->sample_fmt = formats ? formats[0] : AV_SAMPLE_FMT_S16;
    const int rate = container_sound_rate(muxer, codec->id);
    c->sample_rate = choose_rate(codec, rate ? rate : in->sample_rate);
    const int ret = choose_layout(&c->ch_layout, codec, &in->ch_layout, channels);
    if (ret <= 0)
        return ret < 0 ? ret : AVERROR(EINVAL);
    if (is_unnamed(&c->ch_layout) && codec->id == AV_CODEC_ID_OPUS)
        (void)av_opt_set_int(c, "mapping_family", OPUS_DISCRETE, AV_OPT_SEARCH_CHILDREN);
    c->time_base = (AVRational){1, c->sample_rate};
    if (codec->id == AV_CODEC_ID_VORBIS) { /* it accepts only few bit rates */
        c->flags |= AV_CODEC_FLAG_QSCALE;
        c->global_quality = VORBIS_QUALITY * FF_QP2LAMBDA;
    } else if (bitrate) {
        c->bit_rate = bitrate * c->ch_layout.nb_channels;
    }
    if (muxer->flags & AVFMT_GLOBALHEADER)
        c->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    return avcodec_open2(c, codec, NULL);
}

/* Opens a resampler to the encoder's format. Channels without names keep their order. */
static int open_resampler(const AudioTranscoder *t, SwrContext **resampler,
                          const AVChannelLayout *from, int format, int rate)
{
    AVCodecContext *c = t->encoder;
    AVChannelLayout in = *from;
    if (is_unnamed(from) && from->nb_channels == c->ch_layout.nb_channels)
        in = c->ch_layout;
    else if (is_unnamed(from))
        in = (AVChannelLayout){.nb_channels = from->nb_channels};
    const int ret = swr_alloc_set_opts2(resampler, &c->ch_layout, c->sample_fmt, c->sample_rate,
                                        &in, format, rate, 0, NULL);
    return ret < 0 ? ret : swr_init(*resampler);
}

/* Opens the encoder with as many channels as it takes, of those that the sound can be mixed to. */
static int open_encoder(AudioTranscoder *t, const AVCodec *codec, const AVOutputFormat *muxer)
{
    const AVChannelLayout *in = &t->from->ch_layout;
    int ret = AVERROR(EINVAL);
    for (int n = in->nb_channels; ret < 0 && n > 0; n = n > MOST_DEFAULT ? MOST_DEFAULT : n - 1) {
        ret = try_encoder(t, codec, muxer, n, BITS_PER_CHANNEL);
        if (ret < 0)
            ret = try_encoder(t, codec, muxer, n, 0);
        if (ret >= 0)
            ret =
                open_resampler(t, &t->resampler, in, t->encoder->sample_fmt, t->from->sample_rate);
        swr_free(&t->resampler); /* the first frame has the right format */
    }
    return ret;
}

/* Packets with a wrong checksum become silence rather than noise. FLAC's decoder fails on them only
 * with AV_EF_EXPLODE. */
static int open_decoder(const AudioTranscoder *t, AVCodecContext **decoder)
{
    const int ret = transcode_open_decoder(decoder, t->from, t->from_base);
    if (ret < 0)
        return ret;
    (*decoder)->err_recognition |= AV_EF_CRCCHECK;
    if (t->from->codec_id == AV_CODEC_ID_FLAC)
        (*decoder)->err_recognition |= AV_EF_EXPLODE;
    return 0;
}

int audio_transcoder_open(AudioTranscoder **transcoder, const AVStream *in, AVStream *out,
                          const AVCodec *encoder, const AVOutputFormat *muxer, int whole)
{
    *transcoder = NULL;
    if (in->codecpar->sample_rate <= 0 || in->codecpar->ch_layout.nb_channels <= 0)
        return AVERROR_INVALIDDATA;
    AudioTranscoder *t = av_mallocz(sizeof(*t));
    int ret = AVERROR(ENOMEM);
    if (t && (t->from = avcodec_parameters_alloc())) {
        t->from_base = in->time_base;
        ret = avcodec_parameters_copy(t->from, in->codecpar);
    }
    if (ret >= 0)
        ret = open_decoder(t, &t->decoder);
    if (ret >= 0)
        ret = open_encoder(t, encoder, muxer);
    if (ret >= 0)
        ret = avcodec_parameters_from_context(out->codecpar, t->encoder);
    if (ret >= 0) {
        t->samples = av_audio_fifo_alloc(t->encoder->sample_fmt, t->encoder->ch_layout.nb_channels,
                                         USUAL_FRAME);
        t->decoded = av_frame_alloc();
        t->resampled = av_frame_alloc();
        t->packet = av_packet_alloc();
        t->pending_times = av_fifo_alloc2(FIRST_TIMES, sizeof(int64_t), AV_FIFO_FLAG_AUTO_GROW);
        t->starts_at_zero = !container_keeps_start(muxer);
        t->next_in = t->begin = t->end = t->last_end = t->lost_end = AV_NOPTS_VALUE;
        if (whole && in->duration > 0)
            t->length = av_rescale_q(in->duration, in->time_base, t->encoder->time_base);
        ret = t->samples && t->decoded && t->resampled && t->packet && t->pending_times
                  ? 0
                  : AVERROR(ENOMEM);
    }
    if (ret < 0) {
        audio_transcoder_close(&t);
        return ret;
    }
    out->time_base = t->encoder->time_base;
    *transcoder = t;
    return 0;
}

/* Allocates a frame of `samples` samples in the encoder's format. */
static int get_frame(const AudioTranscoder *t, AVFrame *frame, int samples)
{
    av_frame_unref(frame);
    frame->format = t->encoder->sample_fmt;
    frame->sample_rate = t->encoder->sample_rate;
    frame->nb_samples = samples;
    const int ret = av_channel_layout_copy(&frame->ch_layout, &t->encoder->ch_layout);
    return ret < 0 ? ret : av_frame_get_buffer(frame, 0);
}

static int take_packets(AudioTranscoder *t)
{
    for (;;) {
        int ret = avcodec_receive_packet(t->encoder, t->packet);
        if (ret == AVERROR(EAGAIN) || ret == AVERROR_EOF)
            return 0;
        if (ret >= 0)
            ret = t->take(t->opaque, t->packet);
        if (ret < 0)
            return ret;
    }
}

/* Encodes the complete frames; with `all`, also the incomplete rest. */
static int encode(AudioTranscoder *t, int all)
{
    const int size = t->encoder->frame_size > 0 ? t->encoder->frame_size : USUAL_FRAME;
    for (int left = av_audio_fifo_size(t->samples); left >= size || (all && left > 0);
         left = av_audio_fifo_size(t->samples)) {
        const int samples = left < size ? left : size;
        int ret = get_frame(t, t->resampled, samples);
        if (ret >= 0)
            ret = av_audio_fifo_read(t->samples, (void **)t->resampled->extended_data, samples);
        if (ret < 0)
            return ret;
        t->resampled->pts = t->next_out;
        t->next_out += samples;
        ret = avcodec_send_frame(t->encoder, t->resampled);
        if (ret >= 0)
            ret = take_packets(t);
        if (ret < 0)
            return ret;
    }
    return 0;
}

/* Appends silence. */
static int fill(AudioTranscoder *t, int64_t samples)
{
    int ret = 0;
    t->next_in += samples;
    for (int part; samples > 0 && ret >= 0; samples -= part) {
        part = (int)FFMIN(samples, USUAL_FRAME);
        ret = get_frame(t, t->resampled, part);
        if (ret >= 0)
            ret = av_samples_set_silence(t->resampled->extended_data, 0, part,
                                         t->encoder->ch_layout.nb_channels, t->encoder->sample_fmt);
        if (ret >= 0)
            ret = av_audio_fifo_write(t->samples, (void **)t->resampled->extended_data, part);
        if (ret >= 0)
            ret = encode(t, 0);
    }
    return FFMIN(ret, 0);
}

static int prepare_resampler(AudioTranscoder *t, const AVFrame *frame)
{
    if (t->resampler && frame->sample_rate == t->in_rate && frame->format == t->in_format &&
        av_channel_layout_compare(&frame->ch_layout, &t->in_layout) == 0)
        return 0;
    swr_free(&t->resampler);
    int ret = av_channel_layout_copy(&t->in_layout, &frame->ch_layout);
    if (ret >= 0)
        ret = open_resampler(t, &t->resampler, &t->in_layout, frame->format, frame->sample_rate);
    if (ret < 0)
        swr_free(&t->resampler);
    t->in_rate = frame->sample_rate;
    t->in_format = frame->format;
    return ret;
}

/* A NULL `frame` flushes the resampler. */
static int resample(AudioTranscoder *t, const AVFrame *frame)
{
    const int in = frame ? frame->nb_samples : 0;
    const int room = swr_get_out_samples(t->resampler, in);
    if (room <= 0)
        return room;
    int ret = get_frame(t, t->resampled, room);
    if (ret >= 0)
        ret = swr_convert(t->resampler, t->resampled->extended_data, room,
                          frame ? (const uint8_t **)(uintptr_t)frame->extended_data : NULL, in);
    if (ret > 0)
        ret = av_audio_fifo_write(t->samples, (void **)t->resampled->extended_data, ret);
    if (ret > 0)
        t->next_in += ret;
    return ret;
}

/* Sets the start of the sound; `at` is the time of the first samples. */
static int start(AudioTranscoder *t, int64_t at)
{
    if (t->errors && t->begin != AV_NOPTS_VALUE) /* earlier packets were lost */
        at = FFMIN(at, FFMAX(t->begin, 0));
    /* A container that stores no start time does not store the encoder's padding either. */
    const int64_t silence = t->starts_at_zero ? FFMAX(at - t->encoder->initial_padding, 0) : 0;
    t->next_in = t->next_out = at - silence;
    return fill(t, silence);
}

static int64_t tolerance_of(const AudioTranscoder *t, int lossy)
{
    const int ms = lossy ? LOST_TOLERANCE_MS : TOLERANCE_MS;
    return (int64_t)t->encoder->sample_rate * ms / 1000;
}

/* Advances to a later time and fills the gap. `lossy`: packets before it failed to decode. */
static int skip(AudioTranscoder *t, int64_t to, int lossy)
{
    const int64_t gap = to - t->next_in;
    /* A jump is too long to fill, and not explained by packets that failed to decode. */
    const int64_t from = t->errors ? FFMAX(t->next_in, t->lost_end) : t->next_in;
    const int jumps =
        !t->starts_at_zero && to - from > (int64_t)MAX_GAP_S * t->encoder->sample_rate;
    const int missing = !jumps && gap > tolerance_of(t, lossy);
    if (!missing)
        t->other_errors += t->errors;
    t->errors = 0;
    if (jumps) { /* follow the clock, after completing the current frame with silence */
        const int size = t->encoder->frame_size > 0 ? t->encoder->frame_size : USUAL_FRAME;
        const int ret = fill(t, (size - av_audio_fifo_size(t->samples) % size) % size);
        t->next_in = t->next_out = to;
        return ret;
    }
    if (!missing)
        return 0;
    t->lost += lossy ? gap : 0;
    return fill(t, gap);
}

/* Aligns the output with the frame's time. Returns 1, 0 if the frame is too late, or an error. */
static int align(AudioTranscoder *t, const AVFrame *frame)
{
    int64_t time, swallowed = 0; /* packets consumed without producing a frame before this one */
    if (frame->pts == AV_NOPTS_VALUE)
        av_fifo_reset2(t->pending_times);
    while (av_fifo_peek(t->pending_times, &time, 1, 0) >= 0 && time <= frame->pts) {
        av_fifo_drain2(t->pending_times, 1);
        swallowed += time < frame->pts;
    }
    const int lossy = t->errors || (swallowed && t->next_in != AV_NOPTS_VALUE);
    int64_t pts = t->next_in == AV_NOPTS_VALUE ? t->begin : t->next_in;
    int ret = 0;
    if (pts == AV_NOPTS_VALUE)
        pts = 0;
    if (frame->pts != AV_NOPTS_VALUE)
        pts = av_rescale_q(frame->pts, t->from_base, t->encoder->time_base);
    if (t->next_in == AV_NOPTS_VALUE)
        ret = start(t, pts);
    const int in_time = pts - t->next_in >= -tolerance_of(t, lossy);
    if (ret >= 0)
        ret = skip(t, pts, lossy);
    return ret < 0 ? ret : in_time;
}

static int take_frame(AudioTranscoder *t, const AVFrame *frame)
{
    const int prepared = prepare_resampler(t, frame);
    int ret = prepared == AVERROR(ENOMEM) ? prepared : align(t, frame);
    /* Decoders conceal damage with a buzz or noise, which is worse than silence. Channels without
     * names may be impossible to mix. */
    if (ret > 0 &&
        (prepared < 0 || frame->decode_error_flags || (frame->flags & AV_FRAME_FLAG_CORRUPT))) {
        const int64_t lost =
            av_rescale(frame->nb_samples, t->encoder->sample_rate, frame->sample_rate);
        t->lost += lost;
        ret = fill(t, lost);
    } else if (ret > 0) {
        ret = resample(t, frame);
    }
    return ret < 0 ? ret : encode(t, 0);
}

/* Marks a gap for a packet that failed to decode. */
static void note_lost_packet(AudioTranscoder *t)
{
    t->errors++;
    t->needs_reopen = true;
    t->lost_end = t->last_end;
}

static int decode(AudioTranscoder *t)
{
    for (;;) {
        int ret = avcodec_receive_frame(t->decoder, t->decoded);
        if (ret == AVERROR(EAGAIN) || ret == AVERROR_EOF)
            return 0;
        if (ret == AVERROR(ENOMEM))
            return ret;
        if (ret < 0) {
            note_lost_packet(t);
            continue;
        }
        ret = take_frame(t, t->decoded);
        av_frame_unref(t->decoded);
        if (ret < 0)
            return ret;
    }
}

static int finish(AudioTranscoder *t)
{
    int ret = t->resampler ? resample(t, NULL) : 0;
    if (ret >= 0 && t->errors && t->end != AV_NOPTS_VALUE) { /* the last packets are missing */
        if (t->next_in == AV_NOPTS_VALUE)
            ret = start(t, FFMAX(t->begin, 0));
        if (ret >= 0)
            ret = skip(t, FFMAX(t->end, t->last_end), 1);
    }
    if (ret >= 0)
        ret = encode(t, 1);
    if (ret >= 0)
        ret = avcodec_send_frame(t->encoder, NULL);
    return ret < 0 ? ret : take_packets(t);
}

static void note_times(AudioTranscoder *t, const AVPacket *packet)
{
    if (packet->pts == AV_NOPTS_VALUE)
        return;
    const AVRational to = t->encoder->time_base;
    const int64_t begin = av_rescale_q(packet->pts, t->from_base, to);
    const int64_t end = av_rescale_q(packet->pts + packet->duration, t->from_base, to);
    if (t->begin == AV_NOPTS_VALUE)
        t->begin = begin;
    if (t->end == AV_NOPTS_VALUE || end > t->end)
        t->end = end;
    t->last_end = end;
    if (!t->length || t->from->bit_rate <= 0)
        return;
    /* Parsers merge many damaged packets into one with the duration of one. */
    const int64_t by_size = av_rescale(packet->size, INT64_C(8) * to.den, t->from->bit_rate);
    const int64_t by_length = FFMAX(t->begin, 0) + t->length;
    t->last_end = FFMAX(end, FFMIN(begin + by_size, by_length));
}

int audio_transcoder_run(AudioTranscoder *t, const AVPacket *packet, PacketTaker take, void *opaque)
{
    if (packet && !packet->size) /* the decoder would take it for the end */
        return 0;
    t->take = take;
    t->opaque = opaque;
    if (packet)
        note_times(t, packet);
    int ret = avcodec_send_packet(t->decoder, packet);
    if (ret >= 0 && packet && packet->pts != AV_NOPTS_VALUE)
        (void)av_fifo_write(t->pending_times, &packet->pts, 1); /* when full, loss goes unnoticed */
    if (ret == AVERROR(ENOMEM))
        return ret;
    if (ret < 0)
        note_lost_packet(t);
    ret = decode(t);
    if (t->needs_reopen && packet) {
        AVCodecContext *fresh = NULL;
        if (open_decoder(t, &fresh) >= 0)
            FFSWAP(AVCodecContext *, t->decoder, fresh);
        avcodec_free_context(&fresh);
        t->needs_reopen = false;
    }
    return ret >= 0 && !packet ? finish(t) : ret;
}

SoundLoss audio_transcoder_loss(const AudioTranscoder *t)
{
    return (SoundLoss){av_rescale(t->lost, AV_TIME_BASE, t->encoder->sample_rate),
                       t->other_errors + t->errors};
}

void audio_transcoder_close(AudioTranscoder **transcoder)
{
    AudioTranscoder *t = *transcoder;
    if (!t)
        return;
    if (t->samples)
        av_audio_fifo_free(t->samples);
    av_fifo_freep2(&t->pending_times);
    swr_free(&t->resampler);
    av_channel_layout_uninit(&t->in_layout);
    av_frame_free(&t->decoded);
    av_frame_free(&t->resampled);
    av_packet_free(&t->packet);
    avcodec_free_context(&t->decoder);
    avcodec_free_context(&t->encoder);
    avcodec_parameters_free(&t->from);
    av_freep(transcoder);
}

/* ---- subtitles ---- */

/* Maximum size of one encoded subtitle, styles included. */
#define MAX_TEXT (64 * 1024)

static const AVRational milliseconds = {1, 1000};

struct TextTranscoder {
    AVCodecContext *decoder, *encoder;
};

static int open_text_encoder(TextTranscoder *t, const AVCodec *codec)
{
    const int size = t->decoder->subtitle_header_size;
    t->encoder = avcodec_alloc_context3(codec);
    if (!t->encoder)
        return AVERROR(ENOMEM);
    t->encoder->time_base = milliseconds;
    if (size > 0) { /* the encoder reads the styles when it is opened */
        t->encoder->subtitle_header = av_mallocz((size_t)size + 1);
        if (!t->encoder->subtitle_header)
            return AVERROR(ENOMEM);
        memcpy(t->encoder->subtitle_header, t->decoder->subtitle_header, (size_t)size);
        t->encoder->subtitle_header_size = size;
    }
    return avcodec_open2(t->encoder, codec, NULL);
}

int text_transcoder_open(TextTranscoder **transcoder, const AVStream *in, AVStream *out,
                         const AVCodec *encoder)
{
    *transcoder = NULL;
    TextTranscoder *t = av_mallocz(sizeof(*t));
    int ret =
        t ? transcode_open_decoder(&t->decoder, in->codecpar, in->time_base) : AVERROR(ENOMEM);
    if (ret >= 0)
        ret = open_text_encoder(t, encoder);
    if (ret >= 0)
        ret = avcodec_parameters_from_context(out->codecpar, t->encoder);
    if (ret < 0) {
        text_transcoder_close(&t);
        return ret;
    }
    out->time_base = milliseconds;
    *transcoder = t;
    return 0;
}

static int encode_text(TextTranscoder *t, AVSubtitle *subtitle, AVPacket *to)
{
    uint8_t *text = av_malloc(MAX_TEXT);
    if (!text)
        return AVERROR(ENOMEM);
    int ret = avcodec_encode_subtitle(t->encoder, text, MAX_TEXT, subtitle);
    if (ret > 0) {
        const int size = ret;
        ret = av_new_packet(to, size);
        if (ret >= 0)
            memcpy(to->data, text, (size_t)size);
    } else if (ret == 0) {
        ret = AVERROR(EAGAIN); /* nothing to show */
    }
    av_free(text);
    return ret;
}

int text_transcoder_run(TextTranscoder *t, const AVPacket *packet, AVPacket *to)
{
    AVSubtitle subtitle = {0};
    int got = 0;
    AVPacket *copy = av_packet_clone(packet); /* the decoder's parameter is not const */
    if (!copy)
        return AVERROR(ENOMEM);
    const int read = avcodec_decode_subtitle2(t->decoder, &subtitle, &got, copy);
    av_packet_free(&copy);
    if (read < 0 || !got || !subtitle.num_rects || packet->pts == AV_NOPTS_VALUE) {
        if (got)
            avsubtitle_free(&subtitle);
        return 0;
    }
    const int64_t start = av_rescale_q(packet->pts, t->decoder->pkt_timebase, milliseconds) +
                          subtitle.start_display_time;
    int64_t duration = av_rescale_q(packet->duration, t->decoder->pkt_timebase, milliseconds);
    if (duration <= 0)
        duration = (int64_t)subtitle.end_display_time - subtitle.start_display_time;
    /* Encoders also write this start time, which is relative to the packet. */
    subtitle.pts = av_rescale_q(start, milliseconds, AV_TIME_BASE_Q);
    subtitle.end_display_time = (uint32_t)(duration > 0 ? duration : 0);
    subtitle.start_display_time = 0;
    const int ret = encode_text(t, &subtitle, to);
    avsubtitle_free(&subtitle);
    if (ret < 0)
        return ret == AVERROR(ENOMEM) ? ret : 0;
    to->pts = to->dts = start;
    to->duration = duration;
    return 1;
}

void text_transcoder_close(TextTranscoder **transcoder)
{
    TextTranscoder *t = *transcoder;
    if (!t)
        return;
    avcodec_free_context(&t->decoder);
    avcodec_free_context(&t->encoder);
    av_freep(transcoder);
}
