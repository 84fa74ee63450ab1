/* Pixel formats that lumeq equalizes directly, and conversion of all others by swscale. */
#ifndef LUMEQ_MEDIA_CONVERT_H
#define LUMEQ_MEDIA_CONVERT_H

#include <stdbool.h>

#include <libavutil/frame.h>
#include <libavutil/pixfmt.h>

/*
 * True for "direct" formats, whose plane 0 holds only luma: planar and semi-planar YUV and gray of
 * 8 to 16 bits, little-endian above 8. Cb, Cr and alpha have luma's sample format. Cb and Cr are in
 * two planes or interleaved in one, alpha is in plane 3.
 */
bool convert_is_direct(enum AVPixelFormat format);

/* The sample layout of a direct format. */
typedef struct SampleLayout {
    int planes;             /* luma and chroma planes: 1 to 3 */
    int depth, shift;       /* a sample holds code << shift */
    int chroma_x, chroma_y; /* log2 of the luma columns and rows per chroma sample */
} SampleLayout;

SampleLayout convert_layout(enum AVPixelFormat direct);

/* The direct format nearest to `format` in depth and chroma resolution, with alpha if `format` has
 * alpha. AV_PIX_FMT_NONE: no direct format is suitable. */
enum AVPixelFormat convert_nearest_direct(enum AVPixelFormat format);

/* The planar format of this depth with the components and chroma resolution of `direct`. Returns
 * `direct` if it is deep enough, or if there is no such format. */
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
 * Scales and converts `from` into `to`, which must have format, width, height and color_range, but
 * no buffers. Its other properties (time, side data) are unchanged. If RGB becomes YUV and
 * to->colorspace is RGB or unspecified, it is set to BT.709 from 720 lines on, else BT.601.
 * Between YUV frames of the same size, chroma is resampled according to chroma_location of both
 * frames (default: left), and per field in interlaced frames. Returns 0 or AVERROR.
 */
int convert_frame(Converter *converter, const AVFrame *from, AVFrame *to);

/* True if the frame is tagged as full range, is RGB, or is gray without a range tag. */
bool convert_is_full(const AVFrame *frame);

/* True if the picture has black margins, whose sizes are in crop_*. */
bool convert_has_margins(const AVFrame *frame);

/* Like convert_frame(), but leaves black margins with the sizes in to->crop_*. */
int convert_fit(Converter *converter, const AVFrame *from, AVFrame *to);

void convert_close(Converter *converter);

#endif
