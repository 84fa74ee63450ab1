#include "app/comparison.h"

#include <stdlib.h>

#include "app/terminal.h"
#include "app/watched.h"
#include "panel/panel_place.h"
#include "player/osd/osd.h"
#include "player/player_options.h"

/* The line, as the window draws it (view.c): the part of the shorter side that an edge is wide. */
#define EDGE_PART 1440
#define LINE_BRIGHT 0xF0F0F0
#define LINE_DARK 0x101010

/* What is laid over the pictures. */
enum { LABEL_BEFORE, LABEL_AFTER, LINE, LAID };

struct Comparison {
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
};

static int out_of_memory(MediaError *error)
{
    return media_fail(error, MEDIA_INPUT, "out of memory for a comparison");
}

int comparison_open(Comparison **comparison, const Options *options, MediaError *error)
{
    *comparison = NULL;
    if (options->compare == PLAYER_COMPARE_OFF)
        return 0;
    Comparison *c = *comparison = calloc(1, sizeof(*c));
    if (!c || osd_open(&c->osd) < 0) {
        comparison_close(comparison);
        return out_of_memory(error);
    }
    c->kind = (PlayerCompare)options->compare;
    c->with_panel = options->overlay;
    if (text_open(&c->text) < 0)
        say(SAY_WARNINGS, "no font was found: the two pictures have no labels");
    osd_set_text(c->osd, c->text);
    return 0;
}

/* ---- where things are ---- */

/* Of what is watched, the left part comes first in the frame as it is stored. */
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

/* As if the left picture were the first one along the columns; then what is otherwise. */
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

/* In the middle of what is seen of each, as in the window, but that no message is above them. */
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

static int place(Comparison *c, const AVFrame *frame, AVFrame *both, MediaError *error)
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

/* ---- one frame ---- */

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

int comparison_make(Comparison *c, const AVFrame *decoded, AVFrame *equalized, MediaError *error)
{
    if (!c)
        return 0;
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
    int ret = c->placed ? 0 : place(c, equalized, both, error);
    if (ret >= 0 && lay(c, both) < 0)
        ret = media_fail(error, MEDIA_INPUT, "a comparison cannot be drawn");
    if (ret >= 0) {
        av_frame_unref(equalized);
        av_frame_move_ref(equalized, both);
    }
    av_frame_free(&both);
    return ret;
}

void comparison_close(Comparison **comparison)
{
    Comparison *c = *comparison;
    if (!c)
        return;
    osd_close(&c->osd);
    text_close(&c->text);
    for (int i = 0; i < LAID; i++)
        blend_close(&c->blenders[i]);
    free(c->line.pixels);
    free(c);
    *comparison = NULL;
}
