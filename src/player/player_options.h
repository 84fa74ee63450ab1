/* What the player is told by its caller, and whom it asks. */
#ifndef LUMEQ_PLAYER_PLAYER_OPTIONS_H
#define LUMEQ_PLAYER_PLAYER_OPTIONS_H

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
    PLAYER_BRIGHTNESS,
    PLAYER_GAMMA,
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

    /* What was decided about a frame, for a person. */
    void (*decided)(void *opaque, const EqualizedFrame *frame, char *text, size_t size);

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
    /* It can: it is about to take the place of the source before, which is still there. Answers 0
     * with the settings that it is equalized with, or AVERROR(EAGAIN): the one before is still
     * needed, and this one to be held out once more in the next turn. */
    int (*replace)(void *opaque, LumeqParams *params);
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

#endif
