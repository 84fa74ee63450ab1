/*
 * Mode CLAHE on the GPU against the reference in C: the same bits for any rectangle and tiles, from
 * the whole picture's histogram to the samples, and nothing written outside. LUMEQ_TEST_CASES sets
 * how many rectangles are drawn.
 */
#include <stdlib.h>

#include "../clahe_frame.h"
#include "../equalizer/chroma_shape.h"
#include "equalizer/cuda/clahe_kernels.h"
#include "gpu_check.h"

#define DEFAULT_CASES 2000
#define SMALL_WIDTHS 65 /* each of them with each content comes first */

/* Memory of the kernels besides samples. */
typedef struct Memory {
    LumeqCudaCounters counters;
    TileCounters tile_counters;
    CurveResult before, result;
    TileResult tiles_before, tiles;
    CurveTable table;
    TileTables tables;
} Memory;

static Memory memory, *on_device;

static int have_gpu(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        check_skip("no GPU");
        return 0;
    }
    memset(&memory, 0, sizeof(memory));
    return OK(lumeq_cuda_prepare(&device, 0)) && OK(lumeq_cuda_load_clahe_histogram()) &&
           OK(lumeq_cuda_load_clahe_apply()) && OK(lumeq_cuda_load_chroma()) &&
           OK(cudaMalloc((void **)&on_device, sizeof(*on_device)));
}

static ClaheSettings draw_settings(int depth, int case_number, CheckRandom *random)
{
    static const int tiles[][2] = {{8, 8}, {1, 1}, {16, 16}, {3, 5}, {1, 16}, {2, 1}};
    const int most_shift = 16 - depth;
    const int shift = depth > 8 && check_below(random, 2) ? most_shift : 0; /* P010 and the like */
    ClaheSettings s = {clahe_curve(depth, shift, check_below(random, 2)),
                       1 + check_below(random, 16), 1 + check_below(random, 16), 0};
    if (case_number / 8 % 3) { /* so that the history lasts for a few cases */
        s.tiles_x = tiles[case_number / 8 % 6][0];
        s.tiles_y = tiles[case_number / 8 % 6][1];
    }
    s.clip = check_below(random, 4) ? check_below(random, 4000) / 100.0 : 0;
    s.curve.clip = check_below(random, 3) ? CURVE_ONE + (uint32_t)check_below(random, 600000) : 0;
    s.curve.alpha = 1 + (uint32_t)check_below(random, CURVE_ONE);
    s.curve.strength = (uint32_t)check_below(random, CURVE_ONE + 1);
    s.curve.adaptive = check_below(random, 2);
    s.curve.scene_cut = check_below(random, 2);
    s.curve.dither = check_below(random, 2);
    s.curve.frame = (uint32_t)check_below(random, 1000);
    s.curve.reference = depth == 8 && check_below(random, 4) == 0;
    s.curve.chroma = !s.curve.reference && check_below(random, 4);
    return s;
}

/* A rectangle's twin on the device, guards and all. */
typedef struct DeviceRect {
    uint8_t *memory;
    LumeqCudaPlane plane;
} DeviceRect;

static DeviceRect to_device(const CheckRect *rect, int sample_size)
{
    DeviceRect twin = {0};
    OK(cudaMalloc((void **)&twin.memory, rect->size));
    OK(cudaMemcpy(twin.memory, rect->memory, rect->size, cudaMemcpyHostToDevice));
    twin.plane = (LumeqCudaPlane){twin.memory + (rect->pixels - rect->memory), rect->stride,
                                  rect->width / sample_size, rect->height};
    return twin;
}

/* A picture that is read and one that is written: luma and chroma. */
typedef struct Pictures {
    ChromaShape shape;
    CheckRect src[3], dst[3];
} Pictures;

static void launch_chroma(const Pictures *p, const DeviceRect *in, const DeviceRect *out,
                          const ClaheSettings *settings, const TileGrid *grid)
{
    LumeqCudaChroma chroma = {.luma = in[0].plane,
                              .planes = p->shape.planes,
                              .step = chroma_step(p->shape),
                              .width = chroma_side(in[0].plane.width, p->shape.x),
                              .height = chroma_side(in[0].plane.height, p->shape.y),
                              .sub_x = p->shape.x,
                              .sub_y = p->shape.y,
                              .grid = grid,
                              .tables = &on_device->tables};
    for (int i = 0; i < p->shape.planes; i++) {
        chroma.in[i] = in[i + 1].plane;
        chroma.out[i] = out[i + 1].plane;
    }
    const LumeqCudaBatch one = lumeq_cuda_batch_of_one(&settings->curve, 0);
    OK(lumeq_cuda_chroma(&device, &chroma, &on_device->table, &settings->curve, &one, 0));
}

