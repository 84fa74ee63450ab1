/*
 * Decoding on a GPU with a fake driver (fake_nvidia.c). If the GPU refuses, software decodes. If
 * the GPU fails later, software continues at the next key frame, and the frames in between are
 * counted. LUMEQ_TEST_CLIP: a clip to decode instead of the sample.
 */
#include <libavutil/hwcontext.h>

#include "check.h"
#include "fake_nvidia.h"
#include "media/gpu_frame.h"
#include "media/input/damage.h"
#include "media/input/decoder.h"
#include "media/log.h"
#include "resident.h"

/* Packets that are decoded: more than two groups of pictures. */
#define PACKETS 80
#define MOST 200

#define NO_FAULT "" /* of the fake decoder */

typedef struct Seen {
    int64_t times[MOST];
    uint32_t sums[MOST];           /* checksums of luma; 0: the frame is on the GPU */
    int count, on_gpu, at_the_end; /* frames; frames on the GPU; GPU still used at the end */
    AVFrame *held[MOST];
    int held_count;
    int64_t corrupt;  /* frames reported as damaged */
    int64_t lost;     /* frames reported as lost */
    int failures;     /* how often the decoder failed with MEDIA_LOST */
    int decoders;     /* GPU decoders at the end */
    int64_t reserved; /* GPU memory before the decoder is closed */
} Seen;

static Seen seen, expected; /* from the GPU, and from software alone */

static const atomic_int never;
static AVBufferRef *gpu;
static FrameMemory *on_host; /* for frames that come to the host */

/* How to change the clip's packets, and which frames to hold to the end. */
static struct {
    int holds, holds_from; /* frames to hold, and the first of them */
    int all;               /* decode up to MOST packets instead of PACKETS */
    int in_a_row;          /* if not 0, hold this many frames, always the newest */
    int lost_at_end;       /* mark the GPU as lost at the end */
    int spoils;            /* overwrite this packet */
    int seek_to;           /* flush before this packet, as after a seek */
    int blank;             /* do not compare content: the fake GPU decodes nothing */
} how;

/* GPU memory as counted by the budget. */
static struct {
    int64_t used, most, limit;
    int refused;
} memory;

static void set_decoder(const char *word)
{
    setenv("FAKE_NVDEC", word, 1);
    fake_nvidia.contexts = fake_nvidia.copies = 0;
    fake_nvidia.most_mapped = fake_nvidia.refused = 0;
}

/* A checksum of some rows, enough to tell frames apart. */
static uint32_t sum_of(const AVFrame *frame)
{
    uint32_t sum = 1;
    for (int y = 0; y < frame->height; y += 37)
        for (int x = 0; x < frame->width; x++)
            sum = sum * 31 + frame->data[0][(ptrdiff_t)y * frame->linesize[0] + x];
    return sum;
}

static void note(Seen *to, const AVFrame *frame)
{
    if (how.in_a_row && to->held_count == how.in_a_row) {
        av_frame_free(&to->held[0]);
        memmove(to->held, to->held + 1, sizeof(to->held[0]) * (size_t)--to->held_count);
    }
    if (gpu_frame_is(frame) && to->count >= how.holds_from && to->held_count < how.holds) {
        to->held[to->held_count++] = av_frame_clone(frame);
    }
    CHECK(!gpu_frame_is(frame) || (frame->data[0] && frame->data[1] && frame->buf[1]),
          "frame %d has no surface", to->count);
    if (to->count < MOST) {
        to->times[to->count] = frame->pts;
        to->sums[to->count] = gpu_frame_is(frame) || how.blank ? 0 : sum_of(frame);
    }
    to->on_gpu += gpu_frame_is(frame);
    to->count++;
}

static int take_frames(Decoder *decoder, Seen *to)
{
    AVFrame *frame = av_frame_alloc();
    MediaError error = {0};
    int ret;
    while ((ret = decoder_receive(decoder, frame, &error)) >= 0) {
        note(to, frame);
        av_frame_unref(frame);
    }
    av_frame_free(&frame);
    CHECK(!error.fault || error.fault == MEDIA_LOST, "%s", error.text);
    to->failures += error.fault == MEDIA_LOST;
    return ret;
}

