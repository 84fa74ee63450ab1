/* Deinterlaces frames with libavfilter's bwdif, one output frame per input frame. Uses the field
 * order that each frame declares. */
#ifndef LUMEQ_MEDIA_DEINTERLACER_H
#define LUMEQ_MEDIA_DEINTERLACER_H

#include <libavutil/frame.h>

typedef enum DeinterlaceMode {
    DEINTERLACE_OFF,
    DEINTERLACE_AUTO, /* only frames flagged as interlaced */
    DEINTERLACE_ON,   /* all frames */
} DeinterlaceMode;

typedef struct Deinterlacer Deinterlacer;

/* Opens a deinterlacer for frames with the size, format and time base of `first`. `all`: also
 * deinterlaces frames that are not flagged as interlaced. Returns 0 or AVERROR. */
int deinterlacer_open(Deinterlacer **deinterlacer, const AVFrame *first, int all, int threads);

/* Takes over the frame's data and leaves the frame blank; NULL: the end. Returns 0 or AVERROR. */
int deinterlacer_send(Deinterlacer *deinterlacer, AVFrame *frame);

/* Receives the next frame, with its original time and duration. Returns 0, AVERROR(EAGAIN) (send
 * another frame), AVERROR_EOF or another AVERROR. */
int deinterlacer_receive(Deinterlacer *deinterlacer, AVFrame *frame);

/* *deinterlacer may be NULL. */
void deinterlacer_close(Deinterlacer **deinterlacer);

#endif
