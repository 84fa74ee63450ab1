/*
 * The stages between the input and the sink: a thread that reads and decodes, a thread that
 * equalizes, and bounded queues between them. The sink is the caller.
 *
 * The end of the stream flows down, a stop flows up. The first error of any stage is the one kept.
 */
#ifndef LUMEQ_RUN_PIPELINE_H
#define LUMEQ_RUN_PIPELINE_H

#include "media/input/reader.h"
#include "media/message.h"
#include "run/equalizer_frame.h"
#include "run/planned_curves.h"

/* What comes out. message.output is set where message.frame is. */
typedef struct Item {
    Message message;
    LumeqFrameStats stats;
    StatsArrays *arrays; /* those of `stats`; NULL: there are none */
    AVFrame *before;     /* that the frame is compared with; NULL: none */
} Item;

typedef struct Pipeline Pipeline;

/* What the stages work with, until pipeline_join(). */
typedef struct PipelineParts {
    Reader *reader;
    LumeqEqualizer *equalizer;
    AVBufferRef *gpu; /* see EqualizeLoopOptions */
    /* Has the curves; where that has none for a frame, the equalizer goes on from there by itself.
     * NULL: it does from the start. */
    PlannedCurves *planned;
    /* Those before the first one, the nearest first; NULL: there are none. */
    const AVFrame *before[PLANNED_BEFORE];
    /* Output frames take their luma from here, and their chroma where that is written, too. NULL:
     * they are the decoded ones, only measured. */
    FrameMemory *memory;
    int chroma;    /* is written, too */
    int source;    /* decoded frames are looked at, too, and not on a GPU; with `memory` */
    int arrays;    /* frames come with histograms and curve */
    int64_t *lost; /* counts frames of a live input that were lost with a GPU; or NULL */
    void (*note)(const char *line); /* takes one line that everybody should see; any thread */
} PipelineParts;

/* Starts the threads. MEDIA_INPUT. */
int pipeline_start(Pipeline **pipeline, const PipelineParts *parts, MediaError *error);

/* The next item, which the caller frees with item_free(): 0, AVERROR_EOF at the end, or another
 * negative number when a stage has failed (pipeline_join() knows the error). Waits. */
int pipeline_receive(Pipeline *pipeline, Item **item);

void item_free(Item **item);

/* Stops the threads, waits for them, adds their first error to `error`, and frees all. */
void pipeline_join(Pipeline **pipeline, MediaError *error);

#endif
