#include "media/output/transcode.h"

#include <stdbool.h>
#include <string.h>

#include <libavutil/audio_fifo.h>
#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>

#include "media/compat.h"
#include "media/input/source.h"
#include "media/input/track_choice.h"
#include "media/output/container.h"
#include "media/sound/sound.h"

/* ---- sound ---- */

/* Bits per second per channel, and the quality of Vorbis. Most listeners hear no loss. */
#define BITS_PER_CHANNEL 96000
#define VORBIS_QUALITY 6

/* Up to this number of channels, every encoder accepts the default layout. */
#define MOST_DEFAULT 8

/* Mapping family of Opus for channels without a layout (RFC 7845, 5.1.1). */
#define OPUS_DISCRETE 255

/* Samples per packet if the encoder accepts any number. */
#define USUAL_FRAME 1024

/* Timestamp errors up to TOLERANCE_MS are ignored as rounding. Gaps longer than MAX_GAP_S are jumps
 * of the clock; they are filled only if the container starts all sound at time 0. */
#define TOLERANCE_MS 30
#define MAX_GAP_S 60

struct AudioTranscoder {
    Sound *sound;
    AVRational from_base; /* time base of input packets */
    AVCodecContext *encoder;
    AVAudioFifo *samples;
    AVFrame *frame; /* in the encoder's format */
    AVPacket *packet;
    int64_t next_in;     /* expected time of the next samples, in the encoder's time base */
    int64_t next_out;    /* time of the first sample in `samples` */
    int64_t begin, end;  /* of all input packets, or AV_NOPTS_VALUE */
    int64_t missing;     /* samples of silence at the end for damaged packets */
    bool starts_at_zero; /* the container starts all sound at time 0 */
    PacketTaker take;    /* valid during audio_transcoder_run() */
    void *opaque;
};

/* The encoder's lowest sample rate of at least `rate`, else its highest rate. */
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

/* True for channels that cannot be mixed, since their positions are unknown. */
static bool is_unnamed(const AVChannelLayout *layout)
{
    return layout->order != AV_CHANNEL_ORDER_NATIVE;
}

/* Chooses a layout with this many channels. Returns 1, 0 if the encoder lacks one, or AVERROR. */
static int choose_layout(AVChannelLayout *layout, const AVCodec *codec, const AVChannelLayout *in,
                         int channels)
{
    const AVChannelLayout *list = codec_channel_layouts(codec), *found = NULL;
    av_channel_layout_uninit(layout);
    for (const AVChannelLayout *l = list; l && l->nb_channels; l++)
        if (av_channel_layout_compare(l, in) == 0 || (l->nb_channels == channels && !found))
            found = l;
    if (!list && channels == in->nb_channels && channels > MOST_DEFAULT)
        found = in;
    const int ret = found ? av_channel_layout_copy(layout, found) : 0;
    if (!list && !found)
        av_channel_layout_default(layout, channels);
    return ret < 0 ? ret : layout->nb_channels == channels;
}

/* A `bitrate` of 0 leaves the choice to the encoder. */
static int try_encoder(AudioTranscoder *t, const AVCodec *codec, const AVOutputFormat *muxer,
                       const AVCodecParameters *in, int channels, int64_t bitrate)
{
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
    if (codec->id == AV_CODEC_ID_VORBIS) { /* this codec accepts only few bit rates */
        c->flags |= AV_CODEC_FLAG_QSCALE;
        c->global_quality = VORBIS_QUALITY * FF_QP2LAMBDA;
    } else if (bitrate) {
        c->bit_rate = bitrate * c->ch_layout.nb_channels;
    }
    if (muxer->flags & AVFMT_GLOBALHEADER)
        c->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    return avcodec_open2(c, codec, NULL);
}

/* Opens the encoder with as many channels as it accepts. */
static int open_encoder(AudioTranscoder *t, const AVCodec *codec, const AVOutputFormat *muxer,
                        const AVCodecParameters *in)
{
    const int all = in->ch_layout.nb_channels, least = is_unnamed(&in->ch_layout) ? all : 1;
    int ret = AVERROR(EINVAL);
    for (int n = all; ret < 0 && n >= least; n = n > MOST_DEFAULT ? MOST_DEFAULT : n - 1) {
        ret = try_encoder(t, codec, muxer, in, n, BITS_PER_CHANNEL);
        if (ret < 0)
            ret = try_encoder(t, codec, muxer, in, n, 0);
    }
    return ret;
}

