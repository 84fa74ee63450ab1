/*
 * If a GPU is lost in mid-run or cannot take a frame, no frame is lost or repeated, and the bits
 * stay the same. This program's CUDA backend is a fake that computes on the CPU and fails at a
 * chosen call like a lost device.
 */
#include "../check.h"
#include "../default_params.h"

#include "all_stats.h"
#include "equalizer/backend.h"
#include "equalizer/last_error.h"
#include "pictures.h"

#define FRAMES 24
#define WIDTH 68 /* bytes */
#define HEIGHT 43
#define CHROMA (WIDTH * HEIGHT)                  /* offset of interleaved chroma, 2x2 subsampled */
#define SIZE (CHROMA + WIDTH * (HEIGHT + 1) / 2) /* of a picture */

#define FLIGHTS LUMEQ_FLIGHTS

/* A frame in flight. The fake device measures it when the library waits for its measure. */
typedef struct Flight {
    struct Flight *next;
    LumeqMeasureJob job;
    LumeqFlight to;
    int written; /* the output's copy is queued */
    int landed;  /* the library has received the frame */
} Flight;

typedef struct FakeDevice {
    _Alignas(max_align_t) char cpu[1 << 20];
    Flight *flights; /* newest first */
} FakeDevice;

static int in_flight(const FakeDevice *fake)
{
    int count = 0;
    for (const Flight *f = fake->flights; f; f = f->next)
        count += !f->landed;
    return count;
}

static int calls_until_loss; /* calls of any kind that still succeed */
static int lost;
static int refusal; /* if not 0: error of a device that is not lost, but takes no more frames */
static int deep;    /* 1: frames have 10 bits, later 14 bits; 0: 8 bits */
static enum { GLOBAL, CLAHE, BOTH, MODES } mode;

static int open_fake(void *priv, const LumeqConfig *config, char *text, size_t size)
{
    FakeDevice *fake = priv;
    return lumeq_backend_cpu.priv_size > sizeof(fake->cpu)
               ? LUMEQ_ERR_MEMORY
               : lumeq_backend_cpu.open(fake->cpu, config, text, size);
}

static int fails(void)
{
    if (calls_until_loss-- > 0)
        return 0;
    lost = 1;
    lumeq_refuse("unspecified launch failure");
    return 1;
}

/* A lost device may have written anything into the outputs of the frames in flight. */
static void lose_frames(const FakeDevice *fake)
{
    for (const Flight *f = fake->flights; f; f = f->next) {
        const LumeqImage *out = &f->to.out;
        if (f->landed || !f->written || out->memory != LUMEQ_MEMORY_HOST)
            continue;
        for (int plane = 0; plane < f->to.write; plane++)
            memset(out->plane[plane], 0xA5, WIDTH);
    }
}

static int frames_begun; /* frames whose output's copy was queued */

static int try_taking(FakeDevice *fake)
{
    if (!fails())
        return 0;
    if (!refusal)
        lose_frames(fake);
    return refusal ? refusal : LUMEQ_ERR_GPU;
}

/* Unlike try_taking(), succeeds on a device that only refuses frames. */
static int try_call(FakeDevice *fake)
{
    return refusal ? 0 : try_taking(fake);
}

static int measure_fake(void *priv, const LumeqMeasureJob *job, void **pending)
{
    FakeDevice *fake = priv;
    const int ret = try_taking(fake);
    return ret < 0 ? ret : lumeq_backend_cpu.measure(fake->cpu, job, pending);
}

static int place_fake(void *priv, const LumeqMeasureJob *job, const LumeqFlight *flight,
                      void **pending)
{
    FakeDevice *fake = priv;
    *pending = NULL;
    const int ret = refusal ? try_taking(fake) : 0;
    Flight *made = ret < 0 ? NULL : calloc(1, sizeof(*made));
    if (!made)
        return ret < 0 ? ret : LUMEQ_ERR_MEMORY;
    *made = (Flight){.next = fake->flights, .job = *job, .to = *flight};
    *pending = fake->flights = made;
    return 0;
}

