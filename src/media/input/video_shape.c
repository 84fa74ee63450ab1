#include "media/input/video_shape.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <libavutil/pixdesc.h>

#include "media/convert.h"
#include "media/gpu_frame.h"

/* A pixel aspect beyond this ratio, or its inverse, is an error in the header and is ignored. */
#define MOST_OBLONG 20.0

/* Largest numerator or denominator of a pixel aspect ratio. */
#define MOST_ASPECT 10000

/* Smaller relative differences in display aspect are rounding errors. */
#define SAME_RATIO 0.002

enum { SIZE = 1, RANGE = 2, MATRIX = 4, TAGS = 8, FORMAT = 16 };

int video_shape_same_matrix(enum AVColorSpace a, enum AVColorSpace b)
{
    if (a == AVCOL_SPC_BT470BG) /* another name of the same matrix */
        a = AVCOL_SPC_SMPTE170M;
    if (b == AVCOL_SPC_BT470BG)
        b = AVCOL_SPC_SMPTE170M;
    return a == b || a == AVCOL_SPC_UNSPECIFIED || b == AVCOL_SPC_UNSPECIFIED ||
           a == AVCOL_SPC_RGB || b == AVCOL_SPC_RGB;
}

static double ratio_of(int width, int height, AVRational aspect)
{
    const double pixel = aspect.num > 0 && aspect.den > 0 ? av_q2d(aspect) : 1;
    const int broken = pixel > MOST_OBLONG || pixel < 1 / MOST_OBLONG;
    return (broken ? 1 : pixel) * width / height;
}

/* Ratio of the frame's display aspect to the shape's. */
static double wider(const VideoShape *s, const AVFrame *frame)
{
    const double ratio = ratio_of(frame->width, frame->height, frame->sample_aspect_ratio) /
                         ratio_of(s->width, s->height, s->aspect);
    return fabs(ratio - 1) < SAME_RATIO ? 1 : ratio;
}

int video_shape_fills(const VideoShape *s, const AVFrame *frame)
{
    return wider(s, frame) == 1;
}

/* Sets margins in multiples of `step`, so that chroma samples stay whole, also within a field. */
static void set_margins(size_t *before, size_t *after, int side, double share, int step)
{
    const int picture = FFMAX((int)lrint(side * share / step) * step, step);
    const int left = (side - picture) / 2 / step * step;
    if (side - picture < step) /* a rounding error */
        return;
    *before = (size_t)left;
    *after = (size_t)(side - picture - left);
}

void video_shape_place(const VideoShape *s, const AVFrame *from, int bars, AVFrame *to)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(s->format);
    const double ratio = wider(s, from);
    to->width = s->width;
    to->height = s->height;
    to->sample_aspect_ratio = s->aspect;
    if (!bars && ratio != 1)
        to->sample_aspect_ratio = av_d2q(ratio * ratio_of(1, 1, s->aspect), MOST_ASPECT);
    if (bars && ratio < 1)
        set_margins(&to->crop_left, &to->crop_right, s->width, ratio, 1 << desc->log2_chroma_w);
    if (bars && ratio > 1)
        set_margins(&to->crop_top, &to->crop_bottom, s->height, 1 / ratio,
                    2 << desc->log2_chroma_h);
}

static void add(VideoChanges *c, unsigned kind, double position, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void add(VideoChanges *c, unsigned kind, double position, const char *format, ...)
{
    const size_t size = sizeof(c->text);
    size_t length = strlen(c->text);
    va_list args;
    if (c->kinds & kind)
        return;
    snprintf(c->text + length, size - length, "%s from %.3f s on ",
             c->kinds ? ";" : "the video changes:", position);
    length = strlen(c->text);
    va_start(args, format);
    vsnprintf(c->text + length, size - length, format, args);
    va_end(args);
    c->kinds |= kind;
}

static void print_size(char *text, size_t size, int width, int height, AVRational aspect)
{
    if (aspect.num > 0 && aspect.den > 0 && aspect.num != aspect.den)
        snprintf(text, size, "%dx%d (pixels %d:%d)", width, height, aspect.num, aspect.den);
    else
        snprintf(text, size, "%dx%d", width, height);
}

static const char *range_name(enum AVColorRange range)
{
    return range == AVCOL_RANGE_JPEG ? "full" : "limited";
}

/* True if both tags are known and differ. For all kinds of tags, 2 means "unspecified". */
static int differ(int a, int b)
{
    return a != b && a != AVCOL_PRI_UNSPECIFIED && b != AVCOL_PRI_UNSPECIFIED;
}

/* True if the shape's format has less depth, fewer components or less chroma resolution than
 * `other`. A different order of samples loses nothing. */
static int loses_samples(enum AVPixelFormat shape, enum AVPixelFormat other)
{
    const AVPixFmtDescriptor *to = av_pix_fmt_desc_get(shape);
    const AVPixFmtDescriptor *from = av_pix_fmt_desc_get(convert_nearest_direct(other));
    const int finer =
        from && from->nb_components > 2 &&
        (from->log2_chroma_w < to->log2_chroma_w || from->log2_chroma_h < to->log2_chroma_h);
    return finer || (from && (from->nb_components > to->nb_components ||
                              from->comp[0].depth > to->comp[0].depth));
}

void video_shape_note(const VideoShape *s, const AVFrame *frame, double position, VideoChanges *c)
{
    const enum AVPixelFormat format = gpu_frame_format(frame);
    if (loses_samples(s->format, format))
        add(c, FORMAT, position, "its format is %s, converted to %s", av_get_pix_fmt_name(format),
            av_get_pix_fmt_name(s->format));
    const int resized = frame->width != s->width || frame->height != s->height;
    if (resized || !video_shape_fills(s, frame)) {
        char size[64], shape[64];
        print_size(size, sizeof(size), frame->width, frame->height, frame->sample_aspect_ratio);
        print_size(shape, sizeof(shape), s->width, s->height, s->aspect);
        add(c, SIZE, position, "it is %s, fitted into %s%s", size, shape,
            video_shape_fills(s, frame) ? "" : " with black bars");
    }
    if (convert_is_rgb(frame->format))
        return;
    if (frame->color_range != s->range)
        add(c, RANGE, position, "its range is %s, converted to %s", range_name(frame->color_range),
            range_name(s->range));
    if (!video_shape_same_matrix(frame->colorspace, s->space))
        add(c, MATRIX, position, "its matrix is %s, converted to %s",
            av_color_space_name(frame->colorspace), av_color_space_name(s->space));
    if (differ(frame->color_primaries, s->primaries) || differ(frame->color_trc, s->transfer))
        add(c, TAGS, position,
            "its primaries and transfer are %s and %s, but the tags stay %s and %s",
            av_color_primaries_name(frame->color_primaries),
            av_color_transfer_name(frame->color_trc), av_color_primaries_name(s->primaries),
            av_color_transfer_name(s->transfer));
}
