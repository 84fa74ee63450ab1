/* A frame's measure: what is counted of it, in host memory. */
#ifndef LUMEQ_MEASURE_H
#define LUMEQ_MEASURE_H

#include <stddef.h>
#include <stdint.h>

#include "equalizer/backend.h"
#include "equalizer/bytes.h"
#include "lumeq/lumeq.h"

struct LumeqMeasure {
    MeasureShape shape;
    LumeqCounts counts; /* all in one piece of memory, `memory` */
    void *memory;
    size_t room; /* of it, bytes */
    /* Set while a GPU fills the counts: whose work it is. */
    const LumeqWork *work;
    void *pending;
    int valid; /* the counts are those of a frame */
};

/* What the parameters need counted of such an image. */
MeasureShape lumeq_measure_shape(const LumeqParams *params, const LumeqImage *image);

/* As much of an image as the shape tells: no planes. */
LumeqImage lumeq_shape_image(const MeasureShape *shape);

/* Bytes that the counts take, and where each of them lies in `memory`, which may be NULL. */
size_t lumeq_place_counts(LumeqCounts *counts, const MeasureShape *shape, void *memory);

/* One line, or column, of samples after the other, as bars_update() looks at them. */
void lumeq_profile_of(BarsProfile *profile, const LumeqMeasure *measure);

/* From bytes; `bad` where there is no such frame. */
MeasureShape lumeq_take_shape(ByteReader *r);

int lumeq_same_meter(const LumeqRect *a, const LumeqRect *b);

/* What is metered of such a frame, as bytes and back; `bad` where that cannot be. */
void lumeq_put_meter(ByteWriter *w, const LumeqRect *meter);
LumeqRect lumeq_take_meter(ByteReader *r, const MeasureShape *s);

/* Makes room for the counts of such a shape; the measure is not valid until they are filled.
 * MEMORY: it is what it was. */
int lumeq_measure_prepare(LumeqMeasure *measure, const MeasureShape *shape);

#endif
