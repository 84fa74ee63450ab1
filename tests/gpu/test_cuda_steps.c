/*
 * Single steps and live frames on the GPU: measures and frames equal the CPU's, bit for bit, in any
 * memory and layout. LUMEQ_TEST_CASES sets the number of frames. With FAKE_CUDA, no GPU is used.
 */
#include <pthread.h>
#include <stdatomic.h>

#include <cudaTypedefs.h>

#include "../default_params.h"
#include "../equalizer/all_stats.h"
#include "gpu_check.h"
#ifdef FAKE_CUDA
#include "fake_cuda.h"
#endif

#define DEFAULT_CASES 1000
#define GUARD 128

static int is_ok(int ret, const char *what)
{
    return CHECK(ret == 0, "%s returns %d: %s", what, ret, lumeq_last_error(NULL));
}

#define DONE(call) is_ok(call, #call)

static LumeqContext *open_context(LumeqBackendId backend, void *cuda_context)
{
    LumeqContext *context = NULL;
    char why[256] = "";
    const LumeqConfig config = {.backend = backend, .threads = 1, .cuda_context = cuda_context};
    const int ret = lumeq_context_create(&context, &config, why, sizeof(why));
    if (ret == LUMEQ_ERR_UNAVAILABLE)
        check_skip("no GPU: %s", why);
    else
        CHECK(ret == 0, "create returns %d: %s", ret, why);
    return context;
}

/* ---- pictures ------------------------------------------------------------------------------ */

typedef enum Where { PAGEABLE, PINNED, ON_DEVICE, WHERES } Where;

/* A picture in guarded host memory and, unless `where` is PAGEABLE, its copy in `twin`. */
typedef struct Picture {
    CheckRect rect[3];
    uint8_t *twin[3];
    LumeqImage image;
    Where where;
} Picture;

/* Common properties of a frame's images. */
typedef struct Format {
    int width, height, depth, chroma_x, chroma_y;
    LumeqRange range;
} Format;

static CheckRect draw_rect(int row, int height, int sample, CheckRandom *random)
{
    static const int offsets[] = {0, 0, 0, 1, 3, 8, 15, 16, 17};
    const int pad = (int[]){0, 1, 7, 16 + (16 - row / sample % 16) % 16}[check_below(random, 4)];
    const ptrdiff_t stride = row + pad * sample;
    return check_rect(row, height, check_below(random, 3) ? stride : -stride,
                      offsets[check_below(random, 9)] * sample, GUARD);
}

/* `planes`: 1 gray, 2 interleaved chroma, 3 planar. */
static Picture make_picture(const Format *f, int planes, int shift, Where where,
                            CheckRandom *random)
{
    const int sample = f->depth > 8 ? 2 : 1;
    Picture p = {.where = where,
                 .image = {.width = f->width,
                           .height = f->height,
                           .chroma_x = f->chroma_x,
                           .chroma_y = f->chroma_y,
                           .depth = f->depth,
                           .shift = shift,
                           .range = f->range,
                           .memory = where == ON_DEVICE ? LUMEQ_MEMORY_CUDA : LUMEQ_MEMORY_HOST}};
    for (int i = 0; i < planes; i++) {
        const int x = i ? f->chroma_x : 0, y = i ? f->chroma_y : 0;
        const int columns = (f->width + (1 << x) - 1) >> x, rows = (f->height + (1 << y) - 1) >> y;
        p.rect[i] = draw_rect(columns * sample * (i && planes == 2 ? 2 : 1), rows, sample, random);
        p.image.plane[i] = p.rect[i].pixels;
        p.image.stride[i] = p.rect[i].stride;
    }
    return p;
}

/* Allocates device memory. Odd planes come from a memory pool. */
static int alloc_device(void **memory, size_t size, int plane)
{
#ifndef FAKE_CUDA
    if (plane % 2)
        return OK(cudaMallocAsync(memory, size, NULL)) && OK(cudaStreamSynchronize(NULL));
#endif
    (void)plane;
    return OK(cudaMalloc(memory, size));
}

/* Copies the picture to the kind of memory that `where` names. */
static void place(Picture *p)
{
    for (int i = 0; i < 3 && p->where != PAGEABLE && p->rect[i].memory; i++) {
        void *memory = NULL;
        if (!(p->where == PINNED ? OK(cudaHostAlloc(&memory, p->rect[i].size, 0))
                                 : alloc_device(&memory, p->rect[i].size, i)))
            exit(1);
        p->twin[i] = memory;
        OK(cudaMemcpy(memory, p->rect[i].memory, p->rect[i].size, cudaMemcpyDefault));
        p->image.plane[i] = p->twin[i] + (p->rect[i].pixels - p->rect[i].memory);
    }
    OK(cudaStreamSynchronize(NULL)); /* copies from pageable memory may not have arrived yet */
}

