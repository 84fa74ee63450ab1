#include "app/drawing.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "app/terminal.h"
#include "media/output/blend.h"
#include "media/picture_format.h"
#include "panel/panel.h"
#include "panel/panel_place.h"
#include "player/osd/osd.h"
#include "player/view/view.h"
#include "run/frame_scopes.h"

/* ---- geometry ---- */

/* A frame as displayed: upright and with square pixels. */
typedef struct Displayed {
    PictureTurn turn;
    int width, height;
} Displayed;

/* Returns MEDIA_INPUT if frames of this format cannot be drawn on. */
static int displayed_find(Displayed *w, const AVFrame *frame, MediaError *error)
{
    char why[256];
    PictureFormat format;
    if (picture_format(&format, frame, why, sizeof(why)) < 0)
        return media_fail(error, MEDIA_INPUT, "%s", why);
    const int width = (int)lrint(format.width * fmax(format.aspect, 1));
    const int height = (int)lrint(format.height / fmin(format.aspect, 1));
    const PictureTurn turn = format.turn;
    *w = turn.xx ? (Displayed){turn, width, height} : (Displayed){turn, height, width};
    return 0;
}

/* Converts (x, y) of the displayed picture to one coordinate of the stored frame, 0..`length`.
 * x_turn, y_turn: how this coordinate changes with x and with y: 1, -1 or 0. */
static double stored(const Displayed *w, int x_turn, int y_turn, int x, int y, int length)
{
    const int all = x_turn ? w->width : w->height;
    const int along = x_turn ? x : y;
    return (double)(x_turn + y_turn > 0 ? along : all - along) * length / all;
}

/* Blends a canvas into the displayed picture at `rect`, which has the canvas's size and may extend
 * beyond the picture. Returns like blend_picture(). */
static int displayed_blend(const Displayed *w, Blender *blender, AVFrame *frame, Rect rect,
                           const Canvas *canvas)
{
    const Rect seen = rect_intersect(rect, (Rect){0, 0, w->width, w->height});
    const PictureTurn *t = &w->turn;
    const int right = seen.x + seen.width, bottom = seen.y + seen.height;
    const double x1 = stored(w, t->xx, t->yx, seen.x, seen.y, frame->width);
    const double x2 = stored(w, t->xx, t->yx, right, bottom, frame->width);
    const double y1 = stored(w, t->xy, t->yy, seen.x, seen.y, frame->height);
    const double y2 = stored(w, t->xy, t->yy, right, bottom, frame->height);
    const int x = (int)fmin(x1, x2), y = (int)fmin(y1, y2);
    const BlendPlace place = {x, y, (int)fmax(x1, x2) - x, (int)fmax(y1, y2) - y};
    if (place.width == 0 || place.height == 0)
        return 0;
    const PictureSteps steps =
        picture_steps(picture_turn_back(w->turn), seen.width, seen.height, 4, canvas->stride);
    const BlendPicture picture = {
        .pixels = canvas->pixels + (seen.y - rect.y) * canvas->stride +
                  (ptrdiff_t)(seen.x - rect.x) * 4 + steps.first,
        .column = steps.column,
        .row = steps.row,
        .width = w->turn.xx ? seen.width : seen.height,
        .height = w->turn.xx ? seen.height : seen.width,
    };
    return blend_picture(blender, frame, place, &picture);
}

/* ---- the panel ---- */

typedef struct FrameOverlay {
    PanelScale scale;
    int compared;
    PanelScope scope;
    PanelCache *panel;
    Scopes *scopes; /* NULL: the panel shows no scopes */
    Text *text;
    Blender blender;
    int placed; /* the following members are set */
    Displayed displayed;
    Rect rect; /* of the panel in the displayed picture; {0}: no room */
} FrameOverlay;

static int overlay_open(FrameOverlay *o, const Options *options, MediaError *error)
{
    o->scale = options->hist_scale ? PANEL_LOG : PANEL_LINEAR;
    o->compared = options->compare != 0;
    o->scope = (PanelScope)options->scope;
    if (o->scope != PANEL_HISTOGRAM)
        o->scopes = calloc(1, sizeof(*o->scopes));
    if (panel_cache_create(&o->panel) < 0 || (o->scope != PANEL_HISTOGRAM && !o->scopes))
        return media_fail(error, MEDIA_INPUT, "out of memory for the histogram panel");
    if (text_open(&o->text) < 0)
        say(SAY_WARNINGS, "no font found: the histogram panel has no text");
    return 0;
}

