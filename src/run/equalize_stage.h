/*
 * Equalizes the frames of an input in a thread, a few frames before a window shows them.
 *
 * equalize_stage_receive() returns frames in order. When settings change, it returns the shown
 * frame and all after it again, as if the new settings had always applied. After a detach, only the
 * shown frame of the old input may be returned again. If the GPU fails and frames are lost, a
 * lossless input (decoder.h) ends with MEDIA_LOST; lost frames of other inputs are only counted.
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
    int copies;          /* true: frames that the settings do not change are copied, too */
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

/* Error: MEDIA_INPUT (out of memory or threads); *stage is then NULL. */
int equalize_stage_open(EqualizeStage **stage, const EqualizeStageOptions *options,
                        MediaError *error);

/* From now on takes frames from this input, with a new history. `live`: a newer frame replaces a
 * waiting one. */
void equalize_stage_attach(EqualizeStage *stage, Input *input, int live);

/* Detaches the input; the stage does not use it again. */
void equalize_stage_detach(EqualizeStage *stage);

/* Call when the input has a frame or has ended. Any thread. */
void equalize_stage_wake(EqualizeStage *stage);

/* Receives a frame, which the caller then owns. Returns 0 with the next frame, 1 with the shown
 * frame equalized again, AVERROR(EAGAIN) if no frame is ready, AVERROR_EOF at the end, or
 * MEDIA_INPUT, MEDIA_USAGE or MEDIA_LOST with `error` filled. */
int equalize_stage_receive(EqualizeStage *stage, Frame **frame, MediaError *error);

/* Call when the window takes this frame to show or drop it. Then another one is equalized. */
void equalize_stage_taken(EqualizeStage *stage, const Frame *frame);

/* Tells the stage which frame is on the screen; NULL: none. */
void equalize_stage_shown(EqualizeStage *stage, const Frame *frame);

/* Changes the settings of the shown frame and all after it. Free the received frames that are not
 * shown yet: they are returned again. */
void equalize_stage_set(EqualizeStage *stage, const LumeqParams *params);

/* Like equalize_stage_set() with unchanged settings. */
void equalize_stage_redo(EqualizeStage *stage);

/* True while the shown frame has not been received with the latest settings. */
bool equalize_stage_is_behind(const EqualizeStage *stage);

/* Allows or forbids outputs in the GPU's memory; they are forbidden at first. */
void equalize_stage_allow_device(EqualizeStage *stage, int allowed);

/* Nonzero: drops live frames from now on. */
void equalize_stage_hold(EqualizeStage *stage, int hold);

/* Lets newer frames replace late ones. A frame is late if it ends between the positions `from` and
 * `to` plus the average time to equalize a frame. */
void equalize_stage_set_late(EqualizeStage *stage, int64_t from, int64_t to);

/* Number of frames that wait to be received. */
int equalize_stage_waiting(EqualizeStage *stage);

/* Number of frames lost because the GPU failed. Any thread. */
int64_t equalize_stage_lost(const EqualizeStage *stage);

/* True if the GPU was lost. Any thread. */
bool equalize_stage_is_lost(const EqualizeStage *stage);

/* Ends the thread. */
void equalize_stage_stop(EqualizeStage *stage);

/* Stops the stage if necessary. Free the received frames first. *stage may be NULL. */
void equalize_stage_close(EqualizeStage **stage);

#endif