static void fetch(const Picture *p)
{
    for (int i = 0; i < 3; i++)
        if (p->twin[i])
            OK(cudaMemcpy(p->rect[i].memory, p->twin[i], p->rect[i].size, cudaMemcpyDefault));
}

static void free_picture(Picture *p)
{
    for (int i = 0; i < 3; i++) {
        if (p->twin[i])
            OK(p->where == PINNED ? cudaFreeHost(p->twin[i]) : cudaFree(p->twin[i]));
        check_rect_free(&p->rect[i]);
    }
    *p = (Picture){0};
}

static void set_sample(const CheckRect *rect, int sample_size, int x, int y, uint32_t value)
{
    const uint16_t deep = (uint16_t)value;
    if (sample_size == 2)
        memcpy(check_row(rect, y) + 2 * x, &deep, 2);
    else
        check_row(rect, y)[x] = (uint8_t)value;
}

/* DARK: a dull picture with noise, which is lifted and filtered. */
enum { FLAT, EXTREMES, ANYTHING, NARROW, DARK, CONTENTS };

/* 16-bit samples may have bits below the code, and codes that exceed the depth. */
static void fill_plane(const Picture *p, int plane, int content, CheckRandom *random)
{
    const LumeqImage *image = &p->image;
    const CheckRect *rect = &p->rect[plane];
    const int sample = image->depth > 8 ? 2 : 1;
    const uint32_t most = sample == 2 ? 0xffff : 0xff, last = ((1u << image->depth) - 1);
    const uint32_t low = (uint32_t)check_below(random, (int)last + 1), unit = (last + 1) / 256;
    for (int y = 0; y < rect->height; y++)
        for (int x = 0; x < rect->width / sample; x++) {
            const uint64_t hash =
                check_hash(random->seed + (uint64_t)plane, (uint64_t)y * 200003 + (uint64_t)x);
            const int colours = plane && (x / 8 + y / 8) % 4 == 0; /* chroma of any code */
            const uint32_t dull = plane ? 120 : 17 + (uint32_t)(x / 16 + y / 12) % 16;
            const uint32_t values[CONTENTS] = {
                low << image->shift, hash & 1 ? most : 0, (uint32_t)hash & most,
                ((low / 2 + (uint32_t)(hash % (last / 8 + 1))) << image->shift) |
                    ((uint32_t)(hash >> 40) & ((1u << image->shift) - 1)),
                (colours ? (uint32_t)hash & last : dull * unit + (uint32_t)(hash % (5 * unit)))
                    << image->shift};
            set_sample(rect, sample, x, y, values[content]);
        }
}

static void paint_bars(const Picture *p, int rows, int columns)
{
    const CheckRect *rect = &p->rect[0];
    const int sample = p->image.depth > 8 ? 2 : 1;
    for (int y = 0; y < rect->height; y++)
        for (int x = 0; x < rect->width / sample; x++)
            if (y < rows || y >= rect->height - rows || x < columns ||
                x >= rect->width / sample - columns)
                set_sample(rect, sample, x, y, 0);
}

static void fill_picture(const Picture *p, int content, CheckRandom *random)
{
    for (int i = 0; i < 3 && p->rect[i].memory; i++)
        fill_plane(p, i, content, random);
    if (check_below(random, 2))
        paint_bars(p, p->image.height * check_below(random, 40) / 100,
                   p->image.width * check_below(random, 40) / 100);
}

static Format draw_format(CheckRandom *random)
{
    static const int widths[] = {1, 2, 5, 15, 16, 17, 31, 33, 64, 65, 127, 321, 640, 1283};
    static const int heights[] = {1, 2, 3, 8, 9, 16, 65, 181, 240, 700};
    const int any = check_below(random, 2); /* 0: a width near sizes of vectors and blocks */
    return (Format){.width = any ? 1 + check_below(random, 66) : widths[check_below(random, 14)],
                    .height = heights[check_below(random, 10)],
                    .depth = check_below(random, 3) ? 8 + check_below(random, 9) : 8,
                    .chroma_x = check_below(random, 3),
                    .chroma_y = check_below(random, 3),
                    .range = check_below(random, 2) ? LUMEQ_RANGE_FULL : LUMEQ_RANGE_LIMITED};
}

static int draw_shift(int depth, CheckRandom *random)
{
    return depth > 8 && check_below(random, 2) ? check_below(random, 17 - depth) : 0;
}

