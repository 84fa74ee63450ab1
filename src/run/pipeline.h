/*
 * Runs the stages between the source and the sinks: the threads of the input, threads that
 * equalize, and bounded queues between them. The caller takes the frames.
 *
 * The end of the stream travels from the input to the caller, a stop the other way. The first error
 * of any stage is kept.
 */
#ifndef LUMEQ_RUN_PIPELINE_H
#define LUMEQ_RUN_PIPELINE_H

#include "run/curve_maker.h"
#include "run/input.h"
#include "run/run_frame.h"

typedef struct Pipeline Pipeline;

/* All that these members point to must live until pipeline_join(). */
typedef struct PipelineParts {
    Input *input; /* started and stopped by the pipeline */
    LumeqContext *context;
    const LumeqParams *params;
    /* Planned curves, or NULL. After the last one, curves are made from past frames. */
    PlannedCurves *planned;
    /* The frames before the first one, the nearest first, or NULL. */
    const AVFrame *before[FRAME_PREVIOUS];
    /* Memory for outputs. NULL: outputs are the decoded frames, which are only measured. */
    FrameMemory *memory;
    int chroma; /* true if chroma is written */
    int source; /* true if sinks also get decoded frames (in host memory); else only `out` */
    int arrays; /* true if sinks need histograms and curves */
    /* Returns true if nobody needs the next frame, which is then dropped before it is equalized.
     * For live inputs, or NULL. The pipeline's thread calls it. */
    int (*is_unwanted)(void *opaque);
    void *opaque;
    /* Counts frames that are lost with the GPU; or NULL. With a lossless input, such a frame ends
     * the run with MEDIA_LOST instead. */
    int64_t *lost;
    void (*note)(const char *line); /* takes one line for the user; any thread */
} PipelineParts;

/* Starts the threads. MEDIA_INPUT, MEDIA_USAGE; *pipeline is then NULL. */
int pipeline_start(Pipeline **pipeline, const PipelineParts *parts, MediaError *error);

/* Waits for the next frame, or copied packets without a frame; the caller frees it. Returns 0,
 * AVERROR_EOF at the end, or another negative number if a stage has failed; pipeline_join() reports
 * the error. */
int pipeline_receive(Pipeline *pipeline, Frame **frame);

/* Stops the threads, waits for them, adds their first error to `error`, and frees all. */
void pipeline_join(Pipeline **pipeline, MediaError *error);

#endif
