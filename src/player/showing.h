/*
 * What is shown: which frame when, and what was measured of it. Frames come from a playback and go
 * to the screen. All functions are for the thread of the loop; times are microseconds of
 * clock_now().
 */
#ifndef LUMEQ_PLAYER_SHOWING_H
#define LUMEQ_PLAYER_SHOWING_H

#include "player/clock.h"
#include "player/playback.h"
#include "player/screen.h"

typedef struct Showing Showing;

/* Of what takes time, the mean of the last frames, in microseconds. */
typedef struct Timings {
    double decode, upload, equalize, download; /* in the equalizer's stages */
    double fill;                               /* uploading for drawing */
    double view;                               /* uploading for drawing, and drawing */
    double layers;                             /* the panel and text */
    double latency;                            /* from the decoder to the screen */
} Timings;

/* Of all frames that were played: see PlayerState. */
typedef struct Totals {
    int64_t count;
    double run, upload, layers, draw, latency;
} Totals;

typedef struct Measured {
    Timings timings;
    Totals totals;
    double rate;    /* frames a second that are reached, of the last second or so */
    Delay delay;    /* of a live picture, how old frames were when they were seen */
    int64_t offset; /* of picture and sound, AV_NOPTS_VALUE: no sound */
} Measured;

typedef struct Shown {
    const Frame *frame;          /* in the window's textures; NULL: none */
    int64_t position, duration;  /* the frame's; they outlive it */
    int64_t count;               /* frames that have been on the screen */
    int came;                    /* of a live input: a frame has come in the last turn */
    Measured measured;
} Shown;

/* What has come of a turn. */
typedef enum ShowingEvent {
    SHOWING_NOTHING = 0,
    SHOWING_ARRIVED, /* the frame that was asked for is shown */
    SHOWING_STEPPED,
    SHOWING_ENDED, /* it has been shown to its end; answered until something else is played */
} ShowingEvent;

/* The stage and the screen outlive it. NULL: no memory. */
Showing *showing_create(EqualizeStage *stage, Screen *screen);

/* Follows what happens; valid until showing_free(). */
const Shown *showing_shown(const Showing *showing);

/* Once a turn. `step`: a frame on while paused. `wait` is lowered to when there is something to do.
 * A ShowingEvent, or MEDIA_INPUT. */
int showing_run(Showing *showing, Playback *playback, int step, int64_t now, int64_t *wait,
                MediaError *error);

/* Not 0: its frame is to be drawn now, for the first time. */
int showing_is_due(const Showing *showing, int64_t now);

/* That frame has been on the screen since `now`. */
void showing_note(Showing *showing, const Playback *playback, int64_t now);

/* Another input follows: the frame is freed, and the picture stays on the screen. */
void showing_drop(Showing *showing);

/* NULL is allowed inside. */
void showing_free(Showing **showing);

#endif