static int place_panel(FrameOverlay *o, const AVFrame *frame, MediaError *error)
{
    if (displayed_find(&o->displayed, frame, error) < 0)
        return error->fault;
    const int width = o->displayed.width, height = o->displayed.height;
    o->rect = panel_place_over(width, height, (Rect){0, 0, width, height}, o->compared, 1).panel;
    o->rect.height = panel_scope_height(o->rect.width, o->rect.height, (PanelText){0}, o->scope);
    if (o->rect.width == 0)
        say(SAY_WARNINGS, "%dx%d is too small for the histogram panel, which is not drawn", width,
            height);
    else if (o->scope == PANEL_ALL &&
             !panel_has_room_for_all(o->rect.width, o->rect.height, (PanelText){0}))
        say(SAY_WARNINGS, "%dx%d is too small for all scopes: the panel shows histograms only",
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
        .light = frame_scopes_light(frame),
        .scale = o->scale,
        .translucent = 1,
        .words = words,
        .scope = o->scope,
        .scopes = o->scopes,
    };
    /* Use the video's clock, so that the same input gives the same pictures. */
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
    const int ret = displayed_blend(&o->displayed, &o->blender, frame, o->rect, canvas);
    if (ret < 0)
        return media_fail(error, MEDIA_INPUT, "cannot draw the histogram panel: %s",
                          media_av_text(ret));
    return 0;
}

/* ---- before and after ---- */

/* Width of each edge of the dividing line, as in view.c: one pixel, plus one for each EDGE_PART
 * pixels of the picture's shorter side. */
#define EDGE_PART 1440
#define LINE_BRIGHT 0xF0F0F0
#define LINE_DARK 0x101010

enum { LABEL_BEFORE, LABEL_AFTER, LINE, LAYERS };

typedef struct Comparison {
    ViewCompare kind;
    int with_panel;
    Osd *osd;
    Text *text;
    int placed; /* the following members are set */
    Displayed displayed;
    int width, height;        /* of the written frames */
    BlendPlace before, after; /* the parts of both frames that are copied */
    int after_x, after_y;     /* their positions in the written frame */
    int before_x, before_y;
    Canvas line; /* owned */
    Overlay layers[LAYERS];
    Blender blenders[LAYERS]; /* one per layer, as their sizes differ */
} Comparison;

static int out_of_memory(MediaError *error)
{
    return media_fail(error, MEDIA_INPUT, "out of memory for a comparison");
}

static int comparison_open(Comparison *c, const Options *options, MediaError *error)
{
    c->kind = (ViewCompare)options->compare;
    if (osd_open(&c->osd) < 0)
        return out_of_memory(error);
    if (text_open(&c->text) < 0)
        say(SAY_WARNINGS, "no font found: the two pictures have no labels");
    osd_set_text(c->osd, c->text);
    return 0;
}

/* True if the left part of the displayed picture comes first in the stored frame. */
static bool left_is_first(const Displayed *w)
{
    return w->turn.xx + w->turn.xy > 0;
}

/* Returns where the second picture starts in the written frame, rounded down to a chroma sample. */
static int find_seam(const Comparison *c, const AVFrame *frame)
{
    const SampleLayout layout = convert_layout((enum AVPixelFormat)frame->format);
    const int step = 1 << (c->displayed.turn.xx ? layout.chroma_x : layout.chroma_y);
    const int length = c->displayed.turn.xx ? frame->width : frame->height;
    return (c->kind == VIEW_COMPARE_SIDE ? length : length / 2) / step * step;
}

/* Places both pictures along the stored axis that is displayed horizontally, so that they appear
 * side by side. */
static void place_pictures(Comparison *c, const AVFrame *frame)
{
    const int across = c->displayed.turn.xx != 0, first = left_is_first(&c->displayed);
    const int seam = find_seam(c, frame), side = c->kind == VIEW_COMPARE_SIDE;
    const int length = across ? frame->width : frame->height;
    const int from = side ? 0 : seam; /* first visible row or column of the second picture */
    BlendPlace low = {0, 0, frame->width, frame->height}, high = low;
    *(across ? &low.width : &low.height) = seam;
    *(across ? &high.x : &high.y) = from;
    *(across ? &high.width : &high.height) = length - from;
    c->width = frame->width + (side && across ? seam : 0);
    c->height = frame->height + (side && !across ? seam : 0);
    c->before = first ? low : high;
    c->after = first ? high : low;
    if (across)
        *(first ? &c->after_x : &c->before_x) = seam;
    else
        *(first ? &c->after_y : &c->before_y) = seam;
}

/* Draws a label in the middle of the visible part of each picture, as in the window. */
static void draw_labels(Comparison *c, Rect before, Rect after)
{
    const int width = c->displayed.width, height = c->displayed.height;
    const Rect whole = {0, 0, width, height};
    const Rect panel =
        c->with_panel ? panel_place_over(width, height, whole, true, 1).panel : (Rect){0};
    const OsdPlace place = {width, height, {0, -height, width, height}, whole, whole, 1, 1};
    const OsdPart parts[] = {OSD_BEFORE, OSD_AFTER};
    osd_label(c->osd, OSD_BEFORE, panel.width ? panel_free(before, panel) : before);
    osd_label(c->osd, OSD_AFTER, panel.width ? panel_free(after, panel) : after);
    osd_show(c->osd, OSD_BEFORE, INT64_MAX / 2);
    for (int i = 0; i < 2; i++) {
        OsdLayer layer;
        (void)osd_draw(c->osd, parts[i], &place, 0, &layer);
        c->layers[i] = layer.overlay;
    }
}

