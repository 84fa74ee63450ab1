/* Frames of two fields become frames of one moment, without combs: one for each, by libavfilter's
 * bwdif. The order of fields is the frames' own. */
#ifndef LUMEQ_MEDIA_DEINTERLACER_H
#define LUMEQ_MEDIA_DEINTERLACER_H

#include <libavutil/frame.h>

typedef enum DeinterlaceMode {
    DEINTERLACE_OFF,
    DEINTERLACE_AUTO, /* those frames that say they are interlaced */
    DEINTERLACE_ON,   /* all of them */
} DeinterlaceMode;

typedef struct Deinterlacer Deinterlacer;

/* For frames of the size, format and time base of `first`. `all`: also those that say they are not
 * interlaced. 0 or AVERROR. */
int deinterlacer_open(Deinterlacer **deinterlacer, const AVFrame *first, int all, int threads);

/* Takes a frame over, or NULL: the end. 0 or AVERROR. */
int deinterlacer_send(Deinterlacer *deinterlacer, AVFrame *frame);

/* The next frame, with the time and duration of the one that was sent: 0, AVERROR(EAGAIN) (one is
 * held back until the next one is known), AVERROR_EOF or another AVERROR. */
int deinterlacer_receive(Deinterlacer *deinterlacer, AVFrame *frame);

/* NULL is allowed inside. */
void deinterlacer_close(Deinterlacer **deinterlacer);

#endif
