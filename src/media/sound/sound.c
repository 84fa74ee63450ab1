#include "media/sound/sound.h"

#include <math.h>

#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/bprint.h>
#include <libavutil/samplefmt.h>

#include "media/filter_graph.h"
#include "media/input/source.h"
#include "media/input/track_choice.h"

/* ---- filters that convert decoded sound to the wanted format and speed ---- */

/* {0} is closed. */
typedef struct SoundGraph {
    FilterGraph filters;
    int rate, format; /* of its input frames */
    AVChannelLayout layout;
    double early_us; /* how early sound leaves the filters, in input microseconds */
} SoundGraph;

static void sound_graph_close(SoundGraph *g)
{
    filter_graph_close(&g->filters);
    av_channel_layout_uninit(&g->layout);
    *g = (SoundGraph){0};
}

/* Minimum speed of one atempo filter. */
#define MIN_TEMPO 0.5

/* atempo's window is the shortest that has a power of two samples and lasts at least 1/24 s. */
#define WINDOWS_PER_SECOND 24

/* Returns how early sound leaves the filter on average, in microseconds: half a window at the start
 * of each sound, and 0 at its end. */
static double tempo_is_early(int rate)
{
    int window = 1;
    while (window * WINDOWS_PER_SECOND < rate)
        window *= 2;
    return 1e6 * window / 4 / rate;
}

/* Appends tempo filters. Returns how early sound leaves them, in input microseconds. */
static double add_tempo(AVBPrint *text, double speed, int rate)
{
    double early = 0, stretched = 1;
    for (; speed < MIN_TEMPO; speed /= MIN_TEMPO) {
        av_bprintf(text, "atempo=%g,", MIN_TEMPO);
        early += tempo_is_early(rate) * stretched;
        stretched *= MIN_TEMPO;
    }
    if (speed == 1)
        return early;
    av_bprintf(text, "atempo=%.6f,", speed);
    return early + tempo_is_early(rate) * stretched;
}

static void describe(AVBPrint *text, SoundGraph *g, const SoundFormat *to)
{
    const int channels = to->layout.nb_channels;
    av_bprintf(text,
               "abuffer@in=time_base=1/%d:sample_rate=%d:sample_fmt=%s:channel_layout=", g->rate,
               g->rate, av_get_sample_fmt_name(g->format));
    av_channel_layout_describe_bprint(&g->layout, text);
    av_bprintf(text, ",");
    /* Channels without known positions cannot be mixed, so keep the first ones. */
    if (g->layout.order == AV_CHANNEL_ORDER_UNSPEC && g->layout.nb_channels > channels) {
        av_bprintf(text, "pan=%dc", channels);
        for (int i = 0; i < channels; i++)
            av_bprintf(text, "|c%d=c%d", i, i);
        av_bprintf(text, ",");
    }
    /* rematrix_maxval keeps downmixed channels within -1..1 */
    av_bprintf(text,
               "aresample=%d:rematrix_maxval=1,aformat=sample_fmts=%s:sample_rates=%d:"
               "channel_layouts=",
               to->rate, av_get_sample_fmt_name(to->format), to->rate);
    av_channel_layout_describe_bprint(&to->layout, text);
    av_bprintf(text, ",");
    g->early_us = add_tempo(text, to->speed, to->rate);
    av_bprintf(text, "abuffersink@out");
}

/* Opens filters for frames like `frame`. Returns 0, or AVERROR with `g` closed. */
static int sound_graph_open(SoundGraph *g, const AVFrame *frame, const SoundFormat *to)
{
    sound_graph_close(g);
    if (frame->sample_rate <= 0 || frame->ch_layout.nb_channels <= 0)
        return AVERROR_INVALIDDATA;
    g->rate = frame->sample_rate;
    g->format = frame->format;
    AVBPrint text;
    av_bprint_init(&text, 0, AV_BPRINT_SIZE_UNLIMITED);
    int ret = av_channel_layout_copy(&g->layout, &frame->ch_layout);
    if (ret >= 0) {
        describe(&text, g, to);
        ret = av_bprint_is_complete(&text) ? filter_graph_open(&g->filters, text.str, 1)
                                           : AVERROR(ENOMEM);
    }
    av_bprint_finalize(&text, NULL);
    if (ret >= 0)
        av_buffersink_set_frame_size(g->filters.out, (unsigned)to->block);
    else
        sound_graph_close(g);
    return ret;
}