static LumeqParams draw_params(int depth, int content, CheckRandom *random)
{
    LumeqParams p = DEFAULT_PARAMS;
    p.mode = (LumeqMode)check_below(random, 5);
    if (content == DARK && check_below(random, 4)) {
        p.mode = LUMEQ_MODE_GLOBAL;
        p.dither = check_below(random, 2);
        return p;
    }
    p.reference = depth == 8 && p.mode != LUMEQ_MODE_STRETCH && p.mode != LUMEQ_MODE_HAZE &&
                  check_below(random, 3) == 0;
    p.adaptive = check_below(random, 2);
    p.clip = check_below(random, 3) ? 1 + check_below(random, 40) / 10.0 : 0;
    p.tiles_x = 1 + check_below(random, LUMEQ_MAX_TILES);
    p.tiles_y = 1 + check_below(random, LUMEQ_MAX_TILES);
    p.chroma = check_below(random, 4) ? LUMEQ_CHROMA_SCALE : LUMEQ_CHROMA_KEEP;
    p.dither = check_below(random, 2);
    p.bars = check_below(random, 4) ? LUMEQ_BARS_AUTO : LUMEQ_BARS_IGNORE;
    p.transfer = (LumeqTransfer)check_below(random, 3);
    return p;
}

/* ---- one frame ----------------------------------------------------------------------------- */

static void compare_measures(const LumeqMeasure *a, const LumeqMeasure *b, const char *name)
{
    size_t sizes[2] = {0, 0};
    if (!DONE(lumeq_measure_pack(a, NULL, &sizes[0])) ||
        !DONE(lumeq_measure_pack(b, NULL, &sizes[1])))
        return;
    uint8_t *bytes[2] = {malloc(sizes[0]), malloc(sizes[1])};
    DONE(lumeq_measure_pack(a, bytes[0], &sizes[0]));
    DONE(lumeq_measure_pack(b, bytes[1], &sizes[1]));
    CHECK(sizes[0] == sizes[1], "%s: the measures have %zu and %zu bytes", name, sizes[0],
          sizes[1]);
    size_t at = 0;
    while (at < sizes[0] && at < sizes[1] && bytes[0][at] == bytes[1][at])
        at++;
    CHECK(at == sizes[0], "%s: the measures differ from byte %zu of %zu on", name, at, sizes[0]);
    free(bytes[0]);
    free(bytes[1]);
}

static void compare_pictures(const Picture *expected, const Picture *got, const char *name)
{
    for (int i = 0; i < 3 && expected->rect[i].memory; i++) {
        CHECK(check_rect_equal(&expected->rect[i], &got->rect[i]), "%s: plane %d differs", name, i);
        CHECK(check_rect_intact(&got->rect[i]), "%s: plane %d: written outside it", name, i);
    }
}

/* The frame's curve, after repeats make black borders count as bars. `planned`: with lookahead. */
static LumeqCurve *curve_of(const LumeqParams *params, const LumeqMeasure *measure, int planned,
                            int interlaced)
{
    enum { FRAMES = 5 };
    LumeqHistory *history = NULL;
    LumeqCurve *curve = NULL;
    DONE(lumeq_history_create(&history, params, planned ? LUMEQ_MAX_LOOKAHEAD : 0));
    for (int i = 0; i < FRAMES; i++) {
        const LumeqMoment moment = {
            .number = i, .time = i * INT64_C(1000000000), .interlaced = interlaced};
        DONE(lumeq_history_put(history, measure, &moment));
        if (!planned) {
            lumeq_curve_unref(&curve);
            DONE(lumeq_history_get(history, &curve));
        }
    }
    DONE(lumeq_history_put(history, NULL, NULL));
    for (int i = 0; i < FRAMES && planned; i++) {
        lumeq_curve_unref(&curve);
        DONE(lumeq_history_get(history, &curve));
    }
    lumeq_history_destroy(&history);
    return curve;
}

/* The caller's stream and events. */
typedef struct Signals {
    cudaStream_t stream;
    cudaEvent_t ready, finished;
} Signals;

static Signals open_signals(void)
{
    Signals s = {0};
    OK(cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&s.ready, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&s.finished, cudaEventDisableTiming));
    return s;
}

static void close_signals(Signals *s)
{
    OK(cudaStreamDestroy(s->stream));
    OK(cudaEventDestroy(s->ready));
    OK(cudaEventDestroy(s->finished));
}

/* The picture in host memory, where it was drawn. */
static LumeqImage drawn(const Picture *p)
{
    LumeqImage on_host = p->image;
    for (int i = 0; i < 3; i++)
        on_host.plane[i] = p->rect[i].pixels;
    on_host.memory = LUMEQ_MEMORY_HOST;
    return on_host;
}

