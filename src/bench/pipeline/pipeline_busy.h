/* For which part of a run stages were at work, from the times of each frame. */
#ifndef LUMEQ_BENCH_PIPELINE_BUSY_H
#define LUMEQ_BENCH_PIPELINE_BUSY_H

#include "lumeq/lumeq.h"

typedef struct PipelineSpan {
    double begin, end; /* us */
} PipelineSpan;

/* {0} is an empty one. */
typedef struct PipelineBusy {
    PipelineSpan *spans; /* of all stages of the equalizer */
    size_t count, room;
    double stage_us[LUMEQ_STAGES]; /* at least one frame was in the stage */
    double stage_end[LUMEQ_STAGES];
    double decode_us, sink_us;
} PipelineBusy;

/* A frame's stages in the equalizer. 0, or -1: out of memory. */
int pipeline_busy_add(PipelineBusy *busy, const LumeqFrameStats *stats);

/* The time in which at least one stage of the equalizer was at work. */
double pipeline_busy_any(PipelineBusy *busy);

void pipeline_busy_free(PipelineBusy *busy);

#endif