/* Takes ownership of the frame's data. NULL ends the input. Returns 0 or AVERROR. */
static int sound_graph_send(SoundGraph *g, AVFrame *frame)
{
    const int ret = av_buffersrc_add_frame_flags(g->filters.in, frame, 0);
    if (frame)
        av_frame_unref(frame);
    return ret;
}

/* ---- sound ---- */

#define BLOCKS_PER_SECOND 50
#define SECOND 1e6

/* Smaller deviations of timestamps are rounding errors. */
#define ROUNDING_US 1.5e3
/* Deviations up to this are jitter. */
#define TOLERANCE_US 50e3
/* Each frame shifts the following positions by its jitter divided by this. */
#define SMOOTHING 64
/* Larger deviations are jumps, not gaps or overlaps. */
#define MAX_HOLE_US 3600e6
#define MAX_OVERLAP_US 1e6

/* Decoders need up to this much sound before the first correct sample. */
#define PREROLL_US 500000

struct Sound {
    AVCodecParameters *track;
    AVCodecContext *codec;
    int64_t origin;
    SoundFormat to;
    SoundGraph graph;
    double graph_speed; /* the speed that the graph was opened for */
    int draining;       /* the graph gets no more input */
    int sent;           /* the decoder may hold data */

    AVFrame *decoded; /* next input of the graph, if not blank */
    AVFrame *filtered;
    int64_t silence; /* samples of silence to insert before `decoded` */
    int unsettled;   /* frames were lost or cut just before `decoded`, so trust its timestamp */
    int damaged;     /* damaged frames were dropped just before `decoded` */
    int64_t from;    /* start position; AV_NOPTS_VALUE: anywhere */
    int started;     /* the graph has received input */
    double next_in;  /* position of the graph's next input, once started */
    double next_out; /* position of the graph's next output, once it is open */
    int64_t damage;
    double lost; /* silence that replaces damaged sound, microseconds */
};

int sound_block_samples(int rate)
{
    return FFMAX(rate / BLOCKS_PER_SECOND, 1);
}

/* Packets with a wrong checksum become silence rather than noise. FLAC's decoder fails on them only
 * with AV_EF_EXPLODE. */
static int open_decoder(const Sound *s, AVCodecContext **codec, AVRational time_base)
{
    const int ret = track_open_decoder(codec, s->track, time_base);
    if (ret < 0)
        return ret;
    (*codec)->err_recognition |= AV_EF_CRCCHECK;
    if (s->track->codec_id == AV_CODEC_ID_FLAC)
        (*codec)->err_recognition |= AV_EF_EXPLODE;
    return 0;
}

int sound_open_as(Sound **sound, const AVStream *stream, int64_t origin_us, const SoundFormat *to)
{
    Sound *s = *sound = av_mallocz(sizeof(*s));
    if (!s)
        return AVERROR(ENOMEM);
    s->origin = origin_us;
    s->to = *to;
    s->to.layout = (AVChannelLayout){0};
    s->track = avcodec_parameters_alloc();
    s->decoded = av_frame_alloc();
    s->filtered = av_frame_alloc();
    int ret = s->track && s->decoded && s->filtered ? 0 : AVERROR(ENOMEM);
    const int channels = to->layout.nb_channels;
    if (ret >= 0 && to->layout.order == AV_CHANNEL_ORDER_UNSPEC) /* filters need channel names */
        ret = av_channel_layout_from_mask(&s->to.layout, UINT64_MAX >> FFMAX(64 - channels, 0));
    else if (ret >= 0)
        ret = av_channel_layout_copy(&s->to.layout, &to->layout);
    if (ret >= 0)
        ret = avcodec_parameters_copy(s->track, stream->codecpar);
    if (ret >= 0)
        ret = open_decoder(s, &s->codec, stream->time_base);
    if (ret < 0)
        sound_close(sound);
    else
        sound_start(s, AV_NOPTS_VALUE);
    return ret;
}

