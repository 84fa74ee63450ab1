/* Pixel formats and sizes: what lumeq equalizes as it is, and swscale for everything else. */
#ifndef LUMEQ_MEDIA_CONVERT_H
#define LUMEQ_MEDIA_CONVERT_H

#include <libavutil/frame.h>
#include <libavutil/pixfmt.h>

/*
 * Not 0: plane 0 of `format` is nothing but luma: planar and semi-planar YUV and gray of 8 to 16
 * bits, in 16 bits little-endian where they are more than 8. Cb and Cr have samples of the same
 * kind, in two planes or one; alpha, too, in plane 3.
 */
int convert_is_direct(enum AVPixelFormat format);

/* How the samples of a direct format lie. */
typedef struct SampleLayout {
    int planes;             /* of luma and chroma: 1 to 3 */
    int depth, shift;       /* a sample holds code << shift */
    int chroma_x, chroma_y; /* log2 of the columns and rows of luma for each sample of chroma */
} SampleLayout;

SampleLayout convert_layout(enum AVPixelFormat direct);

/* The direct format that holds all of `format`, and little more: as deep and as fine in chroma. */
enum AVPixelFormat convert_nearest_direct(enum AVPixelFormat format);

/* The planar direct format that differs from a direct one in its depth only; itself where it is as
 * deep, or where there is none. */
enum AVPixelFormat convert_deeper(enum AVPixelFormat direct, int depth);

/* Not 0: its samples are no luma and chroma, but RGB, a palette or XYZ. */
int convert_is_rgb(enum AVPixelFormat format);

/* Bits of the deepest component; 0: there is no such format. */
int convert_depth(enum AVPixelFormat format);

/* Not 0: frames can be converted to it. */
int convert_can_make(enum AVPixelFormat format);

/* The same format without the full-range mark of the yuvj formats in its name; `*full` is set where
 * it had one. */
enum AVPixelFormat convert_without_j(enum AVPixelFormat format, int *full);

/* {0} is a valid one. Not thread-safe. */
typedef struct Converter {
    struct SwsContext *sws[2]; /* of the frame, or of each field */
    struct {
        int width, height, format, full, matrix, chroma, fields;
    } from, to; /* what it was made for */
} Converter;

/*
 * `from`, scaled and converted into `to`, whose format, width, height and color_range are set and
 * which has no buffers yet. Its properties (time, side data) are left alone; the matrix of RGB
 * input becomes BT.709 from 720 lines on, else BT.601, and is noted in to->colorspace. Between YUV
 * formats of one size, chroma is where chroma_location of both frames says, or else left, and rows
 * of chroma are made of each field by itself. 0 or AVERROR.
 */
int convert_frame(Converter *converter, const AVFrame *from, AVFrame *to);

/* True if crop_* of a frame are not all 0: then they are the sizes of black bars around its
 * picture. */
int convert_has_margins(const AVFrame *frame);

/* As convert_frame(), but with black bars as large as to->crop_*. */
int convert_fit(Converter *converter, const AVFrame *from, AVFrame *to);

/* Keeps the frame as it was with what it was converted to; copies of `frame` have it as well. 0 or
 * AVERROR(ENOMEM). */
int convert_attach(AVFrame *frame, const AVFrame *original);

/* Returns that frame, owned by `frame`, or NULL. */
const AVFrame *convert_original(const AVFrame *frame);

void convert_close(Converter *converter);

#endif
