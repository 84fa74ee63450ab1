/* The player's options and its interface to the program (PlayerHost). */
#ifndef LUMEQ_PLAYER_PLAYER_OPTIONS_H
#define LUMEQ_PLAYER_PLAYER_OPTIONS_H

#include "media/error.h"
#include "media/gpu_frame.h"
#include "media/input/code_range.h"
#include "media/input/deinterlacer.h"
#include "media/input/source.h"
#include "panel/panel.h"
#include "panel/panel_place.h"
#include "player/file_list.h"
#include "player/osd/osd_parts.h"
#include "player/view/view.h"
#include "run/equalize_stage.h"

/* Live settings, in the order of the settings panel. */
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
    PLAYER_SETTINGS,                 /* number of rows */
    PLAYER_ON_OFF = PLAYER_SETTINGS, /* a key, not a row; ignores `step` */
    PLAYER_RESET,                    /* a key, not a row; restores all defaults */
} PlayerSetting;

/* The `step` that restores a setting's default. */
#define PLAYER_STEP_BACK 0

typedef struct PlayerSettings {
    LumeqParams params;
    int range; /* see PlayerOptions, also for the next two */
    DeinterlaceMode deinterlace;
    CodeRangeMode codes;
} PlayerSettings;

#define PLAYER_MIN_SPEED 0.25
#define PLAYER_MAX_SPEED 4.0
#define PLAYER_MAX_VOLUME 100

/* State of a camera recording. */
typedef struct PlayerRecording {
    int on;                  /* nonzero: recording */
    char line[64];           /* progress, shown beside the red light */
    double level;            /* sound level, 0 to 1; negative: no sound is recorded */
    char message[512];       /* result, shown once; "": none */
    int64_t frames, dropped; /* frames written, frames dropped because they were late */
} PlayerRecording;

/* State of an export. */
typedef struct PlayerWriting {
    int on;
    char line[300];     /* progress */
    char message[1400]; /* result, shown once; "": none */
} PlayerWriting;

/* The player's requests to the program. All members must be set. Functions are called on the
 * player's thread unless stated otherwise. They must not block or call the player. `path` and
 * `source` are borrowed for the call. `text` receives one sentence for the window. */
typedef struct PlayerHost {
    void *opaque; /* first argument of all functions */

    /* Adds a dropped file, or all files of a dropped folder, to the list. Returns 0, or -1 if out
     * of memory. */
    int (*list_files)(void *opaque, const char *path, FileList *files);
    /* Begins to open a file. Cancels an opening in progress. */
    int (*start_opening)(void *opaque, const char *path, MediaError *error);
    /* Called in each turn after start_opening(). Returns 0 with the source, which the player then
     * owns; AVERROR(EAGAIN) while the file is being opened; or another error. The program must not
     * change its own state yet, because the file may be unplayable. */
    int (*take_opened)(void *opaque, Source **source, MediaError *error);
    /* Called when the new file can replace the current one. Returns 0 with the new file's settings,
     * or AVERROR(EAGAIN) while the program still needs the current file. */
    int (*replace)(void *opaque, LumeqParams *params);
    /* where_left() returns the position that note_left() stored for the file, or -1. `ended`: the
     * file was played to its end. */
    int64_t (*where_left)(void *opaque, const char *path, const Source *source);
    void (*note_left)(void *opaque, const char *path, const Source *source, int64_t position,
                      int ended);

    /* Changes a setting by `step` steps (or PLAYER_STEP_BACK), fills in all settings, and describes
     * the new value in `text`. `shown`: statistics of the current frame, or NULL. */
    void (*change_setting)(void *opaque, PlayerSetting setting, int step,
                           const LumeqFrameStats *shown, PlayerSettings *settings, char *text,
                           size_t size);
    /* Fills in the rows of the settings panel. */
    void (*list_settings)(void *opaque, OsdSettings *rows);
    /* Sets the rectangle to meter, in stored samples (width 0: the whole picture), and fills in the
     * new parameters. */
    void (*meter)(void *opaque, LumeqRect part, LumeqParams *params, char *text, size_t size);
    /* engine() names the device that equalizes (`lost`: the GPU was lost). decided() describes the
     * equalizer's decision about a frame. */
    const char *(*engine)(void *opaque, int lost);
    void (*decided)(void *opaque, const Frame *frame, char *text, size_t size);
    /* Called once per shown frame, in order. `us`: time that its upload and drawing took. */
    void (*shown)(void *opaque, const Frame *frame, double us);

    /* Starts or stops recording a camera. */
    void (*record)(void *opaque, const Source *source, char *text, size_t size);
    /* Called on the reading thread for each video packet of the first source. */
    void (*packet)(void *opaque, const AVPacket *packet);
    /* Starts exporting `path` with the current settings. `text`: why it cannot start, or "". */
    void (*write)(void *opaque, const char *path, const Source *source, char *text, size_t size);
    /* Prints and returns the command that exports `path` with the current settings; free it with
     * free(). On failure, returns NULL and stores the reason in `text`. */
    char *(*print_command)(void *opaque, const char *path, const Source *source, char *text,
                           size_t size);
    /* Called if the display is lost, on any thread, even during a player function. Must end the
     * program without calling the player. */
    void (*lost)(void *opaque);

    /* note() prints a line, detail() only with -v. Thread-safe. */
    void (*note)(const char *line);
    void (*detail)(const char *line);
} PlayerHost;

typedef struct PlayerOptions {
    int64_t from_us, to_us, frames; /* the part to play; -1: from the start, to the end, all */
    int range;                      /* AVCOL_RANGE_* override; UNSPECIFIED: the video's own range */
    int threads;                    /* decoder threads; 0: one per core */
    int audio_track, sub_track;     /* 1 + index among tracks of its kind; 0: best; -1: none */
    const char *sub_file;           /* subtitle file of the first input; borrowed, or NULL */
    int no_audio, mute, volume;     /* volume: 0..PLAYER_MAX_VOLUME */
    double speed;                   /* PLAYER_MIN_SPEED..PLAYER_MAX_SPEED */
    int loop, fullscreen, mirror;
    double osd_scale; /* the user's factor for the automatic size of text and the bar */
    ViewCompare compare;
    PanelMode histogram, fullscreen_histogram; /* in the window, and in fullscreen */
    PanelScope scope;                          /* initial scope */
    int log_scale;
    DeinterlaceMode deinterlace;
    CodeRangeMode codes;         /* whether gray video of more than 8 bits is stretched */
    int keep_open, keep_dropped; /* nonzero: pause on the last picture instead of ending, for
                                    this input or for dropped files; not for live video */
    const char *screenshot_dir;  /* borrowed; NULL: beside the input */
    int width, height; /* maximum size of a new window, in window units; 0: the desktop's */

    FileList *files; /* the playlist, or NULL; its `at` is the source's entry. player_open() takes
                        the content and leaves an empty list, unless it fails. */
    const char *greeting;      /* first message, or NULL */
    struct StartWindow *start; /* the player takes over its screen; borrowed, or NULL */

    EqualizeStageOptions stage; /* the player sets its `wake` */
    AVBufferRef *gpu;           /* the GPU that decodes, or NULL */
    GpuBudget gpu_budget;       /* memory that decoding may use on `gpu` */
    int device;                 /* number of the CUDA device that equalizes; -1: none */

    PlayerHost host;
} PlayerOptions;

#endif