/* Sends a packet, or the end if `packet` is NULL. */
static void send(Decoder *decoder, const AVPacket *packet, Seen *to)
{
    int ret;
    for (int i = 0; (ret = decoder_send(decoder, packet)) == AVERROR(EAGAIN) && i < MOST; i++)
        take_frames(decoder, to);
    CHECK(ret == 0, "decoder_send() returns %d", ret);
    take_frames(decoder, to);
}

static void change(AVPacket *packet, int number)
{
    if (how.spoils && number == how.spoils &&
        CHECK(av_packet_make_writable(packet) == 0, "no memory"))
        memset(packet->data, 0xff, (size_t)packet->size);
}

/* Opens the GPU if it is closed or lost. */
static void renew_gpu(void)
{
    static int context, stream;
    if (gpu && !gpu_device_is_lost(gpu))
        return;
    av_buffer_unref(&gpu);
    if (gpu_device_open(&gpu, &context, &stream) < 0) {
        fprintf(stderr, "FFmpeg does not accept the fake driver\n");
        exit(1);
    }
}

static void decode(const DecoderOptions *wanted, Seen *to)
{
    DecoderOptions options = *wanted;
    options.memory = on_host;
    renew_gpu();
    if (options.gpu)
        options.gpu = gpu;
    const char *other = getenv("LUMEQ_TEST_CLIP");
    const SourceOptions from = {
        .path = other ? other : LUMEQ_CLIP, .max_pixels = 1 << 26, .stop = &never};
    MediaError error = {0};
    Source *source = NULL;
    Decoder *decoder = NULL;
    AVPacket *packet = av_packet_alloc();
    memset(to, 0, sizeof(*to));
    if (source_open(&source, &from, &error) >= 0)
        decoder_open(&decoder, source, &options, &error);
    CHECK(decoder != NULL, "%s", error.text);
    for (int sent = 0;
         decoder && sent < (how.all ? MOST : PACKETS) && source_read(source, packet) >= 0;) {
        if (packet->stream_index == source->video->index) {
            change(packet, sent);
            if (how.seek_to && sent == how.seek_to)
                decoder_flush(decoder);
            send(decoder, packet, to);
            sent++;
        }
        av_packet_unref(packet);
    }
    if (decoder) {
        send(decoder, NULL, to);
        to->at_the_end = decoder_is_on_gpu(decoder);
        to->corrupt = decoder_damage(decoder)->frames;
        to->lost = decoder_damage(decoder)->lost_frames;
        to->reserved = memory.used;
        if (how.lost_at_end)
            gpu_device_mark_lost(gpu);
    }
    decoder_close(&decoder);
    to->decoders = fake_nvidia.decoders;
    for (int i = 0; i < to->held_count; i++)
        av_frame_free(&to->held[i]);
    source_close(&source);
    av_packet_free(&packet);
}

static void decode_on_gpu(const char *fault, int threads, int gpu_frames)
{
    set_decoder(fault);
    decode(&(DecoderOptions){.threads = threads, .gpu = gpu, .gpu_frames = gpu_frames}, &seen);
}

static void decode_in_software(int threads)
{
    decode(&(DecoderOptions){.threads = threads}, &expected);
}

/* Compares frames that are not lost with software decoding: times, and content on the host. */
static void compare_with(int threads, int least_on_gpu, int most_on_gpu)
{
    int at = 0;
    how.all = seen.count > PACKETS;
    decode_in_software(threads);
    how.all = 0;
    for (int i = 0; i < seen.count && i < MOST; i++, at++) {
        while (at < expected.count && expected.times[at] != seen.times[i])
            at++;
        CHECK(at < expected.count, "software has no frame at %lld", (long long)seen.times[i]);
        CHECK(!seen.sums[i] || seen.sums[i] == expected.sums[at], "frame %d differs", i);
    }
    CHECK(seen.count + seen.lost == expected.count, "%d frames decoded and %lld lost, of %d",
          seen.count, (long long)seen.lost, expected.count);
    CHECK(seen.corrupt == 0, "%lld frames are damaged", (long long)seen.corrupt);
    CHECK(seen.on_gpu >= least_on_gpu && seen.on_gpu <= most_on_gpu,
          "%d frames from the GPU, not %d to %d", seen.on_gpu, least_on_gpu, most_on_gpu);
    CHECK(!fake_nvidia_open(), "%d GPU objects are still open", fake_nvidia_open());
}

