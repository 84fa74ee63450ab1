/* Size, pixel aspect ratio and colours of a video, and how they change within it. */
#ifndef LUMEQ_MEDIA_VIDEO_SHAPE_H
#define LUMEQ_MEDIA_VIDEO_SHAPE_H

#include <libavutil/frame.h>
#include <libavutil/pixfmt.h>

/* The properties that all frames are converted to, usually those of the first frame. */
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

/* Changes in the video. `text` describes the first change of each kind. {0}: none. */
typedef struct VideoChanges {
    unsigned kinds;
    char text[640];
} VideoChanges;

/* True if the matrices are equal, or one is unknown or RGB. */
int video_shape_same_matrix(enum AVColorSpace a, enum AVColorSpace b);

/* True if the frame has the shape's display aspect ratio. */
int video_shape_fills(const VideoShape *shape, const AVFrame *frame);

/* Prepares `to` for the scaled picture of `from`. The size of `to` becomes the shape's. With bars,
 * the pixel aspect ratio becomes the shape's, and crop_* become the sizes of the bars. Without
 * bars, the pixel aspect ratio preserves the display aspect of `from`. */
void video_shape_place(const VideoShape *shape, const AVFrame *from, int bars, AVFrame *to);

/* Adds to `changes` how `frame` differs from the shape. `position`: the frame's, in seconds. */
void video_shape_note(const VideoShape *shape, const AVFrame *frame, double position,
                      VideoChanges *changes);

#endif
