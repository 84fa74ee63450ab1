/*
 * Decides which frame to show and when, and measures times. All functions must be called on the
 * loop's thread. Times are microseconds of clock_now().
 */
#ifndef LUMEQ_PLAYER_SHOWING_H
#define LUMEQ_PLAYER_SHOWING_H

#include "player/clock.h"
#include "player/playback.h"
#include "player/screen.h"

typedef struct Showing Showing;

/* Mean times of the last frames, in microseconds. */
typedef struct Timings {
    double decode, equalize;
    double run; /* the whole equalize stage */
    double upload, draw;
    double layers;  /* the panel and text */
    double latency; /* from the decoder to the screen */
} Timings;

typedef struct Measured {
    Timings timings;
    double rate;    /* frames per second, over about the last second */
    Delay delay;    /* for cameras: time from the capture to the screen */
    int64_t offset; /* picture minus sound, in microseconds; AV_NOPTS_VALUE: no sound */
} Measured;

typedef struct Shown {
    const Frame *frame;         /* in the window's textures; NULL: none */
    int64_t position, duration; /* of the last frame, even after showing_drop() */
    int64_t count;              /* number of frames shown */
    int drawn;                  /* the frame has been on the screen */
    int came;                   /* live input: a frame came in the last turn */
    Measured measured;
} Shown;

/* Result of a turn. */
typedef enum ShowingEvent {
    SHOWING_NOTHING = 0,
    SHOWING_ARRIVED, /* the requested frame is shown */
    SHOWING_STEPPED, /* the next frame is shown because of `step` */
    SHOWING_ENDED,   /* playback is over; returned in each turn until the next start */
} ShowingEvent;

/* `stage` and `screen` must outlive the result. Returns NULL if out of memory. */
Showing *showing_create(EqualizeStage *stage, Screen *screen);

/* Always up to date; valid until showing_free(). */
const Shown *showing_shown(const Showing *showing);

/* Call once in each turn. `step`: show the next frame while paused. Lowers `wait` to the time until
 * the next call is due. Returns a ShowingEvent, or an error of equalize_stage_receive() or
 * screen_upload(). */
int showing_run(Showing *showing, Playback *playback, int step, int64_t now, int64_t *wait,
                MediaError *error);

/* True if the current frame was not drawn yet and is due now. */
bool showing_is_due(const Showing *showing, int64_t now);

/* Records that the current frame has been on the screen since `now`. */
void showing_mark_drawn(Showing *showing, const Playback *playback, int64_t now);

/* Frees the frame before another input starts. The picture stays on the screen. */
void showing_drop(Showing *showing);

/* *showing may be NULL. */
void showing_free(Showing **showing);

#endif
