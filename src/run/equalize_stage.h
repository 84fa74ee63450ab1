/*
 * A thread that equalizes what a feed decodes, a few frames ahead of their time, for a window.
 *
 * Frames come out in order. When settings change, those ahead are equalized anew, and before them
 * the one that is shown: the result is as if the settings had held before. What was decoded before
 * a detach never comes out after it. What was on a GPU that is lost comes from the feed again.
 *
 * Functions are for one thread, the window's, unless they say otherwise; none of them waits, but
 * for equalize_stage_stop(), equalize_stage_close() and what attaches or detaches.
 */
#ifndef LUMEQ_RUN_EQUALIZE_STAGE_H
#define LUMEQ_RUN_EQUALIZE_STAGE_H

#include "run/equalizer_frame.h"
#include "run/video_feed.h"

/* Whoever has it owns everything in it. */
typedef struct EqualizedFrame {
    FeedFrame decoded;
    AVFrame *out;          /* as equalized */
    int on_device;         /* the planes that were written are in the GPU's memory */
    LumeqFrameStats stats; /* its arrays are those below */
    StatsArrays arrays;
    double equalize_us; /* all of it, seen from outside */
    int64_t number;     /* of the decoded frame, from 1 on; the same when it is equalized anew */
    int revision;       /* of the settings */
} EqualizedFrame;

void equalized_frame_free(EqualizedFrame **frame);

typedef struct EqualizeStageOptions {
    LumeqEqualizer *equalizer; /* the thread's alone, until the stage is stopped */
    AVBufferRef *gpu;          /* that decodes frames (gpu_frame.h), or NULL */
    LumeqParams params;        /* that it has */
    FrameMemory *memory;       /* that equalized frames are made in; outlives them */
    int copies;                /* not 0: unchanged ones, too, as decoded ones may lie on a GPU */
    int64_t bytes; /* of frames that may wait, one that has more waits alone; 0: 256 MB */
    /* Whether frames are wanted in host memory, and then each new one: once, in order. From the
     * stage's thread. */
    int (*wants)(void *opaque);
    void (*take)(void *opaque, const AVFrame *out, const LumeqFrameStats *stats);
    void *opaque;
    void (*note)(const char *line); /* takes one line that everybody should see; any thread */
    void (*wake)(void *opaque);     /* there is something to receive; from the stage's thread */
    void *wake_opaque;
} EqualizeStageOptions;

typedef struct EqualizeStage EqualizeStage;

/* MEDIA_INPUT (out of memory or threads); *stage is NULL then. */
int equalize_stage_open(EqualizeStage **stage, const EqualizeStageOptions *options,
                        MediaError *error);

/* Takes frames from this feed from now on; the first has nothing to do with those before. Of a live
 * one, the newest alone waits. */
void equalize_stage_attach(EqualizeStage *stage, VideoFeed *feed, int live);

/* The feed is not touched again. */
void equalize_stage_detach(EqualizeStage *stage);

/* Not 0: frames were lost with the GPU, and the feed is to start again at `place`. The stage leaves
 * the feed alone until equalize_stage_goes_on(), or until it is attached again. */
int equalize_stage_wants_again(EqualizeStage *stage, FeedPlace *place);
void equalize_stage_goes_on(EqualizeStage *stage);

/* The feed has something, or has ended. Any thread. */
void equalize_stage_wake(EqualizeStage *stage);

/* 0: the next frame, which is the caller's. 1: the frame that is shown, anew. AVERROR(EAGAIN): none
 * yet; AVERROR_EOF; or MEDIA_INPUT, MEDIA_USAGE with `error` filled. */
int equalize_stage_receive(EqualizeStage *stage, EqualizedFrame **frame, MediaError *error);

/* The frame was taken from those that wait, to be shown or dropped: there is room for another. */
void equalize_stage_taken(EqualizeStage *stage, const EqualizedFrame *frame);

/* The frame is shown from now on; NULL: none is. */
void equalize_stage_shown(EqualizeStage *stage, const EqualizedFrame *frame);

/* Settings for all frames that are not shown yet, and for the one that is. Frames that were
 * received and are not shown come once more: the caller frees those that it has. */
void equalize_stage_set(EqualizeStage *stage, const LumeqParams *params);

/* The same with the settings that it has. */
void equalize_stage_redo(EqualizeStage *stage);

/* Not 0: the frame that is shown is still to come with the settings that were set last. */
int equalize_stage_is_behind(const EqualizeStage *stage);

/* Not 0: frames may come in the memory of the GPU. At first they do not. */
void equalize_stage_allow_device(EqualizeStage *stage, int allowed);

/* Not 0: live frames pass without being equalized. */
void equalize_stage_hold(EqualizeStage *stage, int hold);

/* Frames that end after `from`, and by `to`, come too late, unless there is no other one. */
void equalize_stage_set_late(EqualizeStage *stage, int64_t from, int64_t to);

/* Frames that wait to be received. */
int equalize_stage_waiting(EqualizeStage *stage);

/* Frames of a live input that were lost with the GPU. Any thread. */
int64_t equalize_stage_gone(const EqualizeStage *stage);

/* Not 0: the GPU was lost. Any thread. */
int equalize_stage_is_lost(EqualizeStage *stage);

/* Ends the thread. */
void equalize_stage_stop(EqualizeStage *stage);

/* Stops it, too. After the last of its frames is gone. NULL is allowed inside. */
void equalize_stage_close(EqualizeStage **stage);

#endif
