/*
 * Runs the stages between the source and the sinks: the threads of the input, threads that
 * equalize, and bounded queues between them. The caller receives the equalized frames.
 */
#ifndef LUMEQ_RUN_PIPELINE_H
#define LUMEQ_RUN_PIPELINE_H

#include "run/curve_maker.h"
#include "run/input.h"
#include "run/run_frame.h"

typedef struct Pipeline Pipeline;

/* All that these members point to must outlive the pipeline. */
typedef struct PipelineParts {
    Input *input; /* started and stopped by the pipeline */
    LumeqContext *context;
    const LumeqParams *params;
    /* Planned curves, or NULL. Frames after the last planned curve get curves from past frames. */
    PlannedCurves *planned;
    /* The frames before the input's first frame, nearest first; or NULL. */
    const AVFrame *before[FRAME_PREVIOUS];
    /* Memory for outputs. NULL: only measures frames; the decoded frames are the outputs. */
    FrameMemory *memory;
    int chroma; /* true if chroma is written */
    int source; /* true if sinks need Frame.decoded.frame, in host memory */
    int arrays; /* true if sinks need histograms and curves */
    /* For live inputs; or NULL. Returns true if nobody needs the next frame, which is then not
     * equalized. The pipeline's thread calls this function. */
    int (*is_unwanted)(void *opaque);
    void *opaque;
    /* Counts frames that are lost because the GPU failed; or NULL. With a lossless input, such a
     * frame ends the run with MEDIA_LOST instead. */
    int64_t *lost;
    void (*note)(const char *line); /* shows one line to the user; called from any thread */
} PipelineParts;

/* Starts the threads. Errors: MEDIA_INPUT, MEDIA_USAGE; *pipeline is then NULL. */
int pipeline_start(Pipeline **pipeline, const PipelineParts *parts, MediaError *error);

/* Waits for the next frame, or for packets without a frame. The caller frees *frame. Returns 0,
 * AVERROR_EOF at the end, or another negative number on errors, which pipeline_join() reports. */
int pipeline_receive(Pipeline *pipeline, Frame **frame);

/* Stops the threads and frees all. Stores the first error of any thread in `error`. */
void pipeline_join(Pipeline **pipeline, MediaError *error);

#endif
