/* The loop of a run: takes frames and packets from the stages, and gives them to the sinks. */
#ifndef LUMEQ_RUN_RUN_H
#define LUMEQ_RUN_RUN_H

#include <stdatomic.h>

#include "media/output/writer.h"
#include "run/pipeline.h"
#include "run/run_frame.h"
#include "run/stop.h"

/*
 * One thread calls all functions; any function may be NULL. They return 0, or a fault with its
 * error. AVERROR_EOF means that the output is complete and ends the run like the end of the input.
 */
typedef struct Sink {
    void *self;
    /* Takes a packet of a copied track, in order with the frames. The sink may take over its
     * references, so at most one sink of a run has this function. */
    int (*packet)(void *self, AVPacket *packet, MediaError *error);
    /* Takes a frame whose `out` is set. */
    int (*frame)(void *self, Frame *frame);
    /* The last call. `complete`: the loop ended with AVERROR_EOF, which a stop may also cause. */
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
    atomic_int *stop; /* ends the loop; run_pipeline() sets it to RUN_OVER at a failure; or NULL */
    const Input *input; /* for Frame.zero_us, by input_zero(); NULL: 0 */
    int64_t number;     /* of the next frame; counts up */

    int64_t frames; /* number of frames that all sinks have taken */
} RunLoop;

/* Waits for the next frame, which the loop frees. Returns 0, AVERROR_EOF at the end, or another
 * negative number. */
typedef int RunNext(void *opaque, Frame **frame, MediaError *error);

/* Runs until the end of the input, the first failure or a stop. Returns the code that ended the
 * run; after a stop, 0 or AVERROR_EOF. */
int run_frames(RunLoop *run, RunNext *next, void *opaque, MediaError *error);

/* Runs the stages of a pipeline. Returns 0 at the end of the input and after a stop, or a fault. */
int run_pipeline(RunLoop *run, const PipelineParts *parts, MediaError *error);

/* Gives decoded frames to the sinks unchanged. Returns like run_pipeline(). */
int run_input(RunLoop *run, Input *input, MediaError *error);

#endif
