/*
 * A reconnecting URL: a source (`outer`) whose connection (`inner`) is reopened, after growing
 * pauses, whenever it ends or fails. The first connection defines the tracks; packets of later ones
 * are mapped to them. Times advance by the length of the outage.
 */
#include "media/input/source.h"

#include <stdio.h>
#include <string.h>

#include <libavutil/avstring.h>
#include <libavutil/time.h>

#include "media/input/damage.h"
#include "media/side_data.h"

/* Pauses double up to this multiple of the first one. */
#define LONGEST_PAUSE 30

/* Minimum time between messages about losses, in units of reconnect_s: by default a minute. */
#define MESSAGE_PAUSES 60

/* Interval for checking the stop flag. */
#define LOOK_MS 20

/* Its address in AVPacket.opaque marks discontinuities. */
static char return_mark;

/* A stream of the current connection. */
typedef struct Track {
    int place;     /* index of the outer source's stream, or -1 */
    bool is_first; /* no packet was returned since the reconnection */
} Track;

typedef struct Reconnect {
    Source *outer;
    Source *inner;                 /* the connection; NULL while it is lost */
    Track *tracks;                 /* by stream of `inner` */
    int64_t shift;                 /* offset for times of `inner` if `begun`, AV_TIME_BASE units */
    int64_t floor;                 /* time of the first key frame; earlier sound is dropped */
    bool begun;                    /* the first key frame has arrived */
    bool has_video;                /* a video packet was returned */
    double pause_s;                /* pause before the next attempt */
    int64_t lost_at, opened_at;    /* av_gettime_relative() */
    int64_t latest, latest_begins; /* latest end and start of packets, AV_TIME_BASE units */
    int64_t read_at; /* av_gettime_relative() when the last packet was returned; 0: none was */
    bool ended;
    char why[128];    /* reason of the latest loss */
    bool is_noted;    /* a note of the latest loss was given */
    int64_t noted_at; /* av_gettime_relative() of the last such note; 0: never */
} Reconnect;

void source_mark_discontinuity(AVPacket *packet)
{
    packet->opaque = &return_mark;
}

bool source_is_discontinuity(const AVPacket *packet)
{
    return packet && packet->opaque == &return_mark;
}

/* ---- a connection ---- */

/* Waits before the next attempt. Doubles the pause, but not for udp and rtp, where each attempt
 * itself waits for a sender. Returns AVERROR_EXIT if stopped. */
static int wait_before_retry(Reconnect *r)
{
    const NetworkScheme *scheme = network_scheme(r->outer->options.path);
    const int64_t until = av_gettime_relative() + (int64_t)(r->pause_s * AV_TIME_BASE);
    for (int64_t now; (now = av_gettime_relative()) < until && !source_is_stopped(r->outer);)
        av_usleep((unsigned)FFMIN(until - now, LOOK_MS * 1000));
    if (!scheme || !scheme->has_no_end)
        r->pause_s = FFMIN(2 * r->pause_s, LONGEST_PAUSE * r->outer->options.reconnect_s);
    return source_is_stopped(r->outer) ? AVERROR_EXIT : 0;
}

/* `note` receives notes about the choice of tracks. AVERROR_EXIT: stopped. */
static int connect_once(Reconnect *r, void (*note)(const char *line), bool *answered,
                        MediaError *error)
{
    SourceOptions options = r->outer->options;
    options.reconnect_live = false;
    options.within = r->outer;
    options.note = note;
    options.answered = answered;
    r->opened_at = av_gettime_relative();
    const int ret = source_open_connection(&r->inner, &options, error);
    return ret < 0 && source_is_stopped(r->outer) ? AVERROR_EXIT : ret;
}

static int open_first(Reconnect *r, MediaError *error)
{
    for (bool said = false;; said = true) {
        MediaError why = {0};
        bool answered = false;
        int ret = connect_once(r, r->outer->options.note, &answered, &why);
        if (ret >= 0 && said)
            media_note(r->outer->options.note, "%s is available", r->outer->name);
        if (ret >= 0)
            return 0;
        if (ret != AVERROR_EXIT && (answered || why.is_final || why.fault == MEDIA_USAGE))
            return media_fail(error, why.fault, "%s", why.text);
        if (ret != AVERROR_EXIT && !said)
            media_note(r->outer->options.note, "%s; waiting for it", why.text);
        if (ret == AVERROR_EXIT || wait_before_retry(r) < 0)
            return media_fail(error, MEDIA_INPUT, "interrupted while opening %s", r->outer->name);
    }
}

/* ---- the outer source ---- */

