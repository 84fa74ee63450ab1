/* Finds and stretches the codes that gray pictures of more than 8 bits use. */
#include <stdlib.h>
#include <string.h>

#include <libavutil/frame.h>

#include "check.h"
#include "media/input/code_range.h"
#include "new_frame.h"

#define WIDTH 100
#define HEIGHT 10

static uint16_t *sample(AVFrame *frame, int x, int y)
{
    return (uint16_t *)(void *)(frame->data[0] + (ptrdiff_t)y * frame->linesize[0]) + x;
}

/* Each row rises from `low` by `rise` a sample. */
static AVFrame *ramp(enum AVPixelFormat format, int low, int rise)
{
    AVFrame *frame = new_frame(format, WIDTH, HEIGHT);
    frame->color_range = AVCOL_RANGE_JPEG;
    frame->time_base = (AVRational){1, 10};
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            *sample(frame, x, y) = (uint16_t)(low + rise * x);
    return frame;
}

/* Uniform noise from low to low + 20 (standard deviation 6). Frames of mere noise are ignored. */
static AVFrame *noise(int low)
{
    AVFrame *frame = ramp(AV_PIX_FMT_GRAY16LE, low, 0);
    uint32_t seed = 1;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        seed = seed * 1664525 + 1013904223;
        *sample(frame, i % WIDTH, i / WIDTH) += (uint16_t)((seed >> 16) % 21);
    }
    return frame;
}

/* The left half has one code, the right half another. */
static AVFrame *halves(int left, int right)
{
    AVFrame *frame = ramp(AV_PIX_FMT_GRAY16LE, left, 0);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        if (i % WIDTH >= WIDTH / 2)
            *sample(frame, i % WIDTH, i / WIDTH) = (uint16_t)right;
    return frame;
}