int sound_open(Sound **sound, const AVStream *stream, int64_t origin_us, int rate, int channels,
               MediaError *error)
{
    SoundFormat to = {rate, AV_SAMPLE_FMT_FLT, {0}, sound_block_samples(rate), 1, 1};
    av_channel_layout_default(&to.layout, channels);
    const int ret = sound_open_as(sound, stream, origin_us, &to);
    return ret < 0 ? media_fail(error, MEDIA_INPUT, "cannot decode the sound (%s): %s",
                                codec_name(stream->codecpar), media_av_text(ret))
                   : 0;
}

static void close_graph(Sound *s)
{
    sound_graph_close(&s->graph);
    s->draining = 0;
}

void sound_start(Sound *s, int64_t position)
{
    if (s->sent)
        avcodec_flush_buffers(s->codec);
    s->sent = 0;
    close_graph(s);
    av_frame_unref(s->decoded);
    s->silence = 0;
    s->started = s->unsettled = s->damaged = 0;
    s->from = position;
}

void sound_set_speed(Sound *s, double speed)
{
    s->to.speed = av_clipd(speed, SOUND_MIN_SPEED, SOUND_MAX_SPEED);
}

/* True if the packet is too early to matter for the start position. */
static bool is_long_before(const Sound *s, const AVPacket *packet)
{
    if (s->started || s->from == AV_NOPTS_VALUE || packet->pts == AV_NOPTS_VALUE ||
        packet->side_data_elems)
        return false;
    const int64_t end =
        av_rescale_q(packet->pts + packet->duration, s->codec->pkt_timebase, AV_TIME_BASE_Q);
    return end - s->origin < s->from - PREROLL_US;
}

static void note_damage(Sound *s)
{
    s->damage++;
    s->unsettled = s->damaged = 1;
}

/* Reopens the decoder, because some decoders keep state from a damaged packet. */
static void renew_decoder(Sound *s)
{
    AVCodecContext *fresh = NULL;
    note_damage(s);
    if (open_decoder(s, &fresh, s->codec->pkt_timebase) >= 0)
        FFSWAP(AVCodecContext *, s->codec, fresh);
    avcodec_free_context(&fresh);
}

void sound_send(Sound *s, const AVPacket *packet)
{
    if (source_is_discontinuity(packet)) /* restart, so that the outage does not become silence */
        sound_start(s, AV_NOPTS_VALUE);
    if (packet && (!packet->size || is_long_before(s, packet))) /* FLAC ends with an empty packet */
        return;
    s->sent = 1;
    const int ret = avcodec_send_packet(s->codec, packet);
    if (ret < 0 && ret != AVERROR_EOF)
        renew_decoder(s);
}

/* Replaces a layout that the filters do not accept. */
static void name_layout(const Sound *s, AVFrame *frame)
{
    const enum AVChannelOrder order = frame->ch_layout.order;
    const int channels = frame->ch_layout.nb_channels;
    if (order == AV_CHANNEL_ORDER_NATIVE || order == AV_CHANNEL_ORDER_CUSTOM)
        return;
    av_channel_layout_uninit(&frame->ch_layout);
    if (order == AV_CHANNEL_ORDER_UNSPEC && channels == s->to.layout.nb_channels)
        (void)av_channel_layout_copy(&frame->ch_layout, &s->to.layout);
    else if (order == AV_CHANNEL_ORDER_UNSPEC)
        av_channel_layout_default(&frame->ch_layout, channels);
    else
        frame->ch_layout = (AVChannelLayout){AV_CHANNEL_ORDER_UNSPEC, channels, {0}, NULL};
}

/* Decodes the next intact frame. Drops damaged frames, because their noise is worse than silence.
 * Returns 0, AVERROR(EAGAIN) or AVERROR_EOF. */
static int decode(Sound *s)
{
    for (;;) {
        const AVFrame *d = s->decoded;
        const int ret = avcodec_receive_frame(s->codec, s->decoded);
        if (ret == AVERROR(EAGAIN) || ret == AVERROR_EOF)
            return ret;
        if (ret < 0) {
            renew_decoder(s);
        } else if (d->decode_error_flags || (d->flags & AV_FRAME_FLAG_CORRUPT)) {
            note_damage(s);
        } else if (d->nb_samples > 0 && d->sample_rate > 0) {
            name_layout(s, s->decoded);
            return 0;
        }
        av_frame_unref(s->decoded);
    }
}

