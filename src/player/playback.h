/* What is played of one source: its threads, its frames in order, and the time. */
#ifndef LUMEQ_PLAYER_PLAYBACK_H
#define LUMEQ_PLAYER_PLAYBACK_H

#include "media/subtitles/packet_store.h"
#include "player/clock.h"
#include "player/sound/audio.h"
#include "run/equalize_stage.h"

typedef struct PlaybackOptions {
    VideoFeedOptions video;
    int audio_track, sub_track; /* as in PlayerOptions */
    int no_audio;
    int sound_later; /* not 0: the sound device is left alone until playback_equalize() */
    double speed;
    void (*packet)(void *opaque, const AVPacket *packet); /* as in PlayerOptions */
    void *opaque;
} PlaybackOptions;

typedef struct Playback Playback;

/* What there is to see of it, between two calls: all of it is the loop's. */
typedef struct PlaybackState {
    Source *source;
    const AVStream *sound;    /* the track that is played, or will be, or NULL */
    const AVStream *subtitle; /* the track that is shown, or NULL */
    FeedStart start;          /* what was asked for last */
    int pending;              /* its frame has not been shown yet */
    int attached;             /* the stage takes its frames: no work is under way that starts */
    int ahead;                /* frames that were fetched */
    int ended;                /* none follows those */
    int paused;
    double speed;
} PlaybackState;

/* What waits in it. */
typedef struct PlaybackCounts {
    int decoded, room; /* frames, of so many that may wait */
    int video, sound;  /* packets */
    int has_sound;     /* it is played */
    int64_t ran_dry;   /* times that there was none to play */
} PlaybackCounts;

/* Times are microseconds: positions from the start of the source, `now` of the system. */

/* Begins to open all and to start at `start`. The source is the playback's; NULL: no memory. */
Playback *playback_open(Source *source, const PlaybackOptions *options, const FeedStart *start);

/* Follows what happens; valid until playback_close(). */
const PlaybackState *playback_state(const Playback *p);

/* Once it has been opened. */
PlaybackCounts playback_counts(const Playback *p);

/* Once a turn: what has come of the work. 0: it is done; AVERROR(EAGAIN): it is under way. That it
 * failed: MEDIA_USAGE (no such track), MEDIA_INPUT. */
int playback_follow(Playback *p, MediaError *error);

/* Waits until it is done. */
int playback_wait(Playback *p, MediaError *error);

/* Once it has been opened: the stage takes its frames from now on. Where the sound was left for
 * later, its device is opened before: some can be opened only once. */
void playback_equalize(Playback *p, EqualizeStage *stage);

/* Begins to close another one, and its sound device before this one's is opened. Where its input
 * cannot be read, this one's next start waits for that, too. */
void playback_finish(Playback *p, Playback **other);

/* Goes elsewhere: what is ahead is dropped at once, and what is there comes once the threads have
 * begun anew. Further calls until then replace each other. It stays paused if it was. */
void playback_start(Playback *p, const FeedStart *start);

/* Not yet equalized: whether the first frame is there: 0, AVERROR(EAGAIN), AVERROR_EOF or
 * MEDIA_INPUT. */
int playback_look(Playback *p, MediaError *error);

/* Fetches frames up to `count`, at most two, as far as they are there. 0 or MEDIA_INPUT. */
int playback_fetch(Playback *p, int count, MediaError *error);

/* Fetches the newest frame there is; older ones count as dropped. 0 or MEDIA_INPUT. */
int playback_fetch_newest(Playback *p, MediaError *error);

/* The first frame ahead, which there has to be. */
const EqualizedFrame *playback_next(const Playback *p);

/* Takes it: it is the caller's then. */
EqualizedFrame *playback_take(Playback *p);

/* Takes the frame that is shown, with other settings. NULL: none has come. */
EqualizedFrame *playback_take_anew(Playback *p);

/* Other settings: frames ahead come anew, and the one that is shown does. */
void playback_forget_ahead(Playback *p);

/* Once a turn while it plays: frames that are too late by now need not be equalized. */
void playback_tell_late(Playback *p, int64_t now);

/* Frames that were not shown, as they would have been too late. */
int64_t playback_dropped(const Playback *p);

/* Frames that were shown late. */
int64_t playback_late(const Playback *p);

/* The frame that was asked for, the first one ahead, is to be shown now: the time runs from it. */
void playback_arrived(Playback *p, int64_t now);

/* Not 0: that is so late that the frame after it should be looked at. */
int playback_is_late(Playback *p, int64_t lead_us, int64_t now);

/* What to do with the first frame ahead; see sync_decide(). *due is when it is to be seen. */
SyncAction playback_decide(Playback *p, int64_t lead_us, int64_t now, int64_t *wait_us,
                           int64_t *due);

/* The position that should be seen now. */
int64_t playback_time(Playback *p, int64_t now);

/* What is heard now, or AV_NOPTS_VALUE. */
int64_t playback_heard(const Playback *p, int64_t now);

/* Not 0: no sound is left to be heard. */
int playback_is_silent(const Playback *p, int64_t now);

/* Not 0: a live source has ended, and what is on its way of its sound has been heard. */
int playback_has_played_out(Playback *p, int64_t now);

/* Not 0: only a part of the input was asked for. */
int playback_is_part(const Playback *p);

/* Not 0: the decoder leaves out what it can. */
void playback_hurry(Playback *p, int hurry);

/* For frames from its next start on. */
void playback_deinterlace(Playback *p, DeinterlaceMode mode);
void playback_set_range(Playback *p, int range);
void playback_set_codes(Playback *p, CodeRangeMode mode);

/* `shown`: the position of the frame on the screen, where sound goes on. */
void playback_pause(Playback *p, int paused, int64_t shown, int64_t now);

void playback_set_speed(Playback *p, double speed, int64_t now);

void playback_set_volume(Playback *p, int volume, int muted);

/* Another track of sound, NULL: none, at the frame of this position. */
void playback_select_audio(Playback *p, const AVStream *stream, int64_t position);

/* Another track of subtitles, NULL: none. */
void playback_select_subtitles(Playback *p, const AVStream *stream);

/* Packets of all tracks of subtitles so far. */
const PacketStore *playback_subtitles(const Playback *p);

/* The next one, which is kept there, too; it is attached. Negative: there is none now. */
int playback_read_subtitle(Playback *p, AVPacket *packet);

/* 1, once: why there is no sound. */
int playback_take_trouble(Playback *p, char *text, size_t size);

/* Waits until all threads have ended, which nothing starts again. 1: the input is known to be
 * damaged, and `text` says how. `to_end`: it was played to there, not only to the end of a part. */
int playback_damage(Playback *p, int to_end, char *text, size_t size);

/* 0 where it has none to seek in: a pipe. */
int playback_can_seek(const Playback *p);

/* The length of the input, 0 where it is not known. */
int64_t playback_duration(const Playback *p);

/* Stops it, too, and waits for all that it is to close. NULL is allowed inside. */
void playback_close(Playback **playback);

/* The same, but the source is the caller's again. */
void playback_give_back(Playback **playback);

#endif
