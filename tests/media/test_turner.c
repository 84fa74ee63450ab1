/* Frames turned in every pixel format: each sample is looked for where it has to be. */
#include <libavutil/frame.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

#include "check.h"
#include "media/compat.h"
#include "media/convert.h"
#include "media/turner.h"

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
#define TRANSPOSED 5

static AVFrame *make_frame(enum AVPixelFormat format, int width, int height)
{
    AVFrame *frame = av_frame_alloc();
    frame->format = format;
    frame->width = width;
    frame->height = height;
    frame->time_base = (AVRational){1, 25};
    frame->pts = 7;
    FRAME_DURATION(frame) = 3;
    frame->sample_aspect_ratio = (AVRational){2, 1};
    frame->color_range = AVCOL_RANGE_JPEG;
    if (av_frame_get_buffer(frame, 0) < 0)
        av_frame_free(&frame);
    return frame;
}

/* One component: its samples and how many there are. */
typedef struct Samples {
    uint8_t *data;
    ptrdiff_t stride;
    int step, bytes, width, height;
} Samples;

static Samples samples_of(const AVFrame *frame, int component)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(frame->format);
    const AVComponentDescriptor *c = &desc->comp[component];
    const int chroma = component == 1 || component == 2;
    return (Samples){
        .data = frame->data[c->plane] + c->offset,
        .stride = frame->linesize[c->plane],
        .step = c->step,
        .bytes = c->depth + c->shift > 8 ? 2 : 1,
        .width = AV_CEIL_RSHIFT(frame->width, chroma ? desc->log2_chroma_w : 0),
        .height = AV_CEIL_RSHIFT(frame->height, chroma ? desc->log2_chroma_h : 0),
    };
}

static uint8_t *at(const Samples *s, int x, int y)
{
    return s->data + y * s->stride + (ptrdiff_t)x * s->step;
}

static int get(const Samples *s, int x, int y)
{
    return s->bytes == 2 ? AV_RL16(at(s, x, y)) : *at(s, x, y);
}

/* Another value for each sample near it, within the format's depth. */
static void fill(AVFrame *frame)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(frame->format);
    for (int c = 0; c < desc->nb_components; c++) {
        const Samples s = samples_of(frame, c);
        const int most = (1 << desc->comp[c].depth) - 1;
        for (int y = 0; y < s.height; y++)
            for (int x = 0; x < s.width; x++) {
                const int value = ((x * 37 + y * 101 + c * 57) * 13 & most) << desc->comp[c].shift;
                if (s.bytes == 2)
                    AV_WL16(at(&s, x, y), (uint16_t)value);
                else
                    *at(&s, x, y) = (uint8_t)value;
            }
    }
}

/* Samples of `to` that are not those of `from` from where they were. */
static int count_wrong(const Samples *from, const Samples *to, PictureTurn t)
{
    int wrong = 0;
    const int origin_x = t.xx + t.xy < 0 ? to->width - 1 : 0;
    const int origin_y = t.yx + t.yy < 0 ? to->height - 1 : 0;
    for (int y = 0; y < from->height; y++)
        for (int x = 0; x < from->width; x++)
            wrong += get(from, x, y) !=
                     get(to, origin_x + t.xx * x + t.xy * y, origin_y + t.yx * x + t.yy * y);
    return wrong;
}

static AVFrame *turn_frame(const AVFrame *frame, PictureTurn turn)
{
    Turner *turner;
    AVFrame *to = av_frame_alloc();
    int ret = turner_open(&turner, frame, turn, 1);
    for (int i = 0; ret >= 0 && i < 2; i++) /* the second like the first */
        ret = turner_run(turner, frame, to);
    turner_close(&turner);
    CHECK(ret >= 0, "%s: %s", av_get_pix_fmt_name(frame->format), av_err2str(ret));
    if (ret < 0)
        av_frame_free(&to);
    return to;
}

/* Where chroma is finer one way, quarter turns make it as fine the other way, too, and values of
 * its samples those between. */
static void check_format(enum AVPixelFormat format, int width, int height)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);
    AVFrame *frame = make_frame(format, width, height);
    fill(frame);
    for (size_t i = 0; i < TURNS; i++) {
        const PictureTurn t = turns[i].turn;
        const int quarter = t.xx == 0;
        const int finer = quarter && desc->log2_chroma_w != desc->log2_chroma_h;
        if (finer &&
            !sws_isSupportedInput(format)) /* nv16, nv20: no encoder could take them either */
            continue;
        AVFrame *to = turn_frame(frame, t);
        if (!to)
            continue;
        int good = to->width == (quarter ? height : width) &&
                   to->height == (quarter ? width : height) &&
                   convert_depth(to->format) == convert_depth(format) &&
                   (finer || to->format == format) && to->color_range == AVCOL_RANGE_JPEG;
        for (int c = 0; good && c < desc->nb_components; c++) {
            const Samples a = samples_of(frame, c), b = samples_of(to, c);
            const int resampled = finer && (c == 1 || c == 2);
            if (resampled)
                good = b.width == to->width && b.height == to->height;
            else
                good = desc->comp[c].shift != av_pix_fmt_desc_get(to->format)->comp[c].shift ||
                       count_wrong(&a, &b, t) == 0;
        }
        CHECK(good, "%s %dx%d, %s", desc->name, width, height, turns[i].name);
        av_frame_free(&to);
    }
    av_frame_free(&frame);
}