static void compare(int least_on_gpu, int most_on_gpu)
{
    compare_with(2, least_on_gpu, most_on_gpu);
}

/* The GPU decodes nothing, or fails in any group of pictures. */
TEST(software_takes_over)
{
    static const struct {
        const char *fault;
        int least, most; /* frames from the GPU */
    } cases[] = {{"none", 0, 0},  {"0", 0, 0},     {"1", 0, 1},
                 {"7", 0, 7},     {"40", 20, 40},  {"60", 30, 60},
                 {"map 0", 0, 0}, {"map 3", 3, 3}, {"map 55", 55, 55}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        decode_on_gpu(cases[i].fault, 2, 8);
        compare(cases[i].least, cases[i].most);
        CHECK(getenv("LUMEQ_TEST_CLIP") || (seen.lost > 0) == (i > 1), "%s: %lld frames are lost",
              cases[i].fault, (long long)seen.lost);
        CHECK(!seen.at_the_end, "the failed GPU is still used: %s", cases[i].fault);
    }
}

/* For a caller that can start again (`lossless`), the decoder fails once if frames are lost. */
TEST(lossless_decoding_fails)
{
    static const char *const faults[] = {NO_FAULT, "none", "0", "7", "map 3"};
    for (int i = 0; i < 5; i++) {
        set_decoder(faults[i]);
        decode(&(DecoderOptions){.threads = 2, .gpu = gpu, .gpu_frames = 8, .lossless = 1}, &seen);
        CHECK(seen.failures == (i > 2), "%s: the decoder fails %d times", faults[i], seen.failures);
    }
}

/* After a damaged packet, software decodes the rest. */
TEST(damaged_packets)
{
    how.spoils = 33;
    decode_on_gpu(NO_FAULT, 2, 8);
    CHECK(!seen.at_the_end && seen.lost > 0, "%lld frames are lost", (long long)seen.lost);
    memset(&how, 0, sizeof(how));
}

/* More frames are held than were requested. */
TEST(too_many_held_frames_lead_to_software)
{
    how.holds = 60;
    decode_on_gpu(NO_FAULT, 2, 2);
    how.holds = 0;
    compare(2, 32);
    CHECK(!seen.at_the_end, "the GPU has surfaces for all held frames");
}

/* For packets whose references are missing, FFmpeg returns frames that NVDEC never decoded. */
TEST(frames_never_decoded_are_lost)
{
    how.seek_to = 30;
    how.blank = 1;
    decode_on_gpu(NO_FAULT, 2, 8);
    CHECK(!seen.at_the_end, "a GPU that returns empty frames is still used");
    memset(&how, 0, sizeof(how));
}

TEST(all_on_the_gpu)
{
    decode_on_gpu(NO_FAULT, 2, 8);
    compare(seen.count, seen.count);
    CHECK(seen.at_the_end, "the GPU is no longer used");
    CHECK(fake_nvidia.most_mapped <= 2, "%d frames were held", fake_nvidia.most_mapped);
    CHECK(fake_nvidia.contexts == 0, "%d contexts were created", fake_nvidia.contexts);
}

/* A paused player holds as many frames as it requested, always the newest. If LUMEQ_TEST_CLIP has
 * many references, the GPU may have no room for these frames. */
TEST(requested_frames_can_be_held)
{
    how.holds = MOST;
    how.in_a_row = 16;
    how.blank = 1;
    decode_on_gpu(NO_FAULT, 2, 16);
    memset(&how, 0, sizeof(how));
    const int most = fake_nvidia.most_mapped;
    CHECK(seen.at_the_end, "the GPU is no longer used");
    CHECK(fake_nvidia.refused == 0, "%d maps were refused", fake_nvidia.refused);
    CHECK(seen.on_gpu ? most >= 16 && most <= 18 : most <= 2,
          "up to %d pictures were held, with %d frames on the GPU", most, seen.on_gpu);
    compare(0, seen.count);
    printf("%d of %d frames on the GPU, %d pictures at a time\n", seen.on_gpu, seen.count, most);
}

