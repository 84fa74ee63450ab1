/* CUDA kernels that are queued back to back, and start before the previous one has ended: the same
 * bits as the reference in C. */
#include <stdlib.h>

#include "kernel_check.h"
#include "noise_check.h"

/* LUMEQ_TEST_CASES: no more than that many. */
static int cases_of(int all)
{
    const char *wanted = getenv("LUMEQ_TEST_CASES");
    const int cases = wanted ? atoi(wanted) : all;
    return cases < all ? cases : all;
}

/* ---- frames in a row ---------------------------------------------------------------------- */

#define FRAMES 24
#define REPLAYS 3

/* A film: each frame's curve continues from the previous one. */
typedef struct Film {
    CurveParams params[FRAMES];
    CheckRect src[FRAMES], dst[FRAMES];
    DeviceRect in[FRAMES], out[FRAMES];
    Memory *memory; /* on the device, of each frame; `before` of the first alone counts */
    LumeqCudaSurvey *surveys;
    cudaStream_t streams[2];
    cudaEvent_t curve;
} Film;

/* Adds some noise to the previous frame, so that noise is sometimes known. */
static void follow(const CheckRect *rect, const CheckRect *before, CheckRandom *random)
{
    const int low_byte = check_below(random, 2) ? 3 : 1;
    for (int y = 0; y < rect->height; y++)
        for (int x = 0; x < rect->width; x++)
            check_row(rect, y)[x] = (uint8_t)(check_row(before, y)[x] ^
                                              (x % 2 ? 0 : check_below(random, 1 + low_byte)));
}

static void film_open(Film *film, int width, int height, int depth, CheckRandom *random)
{
    for (int i = 0; i < FRAMES; i++) {
        film->params[i] = draw_params(depth, random);
        const int row = width * sample_size(&film->params[i]);
        film->src[i] = check_rect(row, height, row, 0, GUARD);
        film->dst[i] = check_rect(row, height, row, 0, GUARD);
        if (i && check_below(random, 3))
            follow(&film->src[i], &film->src[i - 1], random);
        else
            fill(&film->src[i], check_below(random, CONTENTS), random);
        film->in[i] = to_device(&film->src[i], &film->params[i]);
        film->out[i] = to_device(&film->dst[i], &film->params[i]);
    }
    OK(cudaMalloc((void **)&film->memory, FRAMES * sizeof(*film->memory)));
    OK(cudaMemset(film->memory, 0, FRAMES * sizeof(*film->memory)));
    OK(cudaMalloc((void **)&film->surveys, FRAMES * sizeof(*film->surveys)));
    OK(cudaMemset(film->surveys, 0, FRAMES * sizeof(*film->surveys)));
    for (int i = 0; i < 2; i++)
        OK(cudaStreamCreateWithFlags(&film->streams[i], cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&film->curve, cudaEventDisableTiming));
    OK(cudaDeviceSynchronize()); /* these streams do not wait for earlier memsets and copies */
}

static void film_close(Film *film)
{
    for (int i = 0; i < FRAMES; i++) {
        OK(cudaFree(film->in[i].memory));
        OK(cudaFree(film->out[i].memory));
        check_rect_free(&film->src[i]);
        check_rect_free(&film->dst[i]);
    }
    OK(cudaFree(film->memory));
    OK(cudaFree(film->surveys));
    for (int i = 0; i < 2; i++)
        OK(cudaStreamDestroy(film->streams[i]));
    OK(cudaEventDestroy(film->curve));
}

/* A survey for noise only; a frame's noise affects the next frame. */
static LumeqCudaSurveyJob survey_of(const Film *film, int i)
{
    const LumeqCudaPlane none = {0}, *now = &film->in[i].plane;
    return (LumeqCudaSurveyJob){
        .now = *now,
        .before = i ? film->in[i - 1].plane : none,
        .bars = {.width = now->width,
                 .height = now->height,
                 .depth = film->params[i].depth,
                 .shift = film->params[i].shift,
                 .ignore = 1},
        .work = &film->surveys[i],
    };
}

