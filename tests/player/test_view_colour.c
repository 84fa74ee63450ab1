/* The view's colours, compared with the standards' formulas in double precision. */
#include <libavutil/mastering_display_metadata.h>

#include "view_fixture.h"

/* Allowed error in 8-bit codes. */
#define TOLERANCE 2

/* Allowed error at edges, because llvmpipe interpolates chroma with only 8 bits. */
#define EDGE_TOLERANCE 3
#define PATCH 8

typedef struct Matrix {
    enum AVColorSpace space;
    double kr, kb;
} Matrix;

/* From the standards themselves: BT.709-6, BT.601-7, BT.470, BT.2020-2, SMPTE 240M, FCC 73.682. */
static const Matrix matrices[] = {
    {AVCOL_SPC_BT709, 0.2126, 0.0722},   {AVCOL_SPC_SMPTE170M, 0.299, 0.114},
    {AVCOL_SPC_BT470BG, 0.299, 0.114},   {AVCOL_SPC_BT2020_NCL, 0.2627, 0.0593},
    {AVCOL_SPC_SMPTE240M, 0.212, 0.087}, {AVCOL_SPC_FCC, 0.30, 0.11},
};

#define MATRICES ((int)(sizeof(matrices) / sizeof(matrices[0])))

/* Offset of a chroma sample from its first luma sample, in luma samples to the right and down. */
typedef struct Siting {
    enum AVChromaLocation location;
    double x, y;
} Siting;

/* H.273, figure 1, for 4:2:0. */
static const Siting sitings[] = {
    {AVCHROMA_LOC_UNSPECIFIED, 0, 0.5}, {AVCHROMA_LOC_LEFT, 0, 0.5},
    {AVCHROMA_LOC_CENTER, 0.5, 0.5},    {AVCHROMA_LOC_TOPLEFT, 0, 0},
    {AVCHROMA_LOC_TOP, 0.5, 0},         {AVCHROMA_LOC_BOTTOMLEFT, 0, 1},
    {AVCHROMA_LOC_BOTTOM, 0.5, 1},
};

#define SITINGS ((int)(sizeof(sitings) / sizeof(sitings[0])))

static double clamp(double value, double low, double high)
{
    return fmin(fmax(value, low), high);
}

/* Converts codes to R'G'B' (0 black, 1 white) without clamping. */
static void to_rgb(const Matrix *m, int full, int depth, const double code[3], double rgb[3])
{
    const double unit = pow(2, depth - 8), top = pow(2, depth) - 1;
    const double y = full ? code[0] / top : (code[0] - 16 * unit) / (219 * unit);
    const double cb = full ? (code[1] - 128 * unit) / top : (code[1] - 128 * unit) / (224 * unit);
    const double cr = full ? (code[2] - 128 * unit) / top : (code[2] - 128 * unit) / (224 * unit);
    rgb[0] = y + 2 * (1 - m->kr) * cr;
    rgb[2] = y + 2 * (1 - m->kb) * cb;
    rgb[1] = (y - m->kr * rgb[0] - m->kb * rgb[2]) / (1 - m->kr - m->kb);
}

/* Interpolates a component linearly. x, y: position in the component's own samples. */
static double interpolated(const AVFrame *frame, int comp, double x, double y)
{
    int width, height;
    component_size(frame, comp, &width, &height);
    x = clamp(x, 0, width - 1);
    y = clamp(y, 0, height - 1);
    const int left = (int)x, top = (int)y;
    const int right = left + 1 < width ? left + 1 : left, below = top + 1 < height ? top + 1 : top;
    const double fx = x - left, fy = y - top;
    return (get_code(frame, comp, left, top) * (1 - fx) + get_code(frame, comp, right, top) * fx) *
               (1 - fy) +
           (get_code(frame, comp, left, below) * (1 - fx) +
            get_code(frame, comp, right, below) * fx) *
               fy;
}

static void expected(const AVFrame *frame, const Matrix *m, double site_x, double site_y, int x,
                     int y, double rgb[3])
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(frame->format);
    const double neutral = pow(2, frame_depth(frame) - 1);
    double code[3] = {get_code(frame, 0, x, y), neutral, neutral};
    if (desc->nb_components >= 3) {
        const double cols = 1 << desc->log2_chroma_w, rows = 1 << desc->log2_chroma_h;
        const double cx = (x - site_x * (cols - 1)) / cols, cy = (y - site_y * (rows - 1)) / rows;
        code[1] = interpolated(frame, 1, cx, cy);
        code[2] = interpolated(frame, 2, cx, cy);
    }
    to_rgb(m, frame->color_range == AVCOL_RANGE_JPEG, frame_depth(frame), code, rgb);
    for (int i = 0; i < 3; i++)
        rgb[i] = clamp(rgb[i], 0, 1) * 255;
}

