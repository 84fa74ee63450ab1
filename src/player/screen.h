/*
 * What is in the window, and how it looks: the window itself, pictures, and the layers above them.
 * All functions are for the thread of the window; times are microseconds of clock_now().
 */
#ifndef LUMEQ_PLAYER_SCREEN_H
#define LUMEQ_PLAYER_SCREEN_H

#include "player/osd/osd.h"
#include "player/player_options.h"
#include "player/subtitles/subtitles.h"

typedef struct Screen Screen;

/* How the user wants it to look. */
typedef struct Look {
    PlayerCompare compare;
    PlayerHistogram histogram;
    int log_scale, statistics, help, mirrored, subtitles_on;
    double split;
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
    const PlayerOptions *player; /* outlives it */
    int device;                  /* as in PlayerEqualizer */
    void (*wake)(void *opaque);  /* there is something for screen_follow(); any thread */
    void *opaque;
} ScreenOptions;

/* Opens the window, in the shape of the source's pictures. MEDIA_USAGE (no window to be had),
 * MEDIA_INPUT; *screen is then NULL. */
int screen_open(Screen **screen, const ScreenOptions *options, const Source *source,
                MediaError *error);

/* Follows what happens; valid until screen_close(). */
const ScreenState *screen_state(const Screen *screen);
int screen_is_fullscreen(const Screen *screen);

/* Not 0: frames may come in the memory of the GPU. */
int screen_takes_device(const Screen *screen);

/* Where the line of a split is, when it is dragged to here, in units of the window. */
double screen_split_at(const Screen *screen, int x, int y);

/* ---- what is to be seen ---- */

/* `frame` is the one that is shown, or NULL. 0 or MEDIA_INPUT. */
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

/* Not 0: the statistics are shown, and it is time to write them anew. */
int screen_wants_statistics(const Screen *screen, int64_t now);
void screen_set_statistics(Screen *screen, const OsdRow *rows, int count, int64_t now);

/* UTF-8. */
void screen_set_title(Screen *screen, const char *title);

/* The cursor, and with it the labels of a comparison, until then. */
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
    Subtitles *subtitles;
    int64_t position;               /* theirs */
    const char *notice, *recording; /* as in osd.h */
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