static double to_us(int64_t samples, int rate)
{
    return (double)samples * SECOND / rate;
}

static AVFrame *like_decoded(const Sound *s, int samples)
{
    AVFrame *frame = av_frame_alloc();
    if (!frame)
        return NULL;
    frame->format = s->decoded->format;
    frame->sample_rate = s->decoded->sample_rate;
    frame->nb_samples = samples;
    if (av_channel_layout_copy(&frame->ch_layout, &s->decoded->ch_layout) < 0 ||
        av_frame_get_buffer(frame, 0) < 0)
        av_frame_free(&frame);
    return frame;
}

/* Cuts the first `us` microseconds off `decoded`, which becomes blank if no samples are left. */
static void cut(Sound *s, double us)
{
    AVFrame *d = s->decoded;
    const double samples = ceil(us * d->sample_rate / SECOND - 1e-3);
    const int skip = samples < d->nb_samples ? (int)samples : d->nb_samples;
    const int left = d->nb_samples - skip;
    AVFrame *rest = left > 0 ? like_decoded(s, left) : NULL;
    if (rest)
        av_samples_copy(rest->extended_data, d->extended_data, 0, skip, left,
                        d->ch_layout.nb_channels, d->format);
    av_frame_unref(d);
    if (rest)
        av_frame_move_ref(d, rest);
    av_frame_free(&rest);
}

/* Aligns the first samples to the start position. */
static void start(Sound *s, double *position)
{
    s->next_in = *position;
    if (s->from != AV_NOPTS_VALUE && *position < (double)s->from) {
        const int before = s->decoded->nb_samples, rate = s->decoded->sample_rate;
        cut(s, (double)s->from - *position);
        *position += to_us(before - s->decoded->nb_samples, rate);
        s->next_in = *position;
    } else if (s->from != AV_NOPTS_VALUE && *position - (double)s->from > TOLERANCE_US) {
        s->next_in = (double)s->from;
    }
    s->started = s->decoded->nb_samples > 0;
}

/* Ends the graph's input. sound_receive_frame() closes the graph after its last output. */
static void drain(Sound *s)
{
    s->draining = 1;
    if (sound_graph_send(&s->graph, NULL) < 0)
        close_graph(s);
}

/* Sends the frame to the graph, taking ownership. */
static void push(Sound *s, AVFrame *frame)
{
    const double length = to_us(frame->nb_samples, frame->sample_rate);
    frame->pts = AV_NOPTS_VALUE;
    if (sound_graph_send(&s->graph, frame) < 0) {
        s->damage++;
        close_graph(s);
    }
    s->next_in += length;
}

static void push_silence(Sound *s)
{
    const int most = sound_block_samples(s->decoded->sample_rate);
    const int samples = s->silence < most ? (int)s->silence : most;
    AVFrame *frame = like_decoded(s, samples);
    s->silence -= samples;
    if (!frame)
        return;
    av_samples_set_silence(frame->extended_data, 0, samples, frame->ch_layout.nb_channels,
                           frame->format);
    push(s, frame);
    av_frame_free(&frame);
}

/* Opens the graph for the format of `decoded`. Returns 0 if the open graph must drain first. Also
 * returns 0 if opening fails, and drops `decoded`. */
static int prepare(Sound *s)
{
    const SoundGraph *g = &s->graph;
    if (g->filters.graph && s->graph_speed == s->to.speed && s->decoded->sample_rate == g->rate &&
        s->decoded->format == g->format &&
        av_channel_layout_compare(&s->decoded->ch_layout, &g->layout) == 0)
        return 1;
    if (g->filters.graph) {
        drain(s);
        return 0;
    }
    if (sound_graph_open(&s->graph, s->decoded, &s->to) < 0) {
        s->damage++;
        av_frame_unref(s->decoded);
        return 0;
    }
    s->graph_speed = s->to.speed;
    s->next_out = s->next_in + s->graph.early_us;
    return 1;
}

