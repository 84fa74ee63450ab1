/* Features of the CUDA backend only: device numbers, pinned memory, several frames in flight. */
#include <math.h>
#include <pthread.h>
#include <stddef.h>

#include "../equalizer/all_stats.h"
#include "open_on.h"

#define FRAMES 40
#define MAX_IN_FLIGHT 16

TEST(device_numbers)
{
    LumeqEqualizer *eq = open_on(LUMEQ_BACKEND_CUDA);
    if (!eq)
        return;
    lumeq_destroy(&eq);
    char why[256] = "";
    const LumeqConfig config = {.backend = LUMEQ_BACKEND_CUDA, .device = 1000};
    CHECK(lumeq_create(&eq, &config, why, sizeof(why)) == LUMEQ_ERR_UNAVAILABLE, "GPU 1000 opens");
    CHECK(strstr(why, "GPU 1000") != NULL, "the sentence is \"%s\"", why);
}

static void *allocate(void *argument)
{
    LumeqEqualizer *eq = argument;
    for (int i = 0; i < 20; i++) {
        const size_t size = 1 + (size_t)i * 100000;
        uint8_t *memory = lumeq_alloc_host(eq, size);
        if (CHECK(memory != NULL, "no %zu bytes", size)) {
            CHECK((uintptr_t)memory % 64 == 0, "%p is not aligned", (void *)memory);
            memset(memory, i, size);
            lumeq_free_host(eq, memory);
        }
    }
    return NULL;
}

TEST(pinned_memory)
{
    FREED_BY(lumeq_destroy) LumeqEqualizer *eq = open_on(LUMEQ_BACKEND_CUDA);
    if (!eq)
        return;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, allocate, eq);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);

    /* The limit does not count freed memory. */
    const size_t piece = (size_t)256 << 20;
    void *pieces[16];
    int count = 0;
    while (count < 16 && (pieces[count] = lumeq_alloc_host(eq, piece)) != NULL)
        count++;
    CHECK(count < 16, "%d x 256 MiB were pinned", count);
    LumeqEqualizer *other = open_on(LUMEQ_BACKEND_CUDA);
    CHECK(!lumeq_alloc_host(other, piece), "another equalizer has a cap of its own");
    lumeq_destroy(&other);
    CHECK(lumeq_alloc_host(eq, SIZE_MAX) == NULL, "all memory there is was pinned");
    while (count)
        lumeq_free_host(eq, pieces[--count]);
    void *again = lumeq_alloc_host(eq, 1 << 20);
    CHECK(again != NULL, "nothing is left after all was freed");
    lumeq_free_host(eq, again);
}

/* A sequence whose size changes while frames are in flight, in pinned or ordinary memory. */
typedef struct Sequence {
    LumeqEqualizer *eq;
    int pinned;
    uint8_t *in[FRAMES], *out[FRAMES];
    FrameStats stats[FRAMES];
    int submitted, received;
} Sequence;

static void size_of(int frame, int *width, int *height)
{
    static const int sizes[][2] = {{320, 180}, {321, 181}, {640, 361}, {1921, 1080}, {64, 48}};
    *width = sizes[frame / 8 % 5][0];
    *height = sizes[frame / 8 % 5][1];
}

static uint8_t *get(const Sequence *s, size_t size)
{
    return s->pinned ? lumeq_alloc_host(s->eq, size) : malloc(size);
}

static void put(const Sequence *s, uint8_t *memory)
{
    if (s->pinned)
        lumeq_free_host(s->eq, memory);
    else
        free(memory);
}

/* Luma with a gap behind its rows, then Cb and Cr. */
static size_t bytes_of(int frame)
{
    int width, height;
    size_of(frame, &width, &height);
    return (size_t)(width + 3) * (size_t)height +
           2 * (size_t)((width + 1) / 2 * ((height + 1) / 2));
}

/* Luma is bottom-up with `flip`; every fourth frame is gray. */
static LumeqImage image_of(uint8_t *memory, int frame, int flip)
{
    int width, height;
    size_of(frame, &width, &height);
    const ptrdiff_t stride = width + 3, row = (width + 1) / 2;
    LumeqImage image = {.width = width, .height = height, .depth = 8};
    image.plane[0] = flip ? memory + (height - 1) * stride : memory;
    image.stride[0] = flip ? -stride : stride;
    image.chroma_x = image.chroma_y = 1;
    for (int i = 0; i < 2 && frame % 4; i++) {
        image.plane[i + 1] = memory + height * stride + i * row * ((height + 1) / 2);
        image.stride[i + 1] = row;
    }
    return image;
}