static int is_edge(int x, int y)
{
    return x % PATCH == 0 || x % PATCH == PATCH - 1 || y % PATCH == 0 || y % PATCH == PATCH - 1;
}

/* Draws a frame at its own size and compares all pixels. */
static void compare(const AVFrame *frame, const Matrix *m, double site_x, double site_y,
                    const char *what)
{
    double worst = 0, worst_edge = 0;
    int at_x = 0, at_y = 0;
    if (!draw_frame(frame, frame->width, frame->height))
        return;
    for (int y = 0; y < frame->height; y++)
        for (int x = 0; x < frame->width; x++) {
            double rgb[3];
            expected(frame, m, site_x, site_y, x, y, rgb);
            for (int i = 0; i < 3; i++) {
                const double off = fabs(pixel_at(x, y)[i] - rgb[i]);
                worst_edge = fmax(worst_edge, off);
                if (off > worst && !is_edge(x, y)) {
                    worst = off;
                    at_x = x;
                    at_y = y;
                }
            }
        }
    CHECK(worst <= TOLERANCE && worst_edge <= EDGE_TOLERANCE,
          "%s %s %s: off by %.2f at %d, %d; by %.2f at edges", what,
          av_get_pix_fmt_name(frame->format), av_color_space_name(m->space), worst, at_x, at_y,
          worst_edge);
}

/* Draws most colours, and some impossible ones. */
static void fill_gradients(AVFrame *frame)
{
    const int top = (1 << frame_depth(frame)) - 1;
    for (int comp = 0; comp < 3; comp++) {
        int width, height;
        component_size(frame, comp, &width, &height);
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                const double across = (double)x / (width - 1), down = (double)y / (height - 1);
                const double value = comp == 0 ? across : comp == 1 ? down : 1 - across;
                put_code(frame, comp, x, y, (int)(value * top));
            }
    }
}

/* Fills the frame with patches of PATCH x PATCH pixels, each with a random colour. */
static void fill_patches(AVFrame *frame, uint64_t number)
{
    const int top = (1 << frame_depth(frame)) - 1;
    const uint64_t seed = check_hash(check_state.seed, number);
    for (int comp = 0; comp < 3; comp++) {
        int width, height;
        component_size(frame, comp, &width, &height);
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                const int column = x * frame->width / width / PATCH,
                          row = y * frame->height / height / PATCH;
                const uint64_t patch =
                    check_hash(seed, (uint64_t)(comp * 4096 + row * 64 + column));
                put_code(frame, comp, x, y, (int)(patch % (uint64_t)(top + 1)));
            }
    }
}

static void check_matrices(enum AVPixelFormat format)
{
    for (int i = 0; i < MATRICES; i++)
        for (int full = 0; full < 2; full++) {
            FREED_BY(av_frame_free) AVFrame *frame = make_frame(format, 128, 64);
            frame->colorspace = matrices[i].space;
            frame->color_range = full ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
            fill_gradients(frame);
            compare(frame, &matrices[i], 0, 0.5, full ? "full gradients" : "limited gradients");
            fill_patches(frame, (uint64_t)(i * 2 + full));
            compare(frame, &matrices[i], 0, 0.5, full ? "full patches" : "limited patches");
        }
}

VIEW_TEST(each_matrix_and_range)
{
    static const enum AVPixelFormat formats[] = {
        AV_PIX_FMT_YUV420P,     AV_PIX_FMT_YUV422P,     AV_PIX_FMT_YUV444P,
        AV_PIX_FMT_YUV420P10LE, AV_PIX_FMT_YUV444P12LE, AV_PIX_FMT_P010LE,
    };
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        check_matrices(formats[i]);
}