/* Sends `decoded` to the graph. If silence must come first, or the graph must be reopened, leaves
 * `decoded` to a later call. */
static void place(Sound *s)
{
    const int64_t pts = s->decoded->best_effort_timestamp;
    double position = s->from == AV_NOPTS_VALUE ? 0 : (double)s->from;
    if (s->started)
        position = s->next_in;
    if (pts != AV_NOPTS_VALUE)
        position = (double)pts * SECOND * av_q2d(s->codec->pkt_timebase) - (double)s->origin;
    if (!s->started)
        start(s, &position);
    double ahead = position - s->next_in;
    if (!s->decoded->nb_samples)
        return;
    if ((ahead > MAX_HOLE_US || ahead < -MAX_OVERLAP_US) && !s->graph.filters.graph) {
        s->next_in = position;
        ahead = 0;
    }
    if (ahead > MAX_HOLE_US || ahead < -MAX_OVERLAP_US) {
        drain(s);
        return;
    }
    if (!prepare(s))
        return;
    const double tolerance = s->unsettled ? ROUNDING_US : TOLERANCE_US;
    if (ahead > tolerance) {
        s->silence = llrint(ahead * s->decoded->sample_rate / SECOND);
        s->lost += s->damaged ? ahead : 0;
        return;
    }
    if (ahead < -tolerance) {
        cut(s, -ahead);
    } else if (s->to.smooths) { /* correct a little of the jitter */
        s->next_in += ahead / SMOOTHING;
        s->next_out += ahead / SMOOTHING;
    }
    s->damaged = 0;
    s->unsettled = !s->decoded->nb_samples;
    if (!s->unsettled)
        push(s, s->decoded);
}

/* Feeds the graph. Returns 0 (check its output), AVERROR(EAGAIN) or AVERROR_EOF. */
static int feed(Sound *s)
{
    const int ret = s->decoded->nb_samples ? 0 : decode(s);
    if (ret == AVERROR_EOF && s->graph.filters.graph) {
        drain(s);
        return 0;
    }
    if (ret < 0)
        return ret;
    if (s->silence && prepare(s))
        push_silence(s);
    else if (!s->silence)
        place(s);
    return 0;
}

int sound_receive_frame(Sound *s, AVFrame *frame, int64_t *position)
{
    int ret;
    for (;;) {
        ret = AVERROR(EAGAIN);
        if (s->graph.filters.graph)
            ret = av_buffersink_get_frame(s->graph.filters.out, frame);
        if (ret >= 0)
            break;
        if (ret != AVERROR(EAGAIN) || s->draining) {
            s->damage += ret != AVERROR_EOF;
            close_graph(s);
        }
        ret = feed(s);
        if (ret < 0)
            return ret;
    }
    *position = llrint(s->next_out);
    s->next_out += frame->nb_samples * s->graph_speed * SECOND / s->to.rate;
    return 0;
}

int sound_receive(Sound *s, SoundBlock *block)
{
    AVFrame *f = s->filtered;
    const int ret = sound_receive_frame(s, f, &block->position);
    if (ret < 0)
        return ret;
    const float *samples = (const float *)f->data[0];
    block->count = FFMIN(f->nb_samples, s->to.block);
    block->worth = s->graph_speed * SECOND / s->to.rate;
    for (int i = 0; i < block->count * f->ch_layout.nb_channels; i++) /* NaN becomes 0 */
        block->samples[i] = samples[i] == samples[i] ? av_clipf(samples[i], -1, 1) : 0;
    av_frame_unref(f);
    return 0;
}

int64_t sound_damage(const Sound *s)
{
    return s->damage;
}

int64_t sound_lost(const Sound *s)
{
    return llrint(s->lost);
}

void sound_close(Sound **sound)
{
    Sound *s = *sound;
    if (!s)
        return;
    sound_graph_close(&s->graph);
    av_frame_free(&s->decoded);
    av_frame_free(&s->filtered);
    avcodec_free_context(&s->codec);
    avcodec_parameters_free(&s->track);
    av_channel_layout_uninit(&s->to.layout);
    av_freep(sound);
}
