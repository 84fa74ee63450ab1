/* What libass renders, into a canvas. */
#ifndef LUMEQ_PANEL_ASS_IMAGE_H
#define LUMEQ_PANEL_ASS_IMAGE_H

#include <ass/ass.h>

#include "panel/canvas.h"

/* The part of a list of images that anything is drawn in, in pixels of libass's frame: images are
 * larger than what is in them. {0}: nothing. */
Rect ass_images_ink(const ASS_Image *images);

/* Lays a list of images over a canvas whose first pixel is at (x, y) of libass's frame. */
void ass_images_blend(const Canvas *canvas, int x, int y, const ASS_Image *images);

#endif
