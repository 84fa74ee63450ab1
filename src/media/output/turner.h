/* Rotates and mirrors frames for files that cannot store an orientation. */
#ifndef LUMEQ_MEDIA_TURNER_H
#define LUMEQ_MEDIA_TURNER_H

#include <libavutil/frame.h>

#include "media/picture_format.h"

typedef struct Turner Turner;

/* The format of turned frames, usually `direct`. A quarter turn swaps horizontal and vertical
 * subsampling. If they differ, the format has full-resolution chroma, or is AV_PIX_FMT_NONE. */
enum AVPixelFormat turner_format(enum AVPixelFormat direct, PictureTurn turn);

/* Opens a turner for direct frames (convert.h) of the size and format of `first`. Returns 0 or
 * AVERROR. */
int turner_open(Turner **turner, const AVFrame *first, PictureTurn turn, int threads);

/* Writes the turned frame to `to`, which is unreferenced first, with all properties except the
 * orientation. Returns 0 or AVERROR. */
int turner_run(Turner *turner, const AVFrame *frame, AVFrame *to);

/* *turner may be NULL. */
void turner_close(Turner **turner);

#endif
