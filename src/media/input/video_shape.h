/* Size, pixel aspect ratio and colours of a video, and frames that differ from it. */
#ifndef LUMEQ_MEDIA_VIDEO_SHAPE_H
#define LUMEQ_MEDIA_VIDEO_SHAPE_H

#include <libavutil/frame.h>
#include <libavutil/pixfmt.h>

/* The properties of the first frame; all others are converted to it. */
typedef struct VideoShape {
    int width, height;         /* 0: not known yet */
    enum AVPixelFormat format; /* direct (convert.h) */
    enum AVColorRange range;
    enum AVColorSpace space;
    enum AVColorPrimaries primaries;
    enum AVColorTransferCharacteristic transfer;
    AVRational aspect; /* of a pixel */
    AVRational coded; /* the same as the codec says it, against the container; {0, 0}: it doesn't */
} VideoShape;

/* Changes in the video, each kind described once. {0}: none yet. */
typedef struct VideoChanges {
    unsigned kinds;
    char text[400];
} VideoChanges;

/* True if the pixels of both have the same meaning: their matrices are equal, or one is unknown. */
int video_shape_same_matrix(enum AVColorSpace a, enum AVColorSpace b);

/* True if circles of the frame are circles in the shape, and it fills the shape. */
int video_shape_fills(const VideoShape *shape, const AVFrame *frame);

/* Sets the size and pixel aspect ratio of `to`, for `from` to be scaled to it. With bars, both are
 * those of the shape, and crop_* are the sizes of the bars. Without, the pixel aspect ratio keeps
 * circles round. */
void video_shape_place(const VideoShape *shape, const AVFrame *from, int bars, AVFrame *to);

/* Adds what differs in `frame`, at a position in seconds. */
void video_shape_tell(const VideoShape *shape, const AVFrame *frame, double position,
                      VideoChanges *changes);

#endif