static int begin_fake(void *priv, void *const *pendings, int count)
{
    (void)pendings;
    CHECK(count == 1, "%d frames begin", count);
    return try_call(priv);
}

static int measure_finish_fake(void *priv, void *pending, const LumeqCounts *counts, int wait)
{
    if (!wait)
        return LUMEQ_ERR_AGAIN;
    FakeDevice *fake = priv;
    LumeqMeasureJob *job = &((Flight *)pending)->job;
    void *none;
    job->counts = *counts;
    const int ret = try_call(fake);
    return ret < 0 ? ret : lumeq_backend_cpu.measure(fake->cpu, job, &none);
}

static int write_fake(void *priv, const LumeqApplyJob *job, int count)
{
    Flight *p = job->flight;
    const int ret = try_call(priv);
    CHECK(count == 1, "%d frames are written", count);
    if (ret < 0)
        return ret;
    CHECK(p->job.in.plane[0] == job->in.plane[0], "the wrong frame is written");
    p->written = job->write > 0;
    frames_begun++;
    return job->write ? lumeq_backend_cpu.apply(((FakeDevice *)priv)->cpu, job) : 0;
}

static int land_fake(void *priv, void *pending, const LumeqCounts *counts, int wait,
                     double begin_us[LUMEQ_STAGES], double end_us[LUMEQ_STAGES])
{
    Flight *p = pending;
    (void)begin_us;
    (void)end_us;
    (void)counts;
    if (!wait)
        return LUMEQ_ERR_AGAIN;
    if (try_call(priv) < 0)
        return LUMEQ_ERR_GPU;
    for (const Flight *other = p->next; other; other = other->next)
        CHECK(other->landed, "a frame is received out of order");
    p->landed = 1;
    return 0;
}

static void leave_fake(void *priv, void *pending)
{
    Flight **at = &((FakeDevice *)priv)->flights;
    while (*at != pending)
        at = &(*at)->next;
    *at = ((Flight *)pending)->next;
    free(pending);
}

/* Never called; its presence means that the device accepts images in its memory. */
static void *alloc_device_fake(void *priv, size_t size)
{
    (void)priv;
    (void)size;
    return NULL;
}

static void close_fake(void *priv)
{
    FakeDevice *fake = priv;
    if (refusal)
        CHECK(!in_flight(fake), "%d frames were not waited for", in_flight(fake));
    while (fake->flights)
        leave_fake(fake, fake->flights);
    lumeq_backend_cpu.close(fake->cpu);
}

const LumeqBackend lumeq_backend_cuda = {
    .name = "cuda",
    .build_info = "a fake one",
    .priv_size = sizeof(FakeDevice),
    .open = open_fake,
    .measure = measure_fake,
    .measure_finish = measure_finish_fake,
    .place = place_fake,
    .begin = begin_fake,
    .write = write_fake,
    .land = land_fake,
    .leave = leave_fake,
    .alloc_device = alloc_device_fake,
    .close = close_fake,
};

typedef struct Run {
    uint8_t in[FRAMES][SIZE], out[FRAMES][SIZE];
    FrameStats stats[FRAMES];
    uint8_t spare[SIZE];
    int on_device;         /* some outputs are in device memory until the loss */
    int unwritten[FRAMES]; /* frames that were returned measured instead of written */
    int received;
} Run;

static int is_measured(int n)
{
    return n % 7 == 3;
}

static void take(LumeqEqualizer *eq, Run *run, int until_empty)
{
    LumeqFrame frame = {.size = sizeof(frame)};
    int ret;
    while ((ret = lumeq_receive(eq, &frame, ask_stats(&run->stats[run->received % FRAMES]))) == 0) {
        const int n = run->received++;
        CHECK(frame.opaque == run->in[n % FRAMES], "the wrong frame is received as number %d", n);
        run->unwritten[n % FRAMES] = !is_measured(n) && !frame.out.plane[0];
        CHECK(!frame.out.plane[0] || frame.out.plane[0] == run->out[n % FRAMES],
              "the output of frame %d has moved", n);
    }
    CHECK(ret == LUMEQ_ERR_AGAIN || (until_empty && ret == LUMEQ_ERR_END), "receive returns %d",
          ret);
}

