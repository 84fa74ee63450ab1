/*
 * A GPU that is taken for lost wakes up and writes the frames that it had, late: into memory that
 * nobody looks at any more. What comes out of the pipeline is what the CPU makes.
 */
#include "../check.h"
#include "fake_gpu.h"

#include "app/engine.h"
#include "app/pipeline.h"
#include "equalizer/backend.h"

#define FRAMES 30
#define LOST_AFTER 8

static uint64_t hash_picture(const AVFrame *frame)
{
    const LumeqImage image = engine_frame(frame, NULL).in;
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

static int take_frames(Pipeline *pipeline, uint64_t hashes[FRAMES])
{
    Item *item = NULL;
    int count = 0;
    while (pipeline_receive(pipeline, &item) >= 0) {
        fake_gpu_wake();
        if (item->message.frame && count < FRAMES)
            hashes[count++] = hash_picture(item->message.output);
        item_free(&item);
    }
    return count;
}

static int run(const char *backend, uint64_t hashes[FRAMES])
{
    static const atomic_int never;
    char *argv[] = {(char *)"lumeq",     (char *)"--no-config", (char *)"-q",      (char *)"--null",
                    (char *)"--backend", (char *)backend,       (char *)LUMEQ_CLIP};
    const ReaderOptions all = {.from_us = -1, .to_us = -1, .frames = FRAMES, .threads = 2};
    ReaderOptions part = all;
    MediaError error = {0};
    Options options;
    Engine engine = {0};
    Source *source = NULL;
    Reader *reader = NULL;
    Pipeline *pipeline = NULL;
    char text[512];
    int count = 0;
    if (!CHECK(options_parse(&options, 7, argv, text, sizeof(text)) == 0, "%s", text))
        return 0;
    int ret = engine_open(&engine, &options, 1, &error);
    part.memory = engine.memory;
    if (ret >= 0)
        ret = engine_open_source(&source, &options, options.input, &never, &error);
    if (ret >= 0)
        ret = reader_open(&reader, source, &part, &error);
    const PipelineParts parts = {
        .reader = reader, .equalizer = engine.equalizer, .memory = engine.memory, .chroma = 1};
    if (ret >= 0)
        ret = pipeline_start(&pipeline, &parts, &error);
    if (ret >= 0)
        count = take_frames(pipeline, hashes);
    pipeline_join(&pipeline, &error);
    CHECK(!error.fault, "%s", error.text);
    reader_close(&reader);
    source_close(&source);
    engine_close(&engine);
    options_free(&options);
    return count;
}

static void late_writes_are_not_seen(void)
{
    static uint64_t expected[FRAMES], hashes[FRAMES];
    fake_gpu_lose_after(LOST_AFTER);
    CHECK(run("cpu", expected) == FRAMES, "frames are missing on the CPU");
    CHECK(run("cuda", hashes) == FRAMES, "frames are missing");
    CHECK(fake_gpu_is_lost(), "the GPU was not lost");
    for (int n = 0; n < FRAMES; n++)
        CHECK(hashes[n] == expected[n], "frame %d differs", n);
    fake_gpu_free();
}

static const CheckTest tests[] = {
    {"late_writes_are_not_seen", late_writes_are_not_seen},
};

CHECK_MAIN(tests)
