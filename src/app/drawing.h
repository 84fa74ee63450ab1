/* Drawing into written frames: before and after, and the histogram panel. */
#ifndef LUMEQ_APP_DRAWING_H
#define LUMEQ_APP_DRAWING_H

#include "app/comparison.h"
#include "app/overlay.h"
#include "run/sink.h"

/* {0} draws nothing. */
typedef struct Drawing {
    FrameOverlay *overlay;
    Comparison *comparison;
} Drawing;

/* Opens what the options ask for. MEDIA_INPUT. */
int drawing_open(Drawing *drawing, const Options *options, MediaError *error);

Sink drawing_sink(Drawing *drawing);

void drawing_close(Drawing *drawing);

#endif
