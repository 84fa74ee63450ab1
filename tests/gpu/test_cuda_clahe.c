/*
 * Mode CLAHE on the GPU against the reference in C: the same counts and the same bits for any
 * rectangle and tiles, and nothing written outside. LUMEQ_TEST_CASES sets how many rectangles are
 * drawn.
 */
#include "../clahe_frame.h"
#include "equalizer/cuda/clahe_kernels.h"
#include "kernel_check.h"

/* Memory of the kernels besides samples. */
typedef struct Memory {
    TileCounters counters;
    uint32_t hist[TILES_MAX][TILE_CELLS], padding[TILES_MAX][TILE_CELLS];
    TileSums sums;
    TileTables tables;
    CurveTable table; /* unused with tiles */
} Memory;

static Memory memory, *on_device;
static LumeqKernels kernels; /* in C */

static int open_memory(void)
{
    lumeq_kernels_c(&kernels);
    return have_gpu() && OK(cudaMalloc((void **)&on_device, sizeof(*on_device)));
}

static ClaheSettings draw_settings(int depth, int number, CheckRandom *random)
{
    static const int tiles[][2] = {{8, 8}, {1, 1}, {16, 16}, {3, 5}, {1, 16}, {2, 1}};
    const int shift = depth > 8 && check_below(random, 2) ? 16 - depth : 0; /* P010 and the like */
    ClaheSettings s = {clahe_curve(depth, shift, check_below(random, 2)),
                       1 + check_below(random, 16), 1 + check_below(random, 16), 0};
    if (number / 8 % 3) {
        s.tiles_x = tiles[number / 8 % 6][0];
        s.tiles_y = tiles[number / 8 % 6][1];
    }
    s.clip = check_below(random, 4) ? check_below(random, 4000) / 100.0 : 0;
    s.curve.clip = check_below(random, 3) ? CURVE_ONE + (uint32_t)check_below(random, 600000) : 0;
    s.curve.dither = check_below(random, 2);
    s.curve.frame = (uint32_t)check_below(random, 1000);
    s.curve.reference = depth == 8 && check_below(random, 3) == 0;
    s.curve.chroma = !s.curve.reference && check_below(random, 4);
    return s;
}

static void check_counts(const Pictures *p, const TileGrid *grid)
{
    static uint32_t hist[TILE_CELLS], padding[TILE_CELLS];
    const CheckRect *in = &p->in[0].rect;
    OK(lumeq_cuda_clahe_counts(&device, &p->in[0].device, grid, on_device->hist, on_device->padding,
                               0));
    OK(cudaMemcpy(&memory, on_device, sizeof(memory), cudaMemcpyDeviceToHost));
    for (int tile = 0; tile < tile_count(grid); tile++) {
        memset(hist, 0, sizeof(hist));
        memset(padding, 0, sizeof(padding));
        lumeq_clahe_count(grid, tile, &kernels, in->pixels, in->stride, hist,
                          grid->curve.reference ? padding : NULL);
        CHECK(!memcmp(memory.hist[tile], hist, sizeof(hist)) &&
                  !memcmp(memory.padding[tile], padding, sizeof(padding)),
              "%s: the counts of tile %d differ", p->name, tile);
    }
}

/* Compares the results of the reference's kernel. */
static void compare_reference(const Pictures *p, const TileGrid *grid, const TileResult *result,
                              const TileTables *tables)
{
    static const TileCounters zero;
    OK(cudaMemcpy(&memory, on_device, sizeof(memory), cudaMemcpyDeviceToHost));
    CHECK(!memcmp(&memory.sums, &result->sums, sizeof(memory.sums)), "%s: the sums differ",
          p->name);
    CHECK(!memcmp(&memory.tables.inside, &tables->inside, offsetof(TileInside, unused)),
          "%s: the active tiles differ", p->name);
    for (int tile = 0; tile < tile_count(grid); tile++) /* 8 bits end with the last cell */
        CHECK(
            !memcmp(memory.tables.nodes[tile], tables->nodes[tile], TILE_CELLS * sizeof(uint32_t)),
            "%s: the table of tile %d differs", p->name, tile);
    CHECK(!memcmp(&memory.counters, &zero, sizeof(zero)), "%s: counts are left behind", p->name);
}

static void check_case(const Layout *layout, int depth, int number, CheckRandom *random)
{
    static TileTables tables;
    static TileResult result;
    static const TileResult none;
    static const CurveTable no_table;
    CheckRect expected[3] = {{0}};
    Pictures p = {.size = 0};
    const ClaheSettings settings = draw_settings(depth, number, random);
    const CurveParams *curve = &settings.curve;
    const LumeqCudaBatch one = lumeq_cuda_batch_of_one(curve);
    open_pictures(&p, layout, depth, random);
    const TileGrid grid = clahe_grid(&settings, &p.in[0].rect);
    CurveResult *const frame = clahe_frame(CURVE_ONE, (uint32_t)check_below(random, CURVE_ONE + 1));
    frame->bars = (BarsState){.active = {0, 0, layout->width, layout->height}};
    memset(&result, 0, sizeof(result));
    clahe_tiles(&grid, &p.in[0].rect, frame, &none, &result, &tables);

    const TileInside inside = tile_inside(&grid, &frame->bars);
    pictures_to_device(&p);
    memset(&memory, 0, sizeof(memory));
    if (curve->reference)
        memset(&memory.sums, 0x5A, sizeof(memory.sums));
    else
        memory.tables = tables;
    OK(cudaMemcpy(on_device, &memory, sizeof(memory), cudaMemcpyHostToDevice));
    check_counts(&p, &grid);
    if (curve->reference) /* the next kernel starts before it has ended */
        OK(lumeq_cuda_clahe_reference(&device, &p.in[0].device, &grid, &inside, &on_device->sums,
                                      &on_device->tables, &on_device->counters, &one, 0));
    OK(lumeq_cuda_clahe_apply(&device, &p.out[0].device, &p.in[0].device, &grid, &on_device->tables,
                              NULL, &one, 0));
    LumeqCudaChroma chroma = chroma_of(&p);
    chroma.grid = &grid;
    chroma.tables = &on_device->tables;
    if (chroma.planes)
        OK(lumeq_cuda_chroma(&device, &chroma, &on_device->table, curve, &one, 0));
    OK(cudaDeviceSynchronize());
    if (curve->reference)
        compare_reference(&p, &grid, &result, &tables);
    open_expected(&p, expected);
    clahe_apply(&grid, &p.in[0].rect, &expected[0], &tables);
    expect_chroma(&p, expected, &kernels, &no_table, curve, &grid, &tables);
    compare_pictures(&p, expected);
    close_pictures(&p);
}

TEST_IF(rectangles, open_memory())
{
    check_any(check_case);
    OK(cudaFree(on_device));
}

TEST_IF(large, open_memory())
{
    check_large(check_case);
    OK(cudaFree(on_device));
}

TEST_MAIN