static int submit_next(Sequence *s)
{
    const int i = s->submitted;
    const size_t size = bytes_of(i);
    if (!s->in[i]) {
        s->in[i] = get(s, size);
        s->out[i] = get(s, size);
        for (size_t k = 0; k < size; k++)
            s->in[i][k] = (uint8_t)(40 + i / 8 * 8 + (int)(check_hash((uint64_t)i / 8, k) % 90) +
                                    (int)(check_hash((uint64_t)i, k) % 4));
        memset(s->out[i], 0, size);
    }
    LumeqFrame frame = {.in = image_of(s->in[i], i, i % 3 == 0),
                        .out = image_of(s->out[i], i, i % 2 == 0),
                        .time = i * (int64_t)40000000,
                        .interlaced = i % 5 == 2};
    /* The previous frame's luma is on the GPU already, if it is the right one. */
    const int before = i - 1 - (i % 8 == 6);
    LumeqImage previous;
    if (i % 8 && i % 8 != 3) {
        previous = image_of(s->in[before], before, before % 3 == 0);
        frame.previous = &previous;
    }
    const int ret = lumeq_submit(s->eq, &frame);
    s->submitted += ret == 0;
    return ret;
}

static int receive_next(Sequence *s)
{
    LumeqFrame frame = {.size = sizeof(frame)};
    const int ret = lumeq_receive(s->eq, &frame, ask_stats(&s->stats[s->received]));
    s->received += ret == 0;
    return ret;
}

static void step(Sequence *s)
{
    int ret = s->submitted < FRAMES ? submit_next(s) : LUMEQ_ERR_AGAIN;
    if (s->submitted == FRAMES)
        lumeq_flush(s->eq);
    CHECK(ret == 0 || ret == LUMEQ_ERR_AGAIN, "submit answers %d: %s", ret,
          lumeq_last_error(s->eq));
    ret = receive_next(s);
    CHECK(ret == 0 || ret == LUMEQ_ERR_AGAIN, "receive answers %d: %s", ret,
          lumeq_last_error(s->eq));
}

static void compare(const Sequence *a, const Sequence *b)
{
    int known = 0;
    for (int i = 0; i < FRAMES; i++) {
        CHECK(!memcmp(a->out[i], b->out[i], bytes_of(i)), "frame %d differs", i);
        CHECK(!memcmp(a->stats[i].curve, b->stats[i].curve, 256 * sizeof(a->stats[i].curve[0])),
              "the curve of frame %d differs", i);
        CHECK(a->stats[i].values.noise == b->stats[i].values.noise,
              "the noise of frame %d: %g and %g", i, a->stats[i].values.noise,
              b->stats[i].values.noise);
        known += a->stats[i].values.noise > 0;
    }
    CHECK(known > FRAMES / 4, "the noise of %d frames of %d is known", known, FRAMES);
}

static void end(Sequence *s)
{
    for (int i = 0; i < FRAMES; i++) {
        put(s, s->in[i]);
        put(s, s->out[i]);
    }
    lumeq_destroy(&s->eq);
}

#define SEQUENCES 4

static int all_received(const Sequence *s)
{
    int received = 0;
    for (int i = 0; i < SEQUENCES; i++)
        received += s[i].received;
    return received == SEQUENCES * FRAMES;
}

/* The same result from the CPU, and from the GPU with ordinary memory, with pinned memory, and
 * without stage times. */
TEST(sequences)
{
    static Sequence s[SEQUENCES];
    for (int i = 0; i < SEQUENCES; i++) {
        s[i] = (Sequence){.eq = open_timed(i ? LUMEQ_BACKEND_CUDA : LUMEQ_BACKEND_CPU, i < 3),
                          .pinned = i >= 2};
        if (!s[i].eq)
            return;
    }
    while (!all_received(s))
        for (int i = 0; i < SEQUENCES; i++)
            if (s[i].received < FRAMES)
                step(&s[i]);
    for (int i = 1; i < SEQUENCES; i++)
        compare(&s[0], &s[i]);
    for (int i = 0; i < FRAMES; i++) {
        const LumeqFrameStats *t = &s[2].stats[i].values, *untimed = &s[3].stats[i].values;
        for (int stage = 0; stage < LUMEQ_STAGES; stage++) {
            CHECK(!untimed->stage_begin_us[stage] && !untimed->stage_end_us[stage],
                  "frame %d: stage %d has times that nobody asked for", i, stage);
            CHECK(t->stage_begin_us[stage] <= t->stage_end_us[stage] &&
                      (!stage || t->stage_end_us[stage - 1] <= t->stage_begin_us[stage] + 1),
                  "frame %d: stage %d lasts from %.1f to %.1f us", i, stage,
                  t->stage_begin_us[stage], t->stage_end_us[stage]);
        }
    }
    for (int i = 0; i < SEQUENCES; i++)
        end(&s[i]);
}

