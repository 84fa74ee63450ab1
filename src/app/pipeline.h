/*
 * The stages between the input and the sink: a thread that reads and decodes, a thread that
 * equalizes, and bounded queues between them. The sink is the caller.
 *
 * The end of the stream flows down, a stop flows up. The first error of any stage is the one kept.
 */
#ifndef LUMEQ_APP_PIPELINE_H
#define LUMEQ_APP_PIPELINE_H

#include "app/engine.h"
#include "lumeq/lumeq.h"
#include "media/message.h"
#include "media/reader.h"

/* What comes out. message.output is set where message.frame is. */
typedef struct Item {
    Message message;
    LumeqFrameStats stats;
    StatsArrays *arrays; /* those of `stats`; NULL: there are none */
} Item;

typedef struct Pipeline Pipeline;

/* Starts the threads. Output frames take their luma from `memory`, and their chroma where that is
 * written, too; NULL: they are the decoded ones, only measured. `arrays`: frames come with
 * histograms and curve. Reader, equalizer and memory are used by the threads until pipeline_join().
 * MEDIA_INPUT. */
int pipeline_start(Pipeline **pipeline, Reader *reader, LumeqEqualizer *equalizer,
                   FrameMemory *memory, int chroma, int arrays, MediaError *error);

/* The next item, which the caller frees with item_free(): 0, AVERROR_EOF at the end, or another
 * negative number when a stage has failed (pipeline_join() knows the error). Waits. */
int pipeline_receive(Pipeline *pipeline, Item **item);

void item_free(Item **item);

/* Stops the threads, waits for them, adds their first error to `error`, and frees all. */
void pipeline_join(Pipeline **pipeline, MediaError *error);

#endif
