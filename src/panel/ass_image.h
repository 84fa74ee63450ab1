/* Draws libass images into a canvas. */
#ifndef LUMEQ_PANEL_ASS_IMAGE_H
#define LUMEQ_PANEL_ASS_IMAGE_H

#include <ass/ass.h>

#include "panel/canvas.h"

/* The bounding box of all visible pixels, in libass frame pixels; {0}: none. Images are larger than
 * their visible part. */
Rect ass_images_ink(const ASS_Image *images);

/* Blends images into a canvas whose top left pixel is at (x, y) of the libass frame. */
void ass_images_blend(const Canvas *canvas, int x, int y, const ASS_Image *images);

#endif
