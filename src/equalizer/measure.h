/* A frame's measure: its counts, in host memory. */
#ifndef LUMEQ_MEASURE_H
#define LUMEQ_MEASURE_H

#include <stddef.h>
#include <stdint.h>

#include "equalizer/backend.h"
#include "equalizer/bytes.h"
#include "equalizer/settings.h"
#include "lumeq/lumeq.h"

struct LumeqMeasure {
    MeasureShape shape;
    LumeqCounts counts; /* in `memory`, except for `sums` */
    void *memory;
    size_t room;           /* size of `memory` */
    const LumeqWork *work; /* the backend that fills the counts */
    void *pending;         /* the backend's handle while its GPU is still busy; otherwise NULL */
    int valid;             /* the counts belong to a frame */
};

/* The format of the counts that the parameters need for this image. */
MeasureShape lumeq_measure_shape(const LumeqParams *params, const LumeqImage *image);

/* An image of this shape, without planes. */
LumeqImage lumeq_shape_image(const MeasureShape *shape);

/* Write and read a shape without its meter. Reading sets r->bad if the shape is invalid. */
void lumeq_put_shape(ByteWriter *w, const MeasureShape *shape);
MeasureShape lumeq_take_shape(ByteReader *r);

/* The job that measures `in`, a frame with this clock. `previous`: the frame before, or NULL. */
LumeqMeasureJob lumeq_measure_job(const LumeqMeasure *measure, const LumeqParams *params,
                                  const LumeqClock *clock, const LumeqImage *in,
                                  const LumeqImage *previous, const LumeqSync *sync);

/* Allocates counts of this shape, and marks the measure as invalid. On MEMORY, the measure stays
 * unchanged. */
int lumeq_measure_prepare(LumeqMeasure *measure, const MeasureShape *shape);

#endif
