/* Pictures as they are watched, upright and with square pixels, and where that is in the frames as
 * they are stored. */
#ifndef LUMEQ_APP_WATCHED_H
#define LUMEQ_APP_WATCHED_H

#include "media/error.h"
#include "media/output/blend.h"
#include "media/picture_format.h"
#include "panel/canvas.h"

typedef struct Watched {
    PictureTurn turn;
    int width, height;
} Watched;

/* MEDIA_INPUT: no picture of this format can be drawn into. */
int watched_find(Watched *watched, const AVFrame *frame, MediaError *error);

/* Lays a canvas over a part of the picture as it is watched, where it is in the frame. As
 * blend_picture(). */
int watched_blend(const Watched *watched, Blender *blender, AVFrame *frame, Rect rect,
                  const Canvas *canvas);

#endif
