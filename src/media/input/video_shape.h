/* Size, pixel aspect ratio and colours of a video, and how they change within it. */
#ifndef LUMEQ_MEDIA_VIDEO_SHAPE_H
#define LUMEQ_MEDIA_VIDEO_SHAPE_H

#include <libavutil/frame.h>
#include <libavutil/pixfmt.h>

/* The properties of the first frame, to which all others are converted. */
typedef struct VideoShape {
    int width, height;         /* 0: unknown */
    enum AVPixelFormat format; /* direct (convert.h) */
    enum AVColorRange range;
    enum AVColorSpace space;
    enum AVColorPrimaries primaries;
    enum AVColorTransferCharacteristic transfer;
    AVRational aspect; /* pixel aspect ratio */
    AVRational coded;  /* pixel aspect ratio that the codec declares; num 0: unknown */
} VideoShape;

/* Changes in the video, each kind described once. {0}: none. */
typedef struct VideoChanges {
    unsigned kinds;
    char text[640];
} VideoChanges;

/* True if the matrices are equal or one is unknown. */
int video_shape_same_matrix(enum AVColorSpace a, enum AVColorSpace b);

/* True if the frame has the shape's display aspect ratio. */
int video_shape_fills(const VideoShape *shape, const AVFrame *frame);

/* Sets the size and pixel aspect ratio of `to`, to which `from` will be scaled. The size is the
 * shape's. With bars, the pixel aspect ratio is the shape's, and crop_* are the sizes of the bars.
 * Without bars, the pixel aspect ratio preserves the display aspect. */
void video_shape_place(const VideoShape *shape, const AVFrame *from, int bars, AVFrame *to);

/* Adds how `frame`, at a position in seconds, differs from the shape. */
void video_shape_note(const VideoShape *shape, const AVFrame *frame, double position,
                      VideoChanges *changes);

#endif
