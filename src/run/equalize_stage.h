/*
 * A thread that equalizes the frames of an input for a window, a few frames ahead of their time.
 *
 * Frames come out in order. When settings change, the shown frame comes again, and then those
 * after it: they look as if the settings had been the same before. After a detach no earlier frame
 * comes out. If frames of a lossless input are lost with the GPU, the input ends with MEDIA_LOST;
 * those of another input are counted.
 *
 * One thread, the window's, calls these functions unless they say otherwise. Only
 * equalize_stage_stop(), equalize_stage_close(), equalize_stage_attach() and
 * equalize_stage_detach() may wait.
 */
#ifndef LUMEQ_RUN_EQUALIZE_STAGE_H
#define LUMEQ_RUN_EQUALIZE_STAGE_H

#include <stdbool.h>

#include "run/input.h"

typedef struct EqualizeStageOptions {
    LumeqContext *context;
    LumeqParams params;  /* the first settings */
    FrameMemory *memory; /* that equalized frames are made in; outlives them */
    int copies; /* true: makes outputs of unchanged frames as well, since decoded ones may be on a
                   GPU */
    int64_t bytes; /* limit for waiting frames; a larger frame waits alone; 0: 256 MB */
    /* The stage's thread calls both. wants(): true if somebody wants frames in host memory; then
     * take() gets each new frame once, in order. */
    int (*wants)(void *opaque);
    void (*take)(void *opaque, const AVFrame *out, const LumeqFrameStats *stats);
    void *opaque;
    void (*wake)(void *opaque); /* there is something to receive; the stage's thread calls it */
    void *wake_opaque;
} EqualizeStageOptions;

typedef struct EqualizeStage EqualizeStage;

/* MEDIA_INPUT (out of memory or threads); *stage is NULL then. */
int equalize_stage_open(EqualizeStage **stage, const EqualizeStageOptions *options,
                        MediaError *error);

/* Takes frames from this input from now on, with a new history. Only the newest frame of a live
 * input waits. */
void equalize_stage_attach(EqualizeStage *stage, Input *input, int live);

/* The stage does not touch the input again. */
void equalize_stage_detach(EqualizeStage *stage);

/* The input has something, or has ended. Any thread. */
void equalize_stage_wake(EqualizeStage *stage);

/* 0: the next frame, which is the caller's. 1: the shown frame, equalized again. AVERROR(EAGAIN):
 * none yet; AVERROR_EOF; or MEDIA_INPUT, MEDIA_USAGE, MEDIA_LOST with `error`
 * filled. */
int equalize_stage_receive(EqualizeStage *stage, Frame **frame, MediaError *error);

/* The window takes this frame to show or drop it: there is room for another. */
void equalize_stage_taken(EqualizeStage *stage, const Frame *frame);

/* The frame is on the screen from now on; NULL: no frame is. */
void equalize_stage_shown(EqualizeStage *stage, const Frame *frame);

/* Settings for the shown frame and all after it. Frames that were received and not shown come
 * again: the caller frees its own. */
void equalize_stage_set(EqualizeStage *stage, const LumeqParams *params);

/* The same with unchanged settings. */
void equalize_stage_redo(EqualizeStage *stage);

/* True until the shown frame comes with the latest settings. */
bool equalize_stage_is_behind(const EqualizeStage *stage);

/* Allows outputs in the GPU's memory, or forbids them, as at first. */
void equalize_stage_allow_device(EqualizeStage *stage, int allowed);

/* True: drops live frames. */
void equalize_stage_hold(EqualizeStage *stage, int hold);

/* Frames that end after `from`, and not after `to`, are too late: drops them if others follow. */
void equalize_stage_set_late(EqualizeStage *stage, int64_t from, int64_t to);

/* Frames that wait to be received. */
int equalize_stage_waiting(EqualizeStage *stage);

/* Number of frames that were lost with the GPU. Any thread. */
int64_t equalize_stage_lost(const EqualizeStage *stage);

/* True if the GPU was lost. Any thread. */
bool equalize_stage_is_lost(const EqualizeStage *stage);

/* Ends the thread. */
void equalize_stage_stop(EqualizeStage *stage);

/* Stops it if necessary. All of its frames must be freed. *stage may be NULL. */
void equalize_stage_close(EqualizeStage **stage);

#endif
