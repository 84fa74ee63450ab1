/* Pixel formats that lumeq equalizes directly, and conversion of all others by swscale. */
#ifndef LUMEQ_MEDIA_CONVERT_H
#define LUMEQ_MEDIA_CONVERT_H

#include <stdbool.h>

#include <libavutil/frame.h>
#include <libavutil/pixfmt.h>

/*
 * True for "direct" formats: gray and YUV of 8 to 16 bits, with the same sample format for all
 * components. Plane 0 holds only luma. Cb and Cr are in two planes, or interleaved in one. Alpha is
 * in plane 3. Samples of 2 bytes are little-endian.
 */
bool convert_is_direct(enum AVPixelFormat format);

/* The sample layout of a direct format. */
typedef struct SampleLayout {
    int planes;             /* number of luma and chroma planes: 1 to 3 */
    int depth, shift;       /* bits of a code; a sample holds code << shift */
    int chroma_x, chroma_y; /* log2 of the luma columns and rows per chroma sample */
} SampleLayout;

SampleLayout convert_layout(enum AVPixelFormat direct);

/* The direct format nearest to `format` in depth and chroma resolution, with alpha if `format` has
 * alpha. AV_PIX_FMT_NONE: no direct format is suitable. */
enum AVPixelFormat convert_nearest_direct(enum AVPixelFormat format);

/* The planar format of this depth with the components and chroma resolution of `direct`. Returns
 * `direct` if it already has this depth, or if no such format exists. */
enum AVPixelFormat convert_deeper(enum AVPixelFormat direct, int depth);

/* True for RGB, palettes and XYZ. */
bool convert_is_rgb(enum AVPixelFormat format);

/* Bits of the deepest component; 0 for an invalid format. */
int convert_depth(enum AVPixelFormat format);

/* True if frames can be converted to this format. */
bool convert_can_make(enum AVPixelFormat format);

/* Returns the yuv format of a yuvj format and sets *full to 1; returns other formats unchanged. */
enum AVPixelFormat convert_without_j(enum AVPixelFormat format, int *full);

/* A frame without buffers. NULL: out of memory. */
AVFrame *convert_new_frame(enum AVPixelFormat format, int width, int height);

/* {0} is valid. Not thread-safe. */
typedef struct Converter {
    struct SwsContext *sws[2]; /* for the frame, or for each field */
    struct {
        int width, height, format, full, matrix, chroma, fields;
    } from, to; /* the conversion that `sws` is set up for */
} Converter;

/*
 * Scales and converts `from` into `to`. Before the call, set format, width, height and color_range
 * of `to`, but give it no buffers. Its time and side data do not change. From RGB to YUV, if
 * to->colorspace is RGB or unspecified, sets it to BT.709 for at least 720 lines, else to BT.601.
 * Between YUV frames of the same size, resamples chroma according to both frames' chroma_location
 * (default: left), and each field of an interlaced frame separately. Returns 0 or AVERROR.
 */
int convert_frame(Converter *converter, const AVFrame *from, AVFrame *to);

/* True if the frame is tagged as full range, is RGB, or is gray without a range tag. */
bool convert_is_full(const AVFrame *frame);

/* True if the frame has black margins; crop_* are their sizes. */
bool convert_has_margins(const AVFrame *frame);

/* Like convert_frame(), but with black margins inside `to`, of the sizes in to->crop_*. */
int convert_fit(Converter *converter, const AVFrame *from, AVFrame *to);

void convert_close(Converter *converter);

#endif
