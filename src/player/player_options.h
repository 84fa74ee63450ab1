/* The options of the player, and its interface to the program around it. */
#ifndef LUMEQ_PLAYER_PLAYER_OPTIONS_H
#define LUMEQ_PLAYER_PLAYER_OPTIONS_H

#include "media/error.h"
#include "media/gpu_frame.h"
#include "media/input/code_range.h"
#include "media/input/deinterlacer.h"
#include "media/input/source.h"
#include "panel/panel.h"
#include "pipeline/equalize_stage.h"
#include "player/file_list.h"
#include "player/osd/osd_settings.h"

/* Settings that can change while it plays: the rows of the panel, in its order. */
typedef enum PlayerSetting {
    PLAYER_MODE,
    PLAYER_PROFILE,
    PLAYER_STRENGTH,
    PLAYER_CLIP,
    PLAYER_TILES,
    PLAYER_CHROMA,
    PLAYER_SMOOTH,
    PLAYER_BARS,
    PLAYER_RANGE,
    PLAYER_DENOISE,
    PLAYER_BRIGHTNESS,
    PLAYER_GAMMA,
    PLAYER_METER,
    PLAYER_DEINTERLACE,
    PLAYER_SETTINGS,                 /* so many they are */
    PLAYER_ON_OFF = PLAYER_SETTINGS, /* keys; `step` is ignored */
    PLAYER_RESET,
} PlayerSetting;

/* The step that puts a setting's default back. */
#define PLAYER_STEP_BACK 0

/* All that settings come to. */
typedef struct PlayerSettings {
    LumeqParams params;
    int range; /* as in PlayerOptions, and so are the next two */
    DeinterlaceMode deinterlace;
    CodeRangeMode codes;
} PlayerSettings;

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

/* What is written of a file, beside the playing. */
typedef struct PlayerWriting {
    int on;
    char line[300];     /* how far it is */
    char message[1400]; /* what has become of it, once; "" */
} PlayerWriting;

/*
 * The program around the player: all that the player asks of it. Every member is there. They are
 * called from the player's functions, on their thread, unless said otherwise; they do not call the
 * player, and do not wait. `path` names the file that is played, `source` is that file and borrowed
 * for the call. A `text` is for the window: one sentence for a person.
 */
typedef struct PlayerHost {
    void *opaque; /* the first argument of all */

    /* Adds a dropped file, or the files of a dropped folder, to the list: 0, or -1 without
     * memory. */
    int (*list_files)(void *opaque, const char *path, FileList *files);
    /* Begins to open another file, and gives up one that is being opened. */
    int (*start_opening)(void *opaque, const char *path, MediaError *error);
    /* Then, once a turn: 0 with the source, AVERROR(EAGAIN): not yet, or why it cannot be opened.
     * Nothing else may change yet: it is not known whether it can be played. */
    int (*take_opened)(void *opaque, Source **source, MediaError *error);
    /* It can: it is about to take the place of the source before, which is still there. Answers 0
     * with the settings that it is equalized with, or AVERROR(EAGAIN): the one before is still
     * needed, and this one is offered again in the next turn. */
    int (*replace)(void *opaque, LumeqParams *params);
    /* Opens a file that is played once more, for pictures of it. Any thread; may wait. */
    int (*open_again)(void *opaque, const char *path, Source **source, MediaError *error);
    /* The position at which a file was left the last time, or -1; and the one of this time,
     * `ended`: its end. */
    int64_t (*where_left)(void *opaque, const char *path, const Source *source);
    void (*note_left)(void *opaque, const char *path, const Source *source, int64_t position,
                      int ended);

    /* Changes a setting by `step` of its usual steps, or PLAYER_STEP_BACK, fills in all of them,
     * and says in `text` what it is now. `shown`: of the frame that is seen, or NULL. */
    void (*change_setting)(void *opaque, PlayerSetting setting, int step,
                           const LumeqFrameStats *shown, PlayerSettings *settings, char *text,
                           size_t size);
    /* Fills in the panel's rows, one for each setting. */
    void (*list_settings)(void *opaque, OsdSettings *rows);
    /* From now on this part of the picture counts, in its samples; without a width: all of it. */
    void (*meter)(void *opaque, LumeqRect part, LumeqParams *params, char *text, size_t size);
    /* The device that equalizes (`lost`: the GPU was), and the decision about a frame. */
    const char *(*engine)(void *opaque, int lost);
    void (*decided)(void *opaque, const EqualizedFrame *frame, char *text, size_t size);
    /* A frame was shown: once for each, in order. `us` is the time for uploading and drawing it. */
    void (*shown)(void *opaque, const EqualizedFrame *frame, double us);

    /* Begins to record a camera, or ends it, and says so. */
    void (*record)(void *opaque, const Source *source, char *text, size_t size);
    /* Takes each packet of the video as it is read, on the thread that reads. */
    void (*packet)(void *opaque, const AVPacket *packet);
    /* Begins to write the file, as it looks, into another one, or says why not, else "". */
    void (*write)(void *opaque, const char *path, const Source *source, char *text, size_t size);
    /* Prints the command that does the same, and answers it, to be freed with free(); NULL: `text`
     * says why not. */
    char *(*print_command)(void *opaque, const char *path, const Source *source, char *text,
                           size_t size);
    /* The display is gone, in the middle of any function of the player: has to end the program
     * without calling another one. */
    void (*lost)(void *opaque);

    /* Any thread. One line that everybody should see; one for those who ask for details. */
    void (*note)(const char *line);
    void (*detail)(const char *line);
} PlayerHost;

typedef struct PlayerOptions {
    int64_t from_us, to_us, frames; /* the part that is played; -1 = its start, its end, all */
    int range;                      /* AVCOL_RANGE_* to override, or AVCOL_RANGE_UNSPECIFIED */
    int threads;                    /* of the decoder; 0 = one for each core */
    int audio_track, sub_track;     /* number of its kind, plus 1; 0 = the best; -1 = none */
    int no_audio, mute, volume;     /* volume: 0..PLAYER_MAX_VOLUME */
    double speed;                   /* PLAYER_MIN_SPEED..PLAYER_MAX_SPEED */
    int loop, fullscreen, mirror;
    double osd_scale; /* of text and the bar, on top of what suits the window */
    PlayerCompare compare;
    PlayerHistogram histogram;
    PanelScope scope; /* what is shown there */
    int log_scale;
    DeinterlaceMode deinterlace;
    CodeRangeMode codes;         /* whether deep gray video is stretched */
    int keep_open, keep_dropped; /* not 0: at the end the last picture stays, paused: of this input,
                                    of one that is dropped. What is live is over at its end. */
    const char *screenshot_dir;  /* borrowed; NULL: beside the input */
    int width, height;           /* that a new window fits into, in its units; 0: the desktop */

    FileList *files; /* what is played one after the other, `at` the source's: emptied on taking,
                        unless that fails; NULL: the source alone */
    const char *greeting; /* the first message; or NULL */

    EqualizeStageOptions stage; /* but for the wake, which is the player's */
    GpuBudget gpu_budget;       /* of the memory of the GPU that decodes */
    int device;                 /* the CUDA device that equalizes, -1: none */

    PlayerHost host;
} PlayerOptions;

#endif
