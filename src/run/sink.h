/*
 * Sinks take the finished frames of a run: an encoder, statistics, a virtual camera. Each frame
 * passes all sinks in their order, and a sink may draw into it for those after it.
 *
 * A sink is opened, completed and closed by its owner. Only the owner knows what to keep of an
 * interrupted run, and that all files are complete before the first one gets its name.
 */
#ifndef LUMEQ_RUN_SINK_H
#define LUMEQ_RUN_SINK_H

#include "media/output/writer.h"
#include "run/run_frame.h"

/*
 * One thread makes all calls; functions may be NULL. They return 0, or a negative fault with
 * its error. AVERROR_EOF means that the output is complete: the run ends as at the end of the
 * input.
 */
typedef struct Sink {
    void *self;
    /* A packet of a copied track, in its place among the frames. The sink may take over its
     * references, so at most one sink of a run has this. */
    int (*packet)(void *self, AVPacket *packet, MediaError *error);
    /* A frame whose `out` is set. */
    int (*frame)(void *self, Frame *frame);
    /* No more calls follow. `complete`: the run has come to its end, and was neither stopped nor
     * failed. */
    void (*end)(void *self, int complete, MediaError *error);
} Sink;

#define SINKS_MOST 16

typedef struct Sinks {
    Sink all[SINKS_MOST];
    int count;
} Sinks;

/* Does nothing if `self` is NULL: a sink that is not wanted. */
void sinks_add(Sinks *sinks, Sink sink);

/* Encodes frames and copies packets. */
Sink writer_sink(Writer *writer);

#endif
