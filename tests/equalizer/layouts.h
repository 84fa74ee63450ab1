/* Reads and writes single samples of pictures in any layout. A code is a sample's value. */
#ifndef LUMEQ_TESTS_LAYOUTS_H
#define LUMEQ_TESTS_LAYOUTS_H

#include "../check.h"
#include "lumeq/lumeq.h"

typedef enum Layout {
    LAYOUT_GRAY,
    LAYOUT_PLANAR,
    LAYOUT_PAIRS, /* interleaved Cb and Cr, as in NV12 and P010 */
    LAYOUTS,
} Layout;

/* Each plane is exactly as large as its samples, so that AddressSanitizer finds overruns. */
static inline void *layout_plane(ptrdiff_t stride, int height)
{
    void *memory = malloc((size_t)stride * (size_t)height);
    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    memset(memory, 0xA5, (size_t)stride * (size_t)height);
    return memory;
}

static inline int layout_width(const LumeqImage *image, int component)
{
    return component ? (image->width + (1 << image->chroma_x) - 1) >> image->chroma_x
                     : image->width;
}

static inline int layout_height(const LumeqImage *image, int component)
{
    return component ? (image->height + (1 << image->chroma_y) - 1) >> image->chroma_y
                     : image->height;
}

/* Allocates an image's planes; free them with layout_free(). */
static inline void layout_alloc(LumeqImage *image, Layout layout)
{
    const int size = image->depth > 8 ? 2 : 1;
    const int planes = layout == LAYOUT_GRAY ? 1 : layout == LAYOUT_PAIRS ? 2 : 3;
    for (int i = 0; i < 3; i++) {
        const int step = i && layout == LAYOUT_PAIRS ? 2 : 1;
        image->plane[i] = NULL;
        image->stride[i] = 0;
        if (i >= planes)
            continue;
        image->stride[i] = (ptrdiff_t)layout_width(image, i) * step * size;
        image->plane[i] = layout_plane(image->stride[i], layout_height(image, i));
    }
}

static inline void layout_free(LumeqImage *image)
{
    for (int i = 0; i < 3; i++) {
        free(image->plane[i]);
        image->plane[i] = NULL;
    }
}

static inline int layout_components(const LumeqImage *image)
{
    return image->plane[1] ? 3 : 1;
}

static inline uint8_t *layout_sample(const LumeqImage *image, int component, int x, int y)
{
    const int size = image->depth > 8 ? 2 : 1, pairs = component && !image->plane[2];
    const int plane = pairs ? 1 : component;
    const int column = pairs ? 2 * x + component - 1 : x;
    return (uint8_t *)image->plane[plane] + y * image->stride[plane] + (ptrdiff_t)column * size;
}

/* Returns a sample as stored: if its code is shifted up, the bits below the code are included. */
CHECK_NOT_INSTRUMENTED static inline int layout_get(const LumeqImage *image, int component, int x,
                                                    int y)
{
    const uint8_t *at = layout_sample(image, component, x, y);
    return image->depth > 8 ? at[0] | at[1] << 8 : at[0];
}

CHECK_NOT_INSTRUMENTED static inline void layout_put(const LumeqImage *image, int component, int x,
                                                     int y, int code)
{
    uint8_t *at = layout_sample(image, component, x, y);
    const int sample = code << image->shift;
    at[0] = (uint8_t)sample;
    if (image->depth > 8)
        at[1] = (uint8_t)(sample >> 8);
}

/* Counts samples whose codes differ, and samples of `a` with bits below the code. */
CHECK_NOT_INSTRUMENTED static inline int layout_differences(const LumeqImage *a,
                                                            const LumeqImage *b)
{
    int count = 0;
    for (int c = 0; c < layout_components(a) && c < layout_components(b); c++)
        for (int y = 0; y < layout_height(a, c); y++)
            for (int x = 0; x < layout_width(a, c); x++)
                count += layout_get(a, c, x, y) >> a->shift != layout_get(b, c, x, y) >> b->shift ||
                         (layout_get(a, c, x, y) & ((1 << a->shift) - 1));
    return count;
}

#endif