/* `before` NULL: the previous frame is unknown. */
static void measure_both(LumeqContext *cpu, LumeqContext *gpu, const LumeqParams *params,
                         const Picture *in, const Picture *before, const LumeqSync *sync,
                         LumeqMeasure **expected, const char *name)
{
    FREED_BY(lumeq_measure_free) LumeqMeasure *got = NULL;
    const LumeqImage on_host = drawn(in), was = before ? drawn(before) : on_host;
    DONE(lumeq_measure(cpu, expected, params, &on_host, before ? &was : NULL, NULL));
    DONE(lumeq_measure(gpu, &got, params, &in->image, before ? &before->image : NULL, sync));
    if (DONE(lumeq_measure_finish(got, 1)))
        compare_measures(*expected, got, name);
}

/* A copy of `in` with slightly different luma or, if DARK, with other noise. */
static Picture make_before(const Format *f, const Picture *in, int planes, int content, Where where,
                           CheckRandom *random)
{
    Picture p = make_picture(f, planes, in->image.shift, where, random);
    const uint64_t seed = (uint64_t)check_below(random, 1 << 16);
    CheckRandom other = {random->seed + 99, 0};
    fill_picture(&p, content, &other);
    for (int y = 0; y < p.rect[0].height && content != DARK; y++)
        for (int x = 0; x < p.rect[0].width; x++)
            check_row(&p.rect[0], y)[x] =
                check_row(&in->rect[0], y)[x] ^
                (uint8_t)(check_hash(seed, (uint64_t)(y * 65536 + x)) % 8 == 0);
    return p;
}

static atomic_int filtered; /* number of cases filtered with previous frames */

/* `size` NULL: any size. */
static void run_case(LumeqContext *cpu, LumeqContext *gpu, Signals *signals, int number,
                     const int *size)
{
    CheckRandom random = check_random((uint64_t)number);
    Format format = draw_format(&random);
    if (size) {
        format.width = size[0];
        format.height = size[1];
    }
    const int kind = check_below(&random, CONTENTS + 3);
    const int content = kind < CONTENTS ? kind : DARK;
    const LumeqParams params = draw_params(format.depth, content, &random);
    const int planes = 1 + check_below(&random, 3);
    const int planes_out = planes == 1 ? 1 : 1 + check_below(&random, 3);
    const int shift = draw_shift(format.depth, &random);
    const int shift_out = check_below(&random, 2) ? shift : draw_shift(format.depth, &random);
    FREED_BY(free_picture)
    Picture in = make_picture(&format, planes, shift, number % WHERES, &random);
    fill_picture(&in, content, &random);
    FREED_BY(free_picture)
    Picture expected = make_picture(&format, planes_out, shift_out, PAGEABLE, &random);
    FREED_BY(free_picture)
    Picture out = make_picture(&format, planes_out, shift_out, number / 3 % WHERES, &random);
    FREED_BY(free_picture)
    Picture before = make_before(&format, &in, planes, content, number / 5 % WHERES, &random);
    place(&in);
    place(&before);
    place(&out);
    char name[160];
    snprintf(name, sizeof(name),
             "case %d: %dx%d, %d bits, shifts %d and %d, %d to %d planes of 2^%dx2^%d, mode %d%s",
             number, format.width, format.height, format.depth, shift, shift_out, planes,
             planes_out, format.chroma_x, format.chroma_y, (int)params.mode,
             params.reference ? ", reference" : "");

    OK(cudaEventRecord(signals->ready, signals->stream));
    const LumeqSync syncs[] = {
        {.stream = signals->stream},
        {.ready = signals->ready, .finished = signals->finished},
        {.stream = signals->stream, .ready = signals->ready, .finished = signals->finished},
    };
    const int which = number / 9 % 4;
    const LumeqSync *sync = which ? &syncs[which - 1] : NULL;
    FREED_BY(lumeq_measure_free) LumeqMeasure *measure = NULL;
    measure_both(cpu, gpu, &params, &in, number % 5 ? &before : NULL, sync, &measure, name);
    FREED_BY(lumeq_curve_unref)
    LumeqCurve *curve = curve_of(&params, measure, number / 2 % 2, number % 4 == 1);
    LumeqFrameStats stats = {.size = sizeof(stats)};
    DONE(lumeq_curve_stats(curve, &stats));
    const int past = number / 4 % 4;
    atomic_fetch_add(&filtered, past && stats.previous);
    const LumeqImage host = drawn(&in), was = drawn(&before);
    const LumeqImage host_past[] = {was, host, was},
                     gpu_past[] = {before.image, in.image, before.image};
    DONE(lumeq_apply(cpu, curve, &host, host_past, past, &expected.image, NULL));
    DONE(lumeq_apply(gpu, curve, &in.image, gpu_past, past, &out.image, sync));
    if (sync && sync->finished)
        OK(cudaEventSynchronize(signals->finished));
    else if (sync)
        OK(cudaStreamSynchronize(signals->stream));
    fetch(&out);
    compare_pictures(&expected, &out, name);
}