/* Queues all kernels like the backend does. */
static void launch(const Pictures *p, const DeviceRect *in, const DeviceRect *out,
                   const ClaheSettings *settings, const TileGrid *grid)
{
    const CurveParams *curve = &settings->curve;
    LumeqCudaHistogram *const histogram =
        curve->depth > 8 ? lumeq_cuda_histogram16 : lumeq_cuda_histogram8;
    const LumeqCudaCurve made = {&on_device->result, &on_device->table, &on_device->counters, NULL};
    const LumeqCudaBatch one = lumeq_cuda_batch_of_one(curve, 0);
    OK(histogram(&device, &in[0].plane, curve, &on_device->before, &made, NULL, &one, 0));
    OK(lumeq_cuda_clahe_histogram(&device, &in[0].plane, grid, &on_device->result,
                                  &on_device->tiles_before, &on_device->tiles, &on_device->tables,
                                  &on_device->tile_counters, &one, 0));
    OK(lumeq_cuda_clahe_apply(&device, &out[0].plane, &in[0].plane, grid, &on_device->tables,
                              &on_device->result.bars, &one, 0));
    if (p->shape.planes)
        launch_chroma(p, in, out, settings, grid);
    OK(cudaDeviceSynchronize());
}

static void run(const Pictures *p, const ClaheSettings *settings, const TileGrid *grid)
{
    DeviceRect in[3], out[3];
    for (int i = 0; i <= p->shape.planes; i++) {
        in[i] = to_device(&p->src[i], clahe_sample_size(&settings->curve));
        out[i] = to_device(&p->dst[i], clahe_sample_size(&settings->curve));
    }
    memset(&memory.counters, 0, sizeof(memory.counters));
    memset(&memory.tile_counters, 0, sizeof(memory.tile_counters));
    memset(&memory.result, 0x5A, sizeof(memory.result));
    memset(&memory.tiles, 0x5A, sizeof(memory.tiles));
    memset(&memory.table, 0x5A, sizeof(memory.table));
    memset(&memory.tables, 0x5A, sizeof(memory.tables));
    memset(&memory.result.bars, 0, sizeof(memory.result.bars));
    OK(cudaMemcpy(on_device, &memory, sizeof(memory), cudaMemcpyHostToDevice));
    launch(p, in, out, settings, grid);
    OK(cudaMemcpy(&memory, on_device, sizeof(memory), cudaMemcpyDeviceToHost));
    for (int i = 0; i <= p->shape.planes; i++) {
        OK(cudaMemcpy(p->dst[i].memory, out[i].memory, p->dst[i].size, cudaMemcpyDeviceToHost));
        OK(cudaFree(in[i].memory));
        OK(cudaFree(out[i].memory));
    }
}

static void compare_tables(const TileGrid *grid, const TileTables *expected, const char *name)
{
    /* 8 bits end with the last cell. */
    const size_t nodes = TILE_CELLS + (grid->curve.depth > 8);
    for (int tile = 0; tile < tile_count(grid); tile++)
        CHECK(!memcmp(memory.tables.nodes[tile], expected->nodes[tile], nodes * sizeof(uint32_t)),
              "%s: the table of tile %d differs", name, tile);
}

static void expect_chroma(const Pictures *p, const CheckRect *expected, const CurveParams *curve,
                          const TileGrid *grid, const TileTables *tables)
{
    static const CurveTable none;
    LumeqKernels kernels;
    lumeq_kernels_c(&kernels);
    LumeqChromaRows rows =
        chroma_rows(p->shape, p->src, expected, clahe_sample_size(curve), 0, p->src[1].height);
    rows.grid = grid;
    rows.tables = tables;
    (curve->depth > 8 ? kernels.chroma16 : kernels.chroma8)(&rows, &none, curve);
}

