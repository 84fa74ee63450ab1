/*
 * Draws comparison and panel on pictures of all small sizes, rotations, aspects and formats.
 * AddressSanitizer shows whether anything is written outside the picture.
 */
#include "../check.h"

#include <libavutil/display.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>

#include "app/drawing.h"
#include "player/view/view.h"

#define SMALL 8
#define ROW_ALIGNMENT 1

static const enum AVPixelFormat formats[] = {
    AV_PIX_FMT_YUV420P,     AV_PIX_FMT_YUV411P,     AV_PIX_FMT_YUV410P,      AV_PIX_FMT_NV12,
    AV_PIX_FMT_YUV422P10LE, AV_PIX_FMT_GRAY8,       AV_PIX_FMT_YUV440P,      AV_PIX_FMT_P010LE,
    AV_PIX_FMT_YUV444P,     AV_PIX_FMT_YUVA420P,    AV_PIX_FMT_NV16,         AV_PIX_FMT_GRAY12LE,
    AV_PIX_FMT_NV24,        AV_PIX_FMT_YUV444P16LE, AV_PIX_FMT_YUVA444P12LE,
};
#define FORMATS ((int)(sizeof(formats) / sizeof(formats[0])))

static const AVRational aspects[] = {{1, 1}, {2, 1}, {1, 2}, {64, 45}, {16, 1}, {1, 16}};
#define ASPECTS ((int)(sizeof(aspects) / sizeof(aspects[0])))

/* `turn`: quarter turns, plus 4 if mirrored. The frame's memory ends with the last sample. */
static AVFrame *make_frame(enum AVPixelFormat format, int width, int height, int turn,
                           AVRational aspect)
{
    AVFrame *frame = av_frame_alloc();
    frame->format = format;
    frame->width = width;
    frame->height = height;
    frame->sample_aspect_ratio = aspect;
    frame->time_base = (AVRational){1, 25};
    const int size = av_image_get_buffer_size(format, width, height, ROW_ALIGNMENT);
    frame->buf[0] = av_buffer_alloc((size_t)size);
    memset(frame->buf[0]->data, 1, (size_t)size);
    av_image_fill_arrays(frame->data, frame->linesize, frame->buf[0]->data, format, width, height,
                         ROW_ALIGNMENT);
    AVFrameSideData *data =
        av_frame_new_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX, 9 * sizeof(int32_t));
    av_display_rotation_set((int32_t *)(void *)data->data, 90 * (turn % 4));
    if (turn >= 4)
        av_display_matrix_flip((int32_t *)(void *)data->data, 1, 0);
    return frame;
}

static void draw_once(const Options *options, enum AVPixelFormat format, int width, int height,
                      int turn, AVRational aspect)
{
    MediaError error = {0};
    Drawing *drawing;
    if (!CHECK(drawing_open(&drawing, options, &error) == 0, "%s", error.text))
        return;
    uint32_t bins[LUMEQ_MAX_BINS] = {0};
    FREED_BY(av_frame_free) AVFrame *before = make_frame(format, width, height, turn, aspect);
    FREED_BY(av_frame_free) AVFrame *after = make_frame(format, width, height, turn, aspect);
    for (int i = 0; i < 2; i++) { /* the second frame reuses the layout */
        FREED_BY(av_frame_free) AVFrame *drawn = av_frame_clone(after);
        Frame frame = {.decoded.frame = before, .out = drawn, .words = "", .error = &error};
        frame.stats.bins = 256;
        frame.stats.hist_in = frame.stats.hist_out = frame.stats.curve = bins;
        const Sink sink = drawing_sink(drawing);
        CHECK(sink.frame(sink.self, &frame) == 0, "%s %dx%d, turn %d: %s",
              av_get_pix_fmt_name(format), width, height, turn, error.text);
        const int area = drawn->width * drawn->height, side = options->compare == VIEW_COMPARE_SIDE;
        CHECK(area >= width * height && area <= width * height * (side ? 2 : 1),
              "drawn: %dx%d, source: %dx%d", drawn->width, drawn->height, width, height);
    }
    drawing_close(&drawing);
}

/* Draws on all sizes and rotations. Small pictures have no room for the panel. */
static void draw_all(int compare, int overlay)
{
    Options options = options_default();
    options.compare = compare;
    options.overlay = overlay;
    int number = 0;
    for (int width = 1; width <= SMALL && !overlay; width++)
        for (int height = 1; height <= SMALL; height++)
            for (int turn = 0; turn < 8; turn++, number++)
                if (check_drawn(number))
                    draw_once(&options, formats[number / 7 % FORMATS], width, height, turn,
                              aspects[number % ASPECTS]);
    for (int turn = 0; turn < 8; turn++)
        for (int i = 0; i < ASPECTS; i++, number++)
            if (check_drawn(number))
                draw_once(&options, formats[number % FORMATS], i % 2 ? 511 : 361, i % 2 ? 361 : 511,
                          turn, aspects[i]);
}

TEST(split)
{
    draw_all(VIEW_COMPARE_SPLIT, 0);
}

TEST(side)
{
    draw_all(VIEW_COMPARE_SIDE, 0);
}

TEST(panel)
{
    for (int compare = VIEW_COMPARE_OFF; compare <= VIEW_COMPARE_SIDE; compare++)
        draw_all(compare, 1);
}

TEST_MAIN
