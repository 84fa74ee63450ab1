/* Turns frames in every pixel format: every sample must be at its new place. */
#include <libswscale/swscale.h>

#include "check.h"
#include "media/compat.h"
#include "media/convert.h"
#include "media/output/turner.h"
#include "new_frame.h"

static const struct {
    PictureTurn turn;
    const char *name;
} turns[] = {
    {{0, -1, 1, 0}, "a quarter to the right"},
    {{-1, 0, 0, -1}, "half"},
    {{0, 1, -1, 0}, "a quarter to the left"},
    {{-1, 0, 0, 1}, "mirrored"},
    {{1, 0, 0, -1}, "upside down"},
    {{0, 1, 1, 0}, "transposed"},
    {{0, -1, -1, 0}, "along the other diagonal"},
};

#define TURNS (sizeof(turns) / sizeof(turns[0]))
#define QUARTER 0
#define HALF 1
#define MIRRORED 3
#define UPSIDE_DOWN 4

static AVFrame *make_frame(enum AVPixelFormat format, int width, int height)
{
    AVFrame *frame = new_frame(format, width, height);
    frame->time_base = (AVRational){1, 25};
    frame->pts = 7;
    FRAME_DURATION(frame) = 3;
    frame->sample_aspect_ratio = (AVRational){2, 1};
    frame->color_range = AVCOL_RANGE_JPEG;
    for (int i = 0; i < AV_NUM_DATA_POINTERS && frame->buf[i]; i++) /* put() only sets bits */
        memset(frame->buf[i]->data, 0, frame->buf[i]->size);
    return frame;
}

static uint16_t get(const AVFrame *frame, int component, int x, int y)
{
    uint16_t code;
    av_read_image_line2(&code, (const uint8_t **)(uintptr_t)frame->data, frame->linesize,
                        av_pix_fmt_desc_get(frame->format), x, y, component, 1, 0, sizeof(code));
    return code;
}

static void put(AVFrame *frame, int component, int x, int y, uint16_t code)
{
    av_write_image_line2(&code, frame->data, frame->linesize, av_pix_fmt_desc_get(frame->format), x,
                         y, component, 1, sizeof(code));
}

/* Gives each sample another code than its neighbours. */
static void fill(AVFrame *frame)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(frame->format);
    for (int c = 0; c < desc->nb_components; c++)
        for (int y = 0; y < samples_down(frame, c); y++)
            for (int x = 0; x < samples_across(frame, c); x++)
                put(frame, c, x, y, (x * 37 + y * 101 + c * 57) * 13 % (1 << desc->comp[c].depth));
}

/* Counts the samples of a component that are not at their new place. */
static int count_wrong(const AVFrame *from, const AVFrame *to, int component, PictureTurn t)
{
    int wrong = 0;
    const int left = t.xx + t.xy < 0 ? samples_across(to, component) - 1 : 0;
    const int top = t.yx + t.yy < 0 ? samples_down(to, component) - 1 : 0;
    for (int y = 0; y < samples_down(from, component); y++)
        for (int x = 0; x < samples_across(from, component); x++)
            wrong += get(from, component, x, y) !=
                     get(to, component, left + t.xx * x + t.xy * y, top + t.yx * x + t.yy * y);
    return wrong;
}

static AVFrame *turn_frame(const AVFrame *frame, PictureTurn turn)
{
    Turner *turner;
    AVFrame *to = av_frame_alloc();
    int ret = turner_open(&turner, frame, turn, 1);
    for (int i = 0; ret >= 0 && i < 2; i++) /* a turner can be used again */
        ret = turner_run(turner, frame, to);
    turner_close(&turner);
    CHECK(ret >= 0, "%s: %s", av_get_pix_fmt_name(frame->format), av_err2str(ret));
    if (ret < 0)
        av_frame_free(&to);
    return to;
}

