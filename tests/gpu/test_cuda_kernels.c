/*
 * The CUDA kernels against the reference in C: the same counts and the same bits for any rectangle,
 * and nothing written outside of it. LUMEQ_TEST_CASES sets how many rectangles are drawn.
 */
#include "equalizer/cpu/bands.h"
#include "equalizer/cpu/bars_profile.h"
#include "equalizer/rule/curve.h"
#include "kernel_check.h"

static LumeqKernels kernels; /* in C */

static CurveParams draw_params(int depth, CheckRandom *random)
{
    const int full = check_below(random, 2), fraction = depth > 12 ? depth - 12 : 0;
    return (CurveParams){
        .depth = depth,
        .shift = depth > 8 && check_below(random, 2) ? check_below(random, 17 - depth) : 0,
        .bins = 1 << (depth - fraction),
        .fraction = fraction,
        .black = full ? 0 : 16 << (depth - 8),
        .white = full ? (1 << depth) - 1 : 235 << (depth - 8),
        .clip = check_below(random, 3) ? CURVE_ONE + (uint32_t)check_below(random, 600000) : 0,
        .alpha = CURVE_ONE,
        .strength = (uint32_t)check_below(random, CURVE_ONE + 1),
        .adaptive = check_below(random, 2),
        .stretch = check_below(random, 4) == 0,
        .chroma = check_below(random, 4) != 0,
        .dither = check_below(random, 2),
        .frame = (uint32_t)check_below(random, 1000),
    };
}

static CurveParams reference_params(void)
{
    return (CurveParams){.depth = 8,
                         .bins = REFERENCE_CODES,
                         .black = 16,
                         .white = 235,
                         .alpha = CURVE_ONE,
                         .strength = CURVE_ONE,
                         .reference = 1};
}

/* ---- counts -------------------------------------------------------------------------------- */

static int code_at(const CheckRect *rect, int x, int y, const CurveParams *p)
{
    const uint8_t *row = check_row(rect, y);
    return p->depth > 8 ? ((const uint16_t *)(const void *)row)[x] >> p->shift : row[x];
}

static void put_code(const CheckRect *rect, int x, int y, const CurveParams *p, int code)
{
    uint8_t *row = check_row(rect, y);
    if (p->depth > 8)
        ((uint16_t *)(void *)row)[x] = (uint16_t)(code << p->shift);
    else
        row[x] = (uint8_t)code;
}

/* Draws bars into a frame, with codes of its depth, and a frame before it, with less noise. */
static void draw_film(const Plane *now, const Plane *before, int width, const CurveParams *p,
                      CheckRandom *random)
{
    const int height = now->rect.height, most = 1 + check_below(random, 1 << (p->depth - 5));
    const int top = check_below(random, 2) ? height * check_below(random, 50) / 100 : 0;
    const int left = check_below(random, 3) ? 0 : width * check_below(random, 50) / 100;
    const int still = check_below(random, 4) == 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const uint64_t hash = check_hash(random->seed, (uint64_t)y * 65536 + (uint64_t)x);
            const int less = still ? 0 : (int)(hash % (uint64_t)most);
            int code = code_at(&now->rect, x, y, p) & ((1 << p->depth) - 1);
            if (y < top || y >= height - top || x < left || x >= width - left)
                code = 0;
            put_code(&now->rect, x, y, p, code);
            put_code(&before->rect, x, y, p, code > less ? code - less : 0);
        }
}

static LumeqCudaTally *tally, *counted; /* on the device and pinned */

static int open_counts(void)
{
    lumeq_kernels_c(&kernels);
    return have_gpu() && OK(cudaMalloc((void **)&tally, sizeof(*tally))) &&
           OK(cudaMemset(tally, 0, sizeof(*tally))) &&
           OK(cudaHostAlloc((void **)&counted, sizeof(*counted), 0));
}

static void close_counts(void)
{
    OK(cudaFree(tally));
    OK(cudaFreeHost(counted));
}