TEST(frames)
{
    FREED_BY(lumeq_context_destroy) LumeqContext *cpu = open_context(LUMEQ_BACKEND_CPU, NULL);
    FREED_BY(lumeq_context_destroy) LumeqContext *gpu = open_context(LUMEQ_BACKEND_CUDA, NULL);
    if (gpu) {
        FREED_BY(close_signals) Signals signals = open_signals();
        for (int number = 0; number < cases_of(DEFAULT_CASES); number++)
            run_case(cpu, gpu, &signals, number, NULL);
        CHECK(cases_of(DEFAULT_CASES) < 100 || filtered > cases_of(DEFAULT_CASES) / 20,
              "only %d cases are filtered with previous frames", filtered);
    }
}

#ifndef FAKE_CUDA
/* Frames larger than a kernel's grid. */
TEST(large_frames)
{
    static const int sizes[][2] = {
        {3840, 2160}, {3839, 2161}, {7680, 4320}, {65535, 130}, {130, 65535}};
    FREED_BY(lumeq_context_destroy) LumeqContext *cpu = open_context(LUMEQ_BACKEND_CPU, NULL);
    FREED_BY(lumeq_context_destroy) LumeqContext *gpu = open_context(LUMEQ_BACKEND_CUDA, NULL);
    if (gpu) {
        FREED_BY(close_signals) Signals signals = open_signals();
        for (int i = 0; i < 40; i++)
            run_case(cpu, gpu, &signals, 500000 + i, sizes[i % 5]);
    }
}

typedef struct Worker {
    LumeqContext *cpu, *gpu;
    int first, cases;
} Worker;

static void *run_cases(void *user)
{
    const Worker *w = user;
    Signals signals = open_signals();
    for (int i = 0; i < w->cases; i++)
        run_case(w->cpu, w->gpu, &signals, w->first + i, NULL);
    close_signals(&signals);
    return NULL;
}
#endif

TEST(threads)
{
#ifdef FAKE_CUDA
    check_skip("a fake GPU has one thread");
#else
    enum { THREADS = 4 };
    Worker workers[THREADS];
    pthread_t started[THREADS];
    LumeqContext *gpu = open_context(LUMEQ_BACKEND_CUDA, NULL);
    LumeqContext *cpu = open_context(LUMEQ_BACKEND_CPU, NULL);
    for (int i = 0; gpu && i < THREADS; i++) {
        workers[i] = (Worker){cpu, gpu, 1000000 * (i + 1), cases_of(DEFAULT_CASES) / THREADS};
        if (!CHECK(pthread_create(&started[i], NULL, run_cases, &workers[i]) == 0, "no thread"))
            exit(1);
    }
    for (int i = 0; gpu && i < THREADS; i++)
        pthread_join(started[i], NULL);
    lumeq_context_destroy(&gpu);
    lumeq_context_destroy(&cpu);
#endif
}

/* ---- live ---------------------------------------------------------------------------------- */

/* Runs a frame through both equalizers. `sync`: 0 for none, or the number in `syncs` from 1. */
static void next_live(LumeqEqualizer *cpu, LumeqEqualizer *gpu, const Format *format,
                      const Signals *s, int number, int sync, CheckRandom *random)
{
    static FrameStats stats[2];
    const int planes = 2 + number % 2, planes_out = 2 + number / 2 % 2;
    const int shift = format->depth > 8 ? number / 4 % 2 * (16 - format->depth) : 0;
    const int shift_out = format->depth > 8 ? number / 8 % 2 * (16 - format->depth) : 0;
    FREED_BY(free_picture)
    Picture in = make_picture(format, planes, shift, number % WHERES, random);
    fill_picture(&in, check_below(random, CONTENTS), random);
    FREED_BY(free_picture)
    Picture expected = make_picture(format, planes_out, shift_out, PAGEABLE, random);
    FREED_BY(free_picture)
    Picture out = make_picture(format, planes_out, shift_out, number / 3 % WHERES, random);
    place(&in);
    place(&out);
    OK(cudaEventRecord(s->ready, s->stream));
    const LumeqSync syncs[] = {{.stream = s->stream},
                               {.ready = s->ready, .finished = s->finished},
                               {.stream = s->stream, .finished = s->finished}};
    LumeqFrame frame = {.in = drawn(&in),
                        .out = expected.image,
                        .time = number * INT64_C(40000000),
                        .number = number};
    CHECK(lumeq_process(cpu, &frame, ask_stats(&stats[0])) == 0, "%s", lumeq_last_error(cpu));
    frame.in = in.image;
    frame.out = out.image;
    frame.sync = sync ? &syncs[sync - 1] : NULL;
    const int ret = lumeq_process(gpu, &frame, ask_stats(&stats[1]));
    CHECK(ret == 0, "process returns %d: %s", ret, lumeq_last_error(gpu));
    CHECK(!frame.sync, "the sync is still set");
    if (sync > 1)
        CHECK(cudaEventQuery(s->finished) == cudaSuccess, "the frame is not finished");
    fetch(&out);
    char name[64];
    snprintf(name, sizeof(name), "frame %d, %d bits, sync %d", number, format->depth, sync);
    compare_pictures(&expected, &out, name);
    CHECK(same_stats(&stats[0], &stats[1]), "%s: the statistics differ", name);
}

