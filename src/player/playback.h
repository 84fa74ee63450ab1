/* What is played of one source: its threads, its frames in order, and the time. */
#ifndef LUMEQ_PLAYER_PLAYBACK_H
#define LUMEQ_PLAYER_PLAYBACK_H

#include <pthread.h>
#include <stdatomic.h>

#include "media/subtitles/packet_store.h"
#include "pipeline/equalize_stage.h"
#include "player/sound/audio.h"
#include "player/sync.h"

/* Frames that were received: the next one, and where that is late, the one after it, which tells
 * whether it is too late. */
#define PLAYBACK_AHEAD 2

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

/* What is done beside the loop, since it has to wait: for threads to end, and with them for the
 * input that they read, or for the sound device. */
typedef struct PlaybackWork {
    pthread_t thread;
    int running;
    atomic_int done;      /* all below is the loop's again */
    atomic_int overtaken; /* another start is wanted already */
    int starts;           /* not 0: all threads begin anew, at `start` */
    int sounds;           /* not 0: that of the sound begins */
    FeedStart start;
    const AVStream *asked, *sound; /* the track that was wanted, that is played; NULL: none */
    double speed;
    Audio *audio;       /* of the playback, opened where there is none yet */
    char trouble[320];  /* see Playback */
    Playback *finished; /* others that are closed first: only one may have the sound device */
    MediaError error;
} PlaybackWork;

/* Times are microseconds: positions from the start of the source, `now` of the system. The source,
 * the demuxer and the feed are started and stopped by the work alone. */
struct Playback {
    PlaybackOptions options;
    Source *source; /* owned */
    Demuxer *demuxer;
    VideoFeed *feed;
    EqualizeStage *stage;     /* that takes its frames, the caller's; NULL: nobody does yet */
    int attached;             /* it does: no work is under way, or wanted, that starts */
    Audio *audio;             /* NULL: no sound */
    const AVStream *sound;    /* the track that is played, or will be, or NULL */
    char trouble[320];        /* why there is no sound, until it was said; else "" */
    const AVStream *subtitle; /* the track that is shown, or NULL */
    PacketStore subtitles;    /* packets of all of them so far */

    PlaybackWork work;
    int wants_start, wants_sound; /* work that is to begin once the work under way is done */
    Playback *finished, *next_finished;

    EqualizedFrame *ahead[PLAYBACK_AHEAD];
    int ahead_count;
    EqualizedFrame *anew; /* the frame that is shown, with other settings; NULL: none has come */
    int ended;            /* none follows those ahead */
    int64_t ended_at;     /* of a live source: when that was seen first, not paused; 0: not yet */
    int64_t skipped;      /* frames that the decoder left out in a hurry */

    FeedStart start; /* what was asked for last */
    int pending;     /* its frame has not been shown yet */
    Clock clock;
    Sync sync;
    int paused;
    int64_t stopped_at; /* the position of the frame that it was paused on */
    double speed;
    int volume, muted; /* as in audio.h */
};

/* Begins to open all and to start at `start`. The source is the playback's; NULL: no memory. */
Playback *playback_open(Source *source, const PlaybackOptions *options, const FeedStart *start);

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

/* Fills `ahead` up to `count` as far as frames are there. 0 or MEDIA_INPUT. */
int playback_fetch(Playback *p, int count, MediaError *error);

/* Fills `ahead` with the newest frame there is; older ones count as dropped. 0 or MEDIA_INPUT. */
int playback_fetch_newest(Playback *p, MediaError *error);

/* Takes the first frame ahead, which is the caller's then. */
EqualizedFrame *playback_take(Playback *p);

/* Other settings: frames ahead come anew, and the one that is shown does. */
void playback_forget_ahead(Playback *p);

/* Once a turn while it plays: frames that are too late by now need not be equalized. */
void playback_tell_late(Playback *p, int64_t now);

/* Frames that were not shown, as they would have been too late. */
int64_t playback_dropped(const Playback *p);

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

/* `shown`: the position of the frame on the screen, where sound goes on. */
void playback_pause(Playback *p, int paused, int64_t shown, int64_t now);

void playback_set_speed(Playback *p, double speed, int64_t now);

void playback_set_volume(Playback *p, int volume, int muted);

/* Another track of sound, NULL: none, at the frame of this position. */
void playback_select_audio(Playback *p, const AVStream *stream, int64_t position);

/* Waits until all threads have ended; nothing starts them again. */
void playback_stop(Playback *p);

/* 0 where it has none to seek in: a pipe. */
int playback_can_seek(const Playback *p);

/* The length of the input, 0 where it is not known. */
int64_t playback_duration(const Playback *p);

/* Stops it, too, and waits for all that it is to close. NULL is allowed inside. */
void playback_close(Playback **playback);

#endif