static void compare_pictures(const Pictures *p, const CurveParams *curve, const TileGrid *grid,
                             const ClaheWork *work, const char *name)
{
    CheckRect expected[3] = {{0}};
    for (int i = 0; i <= p->shape.planes; i++)
        expected[i] = check_rect(p->dst[i].width, p->dst[i].height, p->dst[i].stride, 0, GUARD);
    clahe_apply(grid, &p->src[0], &expected[0], work);
    if (p->shape.planes)
        expect_chroma(p, expected, curve, grid, &work->tables);
    for (int i = 0; i <= p->shape.planes; i++) {
        CHECK(check_rect_equal(&p->dst[i], &expected[i]), "%s: plane %d differs", name, i);
        CHECK(check_rect_intact(&p->dst[i]), "%s: written outside of plane %d", name, i);
        check_rect_free(&expected[i]);
    }
}

static void compare(const Pictures *p, const ClaheSettings *settings, const TileGrid *grid,
                    const char *name)
{
    static CurveResult result;
    static CurveTable table;
    static TileResult tiles;
    static ClaheWork work;
    static const TileCounters zero;
    clahe_global(&p->src[0], &settings->curve, &memory.before, &result, &table);
    clahe_tiles(grid, &p->src[0], &result, &memory.tiles_before, &tiles, &work);
    compare_pictures(p, &settings->curve, grid, &work, name);
    CHECK(memory.result.alpha == result.alpha && memory.result.strength == result.strength &&
              memory.result.blank == result.blank,
          "%s: the frame's alpha is %u, its strength %u, blank %u", name, memory.result.alpha,
          memory.result.strength, memory.result.blank);
    CHECK(!memcmp(&memory.tiles, &tiles, offsetof(TileResult, hist_out)), "%s: the header differs",
          name);
    CHECK(!memcmp(memory.tiles.hist_out, tiles.hist_out, sizeof(tiles.hist_out)),
          "%s: the histogram of the output differs", name);
    CHECK(!memcmp(memory.tiles.curve_sum, tiles.curve_sum, sizeof(tiles.curve_sum)),
          "%s: the sum of curves differs", name);
    CHECK(!memcmp(&memory.tiles, &tiles, tile_result_size(grid)), "%s: the history differs", name);
    compare_tables(grid, &work.tables, name);
    CHECK(!memcmp(&memory.tile_counters, &zero, sizeof(zero)), "%s: counters are left behind",
          name);
}

static ptrdiff_t draw_stride(int width, CheckRandom *random)
{
    const ptrdiff_t aligned = (width + 15) / 16 * 16;
    const ptrdiff_t strides[] = {width, width + 1 + check_below(random, 40), aligned,
                                 aligned + 16 * check_below(random, 5)};
    const ptrdiff_t stride = strides[check_below(random, 4)];
    return check_below(random, 3) ? stride : -stride;
}

/* Half of the cases have a decoder's layout, for which the kernel has vectors. */
static void open_chroma(Pictures *p, int width, int height, int size, CheckRandom *random)
{
    const int aligned = check_below(random, 2);
    const int row = chroma_row(p->shape, width), rows = chroma_side(height, p->shape.y);
    for (int i = 1; i <= p->shape.planes; i++) {
        CheckRect *const rects[2] = {&p->src[i], &p->dst[i]};
        for (int k = 0; k < 2; k++) {
            const ptrdiff_t stride = aligned ? (row + 63) / 64 * 64 : draw_stride(row, random);
            const int offset = aligned ? 0 : check_below(random, 17);
            *rects[k] = check_rect(row * size, rows, stride * size, offset * size, GUARD);
        }
        fill(&p->src[i], NOISE, random);
    }
}

static void close_pictures(Pictures *p)
{
    for (int i = 0; i < 3; i++) {
        check_rect_free(&p->src[i]);
        check_rect_free(&p->dst[i]);
    }
}

