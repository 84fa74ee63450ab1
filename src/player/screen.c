/* What is in the window: pictures and the layers above them. */
#include <stdlib.h>

#include "media/picture_format.h"
#include "panel/panel_place.h"
#include "player/player.h"
#include "player/player_state.h"

/* How often statistics are written anew. */
#define STATISTICS_US 500000

#define MAX_HELP_ROWS 40

static const PanelMode modes[] = {PANEL_OFF, PANEL_BESIDE, PANEL_OVER}; /* by PlayerHistogram */

/* Pictures in `area` of the window. */
static ViewScene scene_in(const Player *p, Rect area)
{
    static const ViewCompare compares[] = {VIEW_COMPARE_OFF, VIEW_COMPARE_SPLIT, VIEW_COMPARE_SIDE};
    ViewScene scene = {
        .area = area,
        .compare = compares[p->look.compare],
        .shown = VIEW_OUTPUT,
        .split = p->look.split,
    };
    window_size(p->window, &scene.width, &scene.height);
    return scene;
}

/* Around all pictures. */
static Rect pictures_in(const Player *p, Rect area)
{
    const ViewScene scene = scene_in(p, area);
    const ViewPlaces places = view_layout(p->view, &scene);
    const Rect in = places.picture[VIEW_INPUT], out = places.picture[VIEW_OUTPUT];
    return in.width > 0 && out.width > 0 ? canvas_around(in, out) : out;
}

/*
 * A panel over the picture stands where a viewer can spare it. Who compares has come for the
 * equalized half: of two pictures it hides as much of each, and of a split the left side, since the
 * equalized part lies to the right of the line wherever that is drawn to.
 */
static PanelPlace place_panel(const Player *p)
{
    static const PanelOver overs[] = {PANEL_OVER_ONE, PANEL_OVER_SPLIT, PANEL_OVER_MIDDLE};
    int width, height;
    window_size(p->window, &width, &height);
    if (p->look.histogram != PLAYER_HISTOGRAM_OVERLAY)
        return panel_place(width, height, modes[p->look.histogram]);
    const Rect around = pictures_in(p, (Rect){0, 0, width, height});
    return panel_place_over(width, height, around, overs[p->look.compare]);
}

ViewScene screen_scene(const Player *p)
{
    return scene_in(p, place_panel(p).picture);
}

/* ---- the window's shape ---- */

/* A picture fills what it is shown in where no more than this part of a side is left. */
#define BORDER_PART 50

/* How often a size is tried to fit: each try comes closer by a factor of four or so. */
#define TRIES 16

/* The largest picture, up to its own size, that fits onto the desktop together with the panel. */
void screen_fit_window(Player *p, int width, int height)
{
    int most_width, most_height, across = width, down = height;
    double share = 1;
    window_most(p->window, &most_width, &most_height);
    for (int i = 0; i < TRIES; i++) {
        across = FFMAX((int)(width * share), 1);
        down = FFMAX((int)(height * share), 1);
        if (p->look.histogram == PLAYER_HISTOGRAM_PANEL)
            panel_add_room(&across, &down);
        if (across <= most_width && down <= most_height)
            break;
        share *= FFMIN((double)most_width / across, (double)most_height / down);
    }
    window_resize(p->window, across, down);
}

static int fills(Rect pictures, Rect area)
{
    return pictures.width > 0 && area.width - pictures.width <= area.width / BORDER_PART &&
           area.height - pictures.height <= area.height / BORDER_PART;
}

/*
 * A window without borders around its picture keeps having none: it loses the panel's room with the
 * panel and gets it back, while the picture stays where it is and as large. One with borders has
 * been given its shape by the user, or by a window manager, and keeps it, as one does that covers
 * the screen or that the desktop has no room for.
 */
int screen_set_histogram(Player *p, PlayerHistogram histogram)
{
    const PanelPlace before = place_panel(p);
    const Rect pictures = pictures_in(p, before.picture);
    const double density = window_density(p->window);
    const int had = p->look.histogram == PLAYER_HISTOGRAM_PANEL && before.panel.width > 0;
    const int wants = histogram == PLAYER_HISTOGRAM_PANEL;
    int width = pictures.width, height = pictures.height;
    p->look.histogram = histogram;
    if (wants)
        panel_add_room(&width, &height);
    const int changes = had != wants && fills(pictures, before.picture) &&
                        window_change(p->window, (int)(width / density), (int)(height / density));
    /* The window may not have that size yet. */
    const PanelPlace now = changes ? panel_place(width, height, modes[histogram]) : place_panel(p);
    return histogram == PLAYER_HISTOGRAM_OFF || now.panel.width > 0;
}

/* ---- layers ---- */

/* A layer that is too large for the machine is not shown; the picture is what matters. */
static void put_layer(Player *p, ViewLayer layer, const Overlay *overlay, double opacity)
{
    char why[256];
    const int there = overlay->canvas.width > 0;
    const int64_t begin = player_now();
    if (view_set_layer(p->view, layer, there ? &overlay->canvas : NULL, overlay->x, overlay->y,
                       opacity, why, sizeof(why)) < 0)
        p->options.detail(why);
    p->measured.drawing += player_now() - begin;
    p->dirty = 1;
}

