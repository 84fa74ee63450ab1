/* Which pixel formats need no conversion, what the others become, and output frames with their own
 * planes. */
#include <string.h>

#include <libavutil/imgutils.h>

#include "check.h"
#include "media/convert.h"
#include "media/frame_memory.h"
#include "media/picture_format.h"
#include "new_frame.h"

#define WIDTH 37
#define HEIGHT 23

/* ---- formats ---- */

static void check_is(enum AVPixelFormat format, enum AVPixelFormat want)
{
    const enum AVPixelFormat got = convert_nearest_direct(format);
    CHECK(got == want, "%s becomes %s, not %s", av_get_pix_fmt_name(format),
          av_get_pix_fmt_name(got), av_get_pix_fmt_name(want));
}

TEST(direct_formats)
{
    static const enum AVPixelFormat direct[] = {
        AV_PIX_FMT_YUV420P,      AV_PIX_FMT_YUV410P,     AV_PIX_FMT_YUV411P,
        AV_PIX_FMT_YUV440P,      AV_PIX_FMT_NV12,        AV_PIX_FMT_NV21,
        AV_PIX_FMT_NV16,         AV_PIX_FMT_NV24,        AV_PIX_FMT_NV42,
        AV_PIX_FMT_GRAY8,        AV_PIX_FMT_GRAY9LE,     AV_PIX_FMT_GRAY14LE,
        AV_PIX_FMT_GRAY16LE,     AV_PIX_FMT_YUV420P9LE,  AV_PIX_FMT_YUV440P10LE,
        AV_PIX_FMT_YUV422P12LE,  AV_PIX_FMT_YUV444P14LE, AV_PIX_FMT_YUV420P16LE,
        AV_PIX_FMT_NV20LE,       AV_PIX_FMT_P010LE,      AV_PIX_FMT_P016LE,
        AV_PIX_FMT_P210LE,       AV_PIX_FMT_P216LE,      AV_PIX_FMT_P410LE,
        AV_PIX_FMT_P416LE,       AV_PIX_FMT_YUVA420P,    AV_PIX_FMT_YUVA422P10LE,
        AV_PIX_FMT_YUVA444P16LE,
    };
    for (size_t i = 0; i < sizeof(direct) / sizeof(direct[0]); i++) {
        CHECK(convert_is_direct(direct[i]), "%s is converted", av_get_pix_fmt_name(direct[i]));
        check_is(direct[i], direct[i]);
    }
}