/* The clip changes from a format that GPUs decode to a format that no GPU decodes. */
TEST(change_to_software)
{
    if (!getenv("LUMEQ_TEST_CLIP")) {
        check_skip("LUMEQ_TEST_CLIP names no clip");
        return;
    }
    decode_on_gpu(NO_FAULT, 2, 8);
    compare(1, seen.count - 1);
    CHECK(!seen.at_the_end, "the GPU is still used after the change");
}

/* ---- memory ---- */

static int reserve(void *opaque, int64_t bytes)
{
    (void)opaque;
    if (bytes > 0 && memory.used + bytes > memory.limit) {
        memory.refused++;
        return -1;
    }
    memory.used += bytes;
    memory.most = memory.used > memory.most ? memory.used : memory.most;
    return 0;
}

/* Returns the most bytes reserved at a time. */
static int64_t decode_within(int64_t limit, const char *fault)
{
    const GpuBudget budget = {reserve, NULL};
    memset(&memory, 0, sizeof(memory));
    memory.limit = limit;
    set_decoder(fault);
    decode(&(DecoderOptions){.threads = 2, .gpu = gpu, .gpu_frames = 14, .budget = budget}, &seen);
    CHECK(memory.used == 0, "%lld bytes are still reserved", (long long)memory.used);
    return memory.most;
}

/* Decodes with enough memory, with too little to keep frames on the GPU, and with too little to
 * decode on the GPU. */
TEST(too_little_memory)
{
    const int64_t all = decode_within(INT64_MAX, NO_FAULT);
    compare(seen.count, seen.count);
    CHECK(all > 14 * 2 * 256 * 144 * 3 / 2 && !memory.refused, "all frames need %lld bytes",
          (long long)all);
    how.blank = 1;
    const int64_t some = decode_within(all - 1, NO_FAULT);
    how.blank = 0;
    compare(0, 0);
    CHECK(some > 0 && some < all && memory.refused == 1 && seen.at_the_end,
          "%lld bytes of %lld, the decoder is %s", (long long)some, (long long)all,
          seen.at_the_end ? "on the GPU" : "in software");
    decode_within(some - 1, NO_FAULT);
    compare(0, 0);
    CHECK(!seen.at_the_end && memory.refused == 2, "a GPU without room is used");
}

/* If no GPU decoder can be created, no GPU memory stays reserved. */
TEST(unused_memory_is_not_reserved)
{
    const int64_t most = decode_within(INT64_MAX, "none");
    CHECK(most > 0 && seen.reserved == 0, "%lld bytes of %lld are still reserved at the end",
          (long long)seen.reserved, (long long)most);
}

TEST(lost_gpu_is_not_freed)
{
    for (int lost = 0; lost < 2; lost++) {
        how.lost_at_end = lost;
        decode_on_gpu("40", 2, 8);
        memset(&how, 0, sizeof(how));
        CHECK(seen.decoders == lost, "%d GPU decoders are left, not %d", seen.decoders, lost);
        fake_nvidia = (FakeNvidia){0};
        compare(20, 40);
    }
}

/* Growth of memory that fragmentation may cause, in bytes. */
#define MOST_GROWTH (24 << 20)

/* LUMEQ_TEST_OPENS: number of opens. */
TEST(opened_again_and_again)
{
    const char *opens = getenv("LUMEQ_TEST_OPENS");
    const int count = opens ? atoi(opens) : 24;
    int64_t before = 0;
    for (int i = 0; i < count; i++) {
        decode_on_gpu(i % 4 == 3 ? "20" : NO_FAULT, 1, 8);
        CHECK(!fake_nvidia_open(), "%d GPU objects are still open", fake_nvidia_open());
        before = i == count / 4 ? resident_bytes() : before;
    }
    const int64_t more = resident_bytes() - before;
    printf("%d opens: %.1f MB more\n", count, (double)more / 1e6);
    CHECK(more < MOST_GROWTH, "%lld bytes more after %d opens", (long long)more, count);
}