/* Compares the last kernel's lines and noise with the CPU's. */
static void compare_film(const Plane *now, const Plane *before, const BarsParams *bars,
                         const CurveParams *params, const char *name)
{
    static BarsProfile lines;
    const CheckRect *rect = &now->rect;
    const LumeqImage in = {.plane = {rect->pixels},
                           .stride = {rect->stride},
                           .width = bars->width,
                           .height = bars->height,
                           .depth = params->depth,
                           .shift = params->shift};
    if (!bars->ignore) {
        lumeq_profile_rows(bars, lines.lit[BARS_ROWS], rect->pixels, rect->stride, 0, in.height);
        lumeq_profile_columns(bars, lines.lit[BARS_COLUMNS], rect->pixels, rect->stride, 0,
                              in.width);
        CHECK(!memcmp(counted->lit[BARS_ROWS], lines.lit[BARS_ROWS], (size_t)in.height),
              "%s: the rows differ", name);
        CHECK(!memcmp(counted->lit[BARS_COLUMNS], lines.lit[BARS_COLUMNS], (size_t)in.width),
              "%s: the columns differ", name);
    }
    if (before) {
        NoiseProfile noise = {0};
        LumeqImage previous = in;
        previous.plane[0] = before->rect.pixels;
        previous.stride[0] = before->rect.stride;
        lumeq_noise_count(&noise, &kernels, &in, &previous, params, 0,
                          noise_rows(in.width, in.height).rows);
        CHECK(!memcmp(&counted->noise, &noise, sizeof(noise)), "%s: the noise differs", name);
    }
}

/* `before`: the previous frame; NULL: only the histogram is counted. Returns it in `hist`. */
static void check_counts(const Plane *now, const Plane *before, const CurveParams *params,
                         uint32_t *hist, CheckRandom *random, const char *name)
{
    static LumeqCudaTally left;
    const LumeqCudaPlane *luma = &now->device;
    const int size = params->depth > 8 ? 2 : 1, part = check_below(random, 3) == 0;
    const int with_before = before && check_below(random, 4);
    LumeqCudaCount count = {.counted = *luma,
                            .bars = {.width = luma->width,
                                     .height = luma->height,
                                     .depth = params->depth,
                                     .shift = params->shift,
                                     .range = check_below(random, 2),
                                     .ignore = check_below(random, 6) == 0},
                            .params = params,
                            .tally = tally,
                            .host = counted};
    if (before)
        count.luma = *luma;
    if (with_before)
        count.before = before->device;
    const int x = part ? check_below(random, luma->width) : 0;
    const int y = part ? check_below(random, luma->height) : 0;
    count.counted.data += y * luma->stride + x * size;
    count.counted.width -= x;
    count.counted.height -= y;
    memset(counted, 0x5A, sizeof(*counted));
    const LumeqCudaBatch one = lumeq_cuda_batch_of_one(params);
    OK(lumeq_cuda_counter(params->depth, params->bins)(&device, &count, &one, 0));
    OK(cudaMemcpy(&left, tally, sizeof(left), cudaMemcpyDeviceToHost));

    memset(hist, 0, LUMEQ_MAX_BINS * sizeof(*hist));
    (size > 1 ? kernels.histogram16 : kernels.histogram8)(hist, check_row(&now->rect, y) + x * size,
                                                          now->rect.stride, count.counted.width,
                                                          count.counted.height, params);
    CHECK(!memcmp(counted->hist, hist, (size_t)params->bins * sizeof(*hist)),
          "%s, from %d,%d: the histogram differs", name, x, y);
    if (before)
        compare_film(now, with_before ? before : NULL, &count.bars, params, name);
    int more = left.blocks_done != 0;
    for (int i = 0; i < LUMEQ_MAX_BINS; i++)
        more += left.hist[i] != 0;
    for (size_t i = 0; i < sizeof(left.noise) / sizeof(uint32_t); i++)
        more += ((const uint32_t *)&left.noise)[i] != 0;
    CHECK(!more, "%s: %d counts are left behind", name, more);
}

