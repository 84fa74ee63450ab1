/* What the files of the player share: its state, and what each of them does with it. */
#ifndef LUMEQ_PLAYER_PLAYER_STATE_H
#define LUMEQ_PLAYER_PLAYER_STATE_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include "panel/panel.h"
#include "player/controls.h"
#include "player/delay.h"
#include "player/osd/osd.h"
#include "player/playback.h"
#include "player/player_options.h"
#include "player/screenshot.h"
#include "player/subtitles/subtitles.h"
#include "player/view/view.h"
#include "player/view/view_cuda.h"
#include "player/window.h"

/* The frame in the window's textures. */
typedef struct Shown {
    EqualizedFrame *frame;              /* NULL: none yet */
    int64_t position, duration;         /* the frame's; they outlive it */
    double view_us, layers_us, draw_us; /* spent on uploading it, on the panel and text, on drawing
                                           the window */
    int missing;                        /* it could not be brought there, and comes anew */
    int drawn;                          /* it has been on the screen */
    int64_t due;                        /* when it is to be drawn, in system time */
} Shown;

/* A frame is drawn this much before it is due: the swap waits for the screen's refresh. */
#define DRAW_LEAD_US 1000

/* The words of the statistics, which their rows point into. */
#define STATUS_ROWS 18
typedef struct StatusText {
    char values[STATUS_ROWS][160];
} StatusText;

/* Of what takes time, the mean of the last frames, in microseconds. */
typedef struct Timings {
    double decode, upload, equalize, download; /* in the equalizer's stages */
    double fill;                               /* uploading for drawing */
    double view;                               /* uploading for drawing, and drawing */
    double layers;                             /* the panel and text */
    double latency;                            /* from the decoder to the screen */
} Timings;

/* Text is loaded beside the loop: looking for fonts takes long. */
typedef struct TextLoader {
    pthread_t thread;
    int running;
    atomic_int done;
    Text *text; /* once it is done, NULL where there is no font */
} TextLoader;

/* Of all frames that were played: see PlayerState. */
typedef struct Totals {
    int64_t count;
    double run, upload, layers, draw, latency;
} Totals;

/* Whether what a camera sends can be decoded. {0} is at the start. */
typedef struct CameraPictures {
    int64_t since;   /* when the last one came, or it was first looked for */
    int64_t packets; /* of the camera, up to then */
    int damaged;     /* they cannot, and it was said */
} CameraPictures;

/* What was measured of the frames that are shown: written by showing.c and screen.c. */
typedef struct Measured {
    Timings timings;
    Totals totals;
    int64_t rate_since, rate_count; /* for the frame rate that is reached */
    double rate;
    Delay delay;      /* of a live picture, how old frames were when they were seen */
    Delay response;   /* from a key that changes a setting until that was seen */
    int64_t asked_at; /* by the first such key that was not answered; 0: all were */
    int64_t drawing;  /* of this turn, in OpenGL: uploading, drawing, and the swap */
    int64_t longest;  /* turn without these, of all */
    int64_t offset;   /* of picture and sound */
} Measured;

/* How the user wants it to be played: written by commands.c; showing.c counts the steps. */
typedef struct Wanted {
    int loop, muted, volume;
    DeinterlaceMode deinterlace;
    int steps;      /* frames to go on by while paused */
    int steps_back; /* frames to go back by when the one that was asked for is there */
} Wanted;

/* How the user wants it to look: written by commands.c, followed by screen.c. */
typedef struct Look {
    PlayerCompare compare;
    PlayerHistogram histogram;
    int log_scale, statistics, help, mirrored, subtitles_on;
    double split;
} Look;

/* The layers above the picture, which screen.c draws, and what is seen of them. */
typedef struct Layers {
    TextLoader loader;
    Text *text; /* NULL: not there yet, or no font */
    Osd *osd;
    Subtitles *subtitles;
    PanelCache *panel;
    int trouble_said; /* what is wrong with the subtitles */
    int64_t panel_at; /* when its numbers are to be drawn anew, 0: they are not */
    int subtitles_shown, help_shown;
    double opacity[OSD_PARTS];
    StatusText status;
    int64_t statistics_at; /* when they are to be written anew */
} Layers;