static void draw_panel(Player *p, int64_t now)
{
    const EqualizedFrame *f = p->shown.frame;
    const LumeqFrameStats none = {0}, *m = f ? &f->stats : &none;
    const Rect panel = place_panel(p).panel;
    const PanelData data = {
        .bins = m->bins,
        .depth = f ? equalizer_depth(f->out) : 0,
        .hist_in = m->hist_in,
        .hist_out = m->hist_out,
        .curve = m->curve,
        .full_range = f && f->out->color_range == AVCOL_RANGE_JPEG,
        .scale = p->look.log_scale ? PANEL_LOG : PANEL_LINEAR,
        .translucent = p->look.histogram == PLAYER_HISTOGRAM_OVERLAY,
    };
    Overlay overlay = {.x = panel.x, .y = panel.y};
    const Canvas *canvas = NULL;
    if (panel.width > 0 && m->bins)
        canvas = panel_cache_draw(p->layers.panel, &data, panel.width, panel.height, p->layers.text,
                                  now);
    if (canvas)
        overlay.canvas = *canvas;
    p->layers.panel_at =
        canvas && panel_cache_is_late(p->layers.panel) ? now + PANEL_NUMBERS_US : 0;
    put_layer(p, VIEW_LAYER_PANEL, &overlay, 1);
}

/* Shown on its side. */
static int is_turned(const AVFrame *frame)
{
    char why[128];
    PictureFormat format;
    return picture_format(&format, frame, why, sizeof(why)) >= 0 && format.has_turn &&
           format.turn.xx == 0;
}

/* Frames may be seconds apart. */
static int64_t time_of_subtitles(Player *p, int64_t now)
{
    const Playback *b = p->playback;
    if (b->paused || b->pending)
        return p->shown.position;
    return FFMAX(p->shown.position, playback_time(p->playback, now));
}

static void draw_subtitles(Player *p, int64_t now)
{
    const ViewScene scene = screen_scene(p);
    const ViewPlaces places = view_layout(p->view, &scene);
    Overlay overlay = {0};
    int changed = p->layers.subtitles_shown != p->look.subtitles_on;
    p->layers.subtitles_shown = p->look.subtitles_on;
    if (p->look.subtitles_on && p->shown.frame) {
        const AVFrame *in = p->shown.frame->decoded.frame;
        const int turned = is_turned(in);
        const SubtitlesPlace place = {
            .picture = places.picture[VIEW_OUTPUT],
            .video_width = turned ? in->height : in->width,
            .video_height = turned ? in->width : in->height,
        };
        changed |= subtitles_draw(p->layers.subtitles, time_of_subtitles(p, now), &place, &overlay);
    }
    if (changed)
        put_layer(p, VIEW_LAYER_SUBTITLES, &overlay, 1);
}

static void write_rows(Player *p, int64_t now)
{
    OsdRow rows[OSD_MAX_ROWS];
    if (p->look.help != p->layers.help_shown)
        osd_set_rows(p->layers.osd, OSD_HELP, rows,
                     p->look.help ? controls_help(rows, OSD_MAX_ROWS) : 0);
    p->layers.help_shown = p->look.help;
    if (now >= p->layers.statistics_at) {
        osd_set_rows(p->layers.osd, OSD_STATISTICS, rows,
                     p->look.statistics ? status_rows(p, rows, OSD_MAX_ROWS) : 0);
        p->layers.statistics_at = p->look.statistics ? now + STATISTICS_US : INT64_MAX;
    }
}

/* Each half of a comparison, where the panel does not cover it. */
static void place_labels(Player *p, const ViewScene *scene, Rect panel)
{
    const ViewPlaces places = view_layout(p->view, scene);
    Rect before = places.picture[VIEW_INPUT], after = places.picture[VIEW_OUTPUT];
    if (before.width <= 0 || after.width <= 0)
        before = after = (Rect){0};
    if (scene->compare == VIEW_COMPARE_SPLIT) {
        const int column = view_split_column(&places, scene->split);
        before.width = column - before.x;
        after.width = after.x + after.width - column;
        after.x = column;
    }
    osd_label(p->layers.osd, OSD_BEFORE, panel_free(before, panel));
    osd_label(p->layers.osd, OSD_AFTER, panel_free(after, panel));
}

