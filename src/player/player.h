/*
 * The player: a window that shows a source equalized, with its sound, beside its histogram.
 *
 * It keeps the time, takes the keys and draws. Frames are decoded and equalized by threads of their
 * own. All functions are for one thread, the one that SDL allows windows in.
 */
#ifndef LUMEQ_PLAYER_PLAYER_H
#define LUMEQ_PLAYER_PLAYER_H

#include "media/error.h"
#include "media/input/deinterlacer.h"
#include "media/input/source.h"
#include "pipeline/equalize_stage.h"

/* What keys change of how frames are equalized. */
typedef enum PlayerSetting {
    PLAYER_ON_OFF, /* `step` is ignored, as it is for PLAYER_RESET */
    PLAYER_STRENGTH,
    PLAYER_CLIP,
    PLAYER_SMOOTH,
    PLAYER_RESET,
} PlayerSetting;

/* What is done to frames, and what its caller has to do with it. */
typedef struct PlayerEqualizer {
    void *opaque;
    EqualizeStageOptions stage; /* but for the wake, which is the player's */
    int device;                 /* the CUDA device that equalizes, -1: none */

    /* Changes a setting by `step` of its usual steps, fills in all of them, and says in `text` what
     * it is now. `shown`: of the frame that is seen, or NULL. */
    void (*change)(void *opaque, PlayerSetting setting, int step, const LumeqFrameStats *shown,
                   LumeqParams *params, char *text, size_t size);

    /* What computes, for a person. `lost`: the GPU was. */
    const char *(*where)(void *opaque, int lost);

    /* A frame was shown: once for each, in order. `us` is the time for uploading and drawing it. */
    void (*shown)(void *opaque, const EqualizedFrame *frame, double us);
} PlayerEqualizer;

typedef enum PlayerCompare {
    PLAYER_COMPARE_OFF,
    PLAYER_COMPARE_SPLIT,
    PLAYER_COMPARE_SIDE,
} PlayerCompare;

typedef enum PlayerHistogram {
    PLAYER_HISTOGRAM_OFF,
    PLAYER_HISTOGRAM_PANEL,
    PLAYER_HISTOGRAM_OVERLAY,
} PlayerHistogram;

#define PLAYER_MIN_SPEED 0.25
#define PLAYER_MAX_SPEED 4.0
#define PLAYER_MAX_VOLUME 100

/* What is recorded of a camera, beside the playing. */
typedef struct PlayerRecording {
    int on;                  /* not 0: it records */
    char line[64];           /* how far it is, beside a red light */
    char message[512];       /* what has become of it, once; "" */
    int64_t frames, dropped; /* written, and left out as they could not be written in time */
} PlayerRecording;

typedef struct PlayerOptions {
    int64_t from_us, to_us, frames; /* the part that is played; -1 = its start, its end, all */
    int range;                      /* AVCOL_RANGE_* to override, or AVCOL_RANGE_UNSPECIFIED */
    int threads;                    /* of the decoder; 0 = one for each core */
    int audio_track, sub_track;     /* number of its kind, plus 1; 0 = the best; -1 = none */
    int no_audio, mute, volume;     /* volume: 0..PLAYER_MAX_VOLUME */
    double speed;                   /* PLAYER_MIN_SPEED..PLAYER_MAX_SPEED */
    int loop, fullscreen, mirror;
    PlayerCompare compare;
    PlayerHistogram histogram;
    int log_scale;
    DeinterlaceMode deinterlace;
    int keep_open, keep_dropped; /* not 0: at the end the last picture stays, paused: of this input,
                                    of one that is dropped. What is live is over at its end. */
    const char *screenshot_dir;  /* borrowed; NULL: beside the input */

    /* Begins to open the file that was dropped on the window, and gives up one that is being
     * opened. Or NULL. */
    int (*open)(void *opaque, const char *path, MediaError *error);
    /* Then, once a turn: 0 with the source, AVERROR(EAGAIN): not yet, or why it cannot be opened.
     * Nothing else may change yet: it is not known whether it can be played. */
    int (*opened)(void *opaque, Source **source, MediaError *error);
    /* It can: it is about to take the place of the source before, which is still there. Fills in
     * the settings that it is equalized with. */
    void (*replace)(void *opaque, LumeqParams *params);
    /* Begins to record a camera, or ends it, and says so in `text`; what it does then, once a turn.
     * Or NULL. */
    void (*record)(void *opaque, const Source *source, char *text, size_t size);
    void (*recording)(void *opaque, PlayerRecording *recording);
    /* Is shown each packet of the video as it is read, by the thread that reads. Or NULL. */
    void (*packet)(void *opaque, const AVPacket *packet);
    /* The display is gone, in the middle of any function of the player: has to end the program
     * without calling another one. */
    void (*lost)(void *opaque);
    void *opaque;
    void (*note)(const char *line);   /* takes one line that everybody should see */
    void (*detail)(const char *line); /* ... that only those who ask for details should */
} PlayerOptions;