/* Sizes, strides and offsets are in samples. */
static void check_case(int width, int height, const ptrdiff_t strides[2], const int offsets[2],
                       int content, const ClaheSettings *settings, CheckRandom *random)
{
    char name[200];
    const CurveParams *curve = &settings->curve;
    const int size = clahe_sample_size(curve);
    Pictures p = {
        .shape = {check_below(random, 3), check_below(random, 3), check_below(random, 3)}};
    snprintf(name, sizeof(name),
             "%dx%d, depth %d+%d, %dx%d tiles, strides %td %td, offsets %d %d, content %d, chroma "
             "%d/%d/%d%s%s",
             width, height, curve->depth, curve->shift, settings->tiles_x, settings->tiles_y,
             strides[0], strides[1], offsets[0], offsets[1], content, p.shape.planes, p.shape.x,
             p.shape.y, curve->dither ? ", dither" : "", curve->reference ? ", reference" : "");
    p.src[0] = check_rect(width * size, height, strides[0] * size, offsets[0] * size, GUARD);
    p.dst[0] = check_rect(width * size, height, strides[1] * size, offsets[1] * size, GUARD);
    fill(&p.src[0], content, random);
    open_chroma(&p, width, height, size, random);
    const TileGrid grid = clahe_grid(settings, &p.src[0]);
    run(&p, settings, &grid);
    compare(&p, settings, &grid, name);
    memory.before = memory.result; /* history of the next case */
    memory.tiles_before = memory.tiles;
    if (check_below(random, 8) == 0) {
        memset(&memory.before, 0, sizeof(memory.before));
        memset(&memory.tiles_before, 0, sizeof(memory.tiles_before));
    }
    close_pictures(&p);
}

/* A depth lasts for a few cases, every other time 8. */
static int depth_of(int number)
{
    static const int depths[] = {10, 12, 16, 9, 10, 14, 11};
    return number / 8 % 2 ? depths[number / 16 % 7] : 8;
}

TEST(rectangles)
{
    static const int widths[] = {1,  2,  3,   5,   8,   15,  16,  17,  31,   32,   33,   47,  63,
                                 64, 65, 100, 127, 255, 256, 257, 640, 1000, 1919, 1920, 1921};
    static const int heights[] = {1, 2, 3, 7, 16, 65, 240, 701};
    static const int offsets[] = {0, 0, 0, 1, 3, 8, 15, 16, 17};
    if (!have_gpu())
        return;
    const char *wanted = getenv("LUMEQ_TEST_CASES");
    const int cases = wanted ? atoi(wanted) : DEFAULT_CASES;
    for (int i = 0; i < cases; i++) {
        CheckRandom random = check_random((uint64_t)i);
        const int drawn = widths[check_below(&random, (int)(sizeof(widths) / sizeof(*widths)))];
        const int width = i < SMALL_WIDTHS * CONTENTS ? 1 + i * 37 % SMALL_WIDTHS : drawn;
        const int content = (i + i / SMALL_WIDTHS) % CONTENTS;
        const int height = heights[check_below(&random, (int)(sizeof(heights) / sizeof(*heights)))];
        const ptrdiff_t strides[2] = {draw_stride(width, &random), draw_stride(width, &random)};
        const int starts[2] = {offsets[check_below(&random, 9)], offsets[check_below(&random, 9)]};
        const ClaheSettings settings = draw_settings(depth_of(i), i, &random);
        check_case(width, height, strides, starts, content, &settings, &random);
    }
    OK(cudaFree(on_device));
}

/* Many blocks, aligned and not. */
TEST(large)
{
    static const int sizes[][2] = {
        {3840, 2160}, {3839, 2161}, {7680, 4320}, {65535, 130}, {130, 65535}};
    if (!have_gpu())
        return;
    for (int i = 0; i < (int)(sizeof(sizes) / sizeof(*sizes)); i++)
        for (int k = 0; k < CONTENTS * 4; k++) {
            static const int depths[] = {8, 10, 12, 16};
            const int content = k % CONTENTS;
            CheckRandom random = check_random(1000000 + (uint64_t)(i * CONTENTS * 4 + k));
            const ptrdiff_t aligned = (sizes[i][0] + 63) / 64 * 64;
            const ptrdiff_t strides[2] = {content % 2 ? sizes[i][0] : aligned, aligned};
            const ClaheSettings settings = draw_settings(depths[k / CONTENTS], 8 * k, &random);
            check_case(sizes[i][0], sizes[i][1], strides, (int[2]){0, 0}, content, &settings,
                       &random);
        }
    OK(cudaFree(on_device));
}

TEST_MAIN
