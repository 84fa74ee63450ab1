/* Compares each blended sample with the mean of its blended pixels, in double precision. */
#include <math.h>

#include <libavutil/pixdesc.h>

#include "check.h"
#include "media/output/blend.h"
#include "new_frame.h"

#define SIDE 40

/* Allowed errors of swscale (in 8-bit codes) and of rounding (in codes of the format). */
#define WITHIN_8_BITS 1.0
#define WITHIN 1.0

typedef struct Case {
    enum AVPixelFormat format;
    int width, height;
    BlendPlace place;
    enum AVColorSpace space;
    enum AVColorRange range;
    enum AVColorTransferCharacteristic transfer;
} Case;

/* ---- frames and pictures ---- */

typedef struct Pixels {
    uint8_t rgba[SIDE][SIDE][4];
} Pixels;

static void fill(uint8_t *bytes, size_t size, CheckRandom *random)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)check_below(random, 256);
}

static BlendPicture as_picture(const Pixels *p, int width, int height)
{
    return (BlendPicture){p->rgba[0][0], 4, sizeof(p->rgba[0]), width, height};
}

/* Fills a plane with random codes of the format's depth. */
static void fill_samples(AVBufferRef *buffer, enum AVPixelFormat format, CheckRandom *random)
{
    const AVComponentDescriptor *comp = av_pix_fmt_desc_get(format)->comp;
    fill(buffer->data, (size_t)buffer->size, random);
    for (size_t i = 0; comp->depth > 8 && i + 1 < (size_t)buffer->size; i += 2) {
        const int code = (buffer->data[i] | buffer->data[i + 1] << 8) % (1 << comp->depth);
        buffer->data[i] = (uint8_t)(code << comp->shift);
        buffer->data[i + 1] = (uint8_t)(code << comp->shift >> 8);
    }
}

static AVFrame *make_frame(const Case *c, CheckRandom *random)
{
    AVFrame *frame = new_frame(c->format, c->width, c->height);
    frame->colorspace = c->space;
    frame->color_range = c->range;
    frame->color_trc = c->transfer;
    for (int i = 0; i < AV_NUM_DATA_POINTERS && frame->buf[i]; i++)
        fill_samples(frame->buf[i], c->format, random);
    return frame;
}

static int depth_of(enum AVPixelFormat format)
{
    return av_pix_fmt_desc_get(format)->comp[0].depth;
}

static int sample(const AVFrame *frame, int i, int x, int y)
{
    const AVComponentDescriptor *comp = &av_pix_fmt_desc_get(frame->format)->comp[i];
    const uint8_t *at =
        frame->data[comp->plane] + y * frame->linesize[comp->plane] + x * comp->step + comp->offset;
    const int value = comp->depth > 8 ? at[0] | at[1] << 8 : at[0];
    CHECK((value & ((1 << comp->shift) - 1)) == 0, "bits below the code are set: %d", value);
    return value >> comp->shift;
}

/* ---- the oracle ---- */

static void weights(const Case *c, double *kr, double *kb)
{
    const double table[][3] = {
        {AVCOL_SPC_BT709, 0.2126, 0.0722},      {AVCOL_SPC_SMPTE170M, 0.299, 0.114},
        {AVCOL_SPC_BT470BG, 0.299, 0.114},      {AVCOL_SPC_SMPTE240M, 0.212, 0.087},
        {AVCOL_SPC_BT2020_NCL, 0.2627, 0.0593},
    };
    int at = c->height >= 720 ? 0 : 1; /* assumed if the space is unspecified */
    for (int i = 0; i < 5; i++)
        if ((int)table[i][0] == (int)c->space)
            at = i;
    *kr = table[at][1];
    *kb = table[at][2];
}

static double component_of(const Case *c, const uint8_t *rgba, int i)
{
    double kr, kb;
    weights(c, &kr, &kb);
    const double r = rgba[0] / 255.0, g = rgba[1] / 255.0, b = rgba[2] / 255.0;
    const double y = kr * r + (1 - kr - kb) * g + kb * b;
    const int full = c->range == AVCOL_RANGE_JPEG, unit = 1 << (depth_of(c->format) - 8);
    const int last = 256 * unit - 1;
    switch (i) {
    case 0: return full ? last * y : unit * (16 + 219 * y);
    case 1: return 128 * unit + (full ? last : 224 * unit) * (b - y) / (2 * (1 - kb));
    case 2: return 128 * unit + (full ? last : 224 * unit) * (r - y) / (2 * (1 - kr));
    default: return last;
    }
}

