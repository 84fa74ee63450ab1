/* The loop of a run: takes frames and packets from the stages, and gives them to the sinks. */
#ifndef LUMEQ_RUN_RUN_H
#define LUMEQ_RUN_RUN_H

#include <stdatomic.h>

#include "run/pipeline.h"
#include "run/sink.h"
#include "run/stop.h"

typedef struct RunLoop {
    /* Set by the caller. */
    Sinks sinks;
    atomic_int *stop;   /* ends the loop; run_pipeline() makes it RUN_OVER at a failure; or NULL */
    const Input *input; /* defines the time that becomes 0; NULL: 0 */
    int64_t number;     /* of the next frame; counts up */

    int64_t frames; /* that all sinks have taken */
} RunLoop;

/* Gets the next frame, which the loop frees: 0, AVERROR_EOF at the end, or another negative number.
 * Waits. */
typedef int RunNext(void *opaque, Frame **frame, MediaError *error);

/* Runs until the end of the input, the first failure or a stop. Returns what ended it, or 0 for a
 * stop. */
int run_frames(RunLoop *run, RunNext *next, void *opaque, MediaError *error);

/* Runs the stages of a pipeline. Returns 0 at the end of the input and after a stop, or a fault. */
int run_pipeline(RunLoop *run, const PipelineParts *parts, MediaError *error);

/* Decoded frames go to the sinks as they are. As run_pipeline(). */
int run_input(RunLoop *run, Input *input, MediaError *error);

#endif