/* Every third picture is gray. */
static LumeqImage picture(uint8_t *memory, int n)
{
    return (LumeqImage){.plane = {memory, memory && n % 3 ? memory + CHROMA : NULL},
                        .stride = {WIDTH, WIDTH},
                        .chroma_x = 1,
                        .chroma_y = 1,
                        .width = deep ? WIDTH / 2 : WIDTH,
                        .height = HEIGHT,
                        .depth = !deep    ? 8
                                 : n < 18 ? 10
                                          : 14,
                        .shift = deep && n < 18 ? 6 : 0};
}

static LumeqFrame frame_of(Run *run, int n)
{
    return (LumeqFrame){
        .in = picture(run->in[n], n),
        .out = picture(is_measured(n) ? NULL : run->out[n], n),
        .time = INT64_C(40000000) * n,
        .opaque = run->in[n],
    };
}

static void hand_in(LumeqEqualizer *eq, Run *run, LumeqFrame frame, int n)
{
    int ret;
    if (run->on_device && n % 4)
        frame.out.memory = LUMEQ_MEMORY_CUDA;
    while ((ret = lumeq_submit(eq, &frame)) == LUMEQ_ERR_AGAIN)
        take(eq, run, 0);
    if (ret == LUMEQ_ERR_ARGUMENT && frame.out.memory == LUMEQ_MEMORY_CUDA) {
        CHECK(lost, "frame %d is refused: %s", n, lumeq_last_error(eq));
        CHECK(strstr(lumeq_last_error(eq), "CUDA memory") != NULL, "the error is '%s'",
              lumeq_last_error(eq));
        frame.out.memory = LUMEQ_MEMORY_HOST;
        ret = lumeq_submit(eq, &frame);
    }
    CHECK(ret == 0, "submit returns %d: %s", ret, lumeq_last_error(eq));
}

static void set_mode(LumeqParams *params, int n)
{
    const int clahe = mode == CLAHE || (mode == BOTH && n / 4 % 3);
    params->mode = clahe ? LUMEQ_MODE_CLAHE : LUMEQ_MODE_GLOBAL;
    params->tiles_x = n < 19 ? 4 : 3;
    params->tiles_y = 3;
}

typedef struct Log {
    int infos, warnings;
    char warning[256];
} Log;

static void note(void *user, LumeqLogLevel level, const char *text)
{
    Log *log = user;
    log->infos += level == LUMEQ_LOG_INFO;
    if (level == LUMEQ_LOG_WARNING && log->warnings++ == 0)
        snprintf(log->warning, sizeof(log->warning), "%s", text);
}

/* Expects one warning with the reason if the GPU was lost, otherwise none. */
static void check_log(const Log *log)
{
    CHECK(log->infos == 1, "%d lines report the backend", log->infos);
    CHECK(log->warnings == lost, "%d warnings of %d losses", log->warnings, lost);
    CHECK(!lost || (strstr(log->warning, "the CPU goes on without the GPU") &&
                    strstr(log->warning, "launch failure")),
          "the warning is '%s'", log->warning);
}