int audio_transcoder_open(AudioTranscoder **transcoder, const AVStream *in, AVStream *out,
                          const AVCodec *encoder, const AVOutputFormat *muxer)
{
    *transcoder = NULL;
    if (in->codecpar->sample_rate <= 0 || in->codecpar->ch_layout.nb_channels <= 0)
        return AVERROR_INVALIDDATA;
    AudioTranscoder *t = av_mallocz(sizeof(*t));
    int ret = t ? open_encoder(t, encoder, muxer, in->codecpar) : AVERROR(ENOMEM);
    if (ret >= 0) {
        const AVCodecContext *c = t->encoder;
        const SoundFormat to = {c->sample_rate, c->sample_fmt, c->ch_layout, USUAL_FRAME, 1, 0};
        ret = sound_open_as(&t->sound, in, 0, &to);
    }
    if (ret >= 0)
        ret = avcodec_parameters_from_context(out->codecpar, t->encoder);
    if (ret >= 0) {
        t->from_base = in->time_base;
        t->samples = av_audio_fifo_alloc(t->encoder->sample_fmt, t->encoder->ch_layout.nb_channels,
                                         USUAL_FRAME);
        t->frame = av_frame_alloc();
        t->packet = av_packet_alloc();
        t->starts_at_zero = !container_keeps_start(muxer);
        t->next_in = t->begin = t->end = AV_NOPTS_VALUE;
        ret = t->samples && t->frame && t->packet ? 0 : AVERROR(ENOMEM);
    }
    if (ret < 0) {
        audio_transcoder_close(&t);
        return ret;
    }
    out->time_base = t->encoder->time_base;
    *transcoder = t;
    return 0;
}