/* ---- frames -------------------------------------------------------------------------------- */

static AVFrame *make_gpu_frame(enum AVPixelFormat stored, enum AVPixelFormat format, int width,
                               int height)
{
    AVFrame *frame = av_frame_alloc();
    frame->format = AV_PIX_FMT_CUDA;
    frame->width = width;
    frame->height = height;
    frame->hw_frames_ctx = av_hwframe_ctx_alloc(gpu);
    AVHWFramesContext *frames = (AVHWFramesContext *)frame->hw_frames_ctx->data;
    frames->format = AV_PIX_FMT_CUDA;
    frames->sw_format = stored;
    frames->width = width;
    frames->height = height;
    frames->user_opaque = (void *)(intptr_t)format;
    return frame;
}

static const struct {
    enum AVPixelFormat stored, format;
    SampleLayout layout;
} formats[] = {
    {AV_PIX_FMT_NV12, AV_PIX_FMT_YUV420P, {2, 8, 0, 1, 1}},
    {AV_PIX_FMT_P010, AV_PIX_FMT_YUV420P10, {2, 10, 6, 1, 1}},
    {AV_PIX_FMT_P016, AV_PIX_FMT_YUV420P12, {2, 12, 4, 1, 1}},
    {AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUV444P, {3, 8, 0, 0, 0}},
    {AV_PIX_FMT_YUV444P16, AV_PIX_FMT_YUV444P10, {3, 10, 6, 0, 0}},
};

TEST(layouts)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        AVFrame *frame = make_gpu_frame(formats[i].stored, formats[i].format, 64, 64);
        const SampleLayout is = gpu_frame_layout(frame);
        CHECK(memcmp(&is, &formats[i].layout, sizeof(is)) == 0,
              "case %d: %d planes, %d bits, shift %d, chroma %d %d", (int)i, is.planes, is.depth,
              is.shift, is.chroma_x, is.chroma_y);
        CHECK(gpu_frame_format(frame) == formats[i].format, "case %d: another format", (int)i);
        av_frame_free(&frame);
    }
}

/* A cropped GPU frame has the same size and first sample as a frame cropped by libavutil. */
static void check_crop(enum AVPixelFormat stored, enum AVPixelFormat format, int left, int top)
{
    AVFrame *frame = make_gpu_frame(stored, format, 512, 256), *host = av_frame_alloc();
    uint8_t *const start = (uint8_t *)4096;
    host->format = format;
    host->width = 512;
    host->height = 256;
    CHECK(av_frame_get_buffer(host, 0) == 0, "out of memory");
    const uint8_t *first[3] = {host->data[0], host->data[1], host->data[2]};
    host->crop_left = frame->crop_left = (size_t)left;
    host->crop_top = frame->crop_top = (size_t)top;
    for (int i = 0; i < 2; i++) {
        frame->data[i] = start;
        frame->linesize[i] = 2048;
    }
    CHECK(av_frame_apply_cropping(host, 0) == 0, "libavutil does not crop");
    gpu_frame_crop(frame);
    CHECK(frame->width == host->width && frame->height == host->height,
          "crop %d, %d: %dx%d, not %dx%d", left, top, frame->width, frame->height, host->width,
          host->height);
    for (int i = 0; i < 2; i++) {
        const ptrdiff_t moved = host->data[i] - first[i];
        const ptrdiff_t rows = moved / host->linesize[i], columns = moved % host->linesize[i];
        const ptrdiff_t wanted = rows * 2048 + columns * (i ? 2 : 1);
        CHECK(frame->data[i] - start == wanted, "crop %d, %d: plane %d begins at %td, not %td",
              left, top, i, frame->data[i] - start, wanted);
    }
    av_frame_free(&frame);
    av_frame_free(&host);
}

