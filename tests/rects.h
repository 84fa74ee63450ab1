/* Tests whether a rectangle contains or overlaps another. */
#ifndef LUMEQ_TESTS_RECTS_H
#define LUMEQ_TESTS_RECTS_H

#include "panel/canvas.h"

static inline int is_inside(Rect inner, Rect outer)
{
    return inner.x >= outer.x && inner.y >= outer.y &&
           inner.x + inner.width <= outer.x + outer.width &&
           inner.y + inner.height <= outer.y + outer.height;
}

static inline int overlap(Rect a, Rect b)
{
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height &&
           b.y < a.y + a.height;
}

#endif