/* 8 % are 5,242.8 codes of full range, and 4,485.1 codes of limited range (4,096 to 60,160). */
TEST(stretched_below_eight_percent)
{
    static const struct {
        CodeRangeMode mode;
        enum AVColorRange levels;
        int high, stretched;
    } cases[] = {
        {CODE_RANGE_AUTO, AVCOL_RANGE_UNSPECIFIED, 10000 + 5242, 1},
        {CODE_RANGE_AUTO, AVCOL_RANGE_UNSPECIFIED, 10000 + 5243, 0},
        {CODE_RANGE_AUTO, AVCOL_RANGE_MPEG, 10000 + 4485, 1},
        {CODE_RANGE_AUTO, AVCOL_RANGE_MPEG, 10000 + 4486, 0},
        {CODE_RANGE_USED, AVCOL_RANGE_UNSPECIFIED, 10000 + 40000, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        AVFrame *frames[] = {halves(11000, cases[i].high), noise(500), halves(10000, 10100)};
        CodeRange range = {.mode = cases[i].mode, .levels = cases[i].levels};
        for (int k = 0; k < 3; k++) {
            CHECK(code_range_add(&range, frames[k]) >= 0, "no memory");
            av_frame_free(&frames[k]);
        }
        code_range_decide(&range);
        const LumeqCodes wanted = {cases[i].stretched ? 10000 : 0,
                                   cases[i].stretched ? cases[i].high : 0};
        CHECK(range.window.low == wanted.low && range.window.high == wanted.high &&
                  range.is_measured,
              "%d: %d to %d", (int)i, range.window.low, range.window.high);
    }
}

/* In the second case, the output's lower margin has 1,000 codes: 250 for input codes below 10, and
 * 750 for input codes from 10 to 999. */
TEST(stretch_curve)
{
    static const struct {
        enum AVPixelFormat format;
        LumeqCodes window;
        enum AVColorRange levels;
        int codes[5], wanted[5];
    } cases[] = {
        {AV_PIX_FMT_GRAY16LE,
         {30000, 30120},
         AVCOL_RANGE_JPEG,
         {0, 15000, 30000, 30060, 30240},
         {0, 514, 4095, 32768, 64511}},
        {AV_PIX_FMT_GRAY16LE,
         {1000, 1990},
         AVCOL_RANGE_JPEG,
         {500, 1000, 1495, 1990, 65535},
         {621, 1000, 31220, 61440, 65535}},
        {AV_PIX_FMT_GRAY10LE,
         {400, 440},
         AVCOL_RANGE_JPEG,
         {0, 400, 420, 440, 1023},
         {0, 63, 512, 960, 1023}},
        {AV_PIX_FMT_GRAY10LE, /* 64 to 940 */
         {400, 440},
         AVCOL_RANGE_MPEG,
         {10, 64, 400, 440, 1000},
         {10, 64, 118, 886, 1000}},
        {AV_PIX_FMT_GRAY12LE,
         {0, 4095},
         AVCOL_RANGE_JPEG,
         {0, 100, 2000, 4000, 4095},
         {0, 100, 2000, 4000, 4095}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const CodeRange range = {
            .mode = CODE_RANGE_AUTO, .is_measured = 1, .window = cases[i].window};
        FREED_BY(code_stretch_free) CodeStretch *stretch = code_stretch_create(&range);
        FREED_BY(av_frame_free) AVFrame *frame = ramp(cases[i].format, 0, 0);
        frame->color_range = cases[i].levels;
        for (int x = 0; x < 5; x++)
            *sample(frame, x, 0) = (uint16_t)cases[i].codes[x];
        CHECK(stretch && code_stretch_frame(stretch, frame) >= 0, "no memory");
        for (int x = 0; x < 5; x++)
            CHECK(*sample(frame, x, 0) == cases[i].wanted[x], "%d: %d becomes %d, not %d", (int)i,
                  cases[i].codes[x], *sample(frame, x, 0), cases[i].wanted[x]);
    }
}

static void check_next(CodeStretch *stretch, AVFrame *frame, int pts, const char *wanted)
{
    frame->pts = pts;
    CHECK(code_stretch_frame(stretch, frame) >= 0, "no memory");
    const char *text = code_stretch_text(stretch);
    CHECK(wanted ? text && strcmp(text, wanted) == 0 : !text, "at %d: %s, not %s", pts,
          text ? text : "nothing", wanted ? wanted : "nothing");
    av_frame_free(&frame);
}

/* The window moves a third of the way each second. A ramp of 9,900 codes (15 %) is stretched only
 * after a narrower ramp. A ramp of 19,800 codes widens the window towards all codes. */
TEST(window_follows_a_stream)
{
    const CodeRange range = {.mode = CODE_RANGE_AUTO};
    CodeStretch *stretch = code_stretch_create(&range);
    check_next(stretch, noise(9000), 0, NULL);
    check_next(stretch, ramp(AV_PIX_FMT_GRAY16LE, 10000, 10), 10,
               "uses codes 10000 to 10990 of 65535: stretched");
    check_next(stretch, noise(9000), 20, "uses codes 10000 to 10990 of 65535: stretched");
    check_next(stretch, ramp(AV_PIX_FMT_GRAY16LE, 13000, 10), 30,
               "uses codes 11000 to 11990 of 65535: stretched");
    check_next(stretch, ramp(AV_PIX_FMT_GRAY16LE, 11000, 100), 30,
               "uses codes 11000 to 11990 of 65535: stretched");
    check_next(stretch, ramp(AV_PIX_FMT_GRAY16LE, 11000, 100), 40,
               "uses codes 11000 to 14960 of 65535: stretched");
    check_next(stretch, ramp(AV_PIX_FMT_GRAY16LE, 11000, 200), 50,
               "uses codes 7333 to 31819 of 65535: stretched");
    code_stretch_reset(stretch);
    check_next(stretch, ramp(AV_PIX_FMT_GRAY16LE, 20000, 10), 0,
               "uses codes 20000 to 20990 of 65535: stretched");
    code_stretch_free(&stretch);

    stretch = code_stretch_create(&range);
    check_next(stretch, ramp(AV_PIX_FMT_GRAY16LE, 11000, 100), 0, NULL);
    code_stretch_free(&stretch);
}

TEST_MAIN