/* Destroyed with frames in flight. */
TEST(abandoned)
{
    Sequence s = {.eq = open_on(LUMEQ_BACKEND_CUDA)};
    if (!s.eq)
        return;
    while (submit_next(&s) == 0)
        ;
    CHECK(s.submitted > 1 && s.submitted < MAX_IN_FLIGHT, "%d frames in flight", s.submitted);
    lumeq_destroy(&s.eq);
    for (int i = 0; i < FRAMES; i++) {
        free(s.in[i]);
        free(s.out[i]);
    }
}

#define OVERLAP_FRAMES 24
#define OVERLAP_WIDTH 3840
#define OVERLAP_HEIGHT 2160

static double intersection(const LumeqFrameStats *a, int stage, const LumeqFrameStats *b, int other)
{
    const double begin = fmax(a->stage_begin_us[stage], b->stage_begin_us[other]);
    const double end = fmin(a->stage_end_us[stage], b->stage_end_us[other]);
    return fmax(end - begin, 0);
}

/* Frame n is equalized while n+1 uploads and n-1 downloads. */
static void check_overlap(const LumeqFrameStats *stats)
{
    double compute_upload = 0, compute_download = 0, upload_download = 0;
    for (int n = 1; n + 1 < OVERLAP_FRAMES; n++) {
        const LumeqFrameStats *s = &stats[n];
        compute_upload += intersection(s, LUMEQ_STAGE_EQUALIZE, s + 1, LUMEQ_STAGE_UPLOAD);
        compute_download += intersection(s, LUMEQ_STAGE_EQUALIZE, s - 1, LUMEQ_STAGE_DOWNLOAD);
        upload_download += intersection(s + 1, LUMEQ_STAGE_UPLOAD, s - 1, LUMEQ_STAGE_DOWNLOAD);
    }
    CHECK(compute_upload > 0, "no frame is equalized while the next one uploads");
    CHECK(compute_download > 0, "no frame is equalized while the one before it downloads");
    /* The amount depends on how soon the host submits the next frame. */
    CHECK(upload_download > 0, "no frame uploads while the last but one downloads");
}

TEST(stages_overlap)
{
    static LumeqFrameStats stats[OVERLAP_FRAMES];
    FREED_BY(lumeq_destroy) LumeqEqualizer *eq = open_on(LUMEQ_BACKEND_CUDA);
    if (!eq)
        return;
    const size_t size = (size_t)OVERLAP_WIDTH * OVERLAP_HEIGHT;
    uint8_t *in = lumeq_alloc_host(eq, size), *out[4] = {NULL};
    int received = 0, ret = 0;
    for (int i = 0; i < 4; i++)
        out[i] = lumeq_alloc_host(eq, size);
    if (CHECK(in && out[0] && out[1] && out[2] && out[3], "no pinned memory")) {
        memset(in, 90, size);
        for (int n = 0; n < OVERLAP_FRAMES && ret == 0; n++) {
            LumeqFrame frame = {.in = {.plane = {in},
                                       .stride = {OVERLAP_WIDTH},
                                       .width = OVERLAP_WIDTH,
                                       .height = OVERLAP_HEIGHT,
                                       .depth = 8}};
            frame.out = frame.in;
            frame.out.plane[0] = out[n % 4];
            while ((ret = lumeq_submit(eq, &frame)) == LUMEQ_ERR_AGAIN)
                received += lumeq_receive(eq, NULL, &stats[received]) == 0;
        }
        lumeq_flush(eq);
        while (ret == 0 && lumeq_receive(eq, NULL, &stats[received]) == 0)
            received++;
        if (CHECK(received == OVERLAP_FRAMES, "%d frames came back", received))
            check_overlap(stats);
    }
    for (int i = 0; i < 4; i++)
        lumeq_free_host(eq, out[i]);
    lumeq_free_host(eq, in);
}

TEST_MAIN
