#include "app/overlay.h"

#include <math.h>
#include <stdlib.h>

#include "app/terminal.h"
#include "media/output/blend.h"
#include "media/picture_format.h"
#include "panel/panel_place.h"
#include "pipeline/equalizer_frame.h"

/* The picture as it is watched: upright and with square pixels. */
typedef struct Watched {
    PictureTurn turn;
    int width, height;
} Watched;

struct FrameOverlay {
    PanelScale scale;
    PanelCache *panel;
    Text *text;
    Blender blender;
    int placed; /* the following is known */
    Watched watched;
    Rect rect;        /* of the panel, in the picture as it is watched; {0}: none */
    BlendPlace place; /* in the frame as it is stored */
};

int overlay_open(FrameOverlay **overlay, PanelScale scale, MediaError *error)
{
    FrameOverlay *o = calloc(1, sizeof(*o));
    *overlay = o;
    if (!o || panel_cache_create(&o->panel) < 0) {
        overlay_close(overlay);
        return media_fail(error, MEDIA_INPUT, "out of memory for the histogram panel");
    }
    o->scale = scale;
    if (text_open(&o->text) < 0)
        say(SAY_WARNINGS, "no font was found: the histogram panel has no text");
    return 0;
}

/* ---- where it is ---- */

static Watched find_watched(const PictureFormat *format)
{
    const int width = (int)lrint(format->width * fmax(format->aspect, 1));
    const int height = (int)lrint(format->height / fmin(format->aspect, 1));
    const PictureTurn turn = format->turn;
    return turn.xx ? (Watched){turn, width, height} : (Watched){turn, height, width};
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

static int place(FrameOverlay *o, const AVFrame *frame, MediaError *error)
{
    char why[256];
    PictureFormat format;
    if (picture_format(&format, frame, why, sizeof(why)) < 0)
        return media_fail(error, MEDIA_INPUT, "%s", why);
    o->watched = find_watched(&format);
    o->rect = panel_place(o->watched.width, o->watched.height, PANEL_OVER).panel;
    if (o->rect.width > 0)
        o->place = find_place(&o->watched, o->rect, frame);
    else
        say(SAY_WARNINGS, "the video is written without the histogram panel: %dx%d has no room",
            o->watched.width, o->watched.height);
    o->placed = 1;
    return 0;
}

/* ---- one frame ---- */

/* The panel's pixels in the order of the frame that is stored. */
static BlendPicture turn_back(const Canvas *canvas, PictureTurn t)
{
    const int first_x = t.xx < 0 || t.xy < 0 ? canvas->width - 1 : 0;
    const int first_y = t.yx < 0 || t.yy < 0 ? canvas->height - 1 : 0;
    return (BlendPicture){
        .pixels = canvas_pixel(canvas, first_x, first_y),
        .column = t.xx * 4 + t.yx * canvas->stride,
        .row = t.xy * 4 + t.yy * canvas->stride,
        .width = t.xx ? canvas->width : canvas->height,
        .height = t.xx ? canvas->height : canvas->width,
    };
}

static const Canvas *draw_panel(FrameOverlay *o, const AVFrame *frame, const LumeqFrameStats *stats)
{
    const PanelData data = {
        .bins = stats->bins,
        .depth = equalizer_depth(frame),
        .hist_in = stats->hist_in,
        .hist_out = stats->hist_out,
        .curve = stats->curve,
        .full_range = frame->color_range == AVCOL_RANGE_JPEG,
        .scale = o->scale,
        .translucent = 1,
    };
    /* By the video's own clock: the same input gives the same pictures. */
    const int64_t now = av_rescale_q(frame->pts, frame->time_base, AV_TIME_BASE_Q);
    return panel_cache_draw(o->panel, &data, o->rect.width, o->rect.height, o->text, now);
}

int overlay_draw(FrameOverlay *o, AVFrame *frame, const LumeqFrameStats *stats, MediaError *error)
{
    if (!o->placed && place(o, frame, error) < 0)
        return error->fault;
    if (o->rect.width == 0)
        return 0;
    const Canvas *canvas = draw_panel(o, frame, stats);
    if (!canvas)
        return media_fail(error, MEDIA_INPUT, "out of memory for the histogram panel");
    const BlendPicture picture = turn_back(canvas, o->watched.turn);
    const int ret = blend_picture(&o->blender, frame, o->place, &picture);
    if (ret < 0)
        return media_fail(error, MEDIA_INPUT, "the histogram panel cannot be drawn: %s",
                          media_av_text(ret));
    return 0;
}

void overlay_close(FrameOverlay **overlay)
{
    FrameOverlay *o = *overlay;
    if (!o)
        return;
    panel_cache_free(&o->panel);
    text_close(&o->text);
    blend_close(&o->blender);
    free(o);
    *overlay = NULL;
}
