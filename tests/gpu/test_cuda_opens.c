/*
 * Opens and closes equalizers and decoders on a GPU repeatedly: neither host nor GPU memory may
 * grow. LUMEQ_TEST_OPENS: number of equalizers; LUMEQ_TEST_CASES: number of equalizers with
 * decoders; LUMEQ_CLIP: an H.264 file.
 */
#include <stdio.h>
#include <string.h>

#include "../resident.h"
#include "gpu_check.h"
#include "media/gpu_frame.h"
#include "media/input/decoder.h"
#include "run/equalizer_frame.h"

/* After this many opens, libraries have allocated all that they keep. */
#define FIRST 20
#define MOST_GROWTH (16 << 20) /* bytes; a leak of one frame at each open would be more */

static int64_t gpu_memory(void)
{
    size_t left = 0, total = 0;
    CHECK(cudaMemGetInfo(&left, &total) == cudaSuccess, "the GPU does not report its memory");
    return (int64_t)(total - left);
}

/* Memory in use, or its growth, in bytes. */
typedef struct Growth {
    int64_t host, gpu;
} Growth;

static Growth memory_now(void)
{
    return (Growth){resident_bytes(), gpu_memory()};
}

static void check_growth(Growth first, int count, const char *what)
{
    const Growth now = memory_now(), more = {now.host - first.host, now.gpu - first.gpu};
    printf("%d opens of %s: host memory grew by %.1f MB, GPU memory by %.1f\n", count, what,
           (double)more.host / 1e6, (double)more.gpu / 1e6);
    CHECK(more.host < MOST_GROWTH, "%lld bytes more", (long long)more.host);
    CHECK(more.gpu < MOST_GROWTH, "%lld bytes more on the GPU", (long long)more.gpu);
}

/* The number of opens, at least twice FIRST. */
static int count_of(const char *variable, int usual)
{
    const char *wanted = getenv(variable);
    const int count = wanted ? atoi(wanted) : usual;
    return count > 2 * FIRST ? count : 2 * FIRST;
}

/* ---- equalizers ---- */

/* Equalizes a frame into each kind of memory. */
static int equalize_once(int number)
{
    enum { WIDTH = 320, HEIGHT = 180 };
    static uint8_t in[WIDTH * HEIGHT], out[WIDTH * HEIGHT];
    const LumeqConfig config = {.backend = LUMEQ_BACKEND_CUDA, .real_time = number % 2};
    LumeqEqualizer *eq = open_with(&config);
    if (!eq)
        return -1;
    void *device = lumeq_alloc_device(lumeq_get_context(eq), sizeof(out));
    void *pinned = lumeq_alloc_host(lumeq_get_context(eq), sizeof(out));
    void *const to[3] = {out, pinned, device};
    CHECK(device && pinned, "no memory at open %d", number);
    for (int i = 0; i < 3 && device && pinned; i++) {
        LumeqFrame frame = {
            .in = {.plane = {in}, .stride = {WIDTH}, .width = WIDTH, .height = HEIGHT, .depth = 8}};
        frame.out = frame.in;
        frame.out.plane[0] = to[i];
        frame.out.memory = i == 2 ? LUMEQ_MEMORY_CUDA : LUMEQ_MEMORY_HOST;
        CHECK(lumeq_process(eq, &frame, NULL) == 0, "%s", lumeq_last_error(eq));
    }
    lumeq_free_device(lumeq_get_context(eq), device);
    lumeq_free_host(lumeq_get_context(eq), pinned);
    lumeq_destroy(&eq);
    return 0;
}

TEST(opens)
{
    const int count = count_of("LUMEQ_TEST_OPENS", 1000);
    LumeqMemoryUse use = {.size = sizeof(use)};
    Growth first = {0, 0};
    for (int i = 0; i < count; i++) {
        if (equalize_once(i) < 0)
            return;
        if (i == FIRST)
            first = memory_now();
    }
    check_growth(first, count, "equalizers");
    CHECK(lumeq_memory_use(0, &use) == 0 && !use.device && !use.pinned,
          "%lld bytes on the GPU and %lld pinned bytes are left", (long long)use.device,
          (long long)use.pinned);
}

/* ---- decoders ---- */

static const atomic_int never;

static void equalize(LumeqEqualizer *eq, FrameMemory *memory, const AVFrame *in)
{
    MediaError error = {0};
    FREED_BY(av_frame_free) AVFrame *out = equalizer_output(memory, in, 1, &error);
    if (CHECK(out != NULL, "out of memory")) {
        LumeqFrame frame = equalizer_frame(in, out);
        const LumeqSync sync = equalizer_sync(in);
        frame.size = sizeof(frame);
        frame.sync = sync.after ? &sync : NULL;
        CHECK(lumeq_process(eq, &frame, NULL) == 0, "%s", lumeq_last_error(eq));
    }
}

/* Decodes the clip's first frame and equalizes it. Returns 1 if the GPU decoded it. */
static int decode_one(LumeqEqualizer *eq, AVBufferRef *gpu, const char *clip)
{
    const SourceOptions from = {.path = clip, .max_pixels = 1 << 26, .stop = &never};
    FrameMemory *memory = frame_memory_create(NULL);
    const DecoderOptions options = {.memory = memory, .gpu = gpu, .gpu_frames = 4};
    MediaError error = {0};
    Source *source = NULL;
    Decoder *decoder = NULL;
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    int ret = source_open(&source, &from, &error), on_gpu = 0;
    if (ret >= 0)
        ret = decoder_open(&decoder, source, &options, &error);
    while (ret >= 0 && (ret = decoder_receive(decoder, frame, &error)) == AVERROR(EAGAIN)) {
        ret = source_read(source, packet);
        if (ret >= 0 && packet->stream_index == source->video->index)
            ret = decoder_send(decoder, packet);
        av_packet_unref(packet);
    }
    if (CHECK(ret >= 0, "no frame: %s", error.text)) {
        on_gpu = gpu_frame_is(frame);
        equalize(eq, memory, frame);
    }
    av_frame_free(&frame);
    av_packet_free(&packet);
    decoder_close(&decoder);
    frame_memory_close(&memory);
    source_close(&source);
    return on_gpu;
}

static int open_once(const char *clip)
{
    void *context, *stream;
    AVBufferRef *gpu = NULL;
    LumeqEqualizer *eq = open_on(LUMEQ_BACKEND_CUDA);
    int on_gpu = 0;
    if (!eq)
        return -1;
    if (CHECK(lumeq_get_cuda(lumeq_get_context(eq), &context, &stream) == 0, "%s",
              lumeq_last_error(eq)) &&
        CHECK(gpu_device_open(&gpu, context, stream) >= 0, "FFmpeg cannot use the GPU"))
        on_gpu = decode_one(eq, gpu, clip);
    av_buffer_unref(&gpu);
    lumeq_destroy(&eq);
    return on_gpu;
}

TEST(opens_of_decoders)
{
    const char *clip = getenv("LUMEQ_CLIP");
    const int count = count_of("LUMEQ_TEST_CASES", 60);
    Growth first = {0, 0};
    int on_gpu = 0;
    for (int i = 0; i < count; i++) {
        const int ret = open_once(clip ? clip : LUMEQ_SAMPLE);
        if (ret < 0)
            return;
        on_gpu += ret;
        if (i == FIRST)
            first = memory_now();
    }
    check_growth(first, count, "equalizers with decoders");
    CHECK(on_gpu == count, "only %d of %d decoded on the GPU", on_gpu, count);
}
TEST_MAIN
