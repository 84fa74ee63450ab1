/* Rectangles for tests of kernels: drawn on the host, with twins on the device. */
#ifndef LUMEQ_TESTS_KERNEL_CHECK_H
#define LUMEQ_TESTS_KERNEL_CHECK_H

#include "../equalizer/chroma_shape.h"
#include "equalizer/cuda/kernels.h"
#include "gpu_check.h"

#define GUARD 128
#define DEFAULT_CASES 2000
#define SMALL_WIDTHS 65 /* each of them with each content comes first */

static LumeqCudaDevice device;

enum { FLAT, TWO_LEVELS, RAMP, NOISE, NARROW_NOISE, CONTENTS };

static inline void fill(const CheckRect *rect, int content, CheckRandom *random)
{
    const int low = check_below(random, 256), high = check_below(random, 256);
    for (int y = 0; y < rect->height; y++)
        for (int x = 0; x < rect->width; x++) {
            const uint64_t hash = check_hash(random->seed, (uint64_t)y * 65536 + (uint64_t)x);
            const int codes[CONTENTS] = {low, hash & 1 ? low : high, x + y, (int)(hash & 255),
                                         low + (int)(hash & 7)};
            check_row(rect, y)[x] = (uint8_t)codes[content];
        }
}

static inline int have_gpu(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0)
        return OK(lumeq_cuda_prepare(&device, 0));
    check_skip("no GPU");
    return 0;
}

/* Size of a picture; strides and offsets of input and output, in samples. */
typedef struct Layout {
    int width, height, content;
    ptrdiff_t strides[2];
    int offsets[2];
} Layout;

/* A rectangle and its twin on the device, guards and all. */
typedef struct Plane {
    CheckRect rect;
    uint8_t *memory;
    LumeqCudaPlane device;
} Plane;

/* An input and an output picture, luma and chroma. */
typedef struct Pictures {
    char name[160];
    int size; /* of a sample */
    ChromaShape shape;
    Plane in[3], out[3];
} Pictures;

static inline void to_device(Plane *plane, int size)
{
    const CheckRect *rect = &plane->rect;
    OK(cudaMalloc((void **)&plane->memory, rect->size));
    OK(cudaMemcpy(plane->memory, rect->memory, rect->size, cudaMemcpyHostToDevice));
    plane->device = (LumeqCudaPlane){plane->memory + (rect->pixels - rect->memory), rect->stride,
                                     rect->width / size, rect->height};
}

static inline void close_plane(Plane *plane)
{
    check_rect_free(&plane->rect);
    OK(cudaFree(plane->memory));
}

static inline ptrdiff_t draw_stride(int width, CheckRandom *random)
{
    const ptrdiff_t aligned = (width + 15) / 16 * 16;
    const ptrdiff_t strides[] = {width, width + 1 + check_below(random, 40), aligned,
                                 aligned + 16 * check_below(random, 5)};
    const ptrdiff_t stride = strides[check_below(random, 4)];
    return check_below(random, 3) ? stride : -stride;
}

/* Half of the cases have a decoder's layout of chroma, for which the kernel has vectors. */
static inline void open_pictures(Pictures *p, const Layout *layout, int depth, CheckRandom *random)
{
    const int size = p->size = depth > 8 ? 2 : 1, aligned = check_below(random, 2);
    p->shape =
        (ChromaShape){check_below(random, 3), check_below(random, 3), check_below(random, 3)};
    snprintf(p->name, sizeof(p->name),
             "%dx%d, depth %d, strides %td %td, offsets %d %d, content %d, chroma %d/%d/%d",
             layout->width, layout->height, depth, layout->strides[0], layout->strides[1],
             layout->offsets[0], layout->offsets[1], layout->content, p->shape.planes, p->shape.x,
             p->shape.y);
    for (int i = 0; i <= p->shape.planes; i++) {
        const int row = i ? chroma_row(p->shape, layout->width) : layout->width;
        const int rows = i ? chroma_side(layout->height, p->shape.y) : layout->height;
        for (int k = 0; k < 2; k++) {
            ptrdiff_t stride = layout->strides[k];
            int offset = layout->offsets[k];
            if (i) {
                stride = aligned ? (row + 63) / 64 * 64 : draw_stride(row, random);
                offset = aligned ? 0 : check_below(random, 17);
            }
            (k ? p->out : p->in)[i].rect =
                check_rect(row * size, rows, stride * size, offset * size, GUARD);
        }
        fill(&p->in[i].rect, i == 1 ? NOISE : layout->content, random);
    }
}

static inline void pictures_to_device(Pictures *p)
{
    for (int i = 0; i <= p->shape.planes; i++) {
        to_device(&p->in[i], p->size);
        to_device(&p->out[i], p->size);
    }
}

