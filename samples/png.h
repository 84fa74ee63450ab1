/* A canvas into a PNG file, through FFmpeg's encoder. */
#ifndef LUMEQ_SAMPLES_PNG_H
#define LUMEQ_SAMPLES_PNG_H

#include "media/error.h"
#include "panel/canvas.h"

/* Alpha is left out. What the file was before is replaced. */
int png_write(const char *path, const Canvas *canvas, MediaError *error);

#endif
