#include "app/drawing.h"

#include <math.h>
#include <stdlib.h>

#include "app/terminal.h"
#include "media/output/blend.h"
#include "media/picture_format.h"
#include "panel/panel.h"
#include "panel/panel_place.h"
#include "player/osd/osd.h"
#include "player/player_options.h"
#include "run/frame_scopes.h"

/* ---- where things are ---- */

/* Pictures as they are watched, upright and with square pixels. */
typedef struct Watched {
    PictureTurn turn;
    int width, height;
} Watched;

/* MEDIA_INPUT: no picture of this format can be drawn into. */
static int watched_find(Watched *w, const AVFrame *frame, MediaError *error)
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

/* Lays a canvas over a part of the picture as it is watched, where it is in the frame. As
 * blend_picture(). */
static int watched_blend(const Watched *w, Blender *blender, AVFrame *frame, Rect rect,
                         const Canvas *canvas)
{
    const BlendPlace place = find_place(w, rect, frame);
    const BlendPicture picture = turn_back(canvas, w->turn);
    return place.width > 0 && place.height > 0 ? blend_picture(blender, frame, place, &picture) : 0;
}

/* ---- the panel ---- */

typedef struct FrameOverlay {
    PanelScale scale;
    PanelOver over;
    PanelScope scope;
    PanelCache *panel;
    Scopes *scopes; /* NULL: none are shown */
    Text *text;
    Blender blender;
    int placed; /* the following is known */
    Watched watched;
    Rect rect; /* of the panel, in the picture as it is watched; {0}: none */
} FrameOverlay;

static void overlay_close(FrameOverlay *o)
{
    panel_cache_free(&o->panel);
    free(o->scopes);
    text_close(&o->text);
    blend_close(&o->blender);
}

/* Finding the fonts of the machine may take a while. */
static int overlay_open(FrameOverlay *o, const Options *options, MediaError *error)
{
    static const PanelOver overs[] = {PANEL_OVER_ONE, PANEL_OVER_SPLIT, PANEL_OVER_MIDDLE};
    o->scale = options->hist_scale ? PANEL_LOG : PANEL_LINEAR;
    o->over = overs[options->compare];
    o->scope = (PanelScope)options->scope;
    if (o->scope != PANEL_HISTOGRAM)
        o->scopes = calloc(1, sizeof(*o->scopes));
    if (panel_cache_create(&o->panel) < 0 || (o->scope != PANEL_HISTOGRAM && !o->scopes))
        return media_fail(error, MEDIA_INPUT, "out of memory for the histogram panel");
    if (text_open(&o->text) < 0)
        say(SAY_WARNINGS, "no font was found: the histogram panel has no text");
    return 0;
}

/* A frame without room for a panel stays as it is. */
static int place_panel(FrameOverlay *o, const AVFrame *frame, MediaError *error)
{
    if (watched_find(&o->watched, frame, error) < 0)
        return error->fault;
    const int width = o->watched.width, height = o->watched.height;
    o->rect =
        panel_place_over(width, height, (Rect){0, 0, width, height}, o->over, width / 2).panel;
    o->rect.height = panel_scope_height(o->rect.width, o->rect.height, (PanelText){0}, o->scope);
    if (o->rect.width == 0)
        say(SAY_WARNINGS, "the video is written without the histogram panel: %dx%d has no room",
            width, height);
    else if (o->scope == PANEL_ALL &&
             !panel_has_room_for_all(o->rect.width, o->rect.height, (PanelText){0}))
        say(SAY_WARNINGS, "the panel has no room for all scopes in %dx%d: it has the histograms",
            width, height);
    o->placed = 1;
    return 0;
}

static const Canvas *draw_panel(FrameOverlay *o, const AVFrame *frame, const LumeqFrameStats *stats,
                                const char *words)
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
        .words = words,
        .scope = o->scope,
        .scopes = o->scopes,
    };
    /* By the video's own clock: the same input gives the same pictures. */
    const int64_t now = av_rescale_q(frame->pts, frame->time_base, AV_TIME_BASE_Q);
    return panel_cache_draw(o->panel, &data, o->rect.width, o->rect.height, o->text, now);
}

static int overlay_draw(FrameOverlay *o, AVFrame *frame, const LumeqFrameStats *stats,
                        const char *words, MediaError *error)
{
    if (!o->placed && place_panel(o, frame, error) < 0)
        return error->fault;
    if (o->rect.width == 0)
        return 0;
    const Canvas *canvas = draw_panel(o, frame, stats, words);
    if (!canvas)
        return media_fail(error, MEDIA_INPUT, "out of memory for the histogram panel");
    const int ret = watched_blend(&o->watched, &o->blender, frame, o->rect, canvas);
    if (ret < 0)
        return media_fail(error, MEDIA_INPUT, "the histogram panel cannot be drawn: %s",
                          media_av_text(ret));
    return 0;
}

/* ---- before and after ---- */