typedef struct Player Player;

/*
 * Opens the window and starts to play. The source, which `path` names, is the player's on success.
 * `options` and `equalizer` are copied. MEDIA_USAGE (no window to be had, no such track),
 * MEDIA_INPUT; *player is then NULL.
 */
int player_open(Player **player, const PlayerOptions *options, const PlayerEqualizer *equalizer,
                Source *source, const char *path, MediaError *error);

/* One turn of the loop: takes what has happened and shows what is due. Waits for a tenth of a
 * second at most. 0: go on; 1: the player was closed or has come to its end; or MEDIA_INPUT. */
int player_turn(Player *player, MediaError *error);

typedef struct PlayerState {
    int64_t position, duration;   /* of the frame that is shown, of the input; in microseconds */
    int64_t shown, dropped, late; /* frames since the start */
    int64_t lost;                 /* in the camera, by its driver's count: they never came */
    int paused, muted, volume, fullscreen, loop;
    double speed;
    PlayerCompare compare;
    PlayerHistogram histogram;
    int log_scale, statistics, help; /* not 0: to be seen */
    int at_end;                      /* not 0: it came to its end, and the last picture stays */
    int seeking;                     /* not 0: the frame that was asked for is still to come */
    int changing; /* not 0: the frame that is shown is still to come with other settings */
    double split; /* where the line of the comparison is, 0..1 */
    int64_t
        offset; /* of the picture against the sound at the last frame, AV_NOPTS_VALUE: no sound */
    int64_t screenshots; /* written */
    /* Means of the frames that were played. */
    double equalize_ms;    /* all of it, seen from outside */
    double upload_ms;      /* into textures */
    double layers_ms;      /* the panel and text on the CPU, into their textures */
    double draw_ms;        /* the window, without the wait for the screen */
    double latency_frames; /* from the decoder to the screen, in durations of a frame */
    /* Of a camera, from the capture to the screen: the mean, what 95 % do not exceed, the most. */
    double delay_ms, delay_95_ms, delay_most_ms;
    /* From keys that change a setting until that was seen: how many, and as for the delay. */
    int64_t responses;
    double response_ms, response_95_ms, response_most_ms;
    double longest_turn_ms; /* of the loop, without OpenGL's part: uploading, drawing, and the wait
                               for the screen */
    double rate;            /* frames a second, of the last second */
    int gone;               /* not 0: the camera is, and is waited for */
    int damaged;            /* not 0: pictures of the camera come, but cannot be decoded */
    int recording;          /* not 0: it records */
    int mirrored;
    const char *message; /* the last one on the screen; "" at first */
} PlayerState;

PlayerState player_state(const Player *player);

/* What the window shows, as RGBA from the top: the caller frees it with free(). NULL: no memory. */
uint8_t *player_grab(Player *player, int *width, int *height);

/* Not 0: it came to the end of what was to be played, and was not closed before. */
int player_has_ended(const Player *player);

/* What is known to be lost of the input, in one sentence, or 0. Ends the playing. */
int player_damage(Player *player, char *text, size_t size);

void player_close(Player **player);

#endif