static int get_frame(const AudioTranscoder *t, int samples)
{
    av_frame_unref(t->frame);
    t->frame->format = t->encoder->sample_fmt;
    t->frame->sample_rate = t->encoder->sample_rate;
    t->frame->nb_samples = samples;
    const int ret = av_channel_layout_copy(&t->frame->ch_layout, &t->encoder->ch_layout);
    return ret < 0 ? ret : av_frame_get_buffer(t->frame, 0);
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

static int frame_size(const AudioTranscoder *t)
{
    return t->encoder->frame_size > 0 ? t->encoder->frame_size : USUAL_FRAME;
}

/* Encodes the complete frames; with `all`, also the incomplete rest. */
static int encode(AudioTranscoder *t, int all)
{
    const int size = frame_size(t);
    for (int left = av_audio_fifo_size(t->samples); left >= size || (all && left > 0);
         left = av_audio_fifo_size(t->samples)) {
        const int samples = FFMIN(left, size);
        int ret = get_frame(t, samples);
        if (ret >= 0)
            ret = av_audio_fifo_read(t->samples, (void **)t->frame->extended_data, samples);
        if (ret < 0)
            return ret;
        t->frame->pts = t->next_out;
        t->next_out += samples;
        ret = avcodec_send_frame(t->encoder, t->frame);
        if (ret >= 0)
            ret = take_packets(t);
        if (ret < 0)
            return ret;
    }
    return 0;
}

static int take_samples(AudioTranscoder *t)
{
    const int samples = t->frame->nb_samples;
    const int ret = av_audio_fifo_write(t->samples, (void **)t->frame->extended_data, samples);
    t->next_in += samples;
    return ret < 0 ? ret : encode(t, 0);
}

static int fill(AudioTranscoder *t, int64_t samples)
{
    int ret = 0;
    for (int part; samples > 0 && ret >= 0; samples -= part) {
        part = (int)FFMIN(samples, USUAL_FRAME);
        ret = get_frame(t, part);
        if (ret >= 0)
            ret = av_samples_set_silence(t->frame->extended_data, 0, part,
                                         t->encoder->ch_layout.nb_channels, t->encoder->sample_fmt);
        if (ret >= 0)
            ret = take_samples(t);
    }
    return FFMIN(ret, 0);
}

/* Makes the next samples begin at `to`. The first call sets the start of the track; later, silence
 * fills gaps. After a jump of the clock, silence only completes the current frame. */
static int advance(AudioTranscoder *t, int64_t to)
{
    const int64_t rate = t->encoder->sample_rate;
    int64_t silence = 0;
    if (t->next_in == AV_NOPTS_VALUE) {
        /* A container without start times does not store the encoder's padding either. Players play
         * the padding as silence, so less silence is needed. */
        silence = t->starts_at_zero ? FFMAX(to - t->encoder->initial_padding, 0) : 0;
        t->next_in = t->next_out = to - silence;
    } else if (to - t->next_in > MAX_GAP_S * rate && !t->starts_at_zero) {
        const int size = frame_size(t);
        const int ret = fill(t, (size - av_audio_fifo_size(t->samples) % size) % size);
        t->next_in = t->next_out = to;
        return ret;
    } else if (to - t->next_in > rate * TOLERANCE_MS / 1000) {
        silence = to - t->next_in;
    }
    return fill(t, silence);
}

static int take_frames(AudioTranscoder *t)
{
    const AVRational base = t->encoder->time_base;
    AVFrame *frame = av_frame_alloc();
    int64_t position;
    int ret = frame ? 0 : AVERROR(ENOMEM);
    while (ret >= 0 && (ret = sound_receive_frame(t->sound, frame, &position)) >= 0) {
        const int64_t at = av_rescale_q(position, AV_TIME_BASE_Q, base);
        ret = advance(t, at);
        if (ret >= 0 &&
            at - t->next_in >= -(int64_t)base.den * TOLERANCE_MS / 1000) { /* drop overlaps */
            av_frame_unref(t->frame);
            av_frame_move_ref(t->frame, frame);
            ret = take_samples(t);
        }
        av_frame_unref(frame);
    }
    av_frame_free(&frame);
    return ret == AVERROR(EAGAIN) || ret == AVERROR_EOF ? 0 : ret;
}

/* Flushes the encoder. If packets were damaged, silence first fills the track up to its end. */
static int finish(AudioTranscoder *t)
{
    int ret = 0;
    if (sound_damage(t->sound) && t->end != AV_NOPTS_VALUE) {
        if (t->next_in == AV_NOPTS_VALUE)
            ret = advance(t, t->begin);
        if (ret >= 0 && t->end > t->next_in) {
            t->missing = t->end - t->next_in;
            ret = fill(t, t->missing);
        }
    }
    if (ret >= 0)
        ret = encode(t, 1);
    if (ret >= 0)
        ret = avcodec_send_frame(t->encoder, NULL);
    return ret < 0 ? ret : take_packets(t);
}

int audio_transcoder_run(AudioTranscoder *t, const AVPacket *packet, PacketTaker take, void *opaque)
{
    t->take = take;
    t->opaque = opaque;
    if (packet && packet->pts != AV_NOPTS_VALUE) {
        const AVRational to = t->encoder->time_base;
        if (t->begin == AV_NOPTS_VALUE) {
            t->begin = FFMAX(av_rescale_q(packet->pts, t->from_base, to), 0);
            sound_start(t->sound, av_rescale_q(t->begin, to, AV_TIME_BASE_Q));
        }
        t->end = FFMAX(t->end, av_rescale_q(packet->pts + packet->duration, t->from_base, to));
    }
    sound_send(t->sound, packet);
    const int ret = take_frames(t);
    return ret >= 0 && !packet ? finish(t) : ret;
}

SoundLoss audio_transcoder_loss(const AudioTranscoder *t)
{
    const int64_t silence =
        sound_lost(t->sound) + av_rescale(t->missing, AV_TIME_BASE, t->encoder->sample_rate);
    return (SoundLoss){silence, silence ? 0 : sound_damage(t->sound)};
}

void audio_transcoder_close(AudioTranscoder **transcoder)
{
    AudioTranscoder *t = *transcoder;
    if (!t)
        return;
    if (t->samples)
        av_audio_fifo_free(t->samples);
    sound_close(&t->sound);
    av_frame_free(&t->frame);
    av_packet_free(&t->packet);
    avcodec_free_context(&t->encoder);
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
    int ret = t ? track_open_decoder(&t->decoder, in->codecpar, in->time_base) : AVERROR(ENOMEM);
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
    /* FFmpeg encodes no start_display_time, so `pts` includes it. */
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
