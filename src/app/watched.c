#include "app/watched.h"

#include <math.h>

int watched_find(Watched *w, const AVFrame *frame, MediaError *error)
{
    char why[256];
    PictureFormat format;
    if (picture_format(&format, frame, why, sizeof(why)) < 0)
        return media_fail(error, MEDIA_INPUT, "%s", why);
    const int width = (int)lrint(format.width * fmax(format.aspect, 1));
    const int height = (int)lrint(format.height / fmin(format.aspect, 1));
    const PictureTurn turn = format.turn;
    *w = turn.xx ? (Watched){turn, width, height} : (Watched){turn, height, width};
    return 0;
}

/* The stored picture's coordinate that lies at (x, y) of the picture as it is watched; `x_turn` and
 * `y_turn` tell how it grows with either. */
static double stored(const Watched *w, int x_turn, int y_turn, int x, int y, int length)
{
    const int all = x_turn ? w->width : w->height;
    const int along = x_turn ? x : y;
    return (double)(x_turn + y_turn > 0 ? along : all - along) * length / all;
}

/* The same rectangle in the frame as it is stored. */
static BlendPlace find_place(const Watched *w, Rect rect, const AVFrame *frame)
{
    const PictureTurn *t = &w->turn;
    const int right = rect.x + rect.width, bottom = rect.y + rect.height;
    const double x1 = stored(w, t->xx, t->yx, rect.x, rect.y, frame->width);
    const double x2 = stored(w, t->xx, t->yx, right, bottom, frame->width);
    const double y1 = stored(w, t->xy, t->yy, rect.x, rect.y, frame->height);
    const double y2 = stored(w, t->xy, t->yy, right, bottom, frame->height);
    const int x = (int)fmin(x1, x2), y = (int)fmin(y1, y2);
    return (BlendPlace){x, y, (int)fmax(x1, x2) - x, (int)fmax(y1, y2) - y};
}

/* The canvas' pixels in the order of the frame that is stored. */
static BlendPicture turn_back(const Canvas *canvas, PictureTurn turn)
{
    const PictureSteps steps =
        picture_steps(picture_turn_back(turn), canvas->width, canvas->height, 4, canvas->stride);
    return (BlendPicture){
        .pixels = canvas->pixels + steps.first,
        .column = steps.column,
        .row = steps.row,
        .width = turn.xx ? canvas->width : canvas->height,
        .height = turn.xx ? canvas->height : canvas->width,
    };
}

int watched_blend(const Watched *w, Blender *blender, AVFrame *frame, Rect rect,
                  const Canvas *canvas)
{
    const BlendPlace place = find_place(w, rect, frame);
    const BlendPicture picture = turn_back(canvas, w->turn);
    return place.width > 0 && place.height > 0 ? blend_picture(blender, frame, place, &picture) : 0;
}