static void queue_frame(Film *film, int i, int write)
{
    Memory *m = &film->memory[i];
    const CurveParams *params = &film->params[i];
    const LumeqCudaSurveyJob survey = survey_of(film, i);
    LumeqCudaHistogram *const histogram =
        params->depth > 8 ? lumeq_cuda_histogram16 : lumeq_cuda_histogram8;
    const LumeqCudaCurve curve = {&m->result, &m->table, &m->counters, NULL};
    const LumeqCudaBatch one = lumeq_cuda_batch_of_one(params, 0);
    OK(histogram(&device, &film->in[i].plane, params, i ? &m[-1].result : &m->before, &curve,
                 &survey, &one, film->streams[0]));
    if (write) {
        OK(cudaEventRecord(film->curve, film->streams[0]));
        OK(cudaStreamWaitEvent(film->streams[write], film->curve, 0));
    }
    OK(lumeq_cuda_apply(&device, &film->out[i].plane, &film->in[i].plane, &m->table,
                        &m->result.bars, params, NULL, &one, film->streams[write]));
}

/* All frames in a graph, where kernels do start early, with each frame's last one on the same
 * stream or on another. */
static void film_run(Film *film, int write)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t executable = NULL;
    OK(cudaStreamBeginCapture(film->streams[0], cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < FRAMES; i++)
        queue_frame(film, i, write);
    if (write) {
        OK(cudaEventRecord(film->curve, film->streams[write]));
        OK(cudaStreamWaitEvent(film->streams[0], film->curve, 0));
    }
    OK(cudaStreamEndCapture(film->streams[0], &graph));
    OK(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < REPLAYS; i++)
        OK(cudaGraphLaunch(executable, film->streams[0]));
    OK(cudaDeviceSynchronize());
    OK(cudaGraphExecDestroy(executable));
    OK(cudaGraphDestroy(graph));
}

/* Returns the number of frames with known noise. */
static int film_compare(Film *film, const char *name)
{
    int known = 0;
    static CurveResult before, result;
    static CurveTable table;
    static Memory memory;
    static const LumeqCudaCounters zero;
    char frame[120];
    memset(&before, 0, sizeof(before));
    for (int i = 0; i < FRAMES; i++) {
        const CheckRect *dst = &film->dst[i];
        FREED_BY(check_rect_free)
        CheckRect expected = check_rect(dst->width, dst->height, dst->stride, 0, GUARD);
        snprintf(frame, sizeof(frame), "%s, frame %d", name, i);
        result.noise = NOISE_UNKNOWN;
        if (i)
            result.noise = expected_noise(&film->src[i], &film->src[i - 1], film->in[i].plane.width,
                                          &film->params[i]);
        known += result.noise != NOISE_UNKNOWN;
        expect(&film->src[i], &expected, &film->params[i], &before, &result, &table);
        OK(cudaMemcpy(dst->memory, film->out[i].memory, dst->size, cudaMemcpyDeviceToHost));
        OK(cudaMemcpy(&memory, &film->memory[i], sizeof(memory), cudaMemcpyDeviceToHost));
        if (!table.lift.luma_on) /* other kernels do it if it is lifted */
            CHECK(check_rect_equal(dst, &expected), "%s: the picture differs", frame);
        CHECK(check_rect_intact(dst), "%s: written outside of it", frame);
        compare_results(&memory.result, &result, film->params[i].bins, frame);
        CHECK(memory.result.noise == result.noise, "%s: noise %u instead of %u", frame,
              memory.result.noise, result.noise);
        CHECK(!memcmp(&memory.counters, &zero, sizeof(zero)), "%s: counters are left behind",
              frame);
        before = result;
    }
    return known;
}

