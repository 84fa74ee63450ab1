/*
 * Decodes into memory of an external allocator, as for the GPU. The pictures must be the same as in
 * ordinary memory, and all memory must be freed, even if the allocator fails. Argument: a video.
 */
#include "../check.h"

#include "media/frame_memory.h"
#include "run/input.h"

#define FRAMES 60

static const char *video;
static atomic_int never;

/* An allocator that counts, and can run out. Any thread may use it. */
typedef struct Counter {
    atomic_int alive, given, left; /* blocks not yet freed, allocated so far, and still available */
} Counter;

static void *count_alloc(void *opaque, size_t size)
{
    Counter *c = opaque;
    if (atomic_fetch_sub(&c->left, 1) <= 0)
        return NULL;
    void *memory = aligned_alloc(64, (size + 63) / 64 * 64);
    if (memory) {
        memset(memory, 0xA5, size);
        atomic_fetch_add(&c->alive, 1);
        atomic_fetch_add(&c->given, 1);
    }
    return memory;
}

static void count_free(void *opaque, void *memory)
{
    atomic_fetch_sub(&((Counter *)opaque)->alive, 1);
    free(memory);
}

typedef struct Hashes {
    uint64_t decoded[FRAMES];
    int count;
} Hashes;

static uint64_t hash_plane(uint64_t hash, const AVFrame *frame, int plane, int width, int height)
{
    for (int y = 0; y < height; y++)
        hash = check_fnv(hash, frame->data[plane] + (ptrdiff_t)y * frame->linesize[plane],
                         (size_t)width);
    return hash;
}

static uint64_t hash_frame(const AVFrame *frame)
{
    uint64_t hash = hash_plane(CHECK_FNV_START, frame, 0, frame->width, frame->height);
    for (int plane = 1; plane < 3; plane++)
        hash = hash_plane(hash, frame, plane, (frame->width + 1) / 2, (frame->height + 1) / 2);
    return hash;
}

static void decode(FrameMemory *memory, Hashes *hashes)
{
    MediaError error = {0};
    FREED_BY(source_close) Source *source = NULL;
    FREED_BY(input_close) Input *input = NULL;
    const SourceOptions options = {.path = video, .max_pixels = 1 << 26, .stop = &never};
    const InputOptions part = {
        .from_us = -1, .to_us = -1, .frames = FRAMES, .decoder = {.memory = memory, .threads = 4}};
    hashes->count = 0;
    if (source_open(&source, &options, &error) < 0 ||
        input_open(&input, source, &part, &error) < 0 || input_start(input, NULL, &error) < 0)
        CHECK(0, "%s", error.text);
    while (input) {
        FREED_BY(frame_free) Frame *taken = NULL;
        if (input_take(input, &taken, QUEUE_WAIT, &error) < 0)
            break;
        AVFrame *frame = taken->decoded.frame;
        if (frame && hashes->count < FRAMES)
            hashes->decoded[hashes->count++] = hash_frame(frame);
    }
}

/* Decodes with an allocator of `left` blocks. Returns the number of allocated blocks. */
static int compare_with(int left, const Hashes *expected, char *report, size_t size)
{
    static Hashes hashes;
    Counter counter = {0};
    atomic_init(&counter.left, left);
    const FrameAllocator allocator = {count_alloc, count_free, &counter, 0};
    FrameMemory *memory = frame_memory_create(&allocator);
    report[0] = '\0';
    decode(memory, &hashes);
    CHECK(hashes.count == expected->count, "%d frames, not %d", hashes.count, expected->count);
    CHECK(memcmp(hashes.decoded, expected->decoded, sizeof(hashes.decoded)) == 0,
          "pictures differ with %d blocks", left);
    frame_memory_report(memory, report, size);
    frame_memory_close(&memory);
    CHECK(atomic_load(&counter.alive) == 0, "%d blocks were not freed",
          atomic_load(&counter.alive));
    return atomic_load(&counter.given);
}

TEST(pictures_are_the_same)
{
    static Hashes expected;
    char report[128];
    FrameMemory *ordinary = frame_memory_create(NULL);
    decode(ordinary, &expected);
    CHECK(expected.count == FRAMES, "%d frames", expected.count);
    CHECK(frame_memory_report(ordinary, report, sizeof(report)) == 0, "'%s'", report);
    frame_memory_close(&ordinary);

    const int given = compare_with(1 << 20, &expected, report, sizeof(report));
    CHECK(given > 2 && given < FRAMES, "%d blocks: buffers are not reused", given);
    CHECK(!report[0], "all frames are in the allocator's memory, but the report is '%s'", report);

    for (int left = 0; left < 6; left++) {
        CHECK(compare_with(left, &expected, report, sizeof(report)) == left,
              "some of %d blocks are not used", left);
        CHECK(strstr(report, "ordinary memory") != NULL, "with %d blocks, the report is '%s'", left,
              report);
    }
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: test_frame_memory VIDEO\n");
        return 2;
    }
    video = argv[1];
    return check_file(1, argv);
}
