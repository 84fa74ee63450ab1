#include "player/playback.h"

#include <stdio.h>

#include "media/input/track_choice.h"

/* The frame before another one is hardly further away. */
#define BEFORE_US 500000

/* By so much a frame has to be late before it is not even equalized. */
#define LATE_US 5000

/* ---- opening ---- */

/* `number`: plus 1, 0 = the best, -1 = none. */
static int choose(const Playback *p, enum AVMediaType type, int number, const AVStream **stream,
                  MediaError *error)
{
    *stream = NULL;
    if (number == 0)
        *stream = track_best(p->source, type);
    else if (number > 0)
        *stream = track_find(p->source, type, number - 1);
    if (number > 0 && !*stream)
        return media_fail(error, MEDIA_USAGE, "there is no %s track %d; the input has %d",
                          type == AVMEDIA_TYPE_AUDIO ? "audio" : "subtitle", number - 1,
                          track_count(p->source, type));
    return 0;
}

/* A machine without a sound device, or a track that cannot be decoded: the pictures are shown all
 * the same. */
static void give_up_sound(Playback *p, const char *why)
{
    demuxer_give_up(p->demuxer, DEMUX_AUDIO);
    snprintf(p->trouble, sizeof(p->trouble), "No sound: %s", why);
}

static void open_audio(Playback *p)
{
    char why[256];
    const AVStream *stream = demuxer_selected(p->demuxer, DEMUX_AUDIO);
    if (p->audio || p->sound_later || !stream)
        return;
    if (audio_open(&p->audio, stream, why, sizeof(why)) < 0)
        give_up_sound(p, why);
    else
        audio_pause(p->audio, 1); /* until the first frame is there */
}

static int open_all(Playback *p, const PlaybackOptions *options, MediaError *error)
{
    const AVStream *audio;
    int ret = demuxer_create(&p->demuxer, p->source, error);
    if (ret < 0)
        return ret;
    demuxer_select(p->demuxer, DEMUX_VIDEO, p->source->video);
    demuxer_tap(p->demuxer, options->packet, options->opaque);
    ret =
        choose(p, AVMEDIA_TYPE_AUDIO, options->no_audio ? -1 : options->audio_track, &audio, error);
    demuxer_select(p->demuxer, DEMUX_AUDIO, audio);
    if (ret >= 0)
        ret = choose(p, AVMEDIA_TYPE_SUBTITLE, options->sub_track, &p->subtitle, error);
    if (ret >= 0)
        ret = video_feed_open(&p->feed, p->source, p->demuxer, &options->video, error);
    return ret;
}

int playback_open(Playback *p, Source *source, const PlaybackOptions *options,
                  const FeedStart *start, MediaError *error)
{
    *p = (Playback){.source = source, .speed = options->speed, .sound_later = options->sound_later};
    p->clock.speed = options->speed;
    int ret = open_all(p, options, error);
    if (ret >= 0)
        ret = playback_start(p, start, error);
    if (ret < 0) {
        p->source = NULL; /* the caller's still */
        playback_close(p);
    }
    return ret;
}

/* ---- starting and stopping ---- */

void playback_forget_ahead(Playback *p)
{
    for (int i = 0; i < p->ahead_count; i++)
        equalized_frame_free(&p->ahead[i]);
    p->ahead_count = 0;
    p->ended = 0;
}

void playback_stop(Playback *p)
{
    if (p->stage)
        equalize_stage_detach(p->stage);
    if (p->audio)
        audio_pause(p->audio, 1);
    if (p->demuxer)
        demuxer_stop(p->demuxer);
    if (p->audio)
        audio_stop(p->audio);
    if (p->feed)
        video_feed_stop(p->feed);
    playback_forget_ahead(p);
    equalized_frame_free(&p->anew);
    clock_pause(&p->clock, clock_now(), 1);
}