/* All other supported layouts of planes, at even and odd sizes. */
VIEW_TEST(each_format)
{
    static const enum AVPixelFormat formats[] = {
        AV_PIX_FMT_YUV440P,     AV_PIX_FMT_YUV411P,     AV_PIX_FMT_YUV410P,
        AV_PIX_FMT_YUVA420P,    AV_PIX_FMT_YUVA444P,    AV_PIX_FMT_NV12,
        AV_PIX_FMT_NV21,        AV_PIX_FMT_NV16,        AV_PIX_FMT_NV24,
        AV_PIX_FMT_NV42,        AV_PIX_FMT_YUV420P9LE,  AV_PIX_FMT_YUV422P10LE,
        AV_PIX_FMT_YUV420P12LE, AV_PIX_FMT_YUV422P14LE, AV_PIX_FMT_YUV420P16LE,
        AV_PIX_FMT_P016LE,      AV_PIX_FMT_P210LE,
    };
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        for (int odd = 0; odd < 2; odd++) {
            FREED_BY(av_frame_free) AVFrame *frame = make_frame(formats[i], 64 + odd, 32 + odd);
            fill_gradients(frame);
            compare(frame, &matrices[0], 0, 0.5, odd ? "odd" : "even");
        }
}

VIEW_TEST(gray_formats)
{
    static const enum AVPixelFormat formats[] = {AV_PIX_FMT_GRAY8, AV_PIX_FMT_GRAY10LE,
                                                 AV_PIX_FMT_GRAY12LE, AV_PIX_FMT_GRAY16LE};
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        FREED_BY(av_frame_free) AVFrame *frame = make_frame(formats[i], 256, 8);
        frame->color_range = AVCOL_RANGE_UNSPECIFIED;
        for (int y = 0; y < frame->height; y++)
            for (int x = 0; x < 256; x++)
                put_code(frame, 0, x, y, x << (frame_depth(frame) - 8));
        if (draw_frame(frame, 256, 8))
            for (int x = 0; x < 256; x++)
                CHECK(is_gray(pixel_at(x, 4), x, 1), "%s: code %d became %d",
                      av_get_pix_fmt_name(formats[i]), x, pixel_at(x, 4)[0]);
    }
}

/* An unspecified matrix follows from the number of lines. */
VIEW_TEST(matrix_by_size)
{
    for (int height = 576; height <= 720; height += 144) {
        FREED_BY(av_frame_free) AVFrame *frame = make_frame(AV_PIX_FMT_YUV420P, 32, height);
        frame->colorspace = AVCOL_SPC_UNSPECIFIED;
        frame->color_range = AVCOL_RANGE_UNSPECIFIED;
        fill_patches(frame, (uint64_t)height);
        compare(frame, &matrices[height == 576 ? 1 : 0], 0, 0.5, "unspecified");
    }
}

/* The position of chroma matters most at a step. */
VIEW_TEST(chroma_siting)
{
    for (int i = 0; i < SITINGS; i++) {
        FREED_BY(av_frame_free) AVFrame *frame = make_frame(AV_PIX_FMT_YUV420P, 32, 32);
        frame->chroma_location = sitings[i].location;
        fill_component(frame, 0, 120);
        fill_component(frame, 1, 100);
        fill_component(frame, 2, 128);
        for (int y = 0; y < 16; y++)
            for (int x = 0; x < 16; x++)
                if (x >= 8 || y >= 8)
                    put_code(frame, 1, x, y, 160);
        compare(frame, &matrices[0], sitings[i].x, sitings[i].y, "siting");
    }
}

VIEW_TEST(negative_stride)
{
    FREED_BY(av_frame_free) AVFrame *frame = make_frame(AV_PIX_FMT_YUV420P, 65, 33);
    for (int i = 0; i < 3; i++) {
        int width, height;
        component_size(frame, i, &width, &height);
        frame->data[i] += (ptrdiff_t)(height - 1) * frame->linesize[i];
        frame->linesize[i] = -frame->linesize[i];
    }
    fill_gradients(frame);
    compare(frame, &matrices[0], 0, 0.5, "bottom-up");
}

/* The row stride is odd, so 16-bit samples are unaligned. */
VIEW_TEST(odd_stride)
{
    static uint8_t memory[16384];
    FREED_BY(av_frame_free) AVFrame *frame = av_frame_alloc();
    if (!frame)
        abort();
    frame->format = AV_PIX_FMT_YUV444P10LE;
    frame->width = 33;
    frame->height = 17;
    frame->color_range = AVCOL_RANGE_MPEG;
    frame->colorspace = AVCOL_SPC_BT709;
    for (int i = 0; i < 3; i++) {
        frame->data[i] = memory + 1 + i * 5000;
        frame->linesize[i] = 33 * 2 + 5;
    }
    fill_gradients(frame);
    compare(frame, &matrices[0], 0, 0.5, "odd stride");
}

