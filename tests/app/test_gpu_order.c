/* A GPU that works on several frames at once returns the same frames and packets as the CPU, in the
 * same order, even if the GPU is lost. */
#include "../fake_gpu.h"
#include "../folder.h"
#include "../made_clip.h"

#include "app/engine.h"
#include "app/setup.h"
#include "app/terminal.h"
#include "equalizer/backend.h"
#include "run/pipeline.h"

#define FRAMES 30
#define LOST_AFTER 8
#define NEVER 1000000
#define MOST_ITEMS 1000

/* The shape of a clip with very small sound packets. */
#define SIDE 64
#define FRAME_RATE 25
#define PACKETS 100 /* for each frame */
#define SAMPLES 4   /* in each packet */
#define SOUND_RATE (FRAME_RATE * PACKETS * SAMPLES)

static uint64_t hash_picture(const AVFrame *frame)
{
    const LumeqImage image = equalizer_frame(frame, NULL).in;
    uint64_t hash = CHECK_FNV_START;
    LumeqImage all = image;
    for (int i = 0; i < 3; i++)
        all.plane[i] = frame->data[i];
    for (int i = 0; i < lumeq_planes(&all); i++)
        for (int y = 0; y < lumeq_height(&all, i); y++)
            hash = check_fnv(hash, frame->data[i] + (ptrdiff_t)y * frame->linesize[i],
                             (size_t)lumeq_row_size(&all, i));
    return hash;
}

static uint64_t hash_received(const Frame *frame)
{
    uint64_t hash = frame->out ? hash_picture(frame->out) : CHECK_FNV_START;
    for (int i = 0; i < frame->decoded.packet_count; i++) {
        const AVPacket *packet = frame->decoded.packets[i];
        hash = check_fnv(hash, &packet->pts, sizeof(packet->pts));
        hash = check_fnv(hash, packet->data, (size_t)packet->size);
    }
    return hash;
}

/* The output of a pipeline, in its order. */
typedef struct Items {
    uint64_t hashes[MOST_ITEMS];
    int count, frames; /* `frames`: items with a frame; others have only packets */
} Items;

static void take_items(Pipeline *pipeline, Items *items)
{
    Frame *frame = NULL;
    while (pipeline_receive(pipeline, &frame) >= 0) {
        items->frames += frame->out != NULL;
        CHECK(!frame->decoded.frame, "a decoded frame that no sink needs is kept");
        if (CHECK(items->count < MOST_ITEMS, "too many items"))
            items->hashes[items->count++] = hash_received(frame);
        frame_free(&frame);
    }
}

static void run(const char *clip, const char *backend, Items *items)
{
    static const atomic_int never;
    char *argv[] = {(char *)"lumeq",     (char *)"--no-config", (char *)"-q", (char *)"--null",
                    (char *)"--backend", (char *)backend,       (char *)clip};
    const InputOptions all = {
        .from_us = -1, .to_us = -1, .frames = FRAMES, .decoder = {.threads = 2}, .copy = 1};
    InputOptions part = all;
    MediaError error = {0};
    Options options;
    Engine engine = {0};
    Source *source = NULL;
    Input *input = NULL;
    Pipeline *pipeline = NULL;
    char text[512];
    if (!CHECK(options_parse(&options, 7, argv, text, sizeof(text)) == 0, "%s", text))
        return;
    int ret = engine_open(&engine, &options, 1, &error);
    part.decoder.memory = engine.memory;
    if (ret >= 0)
        ret = setup_source(&source, &options, options.input, NULL, &never, &error);
    if (ret >= 0)
        ret = input_open(&input, source, &part, &error);
    const LumeqParams params = options_params(&options, (OptionsInput){.still = 0});
    const PipelineParts parts = {.input = input,
                                 .context = engine.context,
                                 .params = &params,
                                 .memory = engine.memory,
                                 .chroma = 1,
                                 .note = say_line};
    if (ret >= 0)
        ret = pipeline_start(&pipeline, &parts, &error);
    if (ret >= 0)
        take_items(pipeline, items);
    pipeline_join(&pipeline, &error);
    CHECK(!error.fault, "%s", error.text);
    input_close(&input);
    source_close(&source);
    engine_close(&engine);
    options_free(&options);
    CHECK(items->frames == FRAMES, "%d frames on %s", items->frames, backend);
}

static void compare(const Items *a, const Items *b)
{
    CHECK(a->count == b->count, "%d items and %d", a->count, b->count);
    for (int n = 0; n < a->count && n < b->count; n++)
        if (!CHECK(a->hashes[n] == b->hashes[n], "item %d differs", n))
            break;
}

TEST(a_lost_gpu_changes_nothing)
{
    static Items on_cpu, on_gpu;
    fake_gpu_lose_after(LOST_AFTER);
    run(LUMEQ_CLIP, "cpu", &on_cpu);
    run(LUMEQ_CLIP, "cuda", &on_gpu);
    CHECK(fake_gpu_is_lost(), "the GPU was not lost");
    compare(&on_cpu, &on_gpu);
    fake_gpu_free();
}

/* Writes a clip with more sound packets per picture than a Frame holds. Returns 0 on failure. */
static int make_clip(const char *path)
{
    static uint8_t picture[SIDE * SIDE], sound[SAMPLES];
    MadeClip clip = made_clip_begin(path, SIDE, FRAME_RATE, SOUND_RATE);
    for (int n = 0; n < FRAMES; n++) {
        for (int i = 0; i < SIDE * SIDE; i++)
            picture[i] = (uint8_t)(n + i % 97);
        made_clip_write(&clip, 0, n, picture, sizeof(picture));
        for (int i = 0; i < PACKETS; i++)
            made_clip_write(&clip, 1, (n * PACKETS + i) * SAMPLES, sound, sizeof(sound));
    }
    return made_clip_end(&clip);
}

/* Frames still on a GPU are written before later packets. */
TEST(packets_keep_their_place)
{
    static Items on_cpu, on_gpu;
    fake_gpu_lose_after(NEVER);
    if (make_clip(in_folder("clip"))) {
        run(in_folder("clip"), "cpu", &on_cpu);
        run(in_folder("clip"), "cuda", &on_gpu);
        CHECK(!fake_gpu_is_lost(), "the GPU was lost");
        CHECK(on_cpu.count > 3 * FRAMES / 2, "only %d items", on_cpu.count);
        compare(&on_cpu, &on_gpu);
    }
    fake_gpu_free();
}

TEST_MAIN