/* Equalizes the film with this backend; parameters change and a reset happens on the way. */
static void play(LumeqBackendId id, Run *run)
{
    char why[256] = "";
    LumeqEqualizer *eq = NULL;
    Log log = {0};
    /* If the GPU refuses a frame, the CPU takes over only with LUMEQ_BACKEND_AUTO. */
    const LumeqConfig config = {
        .backend = refusal && id == LUMEQ_BACKEND_CUDA ? LUMEQ_BACKEND_AUTO : id,
        .threads = 1,
        .log = note,
        .log_user = &log,
    };
    LumeqParams params = DEFAULT_PARAMS;
    CheckRandom random = {7, 0};
    if (lumeq_create(&eq, &config, why, sizeof(why)) < 0) {
        CHECK(0, "no equalizer: %s", why);
        return;
    }
    for (int n = 0; n < FRAMES; n++) {
        LumeqFrame frame = frame_of(run, n);
        for (int i = 0; i < SIZE; i++)
            run->in[n][i] = (uint8_t)(40 + 3 * n + check_below(&random, 20 + 4 * (n % 5)));
        params.clip = n < 9 ? LUMEQ_CLIP_AUTO : 0;
        params.dither = n > 5;
        set_mode(&params, n);
        lumeq_set_params(eq, &params);
        if (n == 15)
            lumeq_reset(eq);
        hand_in(eq, run, frame, n);
    }
    lumeq_flush(eq);
    take(eq, run, 1);
    CHECK(run->received == FRAMES, "%d of %d frames came back", run->received, FRAMES);
    CHECK(strcmp(lumeq_backend_name(eq), id == LUMEQ_BACKEND_CPU || lost ? "cpu" : "cuda") == 0,
          "the backend is %s", lumeq_backend_name(eq));
    if (lost && !run->on_device) /* otherwise a refused output may have set a later message */
        CHECK(strstr(lumeq_last_error(eq), "launch failure") != NULL, "the error is '%s'",
              lumeq_last_error(eq));
    check_log(&log);
    lumeq_destroy(&eq);
}

/* `b`: the run that lost its GPU. */
static void compare(const Run *a, const Run *b, int call)
{
    int unwritten = 0;
    for (int n = 0; n < FRAMES; n++) {
        const FrameStats *s = &a->stats[n], *t = &b->stats[n];
        unwritten += b->unwritten[n];
        CHECK(b->unwritten[n] || memcmp(a->out[n], b->out[n], sizeof(a->out[n])) == 0,
              "mode %d, lost at call %d: frame %d differs", (int)mode, call, n);
        CHECK(memcmp(s->curve, t->curve, sizeof(s->curve)) == 0 &&
                  memcmp(s->hist_in, t->hist_in, sizeof(s->hist_in)) == 0 &&
                  memcmp(s->hist_out, t->hist_out, sizeof(s->hist_out)) == 0 &&
                  s->values.curve_speed == t->values.curve_speed &&
                  s->values.scene_cut == t->values.scene_cut,
              "mode %d, lost at call %d: statistics of frame %d differ", (int)mode, call, n);
    }
    const int most = lost && b->on_device ? FLIGHTS : 0;
    CHECK(unwritten <= most, "lost at call %d: %d frames unwritten", call, unwritten);
}

static void lose_at_any_call(int on_device)
{
    static Run expected, run;
    int call = 0;
    memset(&expected, 0, sizeof(expected));
    calls_until_loss = 1 << 30;
    play(LUMEQ_BACKEND_CPU, &expected);
    do {
        memset(&run, 0, sizeof(run));
        run.on_device = on_device;
        lost = 0;
        calls_until_loss = call;
        play(LUMEQ_BACKEND_CUDA, &run);
        compare(&expected, &run, call);
        call++;
    } while (lost);
    CHECK(call > (refusal ? 1 : 2) * FRAMES, "only %d calls could lose the GPU", call);
}

static void lose_in_any_mode(int on_device)
{
    for (int n = 0; n < 2 * MODES; n++) {
        if (!check_drawn(n + on_device))
            continue;
        deep = n / MODES;
        mode = n % MODES;
        lose_at_any_call(on_device);
    }
    deep = 0;
    mode = GLOBAL;
}

TEST(loss_at_any_call)
{
    if (!check_without_threads())
        lose_in_any_mode(0);
}

/* The CPU cannot write device memory, so frames in flight come back measured but not written. */
TEST(loss_with_outputs_on_the_device)
{
    if (!check_without_threads())
        lose_in_any_mode(1);
}