static void draw_osd(Player *p, int64_t now)
{
    static const ViewLayer layers[OSD_PARTS] = {VIEW_LAYER_MESSAGE, VIEW_LAYER_STATISTICS,
                                                VIEW_LAYER_HELP,    VIEW_LAYER_RECORDING,
                                                VIEW_LAYER_BEFORE,  VIEW_LAYER_AFTER};
    const ViewScene scene = screen_scene(p);
    const PanelPlace panel = place_panel(p);
    const OsdPlace place = {
        .width = scene.width,
        .height = scene.height,
        .area = panel.free,
        .picture = scene.area,
        .density = window_density(p->window),
    };
    place_labels(p, &scene, panel.panel);
    write_rows(p, now);
    for (int part = 0; part < OSD_PARTS; part++) {
        OsdLayer layer;
        const int changed = osd_draw(p->layers.osd, (OsdPart)part, &place, now, &layer);
        if (changed)
            put_layer(p, layers[part], &layer.overlay, layer.opacity);
        else if (layer.opacity != p->layers.opacity[part]) {
            view_move_layer(p->view, layers[part], layer.overlay.x, layer.overlay.y, layer.opacity);
            p->dirty = 1;
        }
        p->layers.opacity[part] = layer.opacity;
    }
}

/* ---- drawing ---- */

/* The frame rate is the one of the last second or so. */
static void note_rate(Player *p, int64_t now)
{
    if (!p->measured.rate_since)
        p->measured.rate_since = now;
    p->measured.rate_count++;
    if (now - p->measured.rate_since < STATISTICS_US * 2)
        return;
    p->measured.rate =
        (double)p->measured.rate_count * 1e6 / (double)(now - p->measured.rate_since);
    p->measured.rate_since = now;
    p->measured.rate_count = 0;
}

static void note_shown(Player *p, int64_t now)
{
    Shown *s = &p->shown;
    const int64_t heard = playback_heard(p->playback, now);
    s->drawn = 1;
    showing_note_view(p);
    p->count++;
    if (heard != AV_NOPTS_VALUE)
        p->measured.offset = s->position - heard;
    note_rate(p, now);
    p->equalizer.shown(p->equalizer.opaque, s->frame, s->view_us + s->draw_us);
}

/* Of several keys that are answered at once, the first has waited longest. */
static void note_response(Player *p, int64_t now)
{
    if (!p->measured.asked_at || equalize_stage_is_behind(p->stage))
        return;
    delay_note(&p->measured.response, now - p->measured.asked_at);
    p->measured.asked_at = 0;
}

static int draw(Player *p, MediaError *error)
{
    char why[256];
    const int64_t begin = player_now();
    const ViewScene scene = screen_scene(p);
    if (view_draw(p->view, &scene, why, sizeof(why)) < 0)
        return media_fail(error, MEDIA_USAGE, "%s", why);
    p->shown.draw_us = (double)(player_now() - begin);
    window_swap(p->window);
    const int64_t end = player_now();
    p->measured.drawing += end - begin;
    note_response(p, end);
    p->dirty = 0;
    return 0;
}

int screen_update(Player *p, int64_t now, int64_t *wait, MediaError *error)
{
    const int fresh = p->shown.frame && !p->shown.drawn && !p->shown.missing &&
                      now >= p->shown.due - DRAW_LEAD_US;
    if (p->layers.panel_at && now >= p->layers.panel_at)
        p->dirty = 1;
    const int64_t begin = player_now();
    if (fresh || p->dirty)
        draw_panel(p, now);
    draw_subtitles(p, now);
    draw_osd(p, now);
    p->shown.layers_us = (double)(player_now() - begin);
    *wait = FFMIN(*wait, osd_wait(p->layers.osd, now));
    *wait = FFMIN(*wait, FFMAX(p->layers.statistics_at - now, 0));
    if (!fresh && !p->dirty)
        return 0;
    const int ret = draw(p, error);
    if (ret >= 0 && fresh)
        note_shown(p, player_now());
    *wait = 0;
    return ret;
}

/* ---- pictures of it ---- */

void screen_shoot(Player *p)
{
    char why[256];
    int width, height;
    view_picture_size(p->view, VIEW_OUTPUT, &width, &height);
    if (width <= 0 || screenshot_is_busy(p->screenshot))
        return;
    const Canvas canvas = {malloc((size_t)width * (size_t)height * 4), (ptrdiff_t)width * 4, width,
                           height};
    if (!canvas.pixels) {
        status_say(p, "No screenshot: out of memory");
    } else if (view_render_picture(p->view, VIEW_OUTPUT, &canvas, why, sizeof(why)) < 0) {
        free(canvas.pixels);
        status_say(p, "No screenshot: %s", why);
    } else if (screenshot_start(p->screenshot, p->options.screenshot_dir, p->path,
                                p->shown.position, canvas.pixels, width, height) < 0) {
        status_say(p, "No screenshot: no thread can be started");
    }
}

uint8_t *player_grab(Player *p, int *width, int *height)
{
    char why[256];
    const ViewScene scene = screen_scene(p);
    *width = scene.width;
    *height = scene.height;
    const Canvas canvas = {malloc((size_t)scene.width * (size_t)scene.height * 4),
                           (ptrdiff_t)scene.width * 4, scene.width, scene.height};
    if (canvas.pixels && view_read(p->view, &scene, &canvas, why, sizeof(why)) < 0) {
        free(canvas.pixels);
        return NULL;
    }
    return canvas.pixels;
}