/* A file that is to take the place of the one that is played. */
typedef struct Dropped {
    char path[PATH_MAX]; /* "": there is none */
    Playback *playback;  /* once it was opened, until its first frame is there; or NULL */
    int64_t since;       /* that is waited for */
} Dropped;

/* What is known of a camera and its recording: live.c's. */
typedef struct Live {
    int gone; /* the camera is, and it was said */
    CameraPictures pictures;
    char notice[256]; /* about the camera; "": none */
    PlayerRecording recording;
} Live;

typedef struct Player Player;
struct Player {
    PlayerOptions options;
    PlayerEqualizer equalizer;
    char path[PATH_MAX];
    char renderer[256];
    Window *window;
    View *view;
    ViewCuda *cuda; /* NULL: planes go through host memory */
    Screenshot *screenshot;
    EqualizeStage *stage;
    Playback *playback;
    Dropped dropped;
    Shown shown;
    int64_t count; /* frames that were shown */
    int over;      /* it is to be closed */
    int ended;     /* it came to its end by itself, and is over or kept open there */
    int dirty;     /* something on the screen is to change */

    Controls controls; /* what the user asks for */
    int cursor_shown;
    Wanted wanted;
    Look look;
    Layers layers;
    Live live;
    Measured measured;

    int64_t screenshots;
    char message[512];
    uint32_t wake_event;
};

/* Microseconds of the system's clock. */
int64_t player_now(void);

/* player.c */
/* Begins to play a source beside the one that is played, unseen and unheard. The source is the
 * player's on success. MEDIA_INPUT. */
int player_try(Player *p, Source *source, MediaError *error);
/* Once a turn: 0: it has taken the other's place; AVERROR(EAGAIN): its first frame is not there
 * yet, or the other one still needed; MEDIA_INPUT: nothing of it can be decoded, and it is closed.
 */
int player_take_next(Player *p, MediaError *error);
void player_drop_next(Player *p);
void player_drop_shown(Player *p);

/* showing.c: which frame is shown when. `wait` is lowered to when there is something to do. */
int showing_run(Player *p, int64_t now, int64_t *wait, MediaError *error);
/* The shown frame has been drawn. */
void showing_note_view(Player *p);
/* The first frame ahead takes the place of the one that is shown; the first one of all. */
int showing_put_on(Player *p, int64_t due, MediaError *error);
/* The frame that is shown takes its own place, where it has come with other settings. */
int showing_put_on_anew(Player *p, MediaError *error);
int showing_show_first(Player *p, int64_t now, MediaError *error);
/* Shows the untouched picture as well, or not any more. */
int showing_update_input(Player *p, MediaError *error);

/* live.c: what is live. As showing_run(). */
int live_run(Player *p, int64_t now, MediaError *error);
/* Once a turn: what a camera and its recording have come to. */
void live_follow(Player *p);
/* What its key does. */
int live_record(Player *p, int arg, MediaError *error);
/* Frames that were lost in the camera; 0 of another input. */
int64_t live_lost(const Player *p);

/* commands.c: once a turn, what the user has asked for is carried out. */
int commands_run(Player *p, int64_t now, MediaError *error);
void commands_step_back(Player *p);

/* screen.c: what is to be seen. */
int screen_update(Player *p, int64_t now, int64_t *wait, MediaError *error);
ViewScene screen_scene(const Player *p);
void screen_shoot(Player *p);
/* Gives a window that is new the shape of a picture of this size, and of the panel beside it. */
void screen_fit_window(Player *p, int width, int height);
/* Answers 0 where there is no room for it. */
int screen_set_histogram(Player *p, PlayerHistogram histogram);

/* status.c: what is said of the state. */
void status_say(Player *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void status_say_position(Player *p, int64_t position);
void status_say_frame(Player *p);
void status_title(Player *p);
int status_rows(Player *p, OsdRow *rows, int room);

#endif