/* Where the demuxer has to go for it: nowhere at the start, which a pipe is at, too. */
static int64_t where_to(const FeedStart *start)
{
    if (start->position == AV_NOPTS_VALUE)
        return AV_NOPTS_VALUE;
    return FFMAX(start->position - (start->before ? 1 : 0), 0);
}

static void start_audio(Playback *p)
{
    char why[256];
    int64_t position = p->start.position;
    if (position != AV_NOPTS_VALUE && p->start.before)
        position -= BEFORE_US; /* more exactly when the frame is there */
    if (p->audio && demuxer_selected(p->demuxer, DEMUX_AUDIO) &&
        audio_start(p->audio, p->demuxer, source_start(p->source), position, p->speed, why,
                    sizeof(why)) < 0)
        give_up_sound(p, why);
}

int playback_start(Playback *p, const FeedStart *start, MediaError *error)
{
    const FeedStart wanted = *start; /* it may be the playback's own */
    playback_stop(p);
    open_audio(p);
    p->start = wanted;
    p->pending = 1;
    p->ended = 0;
    int ret = demuxer_start(p->demuxer, where_to(&wanted), error);
    if (ret >= 0)
        ret = video_feed_start(p->feed, &wanted, error);
    if (ret >= 0 && p->stage)
        equalize_stage_attach(p->stage, p->feed, p->source->live);
    if (ret >= 0)
        start_audio(p);
    return ret;
}

void playback_equalize(Playback *p, EqualizeStage *stage)
{
    p->stage = stage;
    equalize_stage_attach(stage, p->feed, p->source->live);
}

void playback_open_sound(Playback *p)
{
    p->sound_later = 0;
    open_audio(p);
    start_audio(p);
}

int playback_select_audio(Playback *p, const AVStream *stream, int64_t position, MediaError *error)
{
    const FeedStart here = {.position = position};
    playback_stop(p);
    demuxer_select(p->demuxer, DEMUX_AUDIO, stream);
    return playback_start(p, &here, error);
}

/* ---- frames ---- */

int playback_look(Playback *p, MediaError *error)
{
    return video_feed_look(p->feed, error);
}

int playback_fetch(Playback *p, int count, MediaError *error)
{
    while (p->ahead_count < count && !p->ended) {
        EqualizedFrame *frame;
        const int ret = equalize_stage_receive(p->stage, &frame, error);
        if (ret == AVERROR(EAGAIN))
            return 0;
        if (ret < 0) {
            p->ended = 1;
            return ret == AVERROR_EOF ? 0 : ret;
        }
        if (ret > 0) {
            equalized_frame_free(&p->anew);
            p->anew = frame;
        } else {
            p->ahead[p->ahead_count++] = frame;
        }
    }
    return 0;
}

int playback_fetch_newest(Playback *p, MediaError *error)
{
    int ret = playback_fetch(p, 2, error);
    while (ret >= 0 && p->ahead_count > 1) {
        EqualizedFrame *older = playback_take(p);
        equalized_frame_free(&older);
        p->sync.dropped++;
        ret = playback_fetch(p, 2, error);
    }
    return ret;
}

EqualizedFrame *playback_take(Playback *p)
{
    EqualizedFrame *first = p->ahead[0];
    p->skipped += first->decoded.skipped;
    equalize_stage_taken(p->stage, first);
    p->ahead_count--;
    for (int i = 0; i < p->ahead_count; i++)
        p->ahead[i] = p->ahead[i + 1];
    return first;
}

int64_t playback_dropped(const Playback *p)
{
    return p->sync.dropped + p->skipped;
}

/* ---- time ---- */

int64_t playback_heard(const Playback *p, int64_t now)
{
    int64_t position;
    if (!p->audio || p->paused || p->pending || !audio_position(p->audio, now, &position))
        return AV_NOPTS_VALUE;
    return position;
}

int playback_is_silent(const Playback *p, int64_t now)
{
    return !p->audio || audio_is_over(p->audio, now);
}

static void run(Playback *p, int64_t now)
{
    if (p->audio)
        audio_pause(p->audio, p->paused);
    clock_pause(&p->clock, now, p->paused);
}