/* If the GPU has no memory for a frame, the CPU continues. */
TEST(no_memory_for_any_frame)
{
    if (check_without_threads())
        return;
    refusal = LUMEQ_ERR_MEMORY;
    for (int on_device = 0; on_device < 2; on_device++)
        lose_at_any_call(on_device);
    refusal = 0;
}

/* If the GPU has no memory for a call, the CPU takes over, unless the caller requires the GPU. */
TEST(no_memory_step_by_step)
{
    static Run run;
    const LumeqImage in = picture(run.in[0], 0);
    for (int insisted = 0; insisted < 2; insisted++) {
        Log log = {0};
        const LumeqConfig config = {.backend = insisted ? LUMEQ_BACKEND_CUDA : LUMEQ_BACKEND_AUTO,
                                    .log = note,
                                    .log_user = &log};
        LumeqContext *context = NULL;
        LumeqMeasure *measure = NULL;
        lost = calls_until_loss = 0;
        refusal = LUMEQ_ERR_MEMORY;
        CHECK(lumeq_context_create(&context, &config, NULL, 0) == 0, "%s", lumeq_last_error(NULL));
        for (int i = 0; i < 2; i++) {
            const int ret = lumeq_measure(context, &measure, NULL, &in, NULL, NULL);
            CHECK(ret == (insisted ? LUMEQ_ERR_MEMORY : 0), "measure returns %d", ret);
        }
        CHECK(log.warnings == !insisted, "%d warnings", log.warnings);
        lumeq_measure_free(&measure);
        lumeq_context_destroy(&context);
    }
    refusal = lost = 0;
}

/* receive() waits for an unfinished frame only if no slot is free, or after a flush. */
TEST(receive_waits_only_when_it_must)
{
    LumeqEqualizer *eq = NULL;
    static Run run;
    const LumeqConfig config = {.backend = LUMEQ_BACKEND_CUDA};
    lost = 0;
    calls_until_loss = 1 << 30;
    CHECK(lumeq_create(&eq, &config, NULL, 0) == 0, "create");
    for (int n = 0; n < FLIGHTS; n++) {
        const LumeqFrame frame = frame_of(&run, n);
        const int ret = lumeq_receive(eq, NULL, NULL);
        CHECK(ret == LUMEQ_ERR_AGAIN, "with %d frames in flight: %d", n, ret);
        CHECK(lumeq_submit(eq, &frame) == 0, "submit");
    }
    CHECK(lumeq_receive(eq, NULL, NULL) == 0, "does not wait with all slots in use");
    CHECK(lumeq_receive(eq, NULL, NULL) == LUMEQ_ERR_AGAIN, "waits though a slot is free");
    lumeq_flush(eq);
    for (int n = 1; n < FLIGHTS; n++)
        CHECK(lumeq_receive(eq, NULL, NULL) == 0, "does not wait after a flush");
    CHECK(lumeq_receive(eq, NULL, NULL) == LUMEQ_ERR_END, "no END");
    lumeq_destroy(&eq);
}

/* If the GPU has no memory for the frames, the CPU takes over, unless the caller requires the GPU
 * or only the GPU has the input. */
