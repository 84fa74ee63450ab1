/*
 * Draws the window's content: pictures and the layers above them.
 *
 * All functions must be called on the window's thread. Times are microseconds of clock_now().
 */
#ifndef LUMEQ_PLAYER_SCREEN_H
#define LUMEQ_PLAYER_SCREEN_H

#include "player/command.h"
#include "player/osd/osd.h"
#include "player/player_options.h"
#include "player/subtitles/subtitle_thread.h"
#include "player/view/view.h"
#include "player/window.h"

typedef struct Screen Screen;

/* View settings that the user can change. */
typedef struct Look {
    ViewCompare compare;
    PanelMode histogram;
    PanelScope scope;
    bool log_scale, statistics, mirrored, subtitles_on;
    bool help;     /* the keys are shown */
    bool settings; /* the settings panel is open */
    bool source;   /* the unprocessed picture is shown, if not comparing */
    int chosen;    /* selected row of the settings panel */
    double split;
    ViewZoom zoom;
    Rect mark; /* outlined rectangle in window units; no width: none */
} Look;

typedef struct ScreenState {
    Look look;
    Window *window;
    char renderer[256];                   /* OpenGL driver and version */
    char message[512];                    /* the last message; "" at first */
    int64_t screenshots;                  /* number written */
    double upload_us, layers_us, draw_us; /* of the last frame; see PlayerState */
} ScreenState;

/* Fills in up to `room` rows of the help and returns their number. */
typedef int ScreenHelp(OsdRow *rows, int room);

/* Opens the window with the source's aspect ratio. Without a source (NULL), the window has the
 * default size and is shown at once. The options must outlive the screen. Returns 0, MEDIA_USAGE
 * (no display) or MEDIA_INPUT; on error *screen is NULL. */
int screen_open(Screen **screen, const PlayerOptions *options, ScreenHelp *help,
                const Source *source, MediaError *error);

/* Replaces the options; the new ones must outlive the screen. The window takes the source's aspect
 * ratio unless the user resized it. */
void screen_adopt(Screen *screen, const PlayerOptions *options, const Source *source);

/* Always current; valid until screen_close(). */
const ScreenState *screen_state(const Screen *screen);

void screen_toggle_help(Screen *screen);

/* True if the panel has room for all scopes at once. */
bool screen_has_room_for_all(const Screen *screen);

/* The window's size in desktop units if the user resized it, else 0 x 0. */
void screen_own_size(const Screen *screen, int *width, int *height);

/* True if frames may stay in GPU memory. */
bool screen_takes_device(const Screen *screen);

/* ---- mouse positions, in window units ---- */

ControlsTarget screen_target(const Screen *screen, int x, int y);

/* The position of the split line when it is dragged to x. */
double screen_split_at(const Screen *screen, int x);

/* The position of x on CONTROLS_TRACK or CONTROLS_VOLUME, 0..1. */
double screen_bar_at(const Screen *screen, ControlsTarget part, int x);

/* The new zoom after `steps` around x, y; 0: the whole picture. *pixels: window pixels per
 * picture pixel. */
ViewZoom screen_zoom_at(const Screen *screen, int steps, int x, int y, double *pixels);

ViewZoom screen_pan_by(const Screen *screen, int x, int y);

/* The picture's rectangle in the window; in a comparison, the equalized picture's. */
Rect screen_picture(const Screen *screen);

/* See osd_settings_at(). */
int screen_setting_at(const Screen *screen, int x, int y, int *acts, int *step);

/* Converts a window rectangle to stored samples of the picture; {0} if it is outside. */
Rect screen_to_samples(const Screen *screen, Rect part);

/* ---- content ---- */

/* `frame`: the shown frame, or NULL. Returns 0; 1: equalize the frame again; or MEDIA_INPUT. */
int screen_set_look(Screen *screen, const Look *look, const Frame *frame, MediaError *error);

/* Uploads a frame. `lost`: the GPU is lost. Returns 0; 1: the frame must be equalized again, into
 * host memory; or MEDIA_INPUT. */
int screen_upload(Screen *screen, const Frame *frame, int lost, MediaError *error);

/* Call after the first upload. Fits the window again if only the picture is marked as rotated. */
void screen_fit(Screen *screen, const Source *source);

/* Show a message; screen_warn() shows it longer. */
void screen_say(Screen *screen, const char *format, ...) __attribute__((format(printf, 2, 3)));
void screen_warn(Screen *screen, const char *line);

/* Keeps the bar visible at least until this time. */
void screen_show_bar(Screen *screen, int64_t until);
/* See osd_set_pointed(); x is in window units. */
void screen_set_pointed(Screen *screen, int x, const char *line);

/* True if the statistics are visible and due for an update. */
bool screen_wants_statistics(const Screen *screen, int64_t now);
void screen_set_statistics(Screen *screen, const OsdRow *rows, int count, int64_t now);

/* Shows the cursor, comparison labels and bar until this time. */
void screen_show_cursor(Screen *screen, int64_t until, int64_t now);

/* Also switches between the panel modes of window and fullscreen. */
void screen_toggle_fullscreen(Screen *screen);

/* ---- once a turn ---- */

/* When a screenshot is finished, shows a message about it. */
void screen_poll_screenshot(Screen *screen);

/* Forces a redraw in this turn. */
void screen_touch(Screen *screen);

typedef struct ScreenContent {
    const Frame *frame;              /* last uploaded frame, or NULL */
    int fresh;                       /* the frame is due and was not drawn yet */
    const char *words;               /* the equalizer's decision in words */
    SubtitleThread *subtitles;       /* NULL: none */
    int64_t position, next_position; /* of the subtitles to draw now and next */
    const char *notice, *recording;  /* see osd.h */
    double recording_level;
    const OsdBar *bar;           /* NULL: unchanged */
    const OsdSettings *settings; /* NULL: unchanged; no rows: closed */
} ScreenContent;

/* Draws the window if something has changed. Returns 1 if it was drawn, 0 if not, or MEDIA_USAGE.
 * Lowers *wait to the time until the next change. */
int screen_update(Screen *screen, const ScreenContent *content, int64_t now, int64_t *wait,
                  MediaError *error);

/* ---- screenshots ---- */

/* Writes the picture as a PNG into the options' folder. Without such a folder, writes it beside the
 * video `path` or, if that fails, into the current folder. The window reports the result. Ignored
 * while another screenshot is being written. */
void screen_take_screenshot(Screen *screen, const char *path, int64_t position);

/* See player_grab(). */
uint8_t *screen_grab(Screen *screen, int *width, int *height);

/* *screen may be NULL. */
void screen_close(Screen **screen);

#endif