TEST(crops)
{
    static const int lefts[] = {0, 2, 4, 6, 16, 32, 62, 64, 66, 96, 128, 200};
    for (size_t i = 0; i < sizeof(lefts) / sizeof(lefts[0]); i++)
        for (int top = 0; top <= 18; top += 6) {
            check_crop(AV_PIX_FMT_NV12, AV_PIX_FMT_YUV420P, lefts[i], top);
            check_crop(AV_PIX_FMT_P010, AV_PIX_FMT_YUV420P10, lefts[i], top);
        }
}

static int surface_code(int plane, int x, int y, int depth)
{
    return (x * 7 + y * 13 + plane * 31) & ((1 << depth) - 1);
}

/* Fills a surface whose rows have `extra` bytes of padding. */
static AVBufferRef *draw_surface(AVFrame *frame, const SampleLayout *layout, int extra)
{
    const int size = layout->depth > 8 ? 2 : 1, whole = 2 * size * (frame->width + extra);
    AVBufferRef *surface = av_buffer_allocz((size_t)whole * (size_t)frame->height * 3 + 64);
    uint8_t *at = surface->data;
    for (int plane = 0; plane < layout->planes; plane++) {
        const int interleaved = plane && layout->planes == 2;
        const int width = plane ? frame->width >> layout->chroma_x : frame->width;
        const int height = plane ? frame->height >> layout->chroma_y : frame->height;
        frame->data[plane] = at;
        frame->linesize[plane] = width * size * (interleaved ? 2 : 1) + extra;
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width * (interleaved ? 2 : 1); x++) {
                const int code = interleaved ? surface_code(1 + x % 2, x / 2, y, layout->depth)
                                             : surface_code(plane, x, y, layout->depth);
                const uint16_t sample = (uint16_t)(code << layout->shift);
                memcpy(at + (ptrdiff_t)y * frame->linesize[plane] + (ptrdiff_t)x * size, &sample,
                       (size_t)size);
            }
        at += (ptrdiff_t)frame->linesize[plane] * height;
    }
    return surface;
}

static int wrong_samples(const AVFrame *host, const SampleLayout *layout)
{
    int wrong = 0;
    for (int plane = 0; plane < 3; plane++) {
        const int width = plane ? host->width >> layout->chroma_x : host->width;
        const int height = plane ? host->height >> layout->chroma_y : host->height;
        for (int y = 0; y < height; y++) {
            const uint8_t *row = host->data[plane] + (ptrdiff_t)y * host->linesize[plane];
            for (int x = 0; x < width; x++)
                wrong += surface_code(plane, x, y, layout->depth) !=
                         (layout->depth > 8 ? ((const uint16_t *)row)[x] : row[x]);
        }
    }
    return wrong;
}

TEST(downloads)
{
    static const int extras[] = {0, 1, 7, 15, 34};
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        for (size_t k = 0; k < sizeof(extras) / sizeof(extras[0]); k++) {
            AVFrame *frame = make_gpu_frame(formats[i].stored, formats[i].format, 194, 66),
                    *host = NULL;
            CHECK(av_hwframe_ctx_init(frame->hw_frames_ctx) == 0, "no surfaces");
            const SampleLayout layout = gpu_frame_layout(frame);
            frame->buf[0] = draw_surface(frame, &layout, extras[k]);
            const int ret = frame_memory_download(on_host, &host, frame);
            if (CHECK(ret == 0, "format %d, %d bytes: returned %d", (int)i, extras[k], ret)) {
                CHECK(host->format == formats[i].format && host->width == 194 && host->height == 66,
                      "format %d became %d", (int)i, host->format);
                const int wrong = wrong_samples(host, &layout);
                CHECK(!wrong, "format %d, %d bytes: %d samples are wrong", (int)i, extras[k],
                      wrong);
            }
            av_frame_free(&host);
            av_frame_free(&frame);
        }
}

int main(int argc, char **argv)
{
    media_log_install(0, NULL, NULL);
    on_host = frame_memory_create(NULL);
    if (!on_host)
        return 1;
    renew_gpu();
    const int code = check_file(argc, argv);
    av_buffer_unref(&gpu);
    frame_memory_close(&on_host);
    return code;
}