/* ---- light ---- */

/* SMPTE ST 2084 */
static double pq_nits(double code)
{
    const double p = pow(code, 1 / 78.84375);
    return 10000 * pow(fmax(p - 0.8359375, 0) / (18.8515625 - 18.6875 * p), 1 / 0.1593017578125);
}

static double pq_code(double nits)
{
    const double y = pow(nits / 10000, 0.1593017578125);
    return pow((0.8359375 + 18.8515625 * y) / (1 + 18.6875 * y), 78.84375);
}

/* BT.2100: gray on a screen of 1000 nits. */
static double hlg_nits(double code)
{
    const double a = 0.17883277, b = 1 - 4 * a, c = 0.5 - a * log(4 * a);
    const double scene = code <= 0.5 ? code * code / 3 : (exp((code - c) / a) + b) / 12;
    return 1000 * pow(scene, 1.2);
}

/* BT.2390, 5.4.1, step by step; black is 0 in the source and on the screen. */
static double eetf(double nits, double peak, double screen)
{
    const double source = pq_code(peak), e1 = fmin(pq_code(nits) / source, 1);
    const double max_lum = fmin(pq_code(screen) / source, 1), ks = 1.5 * max_lum - 0.5;
    double e2 = e1;
    if (e1 > ks && ks < 1) {
        const double t = (e1 - ks) / (1 - ks);
        e2 = (2 * t * t * t - 3 * t * t + 1) * ks + (t * t * t - 2 * t * t + t) * (1 - ks) +
             (-2 * t * t * t + 3 * t * t) * max_lum;
    }
    return pq_nits(e2 * source);
}

static AVFrame *gray_ramp(enum AVColorTransferCharacteristic transfer)
{
    AVFrame *frame = make_frame(AV_PIX_FMT_YUV420P10LE, 880, 8);
    frame->color_trc = transfer;
    frame->color_primaries = AVCOL_PRI_BT2020;
    frame->colorspace = AVCOL_SPC_BT2020_NCL;
    fill_component(frame, 1, 512);
    fill_component(frame, 2, 512);
    for (int y = 0; y < frame->height; y++)
        for (int x = 0; x < frame->width; x++)
            put_code(frame, 0, x, y, 62 + x);
    return frame;
}

/* `peak`: brightest light of the stream, in nits. */
static void check_ramp(const AVFrame *frame, double peak, const char *what)
{
    double worst = 0;
    int falls = 0, coloured = 0, before = 0;
    if (!draw_frame(frame, frame->width, frame->height))
        return;
    for (int x = 0; x < frame->width; x++) {
        const double code = clamp((62 + x - 64) / 876.0, 0, 1);
        const double nits =
            frame->color_trc == AVCOL_TRC_SMPTE2084 ? pq_nits(code) : hlg_nits(code);
        const double shown = 255 * pow(clamp(eetf(nits, peak, 203) / 203, 0, 1), 1 / 2.4);
        const uint8_t *pixel = pixel_at(x, 4);
        worst = fmax(worst, fabs(pixel[1] - shown));
        falls += pixel[1] < before;
        coloured += !is_gray(pixel, pixel[1], 1);
        before = pixel[1];
    }
    CHECK(worst <= TOLERANCE, "%s: off by %.2f", what, worst);
    CHECK(!falls && !coloured, "%s: falls %d times, %d are not gray", what, falls, coloured);
    CHECK(pixel_at(0, 4)[0] == 0 && before >= 254, "%s: ends with %d and %d", what,
          pixel_at(0, 4)[0], before);
}

static void add_light_level(AVFrame *frame, unsigned nits)
{
    AVContentLightMetadata *light = av_content_light_metadata_create_side_data(frame);
    if (!light)
        abort();
    light->MaxCLL = nits;
}

static void add_mastering(AVFrame *frame, int nits)
{
    AVMasteringDisplayMetadata *mastering = av_mastering_display_metadata_create_side_data(frame);
    if (!mastering)
        abort();
    mastering->max_luminance = (AVRational){nits * 10000, 10000};
    mastering->has_luminance = 1;
}

