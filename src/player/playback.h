/* Plays one source: runs its threads, delivers its frames in order, and keeps the clock. */
#ifndef LUMEQ_PLAYER_PLAYBACK_H
#define LUMEQ_PLAYER_PLAYBACK_H

#include "media/subtitles/subtitle_file.h"
#include "player/clock.h"
#include "player/sound/audio.h"
#include "run/equalize_stage.h"

typedef struct PlaybackOptions {
    InputOptions video;
    int audio_track, sub_track; /* as in PlayerOptions */
    const char *path;           /* the video, to find subtitle files beside it; or NULL; copied */
    const char *sub_file;       /* subtitle file to open first, or NULL; not copied */
    int no_audio;
    int sound_later; /* nonzero: opens no sound device before playback_equalize() */
    double speed;
    void (*packet)(void *opaque, const AVPacket *packet); /* see PlayerHost */
    void *opaque;
} PlaybackOptions;

typedef struct Playback Playback;

/* Maximum number of subtitle files of one video. */
#define PLAYBACK_FILES 32

/* State for the player's loop. Once `input` is open, only calls by the loop change the state. */
typedef struct PlaybackState {
    Source *source;
    Input *input;             /* NULL until it is open */
    const AVStream *sound;    /* the audio track, or NULL */
    const AVStream *subtitle; /* the subtitle track, or NULL */
    const SubtitleFile *file; /* the file with the subtitle track; NULL: the source */
    const SubtitleFile *files[PLAYBACK_FILES];
    int file_count;
    InputStart start; /* the last requested start */
    int pending;      /* true until the frame at `start` is shown */
    int attached;     /* the stage takes frames; false while a start is in progress */
    int ahead;        /* number of fetched frames */
    int ended;        /* no frames follow the fetched ones */
    int paused;
    double speed;
} PlaybackState;

/* Times are in microseconds. Positions count from the source's start. `now` is clock_now(). */

/* Creates a playback. playback_poll() then opens everything and plays from `start`. Takes ownership
 * of the source. NULL: out of memory; the caller keeps the source. */
Playback *playback_open(Source *source, const PlaybackOptions *options, const InputStart *start);

/* Always current; valid until playback_close(). */
const PlaybackState *playback_state(const Playback *p);

/* Number of sound underruns; -1: no sound. */
int64_t playback_underruns(const Playback *p);

/* Call once in each turn of the loop: lets a worker thread open and start everything. Returns 0 if
 * all is done, AVERROR(EAGAIN) until then, MEDIA_USAGE (no such track) or MEDIA_INPUT. */
int playback_poll(Playback *p, MediaError *error);

/* Repeats playback_poll() until all work is done. Returns 0 or an error. */
int playback_wait(Playback *p, MediaError *error);

/* Lets the stage equalize the frames, once the input is open. */
void playback_equalize(Playback *p, EqualizeStage *stage);

/* Takes ownership of *other. The worker thread closes *other before `p` opens a sound device,
 * because some devices can be opened only once. */
void playback_close_later(Playback *p, Playback **other);

/* Seeks: drops the fetched frames at once, then restarts all threads at `start`. A second call
 * before the restart replaces `start`. A paused playback stays paused. */
void playback_start(Playback *p, const InputStart *start);

/* Fetches frames from the stage until there are `count` (1 or 2) or no more are ready. Returns 0 or
 * an error of equalize_stage_receive(). */
int playback_fetch(Playback *p, int count, MediaError *error);

/* Like playback_fetch(), but keeps only the newest frame. Older frames count as dropped. */
int playback_fetch_newest(Playback *p, MediaError *error);

/* The first fetched frame; there must be one. */
const Frame *playback_next(const Playback *p);

/* Takes the first fetched frame. The caller owns the frame. */
Frame *playback_take(Playback *p);
/* Takes the shown frame after it was equalized again; NULL: not ready. */
Frame *playback_take_redone(Playback *p);

/* Drops the fetched frames. Then call equalize_stage_set() or _redo() to get them again. */
void playback_drop_ahead(Playback *p);

/* Call once in each turn unless paused, so that the stage drops frames that are too late. */
void playback_update_late(Playback *p, int64_t now);

/* Number of frames dropped because they were late, and number of frames shown late. */
int64_t playback_dropped(const Playback *p);
int64_t playback_late(const Playback *p);

/* Call before taking the frame at PlaybackState.start. Starts the clock unless paused. */
void playback_arrived(Playback *p, int64_t now);

/* Updates the clock. True if the first fetched frame is due in less than `lead_us`. */
bool playback_check_late(Playback *p, int64_t lead_us, int64_t now);

/* Decides about the first fetched frame; see sync_decide(). *due: when to show the frame. */
SyncAction playback_decide(Playback *p, int64_t lead_us, int64_t now, int64_t *wait_us,
                           int64_t *due);

/* Updates the clock and returns the position that should be seen now. */
int64_t playback_time(Playback *p, int64_t now);

/* The position of the picture that belongs to the audible sound; AV_NOPTS_VALUE: no sound. */
int64_t playback_heard(const Playback *p, int64_t now);

/* True if no sound is left to play. */
bool playback_is_silent(const Playback *p, int64_t now);

/* Call in each turn. True if a live source has ended and its sound, up to 0.5 s, was played. */
bool playback_update_end(Playback *p, int64_t now);

/* Pauses or resumes. `shown`: the position of the frame on the screen, where playback resumes. */
void playback_pause(Playback *p, int paused, int64_t shown, int64_t now);

void playback_set_speed(Playback *p, double speed, int64_t now);
void playback_set_volume(Playback *p, int volume, int muted);

/* Plays sound this much later than its picture; negative: earlier. */
void playback_set_sound_delay(Playback *p, int64_t delay);

/* Chooses an audio track (NULL: none) and restarts at `position`. */
void playback_select_audio(Playback *p, const AVStream *stream, int64_t position);

/* Choose a subtitle track of the source (NULL: none) or a file of PlaybackState.files. */
void playback_select_subtitles(Playback *p, const AVStream *stream);
void playback_select_file(Playback *p, const SubtitleFile *file);

/* playback_add_file() lets the worker thread open a subtitle file and add it to
 * PlaybackState.files. playback_take_file() then returns the file once; otherwise NULL. */
void playback_add_file(Playback *p, const char *path);
const SubtitleFile *playback_take_file(Playback *p);

/* The stored subtitle packets: all packets of the chosen file or, without a file, the packets read
 * so far from all subtitle tracks of the source. */
const PacketStore *playback_subtitles(const Playback *p);

/* Reads and stores the next subtitle packet of the source. The playback must be attached. Returns a
 * negative value if no packet is available now. */
int playback_read_subtitle(Playback *p, AVPacket *packet);

/* Returns 1 if sound or subtitles have failed since the last call; `text` says why. */
int playback_take_trouble(Playback *p, char *text, size_t size);

/* Ends all threads for good and waits for them. Returns 1 if the input is damaged; `text` says how.
 * `to_end`: playback reached the input's end. `lost`: number of frames lost after decoding. */
int playback_damage(Playback *p, int to_end, int64_t lost, char *text, size_t size);

/* False for live sources and for pipes. */
bool playback_can_seek(const Playback *p);

/* The length of the input, or 0 if unknown. */
int64_t playback_duration(const Playback *p);

/* Stop the playback and wait until everything is closed. *playback may be NULL.
 * playback_give_back() leaves the source to the caller. */
void playback_close(Playback **playback);
void playback_give_back(Playback **playback);

#endif
