/* Drawing into written frames: before and after, and the histogram panel, as the window shows them.
 */
#ifndef LUMEQ_APP_DRAWING_H
#define LUMEQ_APP_DRAWING_H

#include "app/options/options.h"
#include "run/sink.h"

typedef struct Drawing Drawing;

/* NULL if the options want nothing drawn, which is allowed in all that follow. MEDIA_INPUT. */
int drawing_open(Drawing **drawing, const Options *options, MediaError *error);

/* Draws. Frames have the size and format of the first one; the panel is left out, with a warning,
 * if that has no room for it. Memory that frames share with others stays as it is. */
Sink drawing_sink(Drawing *drawing);

/* The comparison alone, which may change the size of the frame. MEDIA_INPUT. */
int drawing_compare(Drawing *drawing, const AVFrame *decoded, AVFrame *frame, MediaError *error);

void drawing_close(Drawing **drawing);

#endif