/* Queued at once, so that the next frame is counted while the curve of this one is computed. */
TEST(in_a_row)
{
    static const int sizes[][2] = {{16, 1}, {64, 48}, {641, 361}, {1920, 1080}};
    static const int depths[] = {8, 10, 12, 16};
    int known = 0;
    if (!have_gpu())
        return;
    for (int i = 0; i < cases_of(4 * 4); i++) {
        char name[100];
        FREED_BY(film_close) Film film = {.memory = NULL};
        CheckRandom random = check_random(2000000 + (uint64_t)i);
        const int *size = sizes[i / 4], depth = depths[i % 4];
        film_open(&film, size[0], size[1], depth, &random);
        for (int write = 0; write < 2; write++) {
            snprintf(name, sizeof(name), "%dx%d, depth %d, %d streams", size[0], size[1], depth,
                     1 + write);
            film_run(&film, write);
            known += film_compare(&film, name);
        }
    }
    CHECK(known || cases_of(4 * 4) < 16, "no frame has a known noise");
}

/* ---- counts only -------------------------------------------------------------------------- */

#define UNTOUCHED 0x5A5A5A5Au /* a count before it is written */

typedef struct CountsMemory {
    LumeqCudaTally tallies[2];
    uint32_t hist[LUMEQ_MAX_BINS + 1]; /* one more than there can be bins */
} CountsMemory;

/* Twice, queued at once: the second is counted while the first ends. */
static void compare_counts(const DeviceRect *in, const CurveParams *params,
                           const uint32_t *expected, const char *name)
{
    static CountsMemory memory;
    static const LumeqCudaTally zero;
    CountsMemory *on_device = NULL;
    LumeqCudaCounts *const counts = params->depth > 8 ? lumeq_cuda_counts16 : lumeq_cuda_counts8;
    memset(&memory, 0, sizeof(memory));
    for (int i = 0; i <= LUMEQ_MAX_BINS; i++)
        memory.hist[i] = UNTOUCHED;
    OK(cudaMalloc((void **)&on_device, sizeof(*on_device)));
    OK(cudaMemcpy(on_device, &memory, sizeof(memory), cudaMemcpyHostToDevice));
    for (int k = 0; k < 2; k++)
        OK(counts(&device, &in->plane, 0, params->bins, on_device->hist, &on_device->tallies[k],
                  0));
    OK(cudaMemcpy(&memory, on_device, sizeof(memory), cudaMemcpyDeviceToHost));
    OK(cudaFree(on_device));
    CHECK(!memcmp(memory.hist, expected, (size_t)params->bins * sizeof(*expected)),
          "%s: the counts differ", name);
    for (int i = params->bins; i <= LUMEQ_MAX_BINS; i++)
        CHECK(memory.hist[i] == UNTOUCHED, "%s: count %d is written", name, i);
    for (int k = 0; k < 2; k++)
        CHECK(!memcmp(&memory.tallies[k], &zero, sizeof(zero)), "%s: counts are left behind", name);
}

TEST_IF(counts_alone, have_gpu())
{
    for (int i = 0; i < cases_of(40); i++) {
        static uint32_t expected[LUMEQ_MAX_BINS];
        char name[100];
        CheckRandom random = check_random(3000000 + (uint64_t)i);
        const int depth = (int[]){8, 10, 12, 9}[i % 4], size = depth > 8 ? 2 : 1;
        const CurveParams params = {.depth = depth, .bins = 1 << depth};
        const int width = 1 + check_below(&random, 2000), height = 1 + check_below(&random, 500);
        FREED_BY(check_rect_free)
        CheckRect src = check_rect(width * size, height, (width + i % 5) * size, 0, GUARD);
        fill(&src, i / 4 % CONTENTS, &random);
        const DeviceRect in = to_device(&src, &params);
        memset(expected, 0, sizeof(expected));
        (depth > 8 ? reference.histogram16 : reference.histogram8)(expected, src.pixels, src.stride,
                                                                   width, height, &params);
        snprintf(name, sizeof(name), "%dx%d, depth %d", width, height, depth);
        compare_counts(&in, &params, expected, name);
        OK(cudaFree(in.memory));
    }
}

TEST_MAIN
