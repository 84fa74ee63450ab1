/*
 * What is in the window, and how it looks: the window itself, pictures, and the layers above them.
 * All functions are for the thread of the window; times are microseconds of clock_now().
 */
#ifndef LUMEQ_PLAYER_SCREEN_H
#define LUMEQ_PLAYER_SCREEN_H

#include "player/command.h"
#include "player/osd/osd.h"
#include "player/player_options.h"
#include "player/subtitles/subtitle_thread.h"
#include "player/view/view.h"

typedef struct Screen Screen;

/* How the user wants it to look. */
typedef struct Look {
    PlayerCompare compare;
    PlayerHistogram histogram;
    PanelScope scope;
    int log_scale, statistics, mirrored, subtitles_on;
    int help;     /* which part of it, from 1 on; 0: none */
    int settings; /* their panel is there, */
    int chosen;   /* with this row chosen */
    int source;   /* the untouched picture, where nothing is compared */
    double split;
    ViewZoom zoom;
    Rect mark; /* of the window, in its units; without a width: none */
} Look;

typedef struct ScreenState {
    Look look;
    char renderer[256];                   /* what OpenGL is */
    char message[512];                    /* the last one; "" at first */
    int64_t screenshots;                  /* written */
    double upload_us, layers_us, draw_us; /* spent on the frame that was shown last, on the panel
                                            and text, on drawing the window */
    int64_t drawing; /* since the start, in OpenGL: uploading, drawing, and the swap */
} ScreenState;

typedef struct ScreenOptions {
    const PlayerOptions *player;         /* outlives it */
    int (*help)(OsdRow *rows, int room); /* as controls_help() */
    void (*wake)(void *opaque);          /* there is something for screen_follow(); any thread */
    void *opaque;
} ScreenOptions;

/* Opens the window, in the shape of the source's pictures. MEDIA_USAGE (no window to be had),
 * MEDIA_INPUT; *screen is then NULL. */
int screen_open(Screen **screen, const ScreenOptions *options, const Source *source,
                MediaError *error);

/* Follows what happens; valid until screen_close(). */
const ScreenState *screen_state(const Screen *screen);
int screen_is_fullscreen(const Screen *screen);

/* Into how many parts the help is cut, once it is shown. */
int screen_help_parts(const Screen *screen);

/* Not 0: the panel has room for all scopes. */
int screen_has_room_for_all(const Screen *screen);

/* The window's size in units of the desktop, where the user has given it another one than it had by
 * itself; 0 and 0: it has that, or fills the screen. */
void screen_own_size(const Screen *screen, int *width, int *height);

/* Not 0: frames may come in the memory of the GPU. */
int screen_takes_device(const Screen *screen);

/* ---- where the mouse is, in units of the window ---- */

ControlsTarget screen_target(const Screen *screen, int x, int y);

/* Where the line of a split is, when it is dragged to here. */
double screen_split_at(const Screen *screen, int x);

/* The share of the bar's track, or of its volume, that is left of there. */
double screen_track_at(const Screen *screen, int x);
double screen_volume_at(const Screen *screen, int x);

/* The zoom by so many steps around that point, 0: none any more; *pixels: of the window for one of
 * the picture's. */
ViewZoom screen_zoom_at(const Screen *screen, int steps, int x, int y, double *pixels);

/* ... when the picture is moved by so much. */
ViewZoom screen_pan_by(const Screen *screen, int x, int y);

/* What of the window the picture covers, in units of it; of two, the equalized one. */
Rect screen_seen(const Screen *screen);
/* As osd_settings_at(). */
int screen_setting_at(const Screen *screen, int x, int y, int *acts, int *step);

/* The part of the picture, in stored samples, that is there in the window; {0}: none. */
Rect screen_find(const Screen *screen, Rect part);

/* ---- what is to be seen ---- */

/* `frame` is the one that is shown, or NULL. 1: it has to come anew; 0 or MEDIA_INPUT. */
int screen_set_look(Screen *screen, const Look *look, const EqualizedFrame *frame,
                    MediaError *error);

/* Brings a frame into the textures. `lost`: the GPU is. 1: it has to come by way of the host, and
 * the picture before stays until then; 0 or MEDIA_INPUT. */
int screen_put(Screen *screen, const EqualizedFrame *frame, int lost, MediaError *error);

/* Gives a window that is new the shape of its first picture. */
void screen_fit(Screen *screen, const Source *source);

void screen_say(Screen *screen, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* `share`: as in osd_message(). */
void screen_message(Screen *screen, const char *line, double share);

/* The rows of the settings' panel; none while it is not there. */
void screen_set_settings(Screen *screen, OsdSettings *rows);

/* The bar's content; it is seen at least until then. */
void screen_set_bar(Screen *screen, const OsdBar *bar);
void screen_show_bar(Screen *screen, int64_t until);

/* As osd_point(), at a column in units of the window; pictures are best of this size at most. */
void screen_point(Screen *screen, int x, const char *line, const Canvas *picture);
void screen_preview_size(const Screen *screen, int *width, int *height);

/* Not 0: the statistics are shown, and it is time to write them anew. */
int screen_wants_statistics(const Screen *screen, int64_t now);
void screen_set_statistics(Screen *screen, const OsdRow *rows, int count, int64_t now);

/* UTF-8. */
void screen_set_title(Screen *screen, const char *title);

/* The cursor, and with it the labels of a comparison and the bar, until then. */
void screen_show_cursor(Screen *screen, int64_t until, int64_t now);

void screen_toggle_fullscreen(Screen *screen);

/* As window_quit(). */
void screen_quit(const Screen *screen, int by_itself);

/* ---- once a turn ---- */

/* What its threads have done. */
void screen_follow(Screen *screen);

/* It is drawn in this turn. */
void screen_touch(Screen *screen);

typedef struct ScreenContent {
    const EqualizedFrame *frame; /* that was put there last, or NULL */
    int fresh;                   /* it is to be drawn for the first time */
    int64_t held_until;          /* a picture that was asked for is near: nothing else is drawn */
    const char *words;           /* what was decided about it */
    SubtitleThread *subtitles;
    int64_t position, next_position; /* theirs */
    const char *notice, *recording;  /* as in osd.h */
} ScreenContent;

/* 1: it was drawn; 0: nothing has changed; or MEDIA_USAGE. `wait` is lowered to when something
 * does. */
int screen_update(Screen *screen, const ScreenContent *content, int64_t now, int64_t *wait,
                  MediaError *error);

/* ---- pictures of it ---- */

/* A screenshot of what `path` names, at this position; the screen says what becomes of it. */
void screen_shoot(Screen *screen, const char *path, int64_t position);

/* As player_grab(). */
uint8_t *screen_grab(Screen *screen, int *width, int *height);

/* NULL is allowed inside. */
void screen_close(Screen **screen);

#endif
