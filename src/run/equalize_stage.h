/*
 * Equalizes the frames of an input for a window in a thread, a few frames before they are shown.
 *
 * Frames come out in order. When settings change, the shown frame and those after it come out
 * again, as if the new settings had always applied. After a detach, no frame of the old input comes
 * out. If frames of a lossless input are lost with the GPU, the input ends with MEDIA_LOST; lost
 * frames of other inputs are only counted.
 *
 * Call these functions from the window's thread, except those marked "Any thread". Only
 * equalize_stage_stop() and equalize_stage_close() may wait.
 */
#ifndef LUMEQ_RUN_EQUALIZE_STAGE_H
#define LUMEQ_RUN_EQUALIZE_STAGE_H

#include <stdbool.h>

#include "run/input.h"

typedef struct EqualizeStageOptions {
    LumeqContext *context;
    LumeqParams params;  /* the first settings */
    FrameMemory *memory; /* for equalized frames; must outlive them */
    int copies;          /* true: copies also frames that the settings do not change */
    int64_t bytes; /* limit for equalized frames that wait; a larger frame waits alone; 0: 256 MB */
    /* The stage's thread calls wants() and take(). While wants() returns true, take() gets each new
     * frame once, in order, in host memory. */
    int (*wants)(void *opaque);
    void (*take)(void *opaque, const AVFrame *out, const LumeqFrameStats *stats);
    void *opaque;
    void (*wake)(void *opaque); /* the stage's thread calls it when a frame or the end is ready */
    void *wake_opaque;
} EqualizeStageOptions;

typedef struct EqualizeStage EqualizeStage;

/* MEDIA_INPUT (out of memory or threads); *stage is NULL then. */
int equalize_stage_open(EqualizeStage **stage, const EqualizeStageOptions *options,
                        MediaError *error);

/* Takes frames from this input from now on, with a new history. `live`: only the newest frame
 * waits. */
void equalize_stage_attach(EqualizeStage *stage, Input *input, int live);

/* Detaches the input; the stage does not use it again. */
void equalize_stage_detach(EqualizeStage *stage);

/* Call when the input has a frame or has ended. Any thread. */
void equalize_stage_wake(EqualizeStage *stage);

/* Receives a frame, which the caller then owns. Returns 0: the next frame; 1: the shown frame,
 * equalized again; AVERROR(EAGAIN): no frame is ready; AVERROR_EOF; or MEDIA_INPUT, MEDIA_USAGE or
 * MEDIA_LOST with `error` filled. */
int equalize_stage_receive(EqualizeStage *stage, Frame **frame, MediaError *error);

/* Call when the window takes this frame to show or drop it. Makes room for another one. */
void equalize_stage_taken(EqualizeStage *stage, const Frame *frame);

/* Call when this frame is on the screen; NULL: when no frame is. */
void equalize_stage_shown(EqualizeStage *stage, const Frame *frame);

/* Changes the settings of the shown frame and all after it. Received frames that are not shown yet
 * come out again, so the caller must free the old ones. */
void equalize_stage_set(EqualizeStage *stage, const LumeqParams *params);

/* Like equalize_stage_set() with unchanged settings. */
void equalize_stage_redo(EqualizeStage *stage);

/* True until the shown frame has come out with the latest settings. */
bool equalize_stage_is_behind(const EqualizeStage *stage);

/* Allows or forbids outputs in the GPU's memory; they are forbidden at first. */
void equalize_stage_allow_device(EqualizeStage *stage, int allowed);

/* While `hold` is true, drops live frames. */
void equalize_stage_hold(EqualizeStage *stage, int hold);

/* A frame is late if it ends after `from` and not after `to` plus the usual time for equalizing. A
 * newer frame replaces a late one. `from` and `to` are positions (see Decoded). */
void equalize_stage_set_late(EqualizeStage *stage, int64_t from, int64_t to);

/* Number of frames that wait to be received. */
int equalize_stage_waiting(EqualizeStage *stage);

/* Number of frames that were lost with the GPU. Any thread. */
int64_t equalize_stage_lost(const EqualizeStage *stage);

/* True if the GPU was lost. Any thread. */
bool equalize_stage_is_lost(const EqualizeStage *stage);

/* Ends the thread. */
void equalize_stage_stop(EqualizeStage *stage);

/* Stops the stage if necessary. Free its frames first. *stage may be NULL. */
void equalize_stage_close(EqualizeStage **stage);

#endif