static void test_formats(void)
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

/* A ramp of chroma along the stored rows runs down the turned columns, a step as long as before. */
static void test_resampled_chroma(void)
{
    AVFrame *frame = make_frame(AV_PIX_FMT_YUV422P10, 64, 16);
    const Samples luma = samples_of(frame, 0);
    for (int y = 0; y < luma.height; y++)
        memset(luma.data + y * luma.stride, 0, (size_t)luma.width * 2);
    for (int c = 1; c < 3; c++) {
        const Samples s = samples_of(frame, c);
        for (int y = 0; y < s.height; y++)
            for (int x = 0; x < s.width; x++)
                AV_WL16(at(&s, x, y), (uint16_t)(100 + x * 16));
    }
    AVFrame *to = turn_frame(frame, turns[QUARTER].turn);
    CHECK(to && to->format == AV_PIX_FMT_YUV444P10, "format");
    for (int c = 1; to && c < 3; c++) {
        const Samples s = samples_of(to, c);
        int most = 0;
        for (int y = 4; y < s.height - 4; y++)
            for (int x = 0; x < s.width; x++)
                most = FFMAX(most, FFABS(get(&s, x, y) - (96 + y * 8)));
        CHECK(most <= 6, "component %d is off by %d", c, most);
    }
    av_frame_free(&to);
    av_frame_free(&frame);
}

static void test_properties(void)
{
    AVFrame *frame = make_frame(AV_PIX_FMT_YUV420P, 32, 16);
    fill(frame);
    av_frame_new_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX, 9 * sizeof(int32_t));
    av_frame_new_side_data(frame, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL, 8);
    av_dict_set(&frame->metadata, "Orientation", "6", 0);
    AVFrame *to = turn_frame(frame, turns[QUARTER].turn);
    CHECK(to->pts == 7 && FRAME_DURATION(to) == 3 && to->time_base.den == 25, "times");
    CHECK(av_cmp_q(to->sample_aspect_ratio, (AVRational){1, 2}) == 0, "aspect");
    CHECK(!av_frame_get_side_data(to, AV_FRAME_DATA_DISPLAYMATRIX), "it would be turned twice");
    CHECK(av_frame_get_side_data(to, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL), "lost");
    CHECK(!av_dict_get(to->metadata, "Orientation", NULL, 0), "it would be turned twice");
    av_frame_free(&to);
    to = turn_frame(frame, turns[HALF].turn);
    CHECK(av_cmp_q(to->sample_aspect_ratio, (AVRational){2, 1}) == 0, "aspect");
    av_frame_free(&to);
    av_frame_free(&frame);
}

static void check_site(enum AVChromaLocation from, int turn, enum AVChromaLocation wanted)
{
    AVFrame *frame = make_frame(AV_PIX_FMT_YUV420P, 32, 16);
    fill(frame);
    frame->chroma_location = from;
    AVFrame *to = turn_frame(frame, turns[turn].turn);
    CHECK(to && to->chroma_location == wanted, "%d, %s", from, turns[turn].name);
    av_frame_free(&to);
    av_frame_free(&frame);
}

static void test_chroma_sites(void)
{
    check_site(AVCHROMA_LOC_CENTER, QUARTER, AVCHROMA_LOC_CENTER);
    check_site(AVCHROMA_LOC_LEFT, QUARTER, AVCHROMA_LOC_TOP);
    check_site(AVCHROMA_LOC_UNSPECIFIED, QUARTER, AVCHROMA_LOC_TOP);
    check_site(AVCHROMA_LOC_TOPLEFT, TRANSPOSED, AVCHROMA_LOC_TOPLEFT);
    check_site(AVCHROMA_LOC_TOPLEFT, UPSIDE_DOWN, AVCHROMA_LOC_BOTTOMLEFT);
    check_site(AVCHROMA_LOC_LEFT, MIRRORED, AVCHROMA_LOC_CENTER); /* right has no name */
}

static void check_fields(int height, int turn, int interlaced, int top_first)
{
    AVFrame *frame = make_frame(AV_PIX_FMT_YUV420P, 32, height);
    fill(frame);
    frame_set_fields(frame, 1, 1);
    AVFrame *to = turn_frame(frame, turns[turn].turn);
    CHECK(to && FRAME_IS_INTERLACED(to) == interlaced && FRAME_IS_TOP_FIRST(to) == top_first,
          "%d rows, %s", height, turns[turn].name);
    av_frame_free(&to);
    av_frame_free(&frame);
}

static void test_fields(void)
{
    check_fields(16, QUARTER, 0, 0);
    check_fields(16, MIRRORED, 1, 1);
    check_fields(16, UPSIDE_DOWN, 1, 0);
    check_fields(17, UPSIDE_DOWN, 1, 1);
    check_fields(16, HALF, 1, 0);
}

static const CheckTest tests[] = {
    {"formats", test_formats},       {"resampled_chroma", test_resampled_chroma},
    {"properties", test_properties}, {"chroma_sites", test_chroma_sites},
    {"fields", test_fields},
};

CHECK_MAIN(tests)