/* If chroma is finer in one direction, a quarter turn interpolates chroma to full resolution. */
static void check_format(enum AVPixelFormat format, int width, int height)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);
    FREED_BY(av_frame_free) AVFrame *frame = make_frame(format, width, height);
    fill(frame);
    for (size_t i = 0; i < TURNS; i++) {
        const PictureTurn t = turns[i].turn;
        const int quarter = t.xx == 0;
        const int finer = quarter && desc->log2_chroma_w != desc->log2_chroma_h;
        if (finer && !sws_isSupportedInput(format)) /* swscale cannot read nv16 and nv20 */
            continue;
        FREED_BY(av_frame_free) AVFrame *to = turn_frame(frame, t);
        if (!to)
            continue;
        int good = to->width == (quarter ? height : width) &&
                   to->height == (quarter ? width : height) &&
                   convert_depth(to->format) == convert_depth(format) &&
                   (finer || to->format == format) && to->color_range == AVCOL_RANGE_JPEG;
        for (int c = 0; good && c < desc->nb_components; c++)
            if (finer && (c == 1 || c == 2))
                good = samples_across(to, c) == to->width && samples_down(to, c) == to->height;
            else
                good = count_wrong(frame, to, c, t) == 0;
        CHECK(good, "%s %dx%d, %s", desc->name, width, height, turns[i].name);
    }
}

TEST(formats)
{
    const AVPixFmtDescriptor *desc = NULL;
    int count = 0;
    while ((desc = av_pix_fmt_desc_next(desc))) {
        const enum AVPixelFormat format = av_pix_fmt_desc_get_id(desc);
        if (!convert_is_direct(format) || strncmp(desc->name, "yuvj", 4) == 0)
            continue;
        count++;
        check_format(format, 48, 32);
        check_format(format, 33, 17);
    }
    CHECK(count > 40, "%d formats", count);
}

/* A chroma ramp along the rows runs down the columns of the turned picture. Its steps are half as
 * large, because there are twice as many samples. */
TEST(resampled_chroma)
{
    FREED_BY(av_frame_free) AVFrame *frame = make_frame(AV_PIX_FMT_YUV422P10, 64, 16);
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < samples_down(frame, c); y++)
            for (int x = 0; x < samples_across(frame, c); x++)
                put(frame, c, x, y, (uint16_t)(100 + x * 16) % 1024);
    FREED_BY(av_frame_free) AVFrame *to = turn_frame(frame, turns[QUARTER].turn);
    CHECK(to && to->format == AV_PIX_FMT_YUV444P10, "another format");
    for (int c = 1; to && c < 3; c++) {
        int most = 0;
        for (int y = 4; y < samples_down(to, c) - 4; y++)
            for (int x = 0; x < samples_across(to, c); x++)
                most = FFMAX(most, FFABS(get(to, c, x, y) - (96 + y * 8)));
        CHECK(most <= 6, "component %d is off by %d", c, most);
    }
}

TEST(properties)
{
    FREED_BY(av_frame_free) AVFrame *frame = make_frame(AV_PIX_FMT_YUV420P, 32, 16);
    fill(frame);
    av_frame_new_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX, 9 * sizeof(int32_t));
    av_frame_new_side_data(frame, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL, 8);
    av_dict_set(&frame->metadata, "Orientation", "6", 0);
    AVFrame *to = turn_frame(frame, turns[QUARTER].turn);
    CHECK(to->pts == 7 && FRAME_DURATION(to) == 3 && to->time_base.den == 25, "the times differ");
    CHECK(av_cmp_q(to->sample_aspect_ratio, (AVRational){1, 2}) == 0, "the aspect is wrong");
    CHECK(!av_frame_get_side_data(to, AV_FRAME_DATA_DISPLAYMATRIX),
          "the frame would be turned twice");
    CHECK(av_frame_get_side_data(to, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL), "light level is lost");
    CHECK(!av_dict_get(to->metadata, "Orientation", NULL, 0), "the frame would be turned twice");
    av_frame_free(&to);
    to = turn_frame(frame, turns[HALF].turn);
    CHECK(av_cmp_q(to->sample_aspect_ratio, (AVRational){2, 1}) == 0, "the aspect is wrong");
    av_frame_free(&to);
}

static void check_fields(int height, int turn, int interlaced, int top_first)
{
    FREED_BY(av_frame_free) AVFrame *frame = make_frame(AV_PIX_FMT_YUV420P, 32, height);
    fill(frame);
    frame_set_fields(frame, 1, 1);
    FREED_BY(av_frame_free) AVFrame *to = turn_frame(frame, turns[turn].turn);
    CHECK(to && FRAME_IS_INTERLACED(to) == interlaced && FRAME_IS_TOP_FIRST(to) == top_first,
          "%d rows, %s", height, turns[turn].name);
}

TEST(fields)
{
    check_fields(16, QUARTER, 0, 0);
    check_fields(16, MIRRORED, 1, 1);
    check_fields(16, UPSIDE_DOWN, 1, 0);
    check_fields(17, UPSIDE_DOWN, 1, 1);
    check_fields(16, HALF, 1, 0);
}

TEST_MAIN
