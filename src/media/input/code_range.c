#include "media/input/code_range.h"

#include <stdio.h>
#include <stdlib.h>

#include <libavutil/pixdesc.h>

#include "media/convert.h"

bool code_range_suits(enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);
    return desc && desc->nb_components == 1 && desc->comp[0].depth > 8 && convert_is_direct(format);
}

/* Describes a frame for the library. `levels`: UNSPECIFIED for the frame's own range. */
static LumeqImage image_of(const AVFrame *frame, enum AVColorRange levels)
{
    const enum AVColorRange range = levels != AVCOL_RANGE_UNSPECIFIED ? levels : frame->color_range;
    return (LumeqImage){
        .plane = {frame->data[0]},
        .stride = {frame->linesize[0]},
        .width = frame->width,
        .height = frame->height,
        .depth = convert_layout(frame->format).depth,
        .range = range == AVCOL_RANGE_MPEG ? LUMEQ_RANGE_LIMITED : LUMEQ_RANGE_FULL,
    };
}

static LumeqCodes levels_of(const CodeRange *range, const AVFrame *frame)
{
    const bool is_known = range->levels != AVCOL_RANGE_UNSPECIFIED;
    const enum AVColorRange levels = is_known ? range->levels : frame->color_range;
    const int depth = convert_layout(frame->format).depth;
    return levels == AVCOL_RANGE_MPEG ? (LumeqCodes){16 << (depth - 8), 235 << (depth - 8)}
                                      : (LumeqCodes){0, (1 << depth) - 1};
}

/* The caller puts the input's name before this text. */
void code_window_text(LumeqCodes window, LumeqCodes all, char *text, size_t size)
{
    int most = UINT8_MAX;
    while (most < all.high)
        most = 2 * most + 1;
    snprintf(text, size, "uses codes %d to %d of %d: stretched", window.low, window.high, most);
}

/* ---- the codes of a file ---- */

int code_range_add(CodeRange *range, const AVFrame *frame)
{
    const LumeqImage image = image_of(frame, AVCOL_RANGE_UNSPECIFIED);
    LumeqCodes *sum = &range->window, used;
    const int ret = lumeq_measure_codes(&image, &used, NULL); /* 0: only noise */
    range->all = levels_of(range, frame);
    if (ret > 0) {
        sum->low = sum->high ? FFMIN(sum->low, used.low) : used.low;
        sum->high = FFMAX(sum->high, used.high);
    }
    return ret < 0 ? AVERROR(ENOMEM) : 0;
}

void code_range_decide(CodeRange *range)
{
    range->is_measured = true;
    if (range->mode != CODE_RANGE_USED && !lumeq_is_sliver(&range->window, &range->all, 0))
        range->window = (LumeqCodes){0};
}

/* ---- stretching ---- */

struct CodeStretch {
    CodeRange range;
    LumeqStretch *stretch;
    LumeqCodes last_window, levels; /* of the last stretched frame; high 0: none */
    char text[64];
};

static int write_frame(CodeStretch *s, const LumeqCodes *window, AVFrame *frame)
{
    AVFrame *out = convert_new_frame(frame->format, frame->width, frame->height);
    int ret = out ? av_frame_copy_props(out, frame) : AVERROR(ENOMEM);
    if (ret >= 0)
        ret = av_frame_get_buffer(out, 0);
    if (ret >= 0) {
        const LumeqImage from = image_of(frame, s->range.levels);
        const LumeqImage to = image_of(out, s->range.levels);
        ret = lumeq_stretch_write(s->stretch, window, &from, &to);
    }
    if (ret >= 0) {
        av_frame_unref(frame);
        av_frame_move_ref(frame, out);
    }
    av_frame_free(&out);
    return ret;
}

CodeStretch *code_stretch_create(const CodeRange *range)
{
    CodeStretch *s = calloc(1, sizeof(*s));
    if (!s || lumeq_stretch_create(&s->stretch, range->is_measured ? &range->window : NULL) < 0) {
        free(s);
        return NULL;
    }
    s->range = *range;
    return s;
}

int code_stretch_frame(CodeStretch *s, AVFrame *frame)
{
    const bool is_unused = s->range.is_measured && !s->range.window.high;
    if (is_unused || !code_range_suits(frame->format))
        return 0;
    const LumeqImage image = image_of(frame, s->range.levels);
    const int64_t us = av_rescale_q(frame->pts, frame->time_base, AV_TIME_BASE_Q);
    const int64_t time = av_clip64(us, INT64_MIN / 1000, INT64_MAX / 1000) * 1000;
    LumeqCodes window;
    int ret =
        lumeq_stretch_window(s->stretch, (LumeqCodeRange)s->range.mode, &image, time, &window);
    if (ret > 0) {
        s->last_window = window;
        s->levels = levels_of(&s->range, frame);
        ret = write_frame(s, &window, frame);
    }
    return ret < 0 ? AVERROR(ENOMEM) : 0;
}

void code_stretch_set_mode(CodeStretch *stretch, CodeRangeMode mode)
{
    stretch->range.mode = mode;
}

void code_stretch_reset(CodeStretch *s)
{
    lumeq_stretch_reset(s->stretch);
}

const char *code_stretch_text(CodeStretch *s)
{
    if (!s->last_window.high)
        return NULL;
    code_window_text(s->last_window, s->levels, s->text, sizeof(s->text));
    return s->text;
}

void code_stretch_free(CodeStretch **stretch)
{
    if (*stretch)
        lumeq_stretch_destroy(&(*stretch)->stretch);
    free(*stretch);
    *stretch = NULL;
}