TEST(no_memory_on_the_gpu)
{
    enum { MAY, INSISTED, ON_GPU, CASES };
    for (int i = 0; i < CASES; i++) {
        LumeqEqualizer *eq = NULL;
        static Run run;
        const LumeqConfig config = {.backend =
                                        i == INSISTED ? LUMEQ_BACKEND_CUDA : LUMEQ_BACKEND_AUTO};
        LumeqFrame frame = frame_of(&run, 0);
        frame.out.memory = LUMEQ_MEMORY_CUDA;
        if (i == ON_GPU)
            frame.in.memory = LUMEQ_MEMORY_CUDA;
        calls_until_loss = 0;
        refusal = LUMEQ_ERR_MEMORY;
        CHECK(lumeq_create(&eq, &config, NULL, 0) == 0, "create");
        const int ret = lumeq_submit(eq, &frame);
        CHECK(ret == (i == MAY ? 0 : LUMEQ_ERR_UNAVAILABLE), "submit returns %d", ret);
        CHECK(!strcmp(lumeq_backend_name(eq), i == MAY ? "cpu" : "cuda"), "the backend is %s",
              lumeq_backend_name(eq));
        CHECK(strstr(lumeq_last_error(eq), "launch failure") != NULL, "the error is '%s'",
              lumeq_last_error(eq));
        if (i == MAY) {
            CHECK(lumeq_receive(eq, &frame, NULL) == 0, "%s", lumeq_last_error(eq));
            CHECK(!frame.out.plane[0], "the CPU wrote device memory");
        } else {
            calls_until_loss = 1 << 30;
            CHECK(lumeq_process(eq, &frame, NULL) == 0, "%s", lumeq_last_error(eq));
        }
        lumeq_destroy(&eq);
        refusal = lost = 0;
    }
}

/* If only the GPU has a frame's input, that frame is lost with the GPU. Other frames are not. */
TEST(input_on_the_device_is_lost)
{
    static Run run;
    LumeqEqualizer *eq = NULL, *cpu = NULL;
    static uint8_t out[SIZE];
    const LumeqConfig config = {.backend = LUMEQ_BACKEND_AUTO};
    const LumeqConfig on_cpu = {.backend = LUMEQ_BACKEND_CPU};
    for (int i = 0; i < SIZE; i++)
        run.in[0][i] = (uint8_t)(i * 7 % 64), run.in[1][i] = (uint8_t)(i * 5 % 200);
    for (int calls = 1; calls < 6; calls++) {
        LumeqFrame first = frame_of(&run, 0), other = frame_of(&run, 1), alone = other;
        first.in.memory = LUMEQ_MEMORY_CUDA;
        other.previous = alone.previous = NULL;
        alone.out = picture(out, 1);
        lost = 0;
        calls_until_loss = calls;
        CHECK(lumeq_create(&eq, &config, NULL, 0) == 0 && lumeq_create(&cpu, &on_cpu, NULL, 0) == 0,
              "create");
        CHECK(lumeq_submit(eq, &first) == 0 && lumeq_submit(eq, &other) == 0, "%s",
              lumeq_last_error(eq));
        lumeq_flush(eq);
        const int ret = lumeq_receive(eq, NULL, NULL);
        CHECK(ret == (calls < 5 ? LUMEQ_ERR_GPU : 0), "lost at call %d: %d", calls, ret);
        CHECK(lumeq_receive(eq, &other, NULL) == 0 && lost, "%s", lumeq_last_error(eq));
        CHECK(lumeq_process(cpu, &alone, NULL) == 0, "%s", lumeq_last_error(cpu));
        if (ret < 0)
            CHECK(!memcmp(other.out.plane[0], out, SIZE), "lost at call %d: another picture",
                  calls);
        lumeq_destroy(&eq);
        lumeq_destroy(&cpu);
    }
}

/* When submit returns, a frame with `sync` and all frames before it have been queued. */
TEST(sync_is_queued_at_once)
{
    LumeqEqualizer *eq = NULL;
    static Run run;
    const LumeqConfig config = {.backend = LUMEQ_BACKEND_CUDA};
    const LumeqSync sync = {.finished = &run};
    lost = frames_begun = 0;
    calls_until_loss = 1 << 30;
    CHECK(lumeq_create(&eq, &config, NULL, 0) == 0, "create");
    for (int n = 0; n < 3; n++) {
        LumeqFrame frame = frame_of(&run, n);
        frame.sync = n == 1 ? &sync : NULL;
        CHECK(lumeq_submit(eq, &frame) == 0, "%s", lumeq_last_error(eq));
        CHECK(frames_begun == (n ? 2 : 0), "frame %d: %d are queued", n, frames_begun);
    }
    lumeq_destroy(&eq);
}

TEST_MAIN