VIEW_TEST(hdr_ramps)
{
    AVFrame *frame = gray_ramp(AVCOL_TRC_SMPTE2084);
    check_ramp(frame, 1000, "PQ");
    add_mastering(frame, 4000);
    check_ramp(frame, 4000, "PQ mastered at 4000 nits");
    add_light_level(frame, 600);
    check_ramp(frame, 600, "PQ of 600 nits at most");
    av_frame_free(&frame);

    frame = gray_ramp(AVCOL_TRC_ARIB_STD_B67);
    check_ramp(frame, 1000, "HLG");
    av_frame_free(&frame);
}

/* Draws one colour of a BT.2020 stream. `rgb`: its R'G'B', 0..1. */
static const uint8_t *draw_colour(enum AVColorTransferCharacteristic transfer, const double rgb[3])
{
    const double kr = 0.2627, kb = 0.0593, y = kr * rgb[0] + (1 - kr - kb) * rgb[1] + kb * rgb[2];
    const double cb = (rgb[2] - y) / (2 * (1 - kb)), cr = (rgb[0] - y) / (2 * (1 - kr));
    AVFrame *frame = make_frame(AV_PIX_FMT_YUV444P16LE, 16, 16);
    frame->color_trc = transfer;
    frame->color_primaries = AVCOL_PRI_BT2020;
    frame->colorspace = AVCOL_SPC_BT2020_NCL;
    fill_component(frame, 0, (int)(256 * (16 + 219 * y) + 0.5));
    fill_component(frame, 1, (int)(256 * (128 + 224 * cb) + 0.5));
    fill_component(frame, 2, (int)(256 * (128 + 224 * cr) + 0.5));
    draw_frame(frame, 16, 16);
    av_frame_free(&frame);
    return pixel_at(8, 8);
}

/* Linear BT.2020 to linear BT.709, with BT.2407's matrix. */
static void to_narrow(const double wide[3], double narrow[3])
{
    static const double m[3][3] = {
        {1.6605, -0.5876, -0.0728}, {-0.1246, 1.1329, -0.0083}, {-0.0182, -0.1006, 1.1187}};
    for (int i = 0; i < 3; i++)
        narrow[i] = clamp(m[i][0] * wide[0] + m[i][1] * wide[1] + m[i][2] * wide[2], 0, 1);
}

VIEW_TEST(wide_gamut)
{
    static const double colours[][3] = {
        {0.5, 0.5, 0.5}, {0.6, 0.4, 0.3}, {0.3, 0.55, 0.35}, {0.35, 0.4, 0.6},
        {1, 1, 1},       {0.1, 0.8, 0.1}, {0.9, 0.1, 0.1},
    };
    for (size_t i = 0; i < sizeof(colours) / sizeof(colours[0]); i++)
        for (int hdr = 0; hdr < 2; hdr++) {
            const double *c = colours[i];
            double wide[3], narrow[3];
            const double brightest = pq_nits(fmax(fmax(c[0], c[1]), c[2]));
            for (int j = 0; j < 3; j++)
                wide[j] = hdr ? pq_nits(c[j]) * eetf(brightest, 1000, 203) / brightest / 203
                              : pow(c[j], 2.4);
            to_narrow(wide, narrow);
            const uint8_t *pixel = draw_colour(hdr ? AVCOL_TRC_SMPTE2084 : AVCOL_TRC_BT2020_10, c);
            for (int j = 0; j < 3; j++)
                CHECK(fabs(pixel[j] - 255 * pow(narrow[j], 1 / 2.4)) <= TOLERANCE,
                      "%s colour %d: component %d is %d, not %.1f", hdr ? "PQ" : "SDR", (int)i, j,
                      pixel[j], 255 * pow(narrow[j], 1 / 2.4));
        }
}

VIEW_TEST(refused_formats)
{
    static const struct {
        enum AVPixelFormat format;
        const char *name;
    } cases[] = {{AV_PIX_FMT_RGB24, "rgb24"},
                 {AV_PIX_FMT_YUYV422, "yuyv422"},
                 {AV_PIX_FMT_YUV420P10BE, "yuv420p10be"},
                 {AV_PIX_FMT_PAL8, "pal8"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        FREED_BY(av_frame_free) AVFrame *frame = make_frame(cases[i].format, 16, 16);
        const int ret = view_set_frame(view, VIEW_OUTPUT, frame, fresh_error());
        CHECK(ret < 0 && strstr(fixture_error.text, cases[i].name), "%s: %d, \"%s\"", cases[i].name,
              ret, fixture_error.text);
    }
}

int main(int argc, char **argv)
{
    return check_and_close(argc, argv);
}
