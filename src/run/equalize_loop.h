/*
 * The loop of each thread that equalizes, for a file as for a window.
 *
 * It takes frames in order, makes the outputs, and hands the frames on in order. While more frames
 * are ready it submits them before it waits for earlier ones, so that a GPU has several in flight;
 * else it waits at once. If the GPU is lost, frames in host memory are equalized again, and those
 * in its memory are given back. Its owner says where frames come from, which are left out, and
 * where they go.
 */
#ifndef LUMEQ_RUN_EQUALIZE_LOOP_H
#define LUMEQ_RUN_EQUALIZE_LOOP_H

#include "run/run_frame.h"

typedef struct EqualizeLoopOptions {
    LumeqEqualizer *equalizer;
    AVBufferRef *gpu; /* FFmpeg's device on the same GPU (gpu_frame.h), or NULL */
    /* The next frame, which becomes the loop's, with its input, `previous[0]`, `sequence`, `first`,
     * `on_device` and room for statistics: 0; AVERROR(EAGAIN): none until the frames in flight are
     * finished; another negative number ends the loop. `idle`: no frame is in flight, so the call
     * has to wait for one. */
    int (*next)(void *opaque, Frame **frame, int idle, MediaError *error);
    /* Takes over an equalized frame. Negative: ends the loop. */
    int (*done)(void *opaque, Frame *frame, MediaError *error);
    /* Takes over a frame that was lost with the GPU, in order. Negative: ends the loop. */
    int (*lost)(void *opaque, Frame *frame, MediaError *error);
    void *opaque;
    void (*note)(const char *line); /* takes one line for the user */
} EqualizeLoopOptions;

typedef struct EqualizeLoop EqualizeLoop;

/* NULL: out of memory. Frames are only measured until equalize_loop_write(). */
EqualizeLoop *equalize_loop_create(const EqualizeLoopOptions *options);

/* Outputs are made in this memory, with chroma of their own if `chroma`. NULL: outputs are the
 * decoded frames, which are only measured. No frame may be in flight. */
void equalize_loop_write(EqualizeLoop *loop, FrameMemory *memory, int chroma);

/* Runs until something fails or ends it, and returns that code, with `error` filled if it is a
 * fault. No frame is in flight then. */
int equalize_loop_run(EqualizeLoop *loop, MediaError *error);

/* True if the GPU was lost. Any thread. */
int equalize_loop_is_lost(const EqualizeLoop *loop);

/* All of its frames must be freed. *loop may be NULL. */
void equalize_loop_free(EqualizeLoop **loop);

#endif
