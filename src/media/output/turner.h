/* Frames turned and mirrored as they are to be shown, for files that cannot say how. */
#ifndef LUMEQ_MEDIA_TURNER_H
#define LUMEQ_MEDIA_TURNER_H

#include <libavutil/frame.h>

#include "media/picture_format.h"

typedef struct Turner Turner;

/* The format that frames come out in: theirs, or one with a sample of chroma for every pixel where
 * chroma is finer one way than the other and a quarter turn is made. */
enum AVPixelFormat turner_format(enum AVPixelFormat direct, PictureTurn turn);

/* For direct frames (convert.h) of the size and format of `first`. 0 or AVERROR. */
int turner_open(Turner **turner, const AVFrame *first, PictureTurn turn, int threads);

/* The frame, turned, with all its properties but how it is to be turned, in `to`, which is
 * unreferenced first. 0 or AVERROR. */
int turner_run(Turner *turner, const AVFrame *frame, AVFrame *to);

/* NULL is allowed inside. */
void turner_close(Turner **turner);

#endif