/* `sync` 0: frames get all kinds of sync in turn. */
static void play_live(LumeqEqualizer *cpu, LumeqEqualizer *gpu, LumeqMode mode, int depth, int sync)
{
    enum { FRAMES = 24 };
    LumeqParams params = DEFAULT_PARAMS;
    params.mode = mode;
    params.dither = depth == 8;
    params.transfer = depth > 8 ? LUMEQ_TRANSFER_PQ : LUMEQ_TRANSFER_SDR;
    const Format format = {
        .width = 322, .height = 181, .depth = depth, .chroma_x = 1, .chroma_y = 1};
    CheckRandom random = check_random((uint64_t)(depth * 8 + (int)mode));
    FREED_BY(close_signals) Signals signals = open_signals();
    lumeq_reset(cpu);
    lumeq_reset(gpu);
    lumeq_set_params(cpu, &params);
    lumeq_set_params(gpu, &params);
    for (int number = 0; number < FRAMES; number++)
        next_live(cpu, gpu, &format, &signals, number, sync ? sync : number % 4, &random);
}

TEST(live)
{
    FREED_BY(lumeq_destroy) LumeqEqualizer *cpu = open_on(LUMEQ_BACKEND_CPU);
    FREED_BY(lumeq_destroy) LumeqEqualizer *gpu = open_on(LUMEQ_BACKEND_CUDA);
    for (int mode = 0; gpu && mode < 5; mode++)
        for (int depth = 8; depth <= 16; depth += mode == LUMEQ_MODE_CLAHE ? 2 : 4)
            play_live(cpu, gpu, (LumeqMode)mode, depth, depth / 4 % 3);
}

/* Frames with a plane that is not on the device are refused; later frames are accepted. */
TEST(host_memory_is_refused)
{
    FREED_BY(lumeq_destroy) LumeqEqualizer *gpu = open_on(LUMEQ_BACKEND_CUDA);
    CheckRandom random = check_random(1);
    const Format format = {.width = 64, .height = 48, .depth = 8, .chroma_x = 1, .chroma_y = 1};
    for (int i = 0; gpu && i < 4; i++) { /* luma or chroma, pageable or pinned */
        FREED_BY(free_picture) Picture in = make_picture(&format, 3, 0, PAGEABLE, &random);
        FREED_BY(free_picture) Picture out = make_picture(&format, 3, 0, ON_DEVICE, &random);
        FREED_BY(free_picture)
        Picture other = make_picture(&format, 3, 0, i / 2 ? PINNED : PAGEABLE, &random);
        place(&out);
        place(&other);
        LumeqFrame frame = {.in = in.image, .out = out.image};
        frame.out.plane[i % 2] = other.image.plane[i % 2];
        CHECK(lumeq_submit(gpu, &frame) == LUMEQ_ERR_ARGUMENT, "case %d is accepted", i);
        CHECK(strstr(lumeq_last_error(gpu), "GPU 0") != NULL, "the message is %s",
              lumeq_last_error(gpu));
        frame.out = out.image;
        CHECK(lumeq_process(gpu, &frame, NULL) == 0, "the next frame fails: %s",
              lumeq_last_error(gpu));
    }
}

/* ---- nothing waits ------------------------------------------------------------------------- */

typedef struct Gate {
    atomic_int open, passed;
} Gate;

/* Keeps the caller's stream busy until the test opens the gate, at most a few seconds. */
static void CUDART_CB stand_at(void *user)
{
    Gate *gate = user;
    const struct timespec nap = {0, 1000000};
    for (int i = 0; i < 5000 && !atomic_load(&gate->open); i++)
        nanosleep(&nap, NULL);
    atomic_store(&gate->passed, 1);
}

