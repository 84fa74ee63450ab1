/*
 * A GPU that is taken for lost wakes up and writes the frames that it had, late: into memory that
 * nobody looks at any more. What comes out of the pipeline is what the CPU makes.
 * The CUDA backend of this program is a made-up one that computes on the CPU.
 */
#include "../check.h"

#include <pthread.h>

#include "app/engine.h"
#include "app/pipeline.h"
#include "equalizer/backend.h"

#define SLOTS 3
#define FRAMES 30
#define LOST_AT 8 /* frames that come back before */
#define BLOCKS 512

typedef struct Fake {
    _Alignas(max_align_t) char cpu[1 << 20];
    LumeqJob *waiting[SLOTS];
    int count, received;
} Fake;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all below */
static int lost;
static LumeqImage late[SLOTS];
static struct {
    uint8_t *memory;
    size_t size;
} blocks[BLOCKS]; /* that the GPU reaches */

static int open_fake(void *priv, const LumeqConfig *config, char *text, size_t size)
{
    Fake *fake = priv;
    if (lumeq_backend_cpu.priv_size > sizeof(fake->cpu))
        return LUMEQ_ERR_MEMORY;
    return lumeq_backend_cpu.open(fake->cpu, config, text, size);
}

static int submit_fake(void *priv, LumeqJob *job, char *text, size_t size)
{
    Fake *fake = priv;
    job->late = 1;
    int ret = lumeq_backend_cpu.submit(fake->cpu, job, text, size);
    if (ret == 0)
        ret = lumeq_backend_cpu.receive(fake->cpu, job, 1, text, size);
    fake->waiting[fake->count++] = job;
    return ret;
}

static int receive_fake(void *priv, LumeqJob *job, int wait, char *text, size_t size)
{
    Fake *fake = priv;
    (void)job;
    if (!wait)
        return LUMEQ_ERR_AGAIN;
    if (fake->received++ == LOST_AT) {
        pthread_mutex_lock(&lock);
        lost = 1;
        for (int i = 0; i < fake->count; i++)
            late[i] = fake->waiting[i]->frame.out;
        pthread_mutex_unlock(&lock);
        snprintf(text, size, "no progress");
        return LUMEQ_ERR_GPU;
    }
    memmove(fake->waiting, fake->waiting + 1, sizeof(fake->waiting) - sizeof(fake->waiting[0]));
    fake->count--;
    return 0;
}

static void *alloc_fake(void *priv, size_t size)
{
    uint8_t *memory = NULL;
    (void)priv;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < BLOCKS && !memory && !lost; i++)
        if (!blocks[i].memory) {
            memory = blocks[i].memory = aligned_alloc(64, (size + 63) / 64 * 64);
            blocks[i].size = size;
        }
    pthread_mutex_unlock(&lock);
    return memory;
}

/* A lost one is not asked to. */
static void free_fake(void *priv, void *memory)
{
    (void)priv;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < BLOCKS && !lost; i++)
        if (blocks[i].memory == memory) {
            free(memory);
            blocks[i].memory = NULL;
        }
    pthread_mutex_unlock(&lock);
}

static void close_fake(void *priv)
{
    lumeq_backend_cpu.close(((Fake *)priv)->cpu);
}

const LumeqBackend lumeq_backend_cuda = {
    .name = "cuda",
    .build_info = "a made-up one",
    .priv_size = sizeof(Fake),
    .slots = SLOTS,
    .open = open_fake,
    .submit = submit_fake,
    .receive = receive_fake,
    .alloc_host = alloc_fake,
    .free_host = free_fake,
    .close = close_fake,
};

static void wake_up(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < SLOTS; i++)
        for (int plane = 0; plane < lumeq_planes(&late[i]) && late[i].plane[0]; plane++)
            memset(late[i].plane[plane], 0xA5,
                   (size_t)(late[i].stride[plane] * lumeq_height(&late[i], plane)));
    pthread_mutex_unlock(&lock);
}

/* Once nobody has any of it. */
static void free_blocks(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        free(blocks[i].memory);
        blocks[i].memory = NULL;
    }
}

/* ---- the pipeline ---- */

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
        wake_up();
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
    if (ret >= 0)
        ret = pipeline_start(&pipeline, reader, engine.equalizer, engine.memory, 1, &error);
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
    CHECK(run("cpu", expected) == FRAMES, "frames are missing on the CPU");
    CHECK(run("cuda", hashes) == FRAMES, "frames are missing");
    CHECK(lost, "the GPU was not lost");
    for (int n = 0; n < FRAMES; n++)
        CHECK(hashes[n] == expected[n], "frame %d differs", n);
    free_blocks();
}

static const CheckTest tests[] = {
    {"late_writes_are_not_seen", late_writes_are_not_seen},
};

CHECK_MAIN(tests)