/* The expected value of sample (x, y) of component i. */
static double expected(const Case *c, const AVFrame *before, const Pixels *p, int i, int x, int y)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(c->format);
    const int chroma = i == 1 || i == 2;
    const int wide = chroma ? 1 << desc->log2_chroma_w : 1;
    const int tall = chroma ? 1 << desc->log2_chroma_h : 1;
    const double old = sample(before, i, x, y);
    double sum = 0;
    int count = 0;
    for (int v = y * tall; v < (y + 1) * tall && v < c->height; v++)
        for (int u = x * wide; u < (x + 1) * wide && u < c->width; u++, count++) {
            const int px = u - c->place.x, py = v - c->place.y;
            const int inside = px >= 0 && py >= 0 && px < c->place.width && py < c->place.height;
            const uint8_t *rgba = inside ? p->rgba[py][px] : NULL;
            const double share = inside ? rgba[3] / 255.0 : 0;
            sum += old * (1 - share) + (inside ? share * component_of(c, rgba, i) : 0);
        }
    return sum / count;
}

static void check_frame(const Case *c, const AVFrame *before, const AVFrame *after, const Pixels *p)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(c->format);
    const double within = WITHIN + WITHIN_8_BITS * (1 << (depth_of(c->format) - 8));
    for (int i = 0; i < desc->nb_components; i++)
        for (int y = 0; y < samples_down(after, i); y++)
            for (int x = 0; x < samples_across(after, i); x++) {
                const double want = expected(c, before, p, i, x, y);
                const int got = sample(after, i, x, y);
                CHECK(fabs(got - want) <= within, "%s %dx%d, component %d at %d,%d: %d, not %.2f",
                      desc->name, c->width, c->height, i, x, y, got, want);
            }
}

static int same(const AVFrame *a, const AVFrame *b)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(a->format);
    for (int i = 0; i < desc->nb_components; i++)
        for (int y = 0; y < samples_down(a, i); y++)
            for (int x = 0; x < samples_across(a, i); x++)
                if (sample(a, i, x, y) != sample(b, i, x, y))
                    return 0;
    return 1;
}

/* ---- the tests ---- */

static void check_case(const Case *c, CheckRandom *random)
{
    Pixels p;
    Blender blender = {0};
    fill(p.rgba[0][0], sizeof(p), random);
    AVFrame *frame = make_frame(c, random), *shared = av_frame_clone(frame);
    FREED_BY(av_frame_free) AVFrame *before = make_frame(c, random);
    av_frame_copy(before, frame);
    const BlendPicture picture = as_picture(&p, c->place.width, c->place.height);
    CHECK(blend_picture(&blender, frame, c->place, &picture) == 0, "blending fails");
    check_frame(c, before, frame, &p);
    CHECK(same(before, shared), "shared memory was written to");
    blend_close(&blender);
    av_frame_free(&frame);
    av_frame_free(&shared);
}

static const enum AVPixelFormat formats[] = {
    AV_PIX_FMT_YUV420P,      AV_PIX_FMT_YUV422P,      AV_PIX_FMT_YUV444P,
    AV_PIX_FMT_YUV440P,      AV_PIX_FMT_YUV411P,      AV_PIX_FMT_YUV410P,
    AV_PIX_FMT_NV12,         AV_PIX_FMT_NV21,         AV_PIX_FMT_NV16,
    AV_PIX_FMT_NV24,         AV_PIX_FMT_NV42,         AV_PIX_FMT_GRAY8,
    AV_PIX_FMT_YUVA420P,     AV_PIX_FMT_YUVA444P,     AV_PIX_FMT_YUV444P9LE,
    AV_PIX_FMT_YUV420P10LE,  AV_PIX_FMT_YUV440P10LE,  AV_PIX_FMT_YUV422P12LE,
    AV_PIX_FMT_YUV444P14LE,  AV_PIX_FMT_YUV420P16LE,  AV_PIX_FMT_YUV444P16LE,
    AV_PIX_FMT_P010LE,       AV_PIX_FMT_P016LE,       AV_PIX_FMT_P210LE,
    AV_PIX_FMT_P410LE,       AV_PIX_FMT_NV20LE,       AV_PIX_FMT_GRAY9LE,
    AV_PIX_FMT_GRAY12LE,     AV_PIX_FMT_GRAY16LE,     AV_PIX_FMT_YUVA420P10LE,
    AV_PIX_FMT_YUVA444P12LE, AV_PIX_FMT_YUVA422P16LE,
};

TEST(formats)
{
    const BlendPlace places[] = {{0, 0, 37, 23}, {8, 4, 16, 12}, {5, 3, 31, 19}, {36, 22, 1, 1}};
    CheckRandom random = check_random(1);
    for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); f++)
        for (int i = 0; i < 4; i++)
            check_case(&(Case){formats[f], 37, 23, places[i], AVCOL_SPC_BT709,
                               i % 2 ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG, AVCOL_TRC_UNSPECIFIED},
                       &random);
}

TEST(matrices)
{
    const enum AVColorSpace spaces[] = {AVCOL_SPC_BT709,      AVCOL_SPC_SMPTE170M,
                                        AVCOL_SPC_BT470BG,    AVCOL_SPC_SMPTE240M,
                                        AVCOL_SPC_BT2020_NCL, AVCOL_SPC_UNSPECIFIED};
    CheckRandom random = check_random(2);
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 4; k++)
            check_case(&(Case){AV_PIX_FMT_YUV444P,
                               33,
                               k < 2 ? 40 : 720,
                               {1, 2, 30, 33},
                               spaces[i],
                               k % 2 ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG,
                               AVCOL_TRC_UNSPECIFIED},
                       &random);
}