/* Copies a frame from `source` after the gate has opened. */
static void produce(const Signals *s, Gate *gate, const Picture *in, const Picture *source)
{
    atomic_store(&gate->open, 0);
    atomic_store(&gate->passed, 0);
    OK(cudaLaunchHostFunc(s->stream, stand_at, gate));
    for (int i = 0; i < 3; i++)
        if (in->twin[i])
            OK(cudaMemcpyAsync(in->twin[i], source->twin[i], in->rect[i].size, cudaMemcpyDefault,
                               s->stream));
    OK(cudaEventRecord(s->ready, s->stream));
}

typedef struct Waiting {
    LumeqContext *cpu, *gpu;
    Signals signals;
    LumeqParams params;
    LumeqCurve *curve;
    LumeqMeasure *expected;
    Picture in, source, out, wanted;
    Gate gate;
} Waiting;

static void open_waiting(Waiting *w)
{
    static const Format format = {
        .width = 640, .height = 360, .depth = 8, .chroma_x = 1, .chroma_y = 1};
    CheckRandom random = check_random(1), again = random;
    w->params = (LumeqParams)DEFAULT_PARAMS;
    w->signals = open_signals();
    w->in = make_picture(&format, 2, 0, ON_DEVICE, &again);
    w->source = make_picture(&format, 2, 0, PINNED, &random); /* same layout as `in` */
    for (int i = 0; i < 2; i++) {
        fill_plane(&w->in, i, FLAT, &random);
        fill_plane(&w->source, i, NARROW, &random);
    }
    w->out = make_picture(&format, 3, 0, ON_DEVICE, &random);
    w->wanted = make_picture(&format, 3, 0, PAGEABLE, &random);
    const LumeqImage host = w->source.image;
    DONE(lumeq_measure(w->cpu, &w->expected, &w->params, &host, NULL, NULL));
    w->curve = curve_of(&w->params, w->expected, 0, 0);
    DONE(lumeq_apply(w->cpu, w->curve, &host, NULL, 0, &w->wanted.image, NULL));
    place(&w->in);
    place(&w->source);
    place(&w->out);
}

static void close_waiting(Waiting *w)
{
    lumeq_curve_unref(&w->curve);
    lumeq_measure_free(&w->expected);
    free_picture(&w->in);
    free_picture(&w->source);
    free_picture(&w->out);
    free_picture(&w->wanted);
    close_signals(&w->signals);
}

/* `warm`: opens the gate at once, to allocate the memory that later calls need. */
static void steps_behind_gate(Waiting *w, const LumeqSync *sync, int warm)
{
    FREED_BY(lumeq_measure_free) LumeqMeasure *measure = NULL;
    produce(&w->signals, &w->gate, &w->in, &w->source);
    if (warm)
        atomic_store(&w->gate.open, 1);
    DONE(lumeq_measure(w->gpu, &measure, &w->params, &w->in.image, NULL, sync));
    DONE(lumeq_apply(w->gpu, w->curve, &w->in.image, NULL, 0, &w->out.image, sync));
    if (!warm) {
        CHECK(!atomic_load(&w->gate.passed), "a call has waited");
        CHECK(lumeq_measure_finish(measure, 0) == LUMEQ_ERR_AGAIN,
              "the measure is finished already");
        CHECK(cudaEventQuery(w->signals.finished) == cudaErrorNotReady,
              "the frame is finished already");
        atomic_store(&w->gate.open, 1);
    }
    DONE(lumeq_measure_finish(measure, 1));
    compare_measures(w->expected, measure, "behind a gate");
    OK(cudaEventSynchronize(w->signals.finished));
    fetch(&w->out);
    compare_pictures(&w->wanted, &w->out, "behind a gate");
}

TEST(nothing_waits)
{
    Waiting w = {.gpu = open_context(LUMEQ_BACKEND_CUDA, NULL)};
    if (!w.gpu)
        return;
    w.cpu = open_context(LUMEQ_BACKEND_CPU, NULL);
    open_waiting(&w);
    const LumeqSync by_event = {.ready = w.signals.ready, .finished = w.signals.finished};
    const LumeqSync by_stream = {.stream = w.signals.stream, .finished = w.signals.finished};
    for (int warm = 1; warm >= 0; warm--) {
        steps_behind_gate(&w, &by_event, warm);
        steps_behind_gate(&w, &by_stream, warm);
    }
    close_waiting(&w);
    lumeq_context_destroy(&w.gpu);
    lumeq_context_destroy(&w.cpu);
}

/* ---- the caller's context ------------------------------------------------------------------ */

#if !defined(FAKE_CUDA) && CUDART_VERSION >= 12050
static void *driver_function(const char *name, unsigned version)
{
    void *found = NULL;
    enum cudaDriverEntryPointQueryResult result;
    return OK(cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result))
               ? found
               : NULL;
}