/* ---- curves -------------------------------------------------------------------------------- */

/* Makes the curve of a histogram on the host. */
static void make_curve(const CurveParams *params, const uint32_t *hist, CurveResult *result,
                       CurveTable *table)
{
    static CurveWork work;
    static const CurveResult none;
    curve_compute(params, hist, &none, result, table, &work);
}

static void expect(const Pictures *p, CheckRect expected[3], const CurveTable *table,
                   const CurveParams *params)
{
    LumeqApplyKernel *const nodes = p->size > 1 ? kernels.nodes16 : kernels.nodes8;
    LumeqApplyKernel *const codes = p->size > 1 ? kernels.apply16 : kernels.apply8;
    const CheckRect *in = &p->in[0].rect;
    open_expected(p, expected);
    (curve_has_nodes(params) ? nodes : codes)(expected->pixels, expected->stride, in->pixels,
                                              in->stride, in->width / p->size, in->height, 0, table,
                                              params);
    expect_chroma(p, expected, &kernels, table, params, NULL, NULL);
}

static void check_apply(const Pictures *p, const CurveParams *params, const uint32_t *hist)
{
    static CurveResult result;
    static CurveTable table;
    CurveTable *twin = NULL;
    CheckRect expected[3] = {{0}};
    const LumeqCudaChroma chroma = chroma_of(p);
    const LumeqCudaBatch one = lumeq_cuda_batch_of_one(params);
    make_curve(params, hist, &result, &table);
    OK(cudaMalloc((void **)&twin, sizeof(*twin)));
    OK(cudaMemcpy(twin, &table, sizeof(table), cudaMemcpyHostToDevice));
    OK(lumeq_cuda_apply(&device, &p->out[0].device, &p->in[0].device, twin, NULL, params, &one, 0));
    if (chroma.planes)
        OK(lumeq_cuda_chroma(&device, &chroma, twin, params, &one, 0));
    OK(cudaDeviceSynchronize());
    expect(p, expected, &table, params);
    compare_pictures(p, expected);
    OK(cudaFree(twin));
}

/* Memory of the reference's kernel besides samples. */
typedef struct Reference {
    LumeqCudaTally counters, host; /* the kernel writes either in device memory here */
    CurveTable table;
} Reference;

/* The second kernel starts before the first has ended. */
static void queue_reference(const Pictures *p, Reference *on_device, cudaStream_t stream)
{
    const CurveParams params = reference_params();
    const LumeqCudaBatch one = lumeq_cuda_batch_of_one(&params);
    OK(lumeq_cuda_reference(&device, &p->in[0].device, &params, &on_device->counters,
                            &on_device->host, &on_device->table, &one, stream));
    OK(lumeq_cuda_apply(&device, &p->out[0].device, &p->in[0].device, &on_device->table, NULL,
                        &params, &one, stream));
}

static void compare_reference(const Pictures *p, const Reference *on_device)
{
    static CurveResult result;
    static CurveTable table;
    static Reference got;
    static const LumeqCudaTally zero;
    uint32_t hist[REFERENCE_CODES] = {0};
    CheckRect expected[3] = {{0}};
    const CurveParams params = reference_params();
    const CheckRect *in = &p->in[0].rect;
    kernels.histogram8(hist, in->pixels, in->stride, in->width, in->height, &params);
    make_curve(&params, hist, &result, &table);
    OK(cudaMemcpy(&got, on_device, sizeof(got), cudaMemcpyDeviceToHost));
    for (int i = 0; i < REFERENCE_CODES; i++) {
        const CurveGain *gain = &got.table.gain[i], *right = &table.gain[i];
        CHECK(got.host.hist[i] == hist[i] && got.table.codes8[i] == table.codes8[i],
              "%s: code %d: count %u, output %d", p->name, i, got.host.hist[i],
              got.table.codes8[i]);
        CHECK(gain->gain == right->gain && gain->from == right->from && gain->to == right->to,
              "%s: the gain of code %d differs", p->name, i);
    }
    CHECK(!got.table.lift.luma_on && !got.table.lift.chroma_on, "%s: it is lifted", p->name);
    CHECK(!memcmp(&got.counters, &zero, sizeof(zero)), "%s: counts are left behind", p->name);
    Pictures gray = *p;
    gray.shape.planes = 0;
    expect(&gray, expected, &table, &params);
    compare_pictures(&gray, expected);
}

