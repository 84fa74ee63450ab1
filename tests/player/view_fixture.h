/* Shared by the tests of the view: an offscreen window, generated frames, and the drawn pixels. */
#ifndef LUMEQ_TESTS_VIEW_FIXTURE_H
#define LUMEQ_TESTS_VIEW_FIXTURE_H

#include <SDL.h>
#include <libavutil/pixdesc.h>

#include "check.h"
#include "keep_libraries.h"
#include "new_frame.h"
#include "player/view/view.h"
#include "player/window.h"

#define MAX_SIDE 1024

static Window *fixture_window;
static View *view;
static MediaError fixture_error; /* of the last call that took fresh_error() */
static uint8_t drawn[MAX_SIDE * MAX_SIDE * 4];
static Canvas drawn_canvas;

static inline MediaError *fresh_error(void)
{
    fixture_error = (MediaError){0};
    return &fixture_error;
}

/* Opens a view for one test. Without OpenGL, skips the test and returns 0. */
static inline int open_view(void)
{
    if (!fixture_window) {
        SDL_setenv("SDL_VIDEODRIVER", "offscreen", 0);
        if (window_open(&fixture_window, fresh_error()) < 0) {
            check_skip("%s", fixture_error.text);
            return 0;
        }
        keep_libraries();
        window_resize(fixture_window, 640, 360);
    }
    if (view_open(&view, fresh_error()) < 0)
        return CHECK(0, "%s", fixture_error.text);
    return 1;
}

/* A test with an open `view`. */
#define VIEW_TEST(name)                                                                            \
    static void name##_seen(void);                                                                 \
    TEST(name)                                                                                     \
    {                                                                                              \
        if (!open_view())                                                                          \
            return;                                                                                \
        name##_seen();                                                                             \
        view_close(&view);                                                                         \
    }                                                                                              \
    static void name##_seen(void)

static inline int check_and_close(int argc, char **argv)
{
    const int ret = check_file(argc, argv);
    window_close(&fixture_window);
    SDL_Quit();
    return ret;
}

static inline AVFrame *make_frame(enum AVPixelFormat format, int width, int height)
{
    AVFrame *frame = new_frame(format, width, height);
    frame->color_range = AVCOL_RANGE_MPEG;
    frame->colorspace = AVCOL_SPC_BT709;
    return frame;
}

static inline int frame_depth(const AVFrame *frame)
{
    return av_pix_fmt_desc_get(frame->format)->comp[0].depth;
}

static inline void component_size(const AVFrame *frame, int comp, int *width, int *height)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(frame->format);
    *width = comp ? AV_CEIL_RSHIFT(frame->width, desc->log2_chroma_w) : frame->width;
    *height = comp ? AV_CEIL_RSHIFT(frame->height, desc->log2_chroma_h) : frame->height;
}

static inline uint8_t *sample_of(const AVFrame *frame, int comp, int x, int y)
{
    const AVComponentDescriptor *c = &av_pix_fmt_desc_get(frame->format)->comp[comp];
    return frame->data[c->plane] + (ptrdiff_t)y * frame->linesize[c->plane] + x * c->step +
           c->offset;
}

static inline void put_code(AVFrame *frame, int comp, int x, int y, int code)
{
    const AVComponentDescriptor *c = &av_pix_fmt_desc_get(frame->format)->comp[comp];
    uint8_t *sample = sample_of(frame, comp, x, y);
    const int value = code << c->shift;
    sample[0] = (uint8_t)value;
    if (c->depth + c->shift > 8)
        sample[1] = (uint8_t)(value >> 8);
}

static inline int get_code(const AVFrame *frame, int comp, int x, int y)
{
    const AVComponentDescriptor *c = &av_pix_fmt_desc_get(frame->format)->comp[comp];
    const uint8_t *sample = sample_of(frame, comp, x, y);
    return (sample[0] | (c->depth + c->shift > 8 ? sample[1] << 8 : 0)) >> c->shift;
}

static inline void fill_component(AVFrame *frame, int comp, int code)
{
    int width, height;
    component_size(frame, comp, &width, &height);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            put_code(frame, comp, x, y, code);
}

static inline AVFrame *gray_frame(int width, int height, int luma)
{
    AVFrame *frame = make_frame(AV_PIX_FMT_YUV420P, width, height);
    fill_component(frame, 0, luma);
    fill_component(frame, 1, 128);
    fill_component(frame, 2, 128);
    return frame;
}

static inline int show(ViewSide side, const AVFrame *frame)
{
    const int ret = view_set_frame(view, side, frame, fresh_error());
    return CHECK(ret == 0, "%s", fixture_error.text);
}

/* Draws a scene into `drawn`. */
static inline int draw(const ViewScene *scene)
{
    drawn_canvas = (Canvas){drawn, scene->width * (ptrdiff_t)4, scene->width, scene->height};
    memset(drawn, 0x55, sizeof(drawn));
    const int ret = view_read(view, scene, &drawn_canvas, fresh_error());
    return CHECK(ret == 0, "%s", fixture_error.text);
}

static inline ViewScene whole_scene(int width, int height)
{
    return (ViewScene){
        .width = width, .height = height, .area = {0, 0, width, height}, .shown = VIEW_OUTPUT};
}

/* Draws a frame alone, in a window of this size. */
static inline int draw_frame(const AVFrame *frame, int width, int height)
{
    const ViewScene scene = whole_scene(width, height);
    return show(VIEW_OUTPUT, frame) && draw(&scene);
}

static inline const uint8_t *pixel_at(int x, int y)
{
    return drawn + y * drawn_canvas.stride + (ptrdiff_t)x * 4;
}

/* True if all components are within `tolerance` of `level`. */
static inline int is_gray(const uint8_t *pixel, int level, int tolerance)
{
    for (int i = 0; i < 3; i++)
        if (abs(pixel[i] - level) > tolerance)
            return 0;
    return 1;
}

#endif