/* The results are the same in the caller's context, and the primary context stays current. */
static void frames_in(CUcontext context, PFN_cuCtxGetCurrent_v4000 current,
                      PFN_cuCtxPushCurrent_v4000 push, PFN_cuCtxPopCurrent_v4000 pop)
{
    FREED_BY(lumeq_context_destroy) LumeqContext *cpu = open_context(LUMEQ_BACKEND_CPU, NULL);
    LumeqContext *gpu = open_context(LUMEQ_BACKEND_CUDA, context);
    CUcontext before = NULL, after = NULL;
    CHECK(push(context) == CUDA_SUCCESS, "push");
    Signals signals = open_signals();
    for (int number = 0; gpu && number < 36; number++)
        run_case(cpu, gpu, &signals, number, NULL);
    close_signals(&signals);
    CHECK(pop(&before) == CUDA_SUCCESS && before == context, "another context is current");

    CheckRandom random = check_random(7);
    const Format format = {.width = 64, .height = 64, .depth = 8};
    LumeqMeasure *measure = NULL;
    LumeqParams params = DEFAULT_PARAMS;
    OK(cudaSetDevice(0));
    CHECK(current(&before) == CUDA_SUCCESS, "no context is current");
    FREED_BY(free_picture) Picture in = make_picture(&format, 1, 0, ON_DEVICE, &random);
    place(&in);
    CHECK(lumeq_measure(gpu, &measure, &params, &in.image, NULL, NULL) == LUMEQ_ERR_ARGUMENT,
          "memory of the primary context is accepted");
    CHECK(strstr(lumeq_last_error(NULL), "this CUDA context") != NULL, "the message is %s",
          lumeq_last_error(NULL));
    in.image.memory = LUMEQ_MEMORY_HOST;
    CHECK(lumeq_measure(gpu, &measure, &params, &in.image, NULL, NULL) == LUMEQ_ERR_ARGUMENT,
          "device memory is accepted as the host's");
    lumeq_context_destroy(&gpu);
    CHECK(current(&after) == CUDA_SUCCESS && after == before, "another context is current");
}
#endif

TEST(callers_context)
{
#ifdef FAKE_CUDA
    static int context;
    fake_cuda_start((FakeCuda){.context = &context});
    LumeqContext *cpu = open_context(LUMEQ_BACKEND_CPU, NULL);
    LumeqContext *gpu = open_context(LUMEQ_BACKEND_CUDA, &context);
    fake_cuda.pushed++;
    Signals signals = open_signals();
    for (int number = 0; number < 36; number++)
        run_case(cpu, gpu, &signals, number, NULL);
    close_signals(&signals);
    fake_cuda.pushed--;
    lumeq_context_destroy(&gpu);
    lumeq_context_destroy(&cpu);
    CHECK(!fake_cuda.pushed && !fake_cuda.outside, "%d contexts left, %ld calls outside",
          fake_cuda.pushed, fake_cuda.outside);
    fake_cuda_start((FakeCuda){0});
#elif CUDART_VERSION >= 12050
    if (!have_gpu())
        return;
    OK(cudaSetDevice(0));
    const PFN_cuCtxCreate_v3020 create =
        (PFN_cuCtxCreate_v3020)(uintptr_t)driver_function("cuCtxCreate", 3020);
    const PFN_cuCtxDestroy_v4000 destroy =
        (PFN_cuCtxDestroy_v4000)(uintptr_t)driver_function("cuCtxDestroy", 4000);
    const PFN_cuCtxGetCurrent_v4000 current =
        (PFN_cuCtxGetCurrent_v4000)(uintptr_t)driver_function("cuCtxGetCurrent", 4000);
    const PFN_cuCtxPushCurrent_v4000 push =
        (PFN_cuCtxPushCurrent_v4000)(uintptr_t)driver_function("cuCtxPushCurrent", 4000);
    const PFN_cuCtxPopCurrent_v4000 pop =
        (PFN_cuCtxPopCurrent_v4000)(uintptr_t)driver_function("cuCtxPopCurrent", 4000);
    CUcontext context = NULL, popped = NULL;
    if (!CHECK(create && destroy && current && push && pop, "the driver lacks a function") ||
        !CHECK(create(&context, 0, 0) == CUDA_SUCCESS && pop(&popped) == CUDA_SUCCESS, "create"))
        return;
    frames_in(context, current, push, pop);
    CHECK(destroy(context) == CUDA_SUCCESS, "destroy");
#else
    check_skip("no GPU: CUDA before 12.5 cannot look up functions by version");
#endif
}

TEST_MAIN
