/* The layout of chroma planes. */
#ifndef LUMEQ_TESTS_CHROMA_SHAPE_H
#define LUMEQ_TESTS_CHROMA_SHAPE_H

#include "../check.h"
#include "equalizer/cpu/kernels.h"
#include "lumeq/lumeq.h"

/* The number of chroma planes, and their subsampling as in LumeqImage. */
typedef struct ChromaShape {
    int planes, x, y;
} ChromaShape;

static inline int chroma_step(ChromaShape shape)
{
    return shape.planes == 1 ? 2 : 1;
}

/* Converts the length of a side from luma pixels to chroma pixels. */
static inline int chroma_side(int luma, int log2)
{
    return (luma + (1 << log2) - 1) >> log2;
}

/* Samples in a row of a chroma plane. */
static inline int chroma_row(ChromaShape shape, int luma_width)
{
    return chroma_side(luma_width, shape.x) * chroma_step(shape);
}

/* The index in LumeqImage.plane of component 0 (Cb) or 1 (Cr). */
static inline int chroma_plane(ChromaShape shape, int component)
{
    return shape.planes == 1 ? 1 : 1 + component;
}

/* The index of pixel x's component 0 or 1 in a row of its plane. */
static inline int chroma_column(ChromaShape shape, int component, int x)
{
    return x * chroma_step(shape) + (shape.planes == 1 ? component : 0);
}

/* Describes chroma rows `y` to `end` - 1 of two pictures for the kernels, without tiles. `size`:
 * bytes of a sample. */
static inline LumeqChromaRows chroma_rows(ChromaShape shape, const CheckRect *in,
                                          const CheckRect *out, int size, int y, int end)
{
    LumeqChromaRows rows = {.luma = check_row(&in[0], y << shape.y),
                            .luma_stride = in[0].stride,
                            .luma_width = in[0].width / size,
                            .luma_height = in[0].height - (y << shape.y),
                            .sub_x = shape.x,
                            .sub_y = shape.y,
                            .step = chroma_step(shape),
                            .out_step = chroma_step(shape),
                            .height = end - y,
                            .y = y};
    for (int i = 0; i < 2; i++) {
        const int plane = chroma_plane(shape, i), at = chroma_column(shape, i, 0) * size;
        rows.dst[i] = check_row(&out[plane], y) + at;
        rows.src[i] = check_row(&in[plane], y) + at;
        rows.dst_stride[i] = out[plane].stride;
        rows.src_stride[i] = in[plane].stride;
    }
    return rows;
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
