/*
 * A CPU without memory for a frame: the frame is refused, or redone later. Both backends of this
 * program are fakes: the CPU marks the frames that it writes, and the GPU is lost with the first.
 */
#include "../check.h"
#include "../fake_flights.h"

#define SIDE 16
#define MARK 0x5A

static int opened, no_memory;

static int open_cpu(void *priv, const LumeqConfig *config, char *text, size_t size)
{
    (void)priv;
    (void)config;
    opened++;
    snprintf(text, size, "a made-up CPU");
    return 0;
}

static int measure_cpu(void *priv, const LumeqMeasureJob *job, void **pending)
{
    (void)priv;
    (void)pending;
    memset(job->counts.hist, 0, (size_t)job->curve.bins * sizeof(*job->counts.hist));
    memset(job->counts.noise, 0, sizeof(*job->counts.noise));
    for (int i = 0; i < BARS_DIRECTIONS; i++)
        memset(job->counts.lit[i], 0, SIDE);
    return 0;
}

static int apply_cpu(void *priv, const LumeqApplyJob *job)
{
    (void)priv;
    if (no_memory) {
        lumeq_refuse("no memory for the tiles");
        return LUMEQ_ERR_MEMORY;
    }
    memset(job->out.plane[0], MARK, SIDE);
    return 0;
}

static void *alloc_cpu(void *priv, size_t size)
{
    (void)priv;
    return malloc(size);
}

static void free_cpu(void *priv, void *memory)
{
    (void)priv;
    free(memory);
}

static void close_it(void *priv)
{
    (void)priv;
}

const LumeqBackend lumeq_backend_cpu = {
    .name = "cpu",
    .priv_size = 1,
    .open = open_cpu,
    .measure = measure_cpu,
    .apply = apply_cpu,
    .alloc_host = alloc_cpu,
    .free_host = free_cpu,
    .close = close_it,
};

static int open_gpu(void *priv, const LumeqConfig *config, char *text, size_t size)
{
    return fake_open(priv, config, text, size);
}

static int place_gpu(void *priv, const LumeqMeasureJob *job, const LumeqFlight *flight,
                     void **pending)
{
    return fake_place(priv, job, flight, pending);
}

static int begin_gpu(void *priv, void *const *pendings, int count, int may_refuse)
{
    (void)priv, (void)pendings, (void)count, (void)may_refuse;
    return 0;
}

static int finish_gpu(void *priv, void *pending, const LumeqCounts *counts, int wait)
{
    return wait ? fake_measure(priv, pending, counts) : LUMEQ_ERR_AGAIN;
}

static int write_gpu(void *priv, const LumeqApplyJob *jobs, int count)
{
    (void)priv, (void)jobs, (void)count;
    return 0;
}

static int land_gpu(void *priv, void *pending, const LumeqCounts *counts, int wait,
                    double begin_us[LUMEQ_STAGES], double end_us[LUMEQ_STAGES])
{
    (void)priv, (void)pending, (void)counts, (void)begin_us, (void)end_us;
    lumeq_refuse("no progress");
    return wait ? LUMEQ_ERR_GPU : LUMEQ_ERR_AGAIN;
}

static void close_gpu(void *priv)
{
    fake_close(priv);
}

const LumeqBackend lumeq_backend_cuda = {
    .name = "cuda",
    .priv_size = sizeof(FakeDevice),
    .open = open_gpu,
    .measure_finish = finish_gpu,
    .place = place_gpu,
    .begin = begin_gpu,
    .write = write_gpu,
    .land = land_gpu,
    .leave = fake_leave,
    .alloc_host = alloc_cpu,
    .free_host = free_cpu,
    .alloc_device = alloc_cpu,
    .free_device = free_cpu,
    .close = close_gpu,
};

static LumeqImage picture(uint8_t *memory)
{
    return (LumeqImage){
        .plane = {memory}, .stride = {SIDE}, .width = SIDE, .height = SIDE, .depth = 8};
}

static LumeqEqualizer *open_on(LumeqBackendId id)
{
    LumeqEqualizer *eq = NULL;
    const LumeqConfig config = {.backend = id};
    opened = no_memory = 0;
    CHECK(lumeq_create(&eq, &config, NULL, 0) == 0, "create");
    return eq;
}

/* A CPU that was chosen first replaces no GPU. */
TEST(a_frame_is_refused)
{
    static uint8_t in[SIDE * SIDE], out[SIDE * SIDE];
    const LumeqFrame frame = {.in = picture(in), .out = picture(out)};
    FREED_BY(lumeq_destroy) LumeqEqualizer *eq = open_on(LUMEQ_BACKEND_CPU);
    no_memory = 1;
    CHECK(lumeq_submit(eq, &frame) == LUMEQ_ERR_MEMORY, "it is taken: %s", lumeq_last_error(eq));
    CHECK(strcmp(lumeq_last_error(eq), "no memory for the tiles") == 0, "the error is '%s'",
          lumeq_last_error(eq));
    CHECK(opened == 1, "the CPU was opened %d times", opened);
    no_memory = 0;
    CHECK(lumeq_submit(eq, &frame) == 0 && lumeq_receive(eq, NULL, NULL) == 0, "%s",
          lumeq_last_error(eq));
    CHECK(out[0] == MARK, "it is not written");
}

/* The frames of a lost GPU are kept until the CPU has memory for them. */
TEST(frames_wait_for_memory)
{
    static uint8_t in[SIDE * SIDE], out[2][SIDE * SIDE];
    FREED_BY(lumeq_destroy) LumeqEqualizer *eq = open_on(LUMEQ_BACKEND_CUDA);
    LumeqFrame back = {.size = sizeof(back)};
    for (int n = 0; n < 2; n++) {
        const LumeqFrame frame = {.in = picture(in), .out = picture(out[n]), .opaque = out[n]};
        CHECK(lumeq_submit(eq, &frame) == 0, "%s", lumeq_last_error(eq));
    }
    lumeq_flush(eq);
    no_memory = 1;
    for (int i = 0; i < 2; i++)
        CHECK(lumeq_receive(eq, &back, NULL) == LUMEQ_ERR_MEMORY, "a frame comes back");
    no_memory = 0;
    for (int n = 0; n < 2; n++) {
        const int ret = lumeq_receive(eq, &back, NULL);
        if (!CHECK(ret == 0, "receive answers %d: %s", ret, lumeq_last_error(eq)))
            break;
        CHECK(back.opaque == out[n], "frame %d is another", n);
        CHECK(back.out.plane[0] == out[n] && out[n][0] == MARK, "frame %d is not written", n);
    }
    CHECK(lumeq_receive(eq, &back, NULL) == LUMEQ_ERR_END, "there are more");
}

TEST_MAIN