/* Whether the clock can wait for it. */
static int sound_follows(const Playback *p, int64_t now)
{
    return !playback_is_silent(p, now);
}

void playback_arrived(Playback *p, int64_t now)
{
    const FeedFrame *first = &p->ahead[0]->decoded;
    const int64_t frame = first->position;
    const int64_t asked = p->start.position;
    /* Inside the frame, unless it is another one than was asked for. */
    const int inside = asked != AV_NOPTS_VALUE && !p->start.before && asked >= frame &&
                       asked < frame + first->duration;
    const int64_t position = inside ? asked : frame;
    p->pending = 0;
    p->stopped_at = position;
    if (p->audio && !inside && asked != AV_NOPTS_VALUE)
        audio_skip(p->audio, position);
    clock_set(&p->clock, now, position, sound_follows(p, now));
    run(p, now);
}

int64_t playback_time(Playback *p, int64_t now)
{
    const int64_t heard = playback_heard(p, now);
    if (heard != AV_NOPTS_VALUE)
        clock_follow(&p->clock, now, heard);
    return clock_position(&p->clock, now);
}

int playback_is_late(Playback *p, int64_t lead_us, int64_t now)
{
    (void)playback_time(p, now);
    return clock_until(&p->clock, now, p->ahead[0]->decoded.position) < lead_us;
}

/* A clock that follows no sound is put right where timestamps jump. */
void playback_tell_late(Playback *p, int64_t now)
{
    const int64_t time = playback_time(p, now);
    const int by_sound = playback_heard(p, now) != AV_NOPTS_VALUE;
    equalize_stage_set_late(p->stage, by_sound ? INT64_MIN : time - SYNC_JUMP_US, time - LATE_US);
}

SyncAction playback_decide(Playback *p, int64_t lead_us, int64_t now, int64_t *wait_us,
                           int64_t *due)
{
    const FeedFrame *first = &p->ahead[0]->decoded;
    const SyncFrame frame = {
        .position = first->position,
        .duration = first->duration,
        .next = p->ahead_count > 1 ? p->ahead[1]->decoded.position : SYNC_NO_FRAME,
    };
    (void)playback_time(p, now);
    p->sync.lead_us = lead_us;
    const int by_sound = playback_heard(p, now) != AV_NOPTS_VALUE;
    const SyncAction action = sync_decide(&p->sync, &p->clock, now, by_sound, &frame, wait_us);
    if (action == SYNC_JUMP)
        clock_set(&p->clock, now, frame.position, 0);
    *due = now + clock_until(&p->clock, now, frame.position);
    return action;
}

/* Frames may have been stepped through. */
static void go_on(Playback *p, int64_t shown, int64_t now)
{
    if (p->audio && shown != p->stopped_at)
        audio_skip(p->audio, shown);
    clock_set(&p->clock, now, shown, sound_follows(p, now));
}

void playback_pause(Playback *p, int paused, int64_t shown, int64_t now)
{
    if (paused == p->paused)
        return;
    p->paused = paused;
    if (p->pending)
        return; /* it begins when the frame is there */
    if (paused)
        p->stopped_at = shown;
    else
        go_on(p, shown, now);
    run(p, now);
}

void playback_set_speed(Playback *p, double speed, int64_t now)
{
    p->speed = speed;
    clock_set_speed(&p->clock, now, speed);
    if (p->audio)
        audio_set_speed(p->audio, speed);
}

/* ---- the source ---- */

int playback_can_seek(const Playback *p)
{
    return !p->source->live && source_can_seek(p->source);
}

int64_t playback_duration(const Playback *p)
{
    return p->source ? source_duration(p->source) : 0;
}

void playback_close(Playback *p)
{
    playback_stop(p);
    audio_close(&p->audio);
    video_feed_close(&p->feed);
    demuxer_free(&p->demuxer);
    packet_store_clear(&p->subtitles);
    source_close(&p->source);
}
