/* Draws the comparison and the histogram panel into frames of the output, as in the window. */
#ifndef LUMEQ_APP_DRAWING_H
#define LUMEQ_APP_DRAWING_H

#include "app/options/options.h"
#include "run/run.h"

typedef struct Drawing Drawing;

/* Sets *drawing to NULL if nothing is to be drawn. All functions accept NULL. MEDIA_INPUT. */
int drawing_open(Drawing **drawing, const Options *options, MediaError *error);

/* A sink that draws into frames, which must all have the same size and format. Copies a frame first
 * if its memory is shared. Warns if there is no room for the panel. */
Sink drawing_sink(Drawing *drawing);

/* Draws only the comparison, which may change the size of the frame. MEDIA_INPUT. */
int drawing_compare(Drawing *drawing, const AVFrame *decoded, AVFrame *frame, MediaError *error);

void drawing_close(Drawing **drawing);

#endif