/* A picture turned in memory, and read with strides that turn it back, blends like the original. */
TEST(turned)
{
    static Pixels upright, turned;
    CheckRandom random = check_random(3);
    const Case c = {AV_PIX_FMT_YUV420P,   36, 30, {3, 4, 20, 11}, AVCOL_SPC_BT709, AVCOL_RANGE_MPEG,
                    AVCOL_TRC_UNSPECIFIED};
    fill(upright.rgba[0][0], sizeof(upright), &random);
    for (int y = 0; y < 11; y++)
        for (int x = 0; x < 20; x++)
            memcpy(turned.rgba[19 - x][y], upright.rgba[y][x], 4);
    const BlendPicture pictures[] = {
        as_picture(&upright, 20, 11),
        {turned.rgba[19][0], -(ptrdiff_t)sizeof(turned.rgba[0]), 4, 20, 11},
    };
    AVFrame *frames[2];
    for (int i = 0; i < 2; i++) {
        FREED_BY(blend_close) Blender blender = {0};
        CheckRandom same_frame = check_random(4);
        frames[i] = make_frame(&c, &same_frame);
        CHECK(blend_picture(&blender, frames[i], c.place, &pictures[i]) == 0, "blending fails");
    }
    CHECK(same(frames[0], frames[1]), "the turned picture differs");
    av_frame_free(&frames[0]);
    av_frame_free(&frames[1]);
}

/* Blends an opaque gray over a whole frame and returns the resulting luma. */
static int gray_in(int gray, enum AVColorTransferCharacteristic transfer, int scale)
{
    static Pixels p;
    Blender blender = {0};
    CheckRandom random = check_random(5);
    const Case c = {AV_PIX_FMT_YUV420P, 32,      32, {0, 0, 32, 32}, AVCOL_SPC_BT2020_NCL,
                    AVCOL_RANGE_JPEG,   transfer};
    AVFrame *frame = make_frame(&c, &random);
    memset(&p, 255, sizeof(p));
    for (int i = 0; i < SIDE * SIDE; i++)
        memset(p.rgba[i / SIDE][i % SIDE], gray, 3);
    const BlendPicture picture = as_picture(&p, 32 / scale, 32 / scale);
    CHECK(blend_picture(&blender, frame, c.place, &picture) == 0, "blending fails");
    const int luma = sample(frame, 0, 0, 0);
    for (int i = 0; i < 32 * 32; i++)
        CHECK(abs(sample(frame, 0, i % 32, i / 32) - luma) <= 1, "luma is not uniform");
    blend_close(&blender);
    av_frame_free(&frame);
    return luma;
}

/* White becomes 58 % in PQ and 75 % in HLG (ITU-R BT.2408). Gray 128 has 38 nits (BT.1886), so it
 * becomes 42 % in PQ and 45 % in HLG. */
TEST(hdr)
{
    const struct {
        enum AVColorTransferCharacteristic transfer;
        int gray;
        double share;
    } cases[] = {
        {AVCOL_TRC_BT709, 255, 1},         {AVCOL_TRC_BT709, 128, 0.502},
        {AVCOL_TRC_SMPTE2084, 255, 0.581}, {AVCOL_TRC_SMPTE2084, 0, 0},
        {AVCOL_TRC_SMPTE2084, 128, 0.417}, {AVCOL_TRC_ARIB_STD_B67, 255, 0.75},
        {AVCOL_TRC_ARIB_STD_B67, 0, 0},    {AVCOL_TRC_ARIB_STD_B67, 128, 0.447},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const int luma = gray_in(cases[i].gray, cases[i].transfer, 1);
        CHECK(fabs(luma - 255 * cases[i].share) <= 2, "%d becomes %d, not %.1f", cases[i].gray,
              luma, 255 * cases[i].share);
    }
}

TEST(scaled)
{
    const int luma = gray_in(200, AVCOL_TRC_BT709, 2);
    CHECK(abs(luma - 200) <= 1, "200 becomes %d", luma);
}

/* An unsupported format is refused and not written to. */
TEST(refused)
{
    static Pixels p;
    Blender blender = {0};
    CheckRandom random = check_random(6);
    const Case c = {AV_PIX_FMT_RGB24,     32, 32, {0, 0, 8, 8}, AVCOL_SPC_RGB, AVCOL_RANGE_JPEG,
                    AVCOL_TRC_UNSPECIFIED};
    AVFrame *frame = make_frame(&c, &random), *before = make_frame(&c, &random);
    av_frame_copy(before, frame);
    const BlendPicture picture = as_picture(&p, 8, 8);
    CHECK(blend_picture(&blender, frame, c.place, &picture) < 0, "rgb24 is accepted");
    CHECK(same(before, frame), "rgb24 is written to");
    blend_close(&blender);
    av_frame_free(&frame);
    av_frame_free(&before);
}

TEST_MAIN