static int place_both(Comparison *c, const AVFrame *frame, AVFrame *both, MediaError *error)
{
    const Displayed one = c->displayed;
    const int across = one.turn.xx != 0;
    if (displayed_find(&c->displayed, both, error) < 0)
        return error->fault;
    const int length = across ? frame->width : frame->height;
    const int all = across ? both->width : both->height;
    const int low = c->kind == VIEW_COMPARE_SIDE ? all - length : find_seam(c, frame);
    const int left = left_is_first(&c->displayed) ? low : all - low;
    const int column = (int)((int64_t)left * c->displayed.width / all);
    const Rect before = {0, 0, column, c->displayed.height};
    const Rect after = {column, 0, c->displayed.width - column, c->displayed.height};
    c->placed = 1;
    draw_labels(c, before, after);
    if (c->kind != VIEW_COMPARE_SPLIT)
        return 0;
    const int edge = FFMIN(c->displayed.width, c->displayed.height) / EDGE_PART + 1;
    const int width = 4 * edge, height = c->displayed.height;
    c->line = canvas_alloc(width, height);
    if (!c->line.pixels)
        return out_of_memory(error);
    canvas_fill(&c->line, (Rect){0, 0, width, height}, LINE_DARK, 255);
    canvas_fill(&c->line, (Rect){edge, 0, 2 * edge, height}, LINE_BRIGHT, 255);
    c->layers[LINE] = (Overlay){.canvas = c->line, .x = column - width / 2};
    return 0;
}

/* Replaces the equalized frame by a comparison: both frames side by side, or the decoded frame left
 * of a line and the equalized frame right of it. The seam lies between chroma samples, so the left
 * picture may lose its last column. */
static int comparison_make(Comparison *c, const AVFrame *decoded, AVFrame *equalized,
                           MediaError *error)
{
    if (!c->placed) {
        if (displayed_find(&c->displayed, equalized, error) < 0)
            return error->fault;
        place_pictures(c, equalized);
    }
    AVFrame *both = blend_frame_like(&c->blenders[0], equalized, c->width, c->height);
    if (!both)
        return out_of_memory(error);
    blend_copy(both, c->after_x, c->after_y, equalized, c->after);
    blend_copy(both, c->before_x, c->before_y, decoded, c->before);
    int ret = c->placed ? 0 : place_both(c, equalized, both, error);
    for (int i = 0; i < LAYERS && ret >= 0; i++) {
        const Overlay *o = &c->layers[i];
        const Rect rect = {o->x, o->y, o->canvas.width, o->canvas.height};
        if (rect.width > 0 &&
            displayed_blend(&c->displayed, &c->blenders[i], both, rect, &o->canvas) < 0)
            ret = media_fail(error, MEDIA_INPUT, "cannot draw the comparison");
    }
    if (ret >= 0) {
        av_frame_unref(equalized);
        av_frame_move_ref(equalized, both);
    }
    av_frame_free(&both);
    return ret;
}

struct Drawing {
    int compares;
    FrameOverlay overlay;
    Comparison comparison;
};

int drawing_open(Drawing **drawing, const Options *options, MediaError *error)
{
    int ret = 0;
    *drawing = NULL;
    if (!options->overlay && options->compare == VIEW_COMPARE_OFF)
        return 0;
    Drawing *d = *drawing = calloc(1, sizeof(*d));
    if (!d)
        return media_fail(error, MEDIA_INPUT, "out of memory for drawing");
    d->comparison.with_panel = options->overlay;
    d->compares = options->compare != VIEW_COMPARE_OFF;
    if (options->overlay)
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

/* Scopes count the picture before anything is drawn on it. */
static int draw(void *self, Frame *f)
{
    Drawing *d = self;
    AVFrame *frame = f->out;
    if (d->overlay.scopes)
        (void)frame_scopes_count(d->overlay.scopes, frame, 0);
    const int ret = drawing_compare(d, f->decoded.frame, frame, f->error);
    return ret >= 0 && d->comparison.with_panel
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
    panel_cache_free(&d->overlay.panel);
    free(d->overlay.scopes);
    text_close(&d->overlay.text);
    blend_close(&d->overlay.blender);
    osd_close(&d->comparison.osd);
    text_close(&d->comparison.text);
    for (int i = 0; i < LAYERS; i++)
        blend_close(&d->comparison.blenders[i]);
    free(d->comparison.line.pixels);
    free(d);
    *drawing = NULL;
}
