/* The loop of a run: takes frames and packets from the stages, and gives them to the sinks. */
#ifndef LUMEQ_RUN_RUN_H
#define LUMEQ_RUN_RUN_H

#include <stdatomic.h>

#include "media/output/writer.h"
#include "run/pipeline.h"
#include "run/run_frame.h"
#include "run/stop.h"

/* The loop's thread calls these functions. Each may be NULL. packet() and frame() return 0,
 * AVERROR_EOF to end the run because the output is complete, or a MEDIA_* error. packet() stores
 * the message in `error`, frame() in Frame.error. */
typedef struct Sink {
    void *self;
    /* Takes a packet of a copied track, in order with the frames. It may take over the packet's
     * references, so at most one sink of a run has this function. */
    int (*packet)(void *self, AVPacket *packet, MediaError *error);
    /* Takes a frame whose `out` is set. */
    int (*frame)(void *self, Frame *frame);
    /* Called last. `complete`: the loop ended with AVERROR_EOF, at the end or after a stop. */
    void (*end)(void *self, int complete, MediaError *error);
} Sink;

#define SINKS_MOST 16

typedef struct Sinks {
    Sink all[SINKS_MOST];
    int count;
} Sinks;

/* Adds a sink unless its `self` is NULL. */
void sinks_add(Sinks *sinks, Sink sink);

/* Encodes frames and copies packets. */
Sink writer_sink(Writer *writer);

typedef struct RunLoop {
    /* Set by the caller. */
    Sinks sinks;
    atomic_int *stop;   /* or NULL; if not RUN_ON, the loop ends; run_pipeline() may set RUN_OVER */
    const Input *input; /* for Frame.zero_us; NULL: 0 */
    int64_t number;     /* Frame.number of the next frame; counts up */

    int64_t frames; /* number of frames that all sinks have taken */
} RunLoop;

/* Waits for the next frame, which the loop then frees. Returns 0, AVERROR_EOF at the end, or
 * another negative number. */
typedef int RunNext(void *opaque, Frame **frame, MediaError *error);

/* Runs until the input ends, a function fails, or the loop is stopped. Returns AVERROR_EOF at the
 * end, the negative result of the failed function, or 0 or AVERROR_EOF after a stop. */
int run_frames(RunLoop *run, RunNext *next, void *opaque, MediaError *error);

/* Runs the stages of a pipeline. Returns 0 at the end or after a stop, or a MEDIA_* error. */
int run_pipeline(RunLoop *run, const PipelineParts *parts, MediaError *error);

/* Gives decoded frames to the sinks unchanged. Returns like run_pipeline(). */
int run_input(RunLoop *run, Input *input, MediaError *error);

#endif
