#include "media/output/turner.h"

#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/pixdesc.h>

#include "media/compat.h"
#include "media/convert.h"
#include "media/filter_graph.h"

struct Turner {
    PictureTurn turn;
    enum AVPixelFormat format; /* of the frames that the filter turns */
    Converter converter;
    FilterGraph filters;
};

static bool is_quarter(PictureTurn turn)
{
    return turn.xx == 0;
}

enum AVPixelFormat turner_format(enum AVPixelFormat direct, PictureTurn turn)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(direct), *next = NULL;
    if (!is_quarter(turn) || desc->log2_chroma_w == desc->log2_chroma_h)
        return direct;
    while ((next = av_pix_fmt_desc_next(next))) {
        const enum AVPixelFormat format = av_pix_fmt_desc_get_id(next);
        if (convert_is_direct(format) && convert_can_make(format) && !next->log2_chroma_w &&
            !next->log2_chroma_h && convert_depth(format) == convert_depth(direct) &&
            next->nb_components == desc->nb_components)
            return format;
    }
    return AV_PIX_FMT_NONE;
}

int turner_open(Turner **turner, const AVFrame *first, PictureTurn turn, int threads)
{
    *turner = NULL;
    Turner *t = av_mallocz(sizeof(*t));
    if (!t)
        return AVERROR(ENOMEM);
    t->turn = turn;
    t->format = turner_format(first->format, turn);
    const char *filters = turn.yy > 0 ? "hflip" : "hflip,vflip";
    if (turn.xx > 0)
        filters = "vflip";
    else if (is_quarter(turn) && turn.xy < 0)
        filters = turn.yx < 0 ? "transpose=clock_flip" : "transpose=clock";
    else if (is_quarter(turn))
        filters = turn.yx < 0 ? "transpose=cclock" : "transpose=cclock_flip";
    const int ret = t->format == AV_PIX_FMT_NONE
                        ? AVERROR(ENOSYS)
                        : filter_graph_open_video(&t->filters, first, t->format, filters, threads);
    if (ret < 0)
        turner_close(&t);
    *turner = t;
    return ret;
}

static void set_properties(const Turner *t, const AVFrame *frame, AVFrame *to)
{
    to->pts = frame->pts;
    to->time_base = frame->time_base;
    FRAME_DURATION(to) = FRAME_DURATION(frame);
    to->chroma_location = AVCHROMA_LOC_UNSPECIFIED; /* FFmpeg lacks some turned locations */
    /* A quarter turn destroys fields. Turning upside down swaps them if the height is even. */
    const int interlaced = FRAME_IS_INTERLACED(frame) && !is_quarter(t->turn);
    const int swapped = t->turn.yy < 0 && frame->height % 2 == 0;
    frame_set_fields(to, interlaced, interlaced && FRAME_IS_TOP_FIRST(frame) != swapped);
    av_frame_remove_side_data(to, AV_FRAME_DATA_DISPLAYMATRIX);
    av_dict_set(&to->metadata, "Orientation", NULL, 0);
}

static int convert(Turner *t, const AVFrame *frame, AVFrame *to)
{
    to->format = t->format;
    to->width = frame->width;
    to->height = frame->height;
    to->color_range = frame->color_range;
    to->colorspace = frame->colorspace;
    const int ret = convert_frame(&t->converter, frame, to);
    return ret < 0 ? ret : av_frame_copy_props(to, frame);
}

int turner_run(Turner *t, const AVFrame *frame, AVFrame *to)
{
    av_frame_unref(to);
    int ret = frame->format == (int)t->format ? av_frame_ref(to, frame) : convert(t, frame, to);
    if (ret >= 0)
        ret = av_buffersrc_add_frame_flags(t->filters.in, to, 0);
    if (ret >= 0)
        ret = av_buffersink_get_frame(t->filters.out, to);
    if (ret >= 0)
        set_properties(t, frame, to);
    return ret;
}

void turner_close(Turner **turner)
{
    Turner *t = *turner;
    if (!t)
        return;
    filter_graph_close(&t->filters);
    convert_close(&t->converter);
    av_freep(turner);
}
