/*
 * The loop of every thread that equalizes, for a file that is written as for a window.
 *
 * It takes frames in order, makes what they are equalized into, and hands them on in order. Where
 * another frame is at hand, that one is submitted before the one before is waited for, so that a
 * GPU has several in flight; where none is, what is in flight is waited for at once. It notes the
 * loss of a GPU, and gives back the frames that lay there. Where frames come from, which are left
 * out, and where they go is a matter of two calls.
 */
#ifndef LUMEQ_RUN_EQUALIZE_LOOP_H
#define LUMEQ_RUN_EQUALIZE_LOOP_H

#include "run/equalizer_frame.h"

/* A frame to be equalized. What it points to stays until `done` or `free` is called. */
typedef struct EqualizeTask {
    void *item;             /* for these two calls */
    const AVFrame *in;      /* as decoded */
    const AVFrame *before;  /* that it is compared with; NULL: none */
    AVFrame **out;          /* takes the equalized frame, the item's */
    LumeqFrameStats *stats; /* takes the statistics, by equalizer_ask_stats() */
    int *on_device;         /* whether `out` may be, and then is, in the GPU's memory; NULL: no */
    int64_t number;         /* as LumeqFrame.number */
    int first;              /* it has nothing to do with those before */
} EqualizeTask;

#define EQUALIZE_LOST 1

typedef struct EqualizeLoopOptions {
    LumeqEqualizer *equalizer;
    AVBufferRef *gpu; /* FFmpeg's use of it (gpu_frame.h), which is lost with it; or NULL */
    /* The next frame: 0; AVERROR(EAGAIN): none as long as others are in flight, which are waited
     * for then; another negative number ends the loop. `idle`: none is in flight, and it is the
     * call that has to wait. */
    int (*next)(void *opaque, EqualizeTask *task, int idle, MediaError *error);
    /* The oldest item is equalized, and `done` is called next. EQUALIZE_LOST: its decoded frame is
     * needed but lost with the GPU, so `lost` is called instead; negative: ends. Or NULL. */
    int (*ready)(void *opaque, void *item, MediaError *error);
    int (*done)(void *opaque, void *item, MediaError *error); /* takes it; negative: ends */
    /* Takes an item whose decoded frame is lost with the GPU, or one that follows it: frames from
     * the first of these on have to come from `next` again, if they can. Negative: ends. */
    int (*lost)(void *opaque, void *item, MediaError *error);
    void (*free)(void *item); /* takes it: it is not done */
    void *opaque;
    void (*note)(const char *line); /* takes one line that everybody should see */
} EqualizeLoopOptions;

typedef struct EqualizeLoop EqualizeLoop;

/* NULL: out of memory. Frames are only measured until equalize_loop_write(). */
EqualizeLoop *equalize_loop_create(const EqualizeLoopOptions *options);

/* Frames are made in this memory, with chroma of their own where that is written, too. NULL: they
 * are the decoded ones, which are only measured. While none is in flight. */
void equalize_loop_write(EqualizeLoop *loop, FrameMemory *memory, int chroma);

/* Until something fails or ends it: that code, with `error` filled where it is a fault. No frame is
 * in flight then. */
int equalize_loop_run(EqualizeLoop *loop, MediaError *error);

/* Not 0: the GPU was lost. Any thread. */
int equalize_loop_is_lost(const EqualizeLoop *loop);

/* After the last of its frames is gone. NULL is allowed inside. */
void equalize_loop_free(EqualizeLoop **loop);

#endif