/* Copies the tracks, so that they outlive the connection; skips covers and other programs. */
static int describe(Source *outer, const Source *inner)
{
    AVFormatContext *from = inner->format;
    AVFormatContext *to = outer->format = avformat_alloc_context();
    if (!to || av_dict_copy(&to->metadata, from->metadata, 0) < 0)
        return AVERROR(ENOMEM);
    to->iformat = from->iformat;
    to->ctx_flags = from->ctx_flags;
    to->start_time = from->start_time;
    for (unsigned i = 0; i < from->nb_streams; i++) {
        if (source_is_picture(from->streams[i]) || source_is_foreign(inner, from->streams[i]))
            continue;
        AVStream *stream = side_data_copy_stream(to, from->streams[i]);
        if (!stream)
            return AVERROR(ENOMEM);
        stream->id = from->streams[i]->id;
        stream->start_time = from->streams[i]->start_time;
        if (from->streams[i] == inner->video)
            outer->video = stream;
    }
    return 0;
}

static bool can_continue(const AVCodecParameters *as, const AVCodecParameters *par)
{
    return par->codec_type == as->codec_type && par->codec_id == as->codec_id &&
           (par->codec_type != AVMEDIA_TYPE_AUDIO ||
            (par->sample_rate == as->sample_rate &&
             par->ch_layout.nb_channels == as->ch_layout.nb_channels));
}

static int place_tracks(Reconnect *r, bool is_first)
{
    AVFormatContext *format = r->inner->format;
    int counts[AVMEDIA_TYPE_NB] = {0};
    av_freep(&r->tracks);
    r->tracks = av_malloc_array(format->nb_streams, sizeof(*r->tracks));
    if (!r->tracks)
        return AVERROR(ENOMEM);
    for (unsigned i = 0; i < format->nb_streams; i++) {
        AVStream *stream = format->streams[i];
        const enum AVMediaType type = stream->codecpar->codec_type;
        int place = -1;
        if (stream == r->inner->video)
            place = r->outer->video->index;
        else if (!source_is_picture(stream) && !source_is_foreign(r->inner, stream) && type >= 0 &&
                 type < AVMEDIA_TYPE_NB) {
            /* The n-th track of this type in the outer source, not counting its video. */
            int n = counts[type]++;
            for (unsigned k = 0; k < r->outer->format->nb_streams && place < 0; k++) {
                const AVStream *other = r->outer->format->streams[k];
                if (other != r->outer->video && other->codecpar->codec_type == type && n-- == 0)
                    place = (int)k;
            }
        }
        if (place >= 0 &&
            !can_continue(r->outer->format->streams[place]->codecpar, stream->codecpar))
            place = -1;
        r->tracks[i] = (Track){place, is_first};
        if (place < 0)
            stream->discard = AVDISCARD_ALL;
    }
    return 0;
}

/* ---- loss and return ---- */

/* Reports the loss, unless the previous report is too recent: a loose cable must not fill the
 * log. */
static void note_loss(Reconnect *r)
{
    const int64_t now = av_gettime_relative();
    const double quiet_s = MESSAGE_PAUSES * r->outer->options.reconnect_s;
    if (r->is_noted || (r->noted_at && (double)(now - r->noted_at) < quiet_s * AV_TIME_BASE))
        return;
    media_note(r->outer->options.note, "%s is gone: %s; waiting for it", r->outer->name, r->why);
    r->is_noted = true;
    r->noted_at = now;
}

/* Handles a loss; returns a packet without data, which makes the decoder output its delayed
 * frames. */
static int report_loss(Reconnect *r, AVPacket *packet)
{
    const Source *inner = r->inner;
    const int lost = inner->network ? inner->network->lost : 0;
    if (lost == AVERROR(ETIMEDOUT))
        snprintf(r->why, sizeof(r->why), "no data for %g s", r->outer->options.silence_s);
    else
        av_strlcpy(r->why,
                   lost && lost != AVERROR_EOF && lost != AVERROR(EIO) ? media_av_text(lost)
                                                                       : "the connection has ended",
                   sizeof(r->why));
    if (inner->damage.packets)
        damage_sum(&r->outer->damage, &inner->damage);
    r->outer->damage.cut_off = false; /* the stream may continue */
    atomic_store(&r->outer->away, true);
    r->lost_at = av_gettime_relative();
    atomic_fetch_add(&r->outer->losses, 1);
    r->is_noted = false;
    note_loss(r);
    source_free(&r->inner);
    if (av_new_packet(packet, 0) < 0)
        return AVERROR(ENOMEM);
    packet->stream_index = r->outer->video->index;
    source_mark_discontinuity(packet);
    return 0;
}

static int connect_again(Reconnect *r)
{
    bool answered;
    int ret;
    do {
        MediaError why = {0}; /* not shown: the loss was reported already */
        ret = wait_before_retry(r);
        note_loss(r);
        if (ret < 0)
            return ret;
        ret = connect_once(r, NULL, &answered, &why);
        if (ret == AVERROR_EXIT)
            return ret;
    } while (ret < 0);
    const AVCodecParameters *was = r->outer->video->codecpar, *is = r->inner->video->codecpar;
    if (!can_continue(was, is)) {
        Damage *damage = &r->outer->damage;
        char text[128];
        snprintf(text, sizeof(text), "came back with %s instead of %s",
                 avcodec_get_name(is->codec_id), avcodec_get_name(was->codec_id));
        damage->packets++;
        if (!damage->first[0])
            av_strlcpy(damage->first, text, sizeof(damage->first));
        media_note(r->outer->options.note, "%s %s: the input ends here", r->outer->name, text);
        r->ended = true;
        return AVERROR_EOF;
    }
    if ((ret = place_tracks(r, true)) < 0)
        return ret;
    r->begun = r->has_video = false;
    if (r->is_noted)
        media_note(r->outer->options.note, "%s is back after %.1f s", r->outer->name,
                   (double)(av_gettime_relative() - r->lost_at) / AV_TIME_BASE);
    atomic_store(&r->outer->away, false);
    return 0;
}