TEST(nearest_formats)
{
    static const enum AVPixelFormat pairs[][2] = {
        {AV_PIX_FMT_YUV420P10BE, AV_PIX_FMT_YUV420P10LE},
        {AV_PIX_FMT_P010BE, AV_PIX_FMT_P010LE},
        {AV_PIX_FMT_P416BE, AV_PIX_FMT_P416LE},
        {AV_PIX_FMT_GRAY16BE, AV_PIX_FMT_GRAY16LE},
        {AV_PIX_FMT_YUVA444P12BE, AV_PIX_FMT_YUVA444P12LE},
        {AV_PIX_FMT_YUYV422, AV_PIX_FMT_YUV422P},
        {AV_PIX_FMT_UYYVYY411, AV_PIX_FMT_YUV411P},
        {AV_PIX_FMT_Y210LE, AV_PIX_FMT_YUV422P10LE},
        {AV_PIX_FMT_AYUV64LE, AV_PIX_FMT_YUVA444P16LE},
        {AV_PIX_FMT_XYZ12LE, AV_PIX_FMT_YUV444P12LE},
        {AV_PIX_FMT_RGB24, AV_PIX_FMT_YUV444P},
        {AV_PIX_FMT_RGB565LE, AV_PIX_FMT_YUV444P},
        {AV_PIX_FMT_PAL8, AV_PIX_FMT_YUVA444P},
        {AV_PIX_FMT_X2RGB10LE, AV_PIX_FMT_YUV444P10LE},
        {AV_PIX_FMT_RGB48BE, AV_PIX_FMT_YUV444P16LE},
        {AV_PIX_FMT_RGBA64LE, AV_PIX_FMT_YUVA444P16LE},
        {AV_PIX_FMT_GBRP9LE, AV_PIX_FMT_YUV444P9LE},
        {AV_PIX_FMT_GBRP14LE, AV_PIX_FMT_YUV444P14LE},
        {AV_PIX_FMT_GBRAP12LE, AV_PIX_FMT_YUVA444P12LE},
        {AV_PIX_FMT_GBRPF32LE, AV_PIX_FMT_YUV444P16LE},
        {AV_PIX_FMT_GRAYF32LE, AV_PIX_FMT_GRAY16LE},
        {AV_PIX_FMT_YA8, AV_PIX_FMT_YUVA444P},
        {AV_PIX_FMT_YA16LE, AV_PIX_FMT_YUVA444P16LE},
        {AV_PIX_FMT_MONOBLACK, AV_PIX_FMT_GRAY8},
        {AV_PIX_FMT_BAYER_RGGB8, AV_PIX_FMT_YUV444P},
        {AV_PIX_FMT_BAYER_RGGB16LE, AV_PIX_FMT_YUV444P16LE},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        check_is(pairs[i][0], pairs[i][1]);
}

/* Conversion from any format of this FFmpeg loses no chroma, alpha, or depth up to 16 bits. */
TEST(nothing_is_lost)
{
    const AVPixFmtDescriptor *from = NULL;
    while ((from = av_pix_fmt_desc_next(from))) {
        const enum AVPixelFormat format = av_pix_fmt_desc_get_id(from);
        if (from->flags & AV_PIX_FMT_FLAG_HWACCEL)
            continue;
        const enum AVPixelFormat got = convert_nearest_direct(format);
        const AVPixFmtDescriptor *to = av_pix_fmt_desc_get(got);
        if (!CHECK(to && convert_is_direct(got), "%s has no format", from->name))
            continue;
        const int depth = FFMIN(convert_depth(format), 16);
        CHECK(to->comp[0].depth >= depth && to->log2_chroma_w <= from->log2_chroma_w &&
                  to->log2_chroma_h <= from->log2_chroma_h &&
                  (to->nb_components >= 3) >= (from->nb_components >= 3) &&
                  !(from->flags & ~to->flags & AV_PIX_FMT_FLAG_ALPHA),
              "%s becomes %s", from->name, to->name);
    }
}

/* ---- planes ---- */

typedef struct Counter {
    int alive;
} Counter;

static void *count_alloc(void *opaque, size_t size)
{
    ((Counter *)opaque)->alive++;
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

static void count_free(void *opaque, void *memory)
{
    ((Counter *)opaque)->alive--;
    free(memory);
}

/* Makes a frame with one buffer for all planes, as in raw video, or with one for each plane. */
static AVFrame *make_frame(enum AVPixelFormat format, int one_buffer)
{
    AVFrame *frame = av_frame_alloc();
    frame->format = format;
    frame->width = WIDTH;
    frame->height = HEIGHT;
    if (!one_buffer) {
        CHECK(av_frame_get_buffer(frame, 0) >= 0, "no memory");
    } else {
        const int size = av_image_get_buffer_size(format, WIDTH, HEIGHT, 1);
        frame->buf[0] = av_buffer_alloc((size_t)size);
        av_image_fill_arrays(frame->data, frame->linesize, frame->buf[0]->data, format, WIDTH,
                             HEIGHT, 1);
    }
    for (int i = 0; i < 8 && frame->buf[i]; i++)
        for (size_t k = 0; k < (size_t)frame->buf[i]->size; k++)
            frame->buf[i]->data[k] = (uint8_t)(k * 7 + (size_t)i);
    return frame;
}

static uint64_t hash(const AVFrame *frame)
{
    uint64_t h = CHECK_FNV_START;
    for (int i = 0; i < 4 && frame->data[i]; i++)
        for (int y = 0; y < samples_down(frame, i); y++)
            h = check_fnv(h, frame->data[i] + (ptrdiff_t)y * frame->linesize[i],
                          (size_t)av_image_get_linesize(frame->format, frame->width, i));
    return h;
}

/* Writing to the output's own planes does not change the input. */
static void check_output(FrameMemory *memory, const AVFrame *in, int chroma, int all_planes)
{
    const char *name = av_get_pix_fmt_name(in->format);
    const uint64_t before = hash(in);
    FREED_BY(av_frame_free) AVFrame *out = frame_memory_output(memory, in, chroma);
    if (!CHECK(out != NULL, "%s: no frame", name))
        return;
    for (int i = 0; i < 4 && in->data[i]; i++) {
        const int own = i == 0 || (i < 3 && chroma);
        CHECK((out->data[i] != in->data[i]) == own, "%s: plane %d is %s", name, i,
              own ? "shared" : "its own");
        if (!own)
            continue;
        CHECK((uintptr_t)out->data[i] % 64 == 0 && out->linesize[i] % 64 == 0, "not aligned");
        CHECK(frame_memory_owns(memory, out->data[i]) == (i == 0 || all_planes),
              "%s: plane %d from the wrong memory", name, i);
        memset(out->data[i], 0xEE, (size_t)out->linesize[i] * (size_t)samples_down(out, i));
    }
    CHECK(hash(in) == before, "%s: writing an output changes its input", name);
}

static void check_adopted(FrameMemory *memory, AVFrame *frame, int all_planes)
{
    const uint64_t before = hash(frame);
    frame_memory_copy_in(memory, frame);
    for (int i = 0; i < 3 && frame->data[i]; i++)
        CHECK(frame_memory_owns(memory, frame->data[i]) == (i == 0 || all_planes),
              "%s: plane %d is in the wrong memory", av_get_pix_fmt_name(frame->format), i);
    CHECK(hash(frame) == before, "%s: the picture changed", av_get_pix_fmt_name(frame->format));
}

static void check_format(enum AVPixelFormat format, int all_planes)
{
    Counter counter = {0};
    const FrameAllocator allocator = {count_alloc, count_free, &counter, all_planes};
    FrameMemory *memory = frame_memory_create(&allocator);
    for (int one_buffer = 0; one_buffer < 2; one_buffer++) {
        FREED_BY(av_frame_free) AVFrame *frame = make_frame(format, one_buffer);
        check_output(memory, frame, 0, all_planes);
        check_output(memory, frame, 1, all_planes);
        check_adopted(memory, frame, all_planes);
        check_output(memory, frame, 1, all_planes);
    }
    frame_memory_close(&memory);
    CHECK(counter.alive == 0, "%d blocks were not freed", counter.alive);
}

TEST(planes)
{
    const AVPixFmtDescriptor *desc = NULL;
    while ((desc = av_pix_fmt_desc_next(desc))) {
        const enum AVPixelFormat format = av_pix_fmt_desc_get_id(desc);
        if (!convert_is_direct(format))
            continue;
        for (int all_planes = 0; all_planes < 2; all_planes++)
            check_format(format, all_planes);
    }
}

/* 8-bit samples become 10-bit samples exactly, also in interleaved chroma. */
TEST(deeper)
{
    static const enum AVPixelFormat to[] = {AV_PIX_FMT_YUV422P10LE, AV_PIX_FMT_NV20LE};
    for (int k = 0; k < 2; k++) {
        FREED_BY(av_frame_free) AVFrame *in = new_frame(AV_PIX_FMT_YUV422P, WIDTH, HEIGHT);
        FREED_BY(av_frame_free) AVFrame *out = av_frame_alloc();
        Converter converter = {.sws = {NULL}};
        for (int i = 0; i < 3; i++)
            for (int x = 0; x < in->linesize[i] * HEIGHT; x++)
                in->data[i][x] = (uint8_t)(x * 7 + i * 50);
        in->color_range = out->color_range = AVCOL_RANGE_MPEG;
        out->format = to[k];
        out->width = WIDTH;
        out->height = HEIGHT;
        CHECK(convert_frame(&converter, in, out) == 0, "no conversion");
        for (int i = 0; i < 3; i++)
            for (int y = 0; y < HEIGHT; y++)
                for (int x = 0; x < (i ? (WIDTH + 1) / 2 : WIDTH); x++) {
                    const int pairs = k && i, plane = pairs ? 1 : i;
                    const uint16_t *row =
                        (const uint16_t *)(const void *)(out->data[plane] +
                                                         (ptrdiff_t)y * out->linesize[plane]);
                    const int got = row[pairs ? 2 * x + i - 1 : x];
                    const int want = 4 * in->data[i][(ptrdiff_t)y * in->linesize[i] + x];
                    CHECK(got == want, "format %d, plane %d, %d, %d: %d, not %d", k, i, x, y, got,
                          want);
                }
        convert_close(&converter);
    }
}

/* The window accepts exactly the formats that the equalizer accepts. */
TEST(window_formats)
{
    const AVPixFmtDescriptor *desc = NULL;
    char why[128];
    while ((desc = av_pix_fmt_desc_next(desc))) {
        FREED_BY(av_frame_free) AVFrame *frame = av_frame_alloc();
        PictureFormat format;
        frame->format = av_pix_fmt_desc_get_id(desc);
        frame->width = WIDTH;
        frame->height = HEIGHT;
        CHECK((picture_format(&format, frame, why, sizeof(why)) == 0) ==
                  convert_is_direct(frame->format),
              "%s: the window and the equalizer disagree", desc->name);
    }
}

TEST_MAIN
