/* How chroma planes lie beside luma. */
#ifndef LUMEQ_TESTS_CHROMA_SHAPE_H
#define LUMEQ_TESTS_CHROMA_SHAPE_H

#include "../check.h"
#include "lumeq/lumeq.h"

/* How many chroma planes there are, and over how much of luma they lie, as in LumeqImage. */
typedef struct ChromaShape {
    int planes, x, y;
} ChromaShape;

static inline int chroma_step(ChromaShape shape)
{
    return shape.planes == 1 ? 2 : 1;
}

/* In pixels of chroma, of a side of luma's. */
static inline int chroma_side(int luma, int log2)
{
    return (luma + (1 << log2) - 1) >> log2;
}

/* Samples in a row of a chroma plane. */
static inline int chroma_row(ChromaShape shape, int luma_width)
{
    return chroma_side(luma_width, shape.x) * chroma_step(shape);
}

static inline void set_chroma(LumeqImage *image, ChromaShape shape, const CheckRect *planes)
{
    image->chroma_x = shape.x;
    image->chroma_y = shape.y;
    for (int i = 0; i < shape.planes; i++) {
        image->plane[i + 1] = planes[i].pixels;
        image->stride[i + 1] = planes[i].stride;
    }
}

#endif
