/* Pixel formats and sizes: what lumeq equalizes as it is, and swscale for everything else. */
#ifndef LUMEQ_MEDIA_CONVERT_H
#define LUMEQ_MEDIA_CONVERT_H

#include <libavutil/frame.h>
#include <libavutil/pixfmt.h>

/* Not 0: plane 0 of `format` is nothing but 8-bit luma (planar and semi-planar YUV, gray). */
int convert_is_direct(enum AVPixelFormat format);

/* The direct format that holds most of `format`. */
enum AVPixelFormat convert_nearest_direct(enum AVPixelFormat format);

/* Not 0: frames can be converted to it. */
int convert_can_make(enum AVPixelFormat format);

/* The same format without the full-range mark of the yuvj formats in its name; `*full` is set where
 * it had one. */
enum AVPixelFormat convert_without_j(enum AVPixelFormat format, int *full);

/* {0} is a valid one. Not thread-safe. */
typedef struct Converter {
    struct SwsContext *sws;
    struct {
        int width, height, format, full;
    } from, to; /* what it was made for */
} Converter;

/*
 * `from`, scaled and converted into `to`, whose format, width, height and color_range are set and
 * which has no buffers yet. Its properties (time, side data) are left alone; the matrix of RGB
 * input becomes BT.709 from 720 lines on, else BT.601, and is noted in to->colorspace. 0 or
 * AVERROR.
 */
int convert_frame(Converter *converter, const AVFrame *from, AVFrame *to);

void convert_close(Converter *converter);

#endif