/* The line, as the window draws it (view.c): the part of the shorter side that an edge is wide. */
#define EDGE_PART 1440
#define LINE_BRIGHT 0xF0F0F0
#define LINE_DARK 0x101010

/* Layers over the pictures. */
enum { LABEL_BEFORE, LABEL_AFTER, LINE, LAID };

typedef struct Comparison {
    PlayerCompare kind;
    int with_panel;
    Osd *osd;
    Text *text;
    int placed; /* all of the following is known */
    Watched watched;
    int width, height;        /* of the frames that come out */
    BlendPlace before, after; /* of the pictures, that are copied */
    int after_x, after_y;     /* where to */
    int before_x, before_y;
    Canvas line; /* owned */
    Overlay laid[LAID];
    Blender blenders[LAID]; /* a size for each */
} Comparison;

static int out_of_memory(MediaError *error)
{
    return media_fail(error, MEDIA_INPUT, "out of memory for a comparison");
}

static void comparison_close(Comparison *c)
{
    osd_close(&c->osd);
    text_close(&c->text);
    for (int i = 0; i < LAID; i++)
        blend_close(&c->blenders[i]);
    free(c->line.pixels);
}

static int comparison_open(Comparison *c, const Options *options, MediaError *error)
{
    c->kind = (PlayerCompare)options->compare;
    c->with_panel = options->overlay;
    if (osd_open(&c->osd) < 0)
        return out_of_memory(error);
    if (text_open(&c->text) < 0)
        say(SAY_WARNINGS, "no font was found: the two pictures have no labels");
    osd_set_text(c->osd, c->text);
    return 0;
}

/* True if the left part of the upright picture comes first in the stored frame. */
static int left_is_first(const Watched *w)
{
    return w->turn.xx + w->turn.xy > 0;
}

/* From the first sample of one picture to the first one of the other, at a sample of chroma. */
static int find_seam(const Comparison *c, const AVFrame *frame)
{
    const SampleLayout layout = convert_layout((enum AVPixelFormat)frame->format);
    const int step = 1 << (c->watched.turn.xx ? layout.chroma_x : layout.chroma_y);
    const int length = c->watched.turn.xx ? frame->width : frame->height;
    return (c->kind == PLAYER_COMPARE_SIDE ? length : length / 2) / step * step;
}

/* Assumes that the left picture comes first along the columns, then swaps. */
static void place_pictures(Comparison *c, const AVFrame *frame)
{
    const int across = c->watched.turn.xx != 0, first = left_is_first(&c->watched);
    const int seam = find_seam(c, frame), side = c->kind == PLAYER_COMPARE_SIDE;
    const int length = across ? frame->width : frame->height;
    const int from = side ? 0 : seam; /* of the picture that comes second */
    BlendPlace low = {0, 0, frame->width, frame->height}, high = low;
    *(across ? &low.width : &low.height) = seam;
    *(across ? &high.x : &high.y) = from;
    *(across ? &high.width : &high.height) = length - from;
    c->width = frame->width + (side && across ? seam : 0);
    c->height = frame->height + (side && !across ? seam : 0);
    c->before = first ? low : high;
    c->after = first ? high : low;
    *(across ? (first ? &c->after_x : &c->before_x) : first ? &c->after_y : &c->before_y) = seam;
}

/* Upright, in the middle, as high as the picture. */
static int draw_line(Comparison *c, int column, MediaError *error)
{
    const int edge = FFMIN(c->watched.width, c->watched.height) / EDGE_PART + 1;
    const int width = 4 * edge, height = c->watched.height;
    c->line =
        (Canvas){malloc((size_t)width * (size_t)height * 4), (ptrdiff_t)width * 4, width, height};
    if (!c->line.pixels)
        return out_of_memory(error);
    canvas_fill(&c->line, (Rect){0, 0, width, height}, LINE_DARK, 255);
    canvas_fill(&c->line, (Rect){edge, 0, 2 * edge, height}, LINE_BRIGHT, 255);
    c->laid[LINE] = (Overlay){c->line, column - width / 2, 0};
    return 0;
}

/* In the middle of the visible part of each, as in the window without messages. */
static void draw_labels(Comparison *c, Rect before, Rect after)
{
    const int width = c->watched.width, height = c->watched.height;
    const Rect whole = {0, 0, width, height};
    const PanelOver over = c->kind == PLAYER_COMPARE_SIDE ? PANEL_OVER_MIDDLE : PANEL_OVER_SPLIT;
    const Rect panel =
        c->with_panel ? panel_place_over(width, height, whole, over, width / 2).panel : (Rect){0};
    const OsdPlace place = {width, height, {0, -height, width, height}, whole, whole, 1, 1};
    const OsdPart parts[] = {OSD_BEFORE, OSD_AFTER};
    osd_label(c->osd, OSD_BEFORE, panel.width ? panel_free(before, panel) : before);
    osd_label(c->osd, OSD_AFTER, panel.width ? panel_free(after, panel) : after);
    osd_show_labels(c->osd, INT64_MAX / 2);
    for (int i = 0; i < 2; i++) {
        OsdLayer layer;
        (void)osd_draw(c->osd, parts[i], &place, 0, &layer);
        c->laid[i] = layer.overlay;
    }
}