static int64_t to_us(int64_t time, const AVStream *stream)
{
    return av_rescale_q(time, stream->time_base, AV_TIME_BASE_Q);
}

/* Maps a packet to the outer source. Returns 1, or 0 to drop it. */
static int map_packet(Reconnect *r, AVPacket *packet)
{
    Track *track = &r->tracks[packet->stream_index];
    const AVStream *from = r->inner->format->streams[packet->stream_index];
    const AVStream *to = track->place >= 0 ? r->outer->format->streams[track->place] : NULL;
    const int64_t stamp = packet->dts != AV_NOPTS_VALUE ? packet->dts : packet->pts;
    const bool is_video = to && to == r->outer->video;
    if (!to || to->discard == AVDISCARD_ALL)
        return 0;
    if (!r->begun && (!is_video || stamp == AV_NOPTS_VALUE))
        return 0;
    if (!r->begun) { /* continue after the previous packets, later by the length of the outage */
        const int64_t time = to_us(stamp, from);
        const int64_t due = r->latest_begins + (r->opened_at - r->read_at);
        r->floor = r->read_at ? FFMAX(r->latest, due) : time;
        r->shift = r->floor - time;
        r->begun = true;
    }
    const int64_t by = av_rescale_q(r->shift, AV_TIME_BASE_Q, to->time_base);
    av_packet_rescale_ts(packet, from->time_base, to->time_base);
    if (packet->dts != AV_NOPTS_VALUE)
        packet->dts += by;
    if (packet->pts != AV_NOPTS_VALUE)
        packet->pts += by;
    packet->stream_index = track->place;
    if (!is_video && packet->dts != AV_NOPTS_VALUE && to_us(packet->dts, to) < r->floor)
        return 0;
    const int64_t shown = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
    if (shown != AV_NOPTS_VALUE) {
        r->latest_begins = FFMAX(r->latest_begins, to_us(shown, to));
        r->latest = FFMAX(r->latest, to_us(shown, to) + to_us(packet->duration, to));
        r->read_at = av_gettime_relative();
    }
    r->has_video |= is_video;
    if (!track->is_first)
        return 1;
    track->is_first = false;
    source_mark_discontinuity(packet);
    const AVCodecParameters *par = r->inner->video->codecpar;
    if (!is_video || !par->extradata_size)
        return 1;
    uint8_t *data =
        av_packet_new_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, (size_t)par->extradata_size);
    if (!data)
        return AVERROR(ENOMEM);
    memcpy(data, par->extradata, (size_t)par->extradata_size);
    return 1;
}

int source_reconnect_read(Reconnect *r, AVPacket *packet)
{
    int ret = r->ended ? AVERROR_EOF : 0;
    while (ret == 0) {
        if (!r->inner && (ret = connect_again(r)) < 0)
            break;
        ret = source_read_own(r->inner, packet);
        if (ret == 0 && (ret = map_packet(r, packet)) != 0)
            break;
        av_packet_unref(packet);
        if (ret >= 0)
            continue;
        if (source_is_stopped(r->outer))
            return AVERROR_EXIT;
        if (ret == AVERROR(ENOMEM))
            return ret;
        if (r->has_video)
            r->pause_s = r->outer->options.reconnect_s;
        return report_loss(r, packet);
    }
    return ret > 0 ? 0 : ret;
}

int source_reconnect_open(Source *outer, Source *first, MediaError *error)
{
    Reconnect *r = outer->reconnect = av_mallocz(sizeof(*r));
    if (!r) {
        source_free(&first);
        return media_no_memory(error, MEDIA_INPUT);
    }
    r->inner = first;
    if (first)
        first->options.within = outer;
    r->outer = outer;
    r->pause_s = outer->options.reconnect_s;
    r->latest = r->latest_begins = r->floor = INT64_MIN;
    r->opened_at = av_gettime_relative();
    const int ret = first ? 0 : open_first(r, error);
    if (ret < 0)
        return ret;
    r->begun = r->has_video = true;
    if (describe(outer, r->inner) < 0 || place_tracks(r, false) < 0)
        return media_no_memory(error, MEDIA_INPUT);
    return 0;
}

void source_reconnect_close(Reconnect **reconnect)
{
    Reconnect *r = *reconnect;
    if (!r)
        return;
    source_free(&r->inner);
    avformat_free_context(r->outer->format);
    r->outer->format = NULL;
    r->outer->video = NULL;
    av_freep(&r->tracks);
    av_freep(reconnect);
}
