/*
 * A GPU that decodes and equalizes, opened and closed again and again: memory does not grow,
 * neither the host's nor the GPU's. LUMEQ_TEST_CASES: how often. LUMEQ_CLIP: a file of H.264.
 */
#include <stdio.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "../check.h"
#include "../resident.h"
#include "media/gpu_frame.h"
#include "media/input/decoder.h"
#include "open_on.h"
#include "pipeline/equalizer_frame.h"

/* Of the opens, what libraries keep for good is there after so many. */
#define FIRST 20
#define MOST_GROWTH                                                                                \
    (16 << 20) /* bytes: a frame of the clip at each open would be a hundred times that */

static const atomic_int never;

static int64_t gpu_memory(void)
{
    size_t left = 0, total = 0;
    CHECK(cudaMemGetInfo(&left, &total) == cudaSuccess, "the GPU does not tell of its memory");
    return (int64_t)(total - left);
}

static void equalize(LumeqEqualizer *eq, const AVFrame *in)
{
    MediaError error = {0};
    FrameMemory *memory = frame_memory_create(NULL);
    AVFrame *out = memory ? equalizer_output(memory, in, 1, &error) : NULL;
    if (CHECK(out != NULL, "out of memory")) {
        LumeqFrame frame = equalizer_frame(in, out);
        const LumeqSync sync = equalizer_after(in);
        frame.size = sizeof(frame);
        frame.sync = sync.after ? &sync : NULL;
        CHECK(lumeq_process(eq, &frame, NULL) == 0, "%s", lumeq_last_error(eq));
    }
    av_frame_free(&out);
    frame_memory_close(&memory);
}

/* 1: the first frame of the clip was decoded on the GPU and equalized. */
static int decode_one(LumeqEqualizer *eq, AVBufferRef *gpu, const char *clip)
{
    const SourceOptions from = {.path = clip, .max_pixels = 1 << 26, .stop = &never};
    const DecoderOptions options = {.gpu = gpu, .gpu_frames = 4};
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
        equalize(eq, frame);
    }
    av_frame_free(&frame);
    av_packet_free(&packet);
    decoder_close(&decoder);
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
    if (CHECK(lumeq_get_cuda(eq, &context, &stream) == 0, "%s", lumeq_last_error(eq)) &&
        CHECK(gpu_device_open(&gpu, context, stream) >= 0, "FFmpeg cannot use the GPU"))
        on_gpu = decode_one(eq, gpu, clip);
    av_buffer_unref(&gpu);
    lumeq_destroy(&eq);
    return on_gpu;
}

static void opens(void)
{
    const char *clip = getenv("LUMEQ_CLIP"), *cases = getenv("LUMEQ_TEST_CASES");
    const int count = cases ? atoi(cases) : 60;
    int64_t host = 0, gpu = 0;
    int on_gpu = 0;
    for (int i = 0; i < count; i++) {
        const int ret = open_once(clip ? clip : LUMEQ_SAMPLE);
        if (ret < 0)
            return;
        on_gpu += ret;
        if (i == FIRST) {
            host = resident_bytes();
            gpu = gpu_memory();
        }
    }
    const int64_t more_host = resident_bytes() - host, more_gpu = gpu_memory() - gpu;
    printf(
        "%d opens, %d decoded on the GPU: %.1f MB more of the host's memory, %.1f of the GPU's\n",
        count, on_gpu, (double)more_host / 1e6, (double)more_gpu / 1e6);
    CHECK(on_gpu == count, "only %d of %d decoded on the GPU", on_gpu, count);
    CHECK(more_host < MOST_GROWTH, "%lld bytes more", (long long)more_host);
    CHECK(more_gpu < MOST_GROWTH, "%lld bytes more on the GPU", (long long)more_gpu);
}

static const CheckTest tests[] = {{"opens", opens}};

int main(int argc, char **argv)
{
    return check_main(tests, 1, argc, argv);
}