/* ---- cases --------------------------------------------------------------------------------- */

static Reference *open_reference(void)
{
    Reference *on_device = NULL;
    OK(cudaMalloc((void **)&on_device, sizeof(*on_device)));
    OK(cudaMemset(on_device, 0, sizeof(on_device->counters)));
    OK(cudaMemset(&on_device->host, 0x5A, sizeof(*on_device) - offsetof(Reference, host)));
    return on_device;
}

static void check_case(const Layout *layout, int depth, int number, CheckRandom *random)
{
    static uint32_t hist[LUMEQ_MAX_BINS];
    const CurveParams params = draw_params(depth, random);
    const int film = check_below(random, 2);
    Pictures p = {.size = 0};
    Plane before = {.memory = NULL};
    (void)number;
    open_pictures(&p, layout, depth, random);
    if (film) {
        before.rect = check_rect(p.in[0].rect.width, layout->height, p.out[0].rect.stride,
                                 check_below(random, 3) * p.size, GUARD);
        draw_film(&p.in[0], &before, layout->width, &params, random);
        to_device(&before, p.size);
    }
    pictures_to_device(&p);
    check_counts(&p.in[0], film ? &before : NULL, &params, hist, random, p.name);
    check_apply(&p, &params, hist);
    if (depth == 8) {
        Reference *reference = open_reference();
        queue_reference(&p, reference, 0);
        OK(cudaDeviceSynchronize());
        compare_reference(&p, reference);
        OK(cudaFree(reference));
    }
    close_plane(&before);
    close_pictures(&p);
}

TEST_IF(rectangles, open_counts())
{
    check_any(check_case);
    close_counts();
}

TEST_IF(large, open_counts())
{
    check_large(check_case);
    close_counts();
}

/* Frames of the reference in a graph, where kernels do start early, several times. */
TEST_IF(in_a_row, open_counts())
{
    enum { FRAMES = 24, REPLAYS = 3 };
    static const int sizes[][2] = {{16, 1}, {64, 48}, {641, 361}, {1920, 1080}};
    static Pictures p[FRAMES];
    Reference *on_device[FRAMES];
    for (int i = 0; i < 4 && i < cases_of(4); i++) {
        CheckRandom random = check_random(2000000 + (uint64_t)i);
        cudaStream_t stream = NULL;
        cudaGraph_t graph = NULL;
        cudaGraphExec_t executable = NULL;
        OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        for (int k = 0; k < FRAMES; k++) {
            const int width = sizes[i][0];
            const Layout layout = {
                width, sizes[i][1], check_below(&random, CONTENTS), {width, width}, {0, 0}};
            open_pictures(&p[k], &layout, 8, &random);
            pictures_to_device(&p[k]);
            on_device[k] = open_reference();
        }
        OK(cudaDeviceSynchronize()); /* the stream does not wait for memsets and copies */
        OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        for (int k = 0; k < FRAMES; k++)
            queue_reference(&p[k], on_device[k], stream);
        OK(cudaStreamEndCapture(stream, &graph));
        OK(cudaGraphInstantiate(&executable, graph, 0));
        for (int k = 0; k < REPLAYS; k++)
            OK(cudaGraphLaunch(executable, stream));
        OK(cudaStreamSynchronize(stream));
        for (int k = 0; k < FRAMES; k++) {
            compare_reference(&p[k], on_device[k]);
            close_pictures(&p[k]);
            OK(cudaFree(on_device[k]));
        }
        OK(cudaGraphExecDestroy(executable));
        OK(cudaGraphDestroy(graph));
        OK(cudaStreamDestroy(stream));
    }
    close_counts();
}

TEST_MAIN