static inline void close_pictures(Pictures *p)
{
    for (int i = 0; i <= p->shape.planes; i++) {
        close_plane(&p->in[i]);
        close_plane(&p->out[i]);
    }
}

static inline LumeqCudaChroma chroma_of(const Pictures *p)
{
    LumeqCudaChroma chroma = {.luma = p->in[0].device,
                              .planes = p->shape.planes,
                              .step = chroma_step(p->shape),
                              .width = chroma_side(p->in[0].device.width, p->shape.x),
                              .height = chroma_side(p->in[0].device.height, p->shape.y),
                              .sub_x = p->shape.x,
                              .sub_y = p->shape.y};
    for (int i = 0; i < p->shape.planes; i++) {
        chroma.in[i] = p->in[i + 1].device;
        chroma.out[i] = p->out[i + 1].device;
    }
    return chroma;
}

/* Scales the chroma that is expected. With tiles, or NULL for both. */
static inline void expect_chroma(const Pictures *p, const CheckRect expected[3],
                                 const LumeqKernels *kernels, const CurveTable *table,
                                 const CurveParams *params, const TileGrid *grid,
                                 const TileTables *tables)
{
    const CheckRect in[3] = {p->in[0].rect, p->in[1].rect, p->in[2].rect};
    if (!p->shape.planes)
        return;
    LumeqChromaRows rows = chroma_rows(p->shape, in, expected, p->size, 0, in[1].height);
    rows.grid = grid;
    rows.tables = tables;
    (p->size > 1 ? kernels->chroma16 : kernels->chroma8)(&rows, table, params);
}

static inline void open_expected(const Pictures *p, CheckRect expected[3])
{
    for (int i = 0; i <= p->shape.planes; i++) {
        const CheckRect *out = &p->out[i].rect;
        expected[i] = check_rect(out->width, out->height, out->stride, 0, GUARD);
    }
}

/* Copies the output from the device and compares it; frees the expected rectangles. */
static inline void compare_pictures(const Pictures *p, CheckRect expected[3])
{
    for (int i = 0; i <= p->shape.planes; i++) {
        const CheckRect *out = &p->out[i].rect;
        OK(cudaMemcpy(out->memory, p->out[i].memory, out->size, cudaMemcpyDeviceToHost));
        CHECK(check_rect_equal(out, &expected[i]), "%s: plane %d differs", p->name, i);
        CHECK(check_rect_intact(out), "%s: written outside of plane %d", p->name, i);
        check_rect_free(&expected[i]);
    }
}

typedef void CheckLayout(const Layout *layout, int depth, int number, CheckRandom *random);

/* Sizes of any kind. A depth lasts for a few cases, every other time 8. */
static inline void check_any(CheckLayout *check)
{
    static const int widths[] = {1,  2,  3,   5,   8,   15,  16,  17,  31,   32,   33,   47,  63,
                                 64, 65, 100, 127, 255, 256, 257, 640, 1000, 1919, 1920, 1921};
    static const int heights[] = {1, 2, 3, 7, 16, 65, 240, 701};
    static const int offsets[] = {0, 0, 0, 1, 3, 8, 15, 16, 17};
    for (int i = 0; i < cases_of(DEFAULT_CASES); i++) {
        CheckRandom random = check_random((uint64_t)i);
        Layout l = {.width = widths[check_below(&random, 25)],
                    .height = heights[check_below(&random, 8)],
                    .content = (i + i / SMALL_WIDTHS) % CONTENTS};
        if (i < SMALL_WIDTHS * CONTENTS)
            l.width = 1 + i * 37 % SMALL_WIDTHS;
        for (int k = 0; k < 2; k++) {
            l.strides[k] = draw_stride(l.width, &random);
            l.offsets[k] = offsets[check_below(&random, 9)];
        }
        check(&l, i / 8 % 2 ? 8 + i / 16 % 9 : 8, i, &random);
    }
}

/* More than the grid takes at once, aligned and not. */
static inline void check_large(CheckLayout *check)
{
    static const int sizes[][2] = {
        {3840, 2160}, {3839, 2161}, {7680, 4320}, {65535, 130}, {130, 65535}};
    static const int depths[] = {8, 10, 12, 16};
    for (int i = 0; i < 5 * CONTENTS * 4; i++) {
        const int *size = sizes[i / CONTENTS / 4], content = i % CONTENTS;
        const ptrdiff_t aligned = (size[0] + 63) / 64 * 64;
        const Layout layout = {
            size[0], size[1], content, {content % 2 ? size[0] : aligned, aligned}, {0, 0}};
        CheckRandom random = check_random(1000000 + (uint64_t)i);
        check(&layout, depths[i / CONTENTS % 4], 8 * i, &random);
    }
}

#endif