static int place_both(Comparison *c, const AVFrame *frame, AVFrame *both, MediaError *error)
{
    const Watched one = c->watched;
    const int across = one.turn.xx != 0;
    /* With all that tells how it is to be shown: of the same shape, but for its size. */
    if (watched_find(&c->watched, both, error) < 0)
        return error->fault;
    const int length = across ? frame->width : frame->height;
    const int all = across ? both->width : both->height;
    const int low = c->kind == PLAYER_COMPARE_SIDE ? all - length : find_seam(c, frame);
    const int left = left_is_first(&c->watched) ? low : all - low;
    const int column = (int)((int64_t)left * c->watched.width / all);
    const Rect before = {0, 0, column, c->watched.height};
    const Rect after = {column, 0, c->watched.width - column, c->watched.height};
    c->placed = 1;
    draw_labels(c, before, after);
    return c->kind == PLAYER_COMPARE_SPLIT ? draw_line(c, column, error) : 0;
}

static int lay(Comparison *c, AVFrame *frame)
{
    int ret = 0;
    for (int i = 0; i < LAID && ret >= 0; i++) {
        const Overlay *o = &c->laid[i];
        const Rect rect = {o->x, o->y, o->canvas.width, o->canvas.height};
        if (rect.width > 0)
            ret = watched_blend(&c->watched, &c->blenders[i], frame, rect, &o->canvas);
    }
    return ret;
}

/*
 * The equalized frame becomes a frame of both: with a line in the middle and the decoded frame to
 * the left of it, or of twice the width with both complete; as seen by a viewer if frames are
 * turned. Chroma that is shared by samples on both sides moves the seam by less than its step: of
 * an odd width, the left picture lacks its last column.
 */
static int comparison_make(Comparison *c, const AVFrame *decoded, AVFrame *equalized,
                           MediaError *error)
{
    if (!c->placed) {
        if (watched_find(&c->watched, equalized, error) < 0)
            return error->fault;
        place_pictures(c, equalized);
    }
    AVFrame *both = blend_frame_like(&c->blenders[0], equalized, c->width, c->height);
    if (!both)
        return out_of_memory(error);
    blend_copy(both, c->after_x, c->after_y, equalized, c->after);
    blend_copy(both, c->before_x, c->before_y, decoded, c->before);
    int ret = c->placed ? 0 : place_both(c, equalized, both, error);
    if (ret >= 0 && lay(c, both) < 0)
        ret = media_fail(error, MEDIA_INPUT, "a comparison cannot be drawn");
    if (ret >= 0) {
        av_frame_unref(equalized);
        av_frame_move_ref(equalized, both);
    }
    av_frame_free(&both);
    return ret;
}

/* ---- both ---- */

struct Drawing {
    int with_panel, compares;
    FrameOverlay overlay;
    Comparison comparison;
};

int drawing_open(Drawing **drawing, const Options *options, MediaError *error)
{
    int ret = 0;
    *drawing = NULL;
    if (!options->overlay && options->compare == PLAYER_COMPARE_OFF)
        return 0;
    Drawing *d = *drawing = calloc(1, sizeof(*d));
    if (!d)
        return media_fail(error, MEDIA_INPUT, "out of memory for drawing");
    d->with_panel = options->overlay;
    d->compares = options->compare != PLAYER_COMPARE_OFF;
    if (d->with_panel)
        ret = overlay_open(&d->overlay, options, error);
    if (ret >= 0 && d->compares)
        ret = comparison_open(&d->comparison, options, error);
    if (ret < 0)
        drawing_close(drawing);
    return ret;
}

int drawing_compare(Drawing *d, const AVFrame *decoded, AVFrame *frame, MediaError *error)
{
    return d && d->compares ? comparison_make(&d->comparison, decoded, frame, error) : 0;
}

/* The scopes count the picture before anything is drawn into it. */
static int draw(void *self, Frame *f)
{
    Drawing *d = self;
    AVFrame *frame = f->out;
    if (d->overlay.scopes)
        (void)frame_scopes_count(d->overlay.scopes, frame, 0);
    const int ret = drawing_compare(d, f->decoded.frame, frame, f->error);
    return ret >= 0 && d->with_panel
               ? overlay_draw(&d->overlay, frame, &f->stats, f->words, f->error)
               : ret;
}

Sink drawing_sink(Drawing *d)
{
    return (Sink){.self = d, .frame = draw};
}

void drawing_close(Drawing **drawing)
{
    Drawing *d = *drawing;
    if (!d)
        return;
    overlay_close(&d->overlay);
    comparison_close(&d->comparison);
    free(d);
    *drawing = NULL;
}
