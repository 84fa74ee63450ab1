#include "player/screen.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "media/input/track_choice.h"
#include "media/picture_format.h"
#include "panel/panel.h"
#include "panel/panel_place.h"
#include "player/clock.h"
#include "player/controls.h"
#include "player/screenshot.h"
#include "player/view/view.h"
#include "player/view/view_cuda.h"
#include "player/window.h"

/* How often statistics are written anew. */
#define STATISTICS_US 500000

#define USUAL_WIDTH 1280
#define USUAL_HEIGHT 720

/* Text is loaded beside the loop: looking for fonts takes long. */
typedef struct TextLoader {
    pthread_t thread;
    int running;
    atomic_int done;
    Text *text; /* once it is done, NULL where there is no font */
} TextLoader;

struct Screen {
    ScreenOptions options;
    ScreenState state;
    Window *window;
    View *view;
    ViewCuda *cuda; /* NULL: planes go through host memory */
    Screenshot *screenshot;
    TextLoader loader;
    Text *text; /* NULL: not there yet, or no font */
    Osd *osd;
    PanelCache *panel;
    int64_t panel_at;      /* when its numbers are to be drawn anew, 0: they are not */
    int64_t statistics_at; /* when they are to be written anew */
    int subtitles_shown;
    double opacity[OSD_PARTS];
    int cursor_shown;
    int dirty; /* something is to change */
};

static const PanelMode modes[] = {PANEL_OFF, PANEL_BESIDE, PANEL_OVER}; /* by PlayerHistogram */

const ScreenState *screen_state(const Screen *s)
{
    return &s->state;
}

int screen_is_fullscreen(const Screen *s)
{
    return window_is_fullscreen(s->window);
}

int screen_takes_device(const Screen *s)
{
    return s->cuda && !view_cuda_failure(s->cuda);
}

void screen_touch(Screen *s)
{
    s->dirty = 1;
}

/* ---- where things are ---- */

/* Pictures in `area` of the window. */
static ViewScene scene_in(const Screen *s, Rect area)
{
    static const ViewCompare compares[] = {VIEW_COMPARE_OFF, VIEW_COMPARE_SPLIT, VIEW_COMPARE_SIDE};
    ViewScene scene = {
        .area = area,
        .compare = compares[s->state.look.compare],
        .shown = VIEW_OUTPUT,
        .split = s->state.look.split,
    };
    window_size(s->window, &scene.width, &scene.height);
    return scene;
}

/* Around all pictures. */
static Rect pictures_in(const Screen *s, Rect area)
{
    const ViewScene scene = scene_in(s, area);
    const ViewPlaces places = view_layout(s->view, &scene);
    const Rect in = places.picture[VIEW_INPUT], out = places.picture[VIEW_OUTPUT];
    return in.width > 0 && out.width > 0 ? canvas_around(in, out) : out;
}

/*
 * A panel over the picture stands where a viewer can spare it. Who compares has come for the
 * equalized half: of two pictures it hides as much of each, and of a split the left side, since the
 * equalized part lies to the right of the line wherever that is drawn to.
 */
static PanelPlace place_panel(const Screen *s)
{
    static const PanelOver overs[] = {PANEL_OVER_ONE, PANEL_OVER_SPLIT, PANEL_OVER_MIDDLE};
    int width, height;
    window_size(s->window, &width, &height);
    if (s->state.look.histogram != PLAYER_HISTOGRAM_OVERLAY)
        return panel_place(width, height, modes[s->state.look.histogram]);
    const Rect around = pictures_in(s, (Rect){0, 0, width, height});
    return panel_place_over(width, height, around, overs[s->state.look.compare]);
}

static ViewScene scene_of(const Screen *s)
{
    return scene_in(s, place_panel(s).picture);
}

double screen_split_at(const Screen *s, int x, int y)
{
    int px, py;
    const ViewScene scene = scene_of(s);
    const Rect picture = view_layout(s->view, &scene).picture[VIEW_OUTPUT];
    window_to_pixels(s->window, x, y, &px, &py);
    if (picture.width <= 0)
        return s->state.look.split;
    return av_clipd((double)(px - picture.x) / picture.width, 0, 1);
}

/* ---- the window's shape ---- */

/* A picture fills what it is shown in where no more than this part of a side is left. */
#define BORDER_PART 50

/* How often a size is tried to fit: each try comes closer by a factor of four or so. */
#define TRIES 16

/* The largest picture, up to its own size, that fits onto the desktop together with the panel. */
static void fit_window(Screen *s, int width, int height)
{
    int most_width, most_height, across = width, down = height;
    double share = 1;
    window_most(s->window, &most_width, &most_height);
    for (int i = 0; i < TRIES; i++) {
        across = FFMAX((int)(width * share), 1);
        down = FFMAX((int)(height * share), 1);
        if (s->state.look.histogram == PLAYER_HISTOGRAM_PANEL)
            panel_add_room(&across, &down);
        if (across <= most_width && down <= most_height)
            break;
        share *= FFMIN((double)most_width / across, (double)most_height / down);
    }
    window_resize(s->window, across, down);
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
static int set_histogram(Screen *s, PlayerHistogram histogram)
{
    const PanelPlace before = place_panel(s);
    const Rect pictures = pictures_in(s, before.picture);
    const double density = window_density(s->window);
    const int had = s->state.look.histogram == PLAYER_HISTOGRAM_PANEL && before.panel.width > 0;
    const int wants = histogram == PLAYER_HISTOGRAM_PANEL;
    int width = pictures.width, height = pictures.height;
    s->state.look.histogram = histogram;
    if (wants)
        panel_add_room(&width, &height);
    const int changes = had != wants && fills(pictures, before.picture) &&
                        window_change(s->window, (int)(width / density), (int)(height / density));
    /* The window may not have that size yet. */
    const PanelPlace now = changes ? panel_place(width, height, modes[histogram]) : place_panel(s);
    return histogram == PLAYER_HISTOGRAM_OFF || now.panel.width > 0;
}

/* Of a photo, the first frame alone says that it is shown on its side. */
void screen_fit(Screen *s, const Source *source)
{
    int width, height, across, down;
    view_picture_size(s->view, VIEW_OUTPUT, &width, &height);
    track_display_size(source, &across, &down);
    if (across > 0 && (width > height) != (across > down))
        fit_window(s, width, height);
}

/* ---- what it says ---- */

void screen_message(Screen *s, const char *line, double share)
{
    snprintf(s->state.message, sizeof(s->state.message), "%s", line);
    osd_message(s->osd, clock_now(), s->state.message, share);
    s->dirty = 1;
}

void screen_say(Screen *s, const char *format, ...)
{
    char line[sizeof(s->state.message)];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    screen_message(s, line, -1);
}

int screen_wants_statistics(const Screen *s, int64_t now)
{
    return now >= s->statistics_at;
}

void screen_set_statistics(Screen *s, const OsdRow *rows, int count, int64_t now)
{
    osd_set_rows(s->osd, OSD_STATISTICS, rows, count);
    s->statistics_at = now + STATISTICS_US;
}

void screen_set_title(Screen *s, const char *title)
{
    window_set_title(s->window, title);
}

/* ---- its threads ---- */

static void *load_text(void *arg)
{
    Screen *s = arg;
    if (text_open(&s->loader.text) < 0)
        s->loader.text = NULL;
    atomic_store(&s->loader.done, 1);
    s->options.wake(s->options.opaque);
    return NULL;
}

/* Once the first frame is on the screen. */
static void start_text(Screen *s)
{
    if (s->loader.running || s->text || atomic_load(&s->loader.done))
        return;
    s->loader.running = pthread_create(&s->loader.thread, NULL, load_text, s) == 0;
}

static void finish_text(Screen *s)
{
    if (!s->loader.running)
        return;
    pthread_join(s->loader.thread, NULL);
    s->loader.running = 0;
    s->text = s->loader.text;
    osd_set_text(s->osd, s->text);
    osd_show_labels(s->osd, clock_now() + OSD_LABELS_US);
    s->dirty = 1;
    if (!s->text)
        s->options.player->detail("no font was found: the window shows no text");
}

void screen_follow(Screen *s)
{
    char text[PATH_MAX + 64];
    if (atomic_load(&s->loader.done))
        finish_text(s);
    const int result = screenshot_result(s->screenshot, text, sizeof(text));
    if (result)
        screen_say(s, "%s", text);
    s->state.screenshots += result > 0;
}

/* ---- opening ---- */

static int open_window(Screen *s, const Source *source, MediaError *error)
{
    char why[256];
    WindowOptions options = {
        .title = "lumeq",
        .fullscreen = s->options.player->fullscreen,
        .lost = s->options.player->lost,
        .opaque = s->options.player->opaque,
    };
    track_display_size(source, &options.width, &options.height);
    if (options.width <= 0 || options.height <= 0) {
        options.width = USUAL_WIDTH;
        options.height = USUAL_HEIGHT;
    }
    const int width = options.width, height = options.height;
    if (s->state.look.histogram == PLAYER_HISTOGRAM_PANEL)
        panel_add_room(&options.width, &options.height);
    if (window_open(&s->window, &options, why, sizeof(why)) < 0 ||
        view_open(&s->view, why, sizeof(why)) < 0)
        return media_fail(error, MEDIA_USAGE, "%s; %s or --null works without a window", why,
                          source->camera ? "-o with --frames" : "-o");
    snprintf(s->state.renderer, sizeof(s->state.renderer), "%s", view_renderer(s->view));
    view_set_mirror(s->view, s->state.look.mirrored);
    fit_window(s, width, height);
    window_show(s->window);
    window_keep_awake(s->window, 1);
    return 0;
}

/* Without it, planes go through host memory. */
static void open_cuda(Screen *s)
{
    char why[256], line[320];
    if (s->options.device < 0)
        return;
    if (view_cuda_open(&s->cuda, s->options.device, why, sizeof(why)) >= 0) {
        view_set_uploader(s->view, view_cuda_uploader(s->cuda));
        snprintf(line, sizeof(line), "equalized luma stays on the GPU");
    } else {
        snprintf(line, sizeof(line), "frames are shown through host memory: %s", why);
    }
    s->options.player->detail(line);
}

static int open_all(Screen *s, const Source *source, MediaError *error)
{
    s->screenshot = screenshot_create(s->options.wake, s->options.opaque);
    if (!s->screenshot || osd_open(&s->osd) < 0 || panel_cache_create(&s->panel) < 0)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    const int ret = open_window(s, source, error);
    if (ret >= 0)
        open_cuda(s);
    return ret;
}

int screen_open(Screen **screen, const ScreenOptions *options, const Source *source,
                MediaError *error)
{
    Screen *s = calloc(1, sizeof(*s));
    *screen = s;
    if (!s)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    s->options = *options;
    s->state.look = (Look){
        .compare = options->player->compare,
        .histogram = options->player->histogram,
        .log_scale = options->player->log_scale,
        .mirrored = options->player->mirror,
        .subtitles_on = 1,
        .split = 0.5,
    };
    s->cursor_shown = 1; /* until the first turn */
    s->statistics_at = INT64_MAX;
    const int ret = open_all(s, source, error);
    if (ret < 0)
        screen_close(screen);
    return ret;
}

void screen_close(Screen **screen)
{
    Screen *s = *screen;
    if (!s)
        return;
    if (s->loader.running)
        finish_text(s);
    screenshot_free(&s->screenshot);
    osd_close(&s->osd);
    text_close(&s->text);
    panel_cache_free(&s->panel);
    view_close(&s->view);
    view_cuda_close(&s->cuda);
    window_close(&s->window);
    free(s);
    *screen = NULL;
}

/* ---- pictures in their textures ---- */

static int upload(Screen *s, ViewSide side, const AVFrame *frame, MediaError *error)
{
    char why[256];
    if (view_set_frame(s->view, side, frame, why, sizeof(why)) >= 0)
        return 0;
    return media_fail(error, MEDIA_INPUT, "%s", why);
}

/* Shows the untouched picture as well, or not any more. */
static int upload_input(Screen *s, const EqualizedFrame *f, MediaError *error)
{
    const int is_seen = f && s->state.look.compare != PLAYER_COMPARE_OFF;
    return upload(s, VIEW_INPUT, is_seen ? f->decoded.frame : NULL, error);
}

static int upload_both(Screen *s, const EqualizedFrame *f, MediaError *error)
{
    const int ret = upload(s, VIEW_OUTPUT, f->out, error);
    return ret < 0 || s->state.look.compare == PLAYER_COMPARE_OFF ? ret : upload_input(s, f, error);
}

/* Where CUDA can bring planes to OpenGL; once that has failed, never again. */
static int can_stay_on_device(Screen *s)
{
    if (s->cuda && view_cuda_failure(s->cuda)) {
        s->options.player->detail(view_cuda_failure(s->cuda));
        view_set_uploader(s->view, NULL);
        view_cuda_close(&s->cuda);
    }
    return s->cuda != NULL;
}

int screen_put(Screen *s, const EqualizedFrame *frame, int lost, MediaError *error)
{
    const int64_t begin = clock_now();
    MediaError failed = {0};
    s->state.upload_us = 0;
    if (s->cuda && lost)
        view_cuda_give_up(s->cuda, "the CPU has taken over");
    if (!can_stay_on_device(s) && frame->on_device)
        return 1;
    const int ret = upload_both(s, frame, &failed);
    if (ret < 0 && frame->on_device && !can_stay_on_device(s))
        return 1;
    if (ret < 0)
        return media_fail(error, failed.fault, "%s", failed.text);
    const int64_t took = clock_now() - begin;
    s->state.drawing += took;
    s->state.upload_us = (double)took;
    s->dirty = 1;
    return 0;
}

/* ---- how it looks ---- */

static void show_histogram(Screen *s, PlayerHistogram histogram)
{
    static const char *const names[] = {"off", "beside the picture", "over the picture"};
    const int has_room = set_histogram(s, histogram);
    screen_say(s, "Histogram: %s%s", has_room ? "" : "no room ", names[histogram]);
}

static int show_compare(Screen *s, const EqualizedFrame *frame, MediaError *error)
{
    static const char *const names[] = {"off", "split", "side by side"};
    screen_say(s, "Compare: %s", names[s->state.look.compare]);
    osd_show_labels(s->osd, clock_now() + OSD_LABELS_US);
    return upload_input(s, frame, error);
}

static void show_help(Screen *s, int shown)
{
    OsdRow rows[OSD_MAX_ROWS];
    osd_set_rows(s->osd, OSD_HELP, rows, shown ? controls_help(rows, OSD_MAX_ROWS) : 0);
}

static void show_statistics(Screen *s, int shown)
{
    osd_set_rows(s->osd, OSD_STATISTICS, NULL, 0);
    s->statistics_at = shown ? 0 : INT64_MAX;
}

int screen_set_look(Screen *s, const Look *look, const EqualizedFrame *frame, MediaError *error)
{
    const Look before = s->state.look;
    if (look->histogram != before.histogram)
        show_histogram(s, look->histogram);
    s->state.look = *look;
    if (look->log_scale != before.log_scale)
        screen_say(s, "Histogram: %s", look->log_scale ? "logarithmic" : "linear");
    if (look->subtitles_on != before.subtitles_on)
        screen_say(s, "Subtitles: %s", look->subtitles_on ? "shown" : "hidden");
    if (look->mirrored != before.mirrored) {
        view_set_mirror(s->view, look->mirrored);
        screen_say(s, "Mirror: %s", look->mirrored ? "on" : "off");
    }
    if (look->statistics != before.statistics)
        show_statistics(s, look->statistics);
    if (look->help != before.help)
        show_help(s, look->help);
    return look->compare != before.compare ? show_compare(s, frame, error) : 0;
}

void screen_toggle_fullscreen(Screen *s)
{
    char why[256];
    if (window_set_fullscreen(s->window, !window_is_fullscreen(s->window), why, sizeof(why)) < 0)
        screen_say(s, "%s", why);
}

void screen_quit(const Screen *s, int by_itself)
{
    window_quit(s->window, by_itself);
}

void screen_show_cursor(Screen *s, int64_t until, int64_t now)
{
    const int shown = until && now <= until;
    if (shown != s->cursor_shown)
        window_show_cursor(s->window, shown);
    if (shown)
        osd_show_labels(s->osd, until);
    s->cursor_shown = shown;
}

/* ---- layers ---- */

/* A layer that is too large for the machine is not shown; the picture is what matters. */
static void put_layer(Screen *s, ViewLayer layer, const Overlay *overlay, double opacity)
{
    char why[256];
    const int there = overlay->canvas.width > 0;
    const int64_t begin = clock_now();
    if (view_set_layer(s->view, layer, there ? &overlay->canvas : NULL, overlay->x, overlay->y,
                       opacity, why, sizeof(why)) < 0)
        s->options.player->detail(why);
    s->state.drawing += clock_now() - begin;
    s->dirty = 1;
}

static void draw_panel(Screen *s, const EqualizedFrame *f, int64_t now)
{
    const LumeqFrameStats none = {0}, *m = f ? &f->stats : &none;
    const Rect panel = place_panel(s).panel;
    const PanelData data = {
        .bins = m->bins,
        .depth = f ? equalizer_depth(f->out) : 0,
        .hist_in = m->hist_in,
        .hist_out = m->hist_out,
        .curve = m->curve,
        .full_range = f && f->out->color_range == AVCOL_RANGE_JPEG,
        .scale = s->state.look.log_scale ? PANEL_LOG : PANEL_LINEAR,
        .translucent = s->state.look.histogram == PLAYER_HISTOGRAM_OVERLAY,
    };
    Overlay overlay = {.x = panel.x, .y = panel.y};
    const Canvas *canvas = NULL;
    if (panel.width > 0 && m->bins)
        canvas = panel_cache_draw(s->panel, &data, panel.width, panel.height, s->text, now);
    if (canvas)
        overlay.canvas = *canvas;
    s->panel_at = canvas && panel_cache_is_late(s->panel) ? now + PANEL_NUMBERS_US : 0;
    put_layer(s, VIEW_LAYER_PANEL, &overlay, 1);
}

/* Shown on its side. */
static int is_turned(const AVFrame *frame)
{
    char why[128];
    PictureFormat format;
    return picture_format(&format, frame, why, sizeof(why)) >= 0 && format.has_turn &&
           format.turn.xx == 0;
}

static void draw_subtitles(Screen *s, const ScreenContent *content)
{
    const ViewScene scene = scene_of(s);
    const ViewPlaces places = view_layout(s->view, &scene);
    Overlay overlay = {0};
    int changed = s->subtitles_shown != s->state.look.subtitles_on;
    s->subtitles_shown = s->state.look.subtitles_on;
    if (s->state.look.subtitles_on && content->frame) {
        const AVFrame *in = content->frame->decoded.frame;
        const int turned = is_turned(in);
        const SubtitlesPlace place = {
            .picture = places.picture[VIEW_OUTPUT],
            .video_width = turned ? in->height : in->width,
            .video_height = turned ? in->width : in->height,
        };
        changed |= subtitles_draw(content->subtitles, content->position, &place, &overlay);
    }
    if (changed)
        put_layer(s, VIEW_LAYER_SUBTITLES, &overlay, 1);
}

/* Each half of a comparison, where the panel does not cover it. */
static void place_labels(Screen *s, const ViewScene *scene, Rect panel)
{
    const ViewPlaces places = view_layout(s->view, scene);
    Rect before = places.picture[VIEW_INPUT], after = places.picture[VIEW_OUTPUT];
    if (before.width <= 0 || after.width <= 0)
        before = after = (Rect){0};
    if (scene->compare == VIEW_COMPARE_SPLIT) {
        const int column = view_split_column(&places, scene->split);
        before.width = column - before.x;
        after.width = after.x + after.width - column;
        after.x = column;
    }
    osd_label(s->osd, OSD_BEFORE, panel_free(before, panel));
    osd_label(s->osd, OSD_AFTER, panel_free(after, panel));
}

static void draw_osd(Screen *s, int64_t now)
{
    static const ViewLayer layers[OSD_PARTS] = {VIEW_LAYER_MESSAGE, VIEW_LAYER_STATISTICS,
                                                VIEW_LAYER_HELP,    VIEW_LAYER_RECORDING,
                                                VIEW_LAYER_BEFORE,  VIEW_LAYER_AFTER};
    const ViewScene scene = scene_of(s);
    const PanelPlace panel = place_panel(s);
    const OsdPlace place = {
        .width = scene.width,
        .height = scene.height,
        .area = panel.free,
        .picture = scene.area,
        .density = window_density(s->window),
    };
    place_labels(s, &scene, panel.panel);
    for (int part = 0; part < OSD_PARTS; part++) {
        OsdLayer layer;
        const int changed = osd_draw(s->osd, (OsdPart)part, &place, now, &layer);
        if (changed)
            put_layer(s, layers[part], &layer.overlay, layer.opacity);
        else if (layer.opacity != s->opacity[part]) {
            view_move_layer(s->view, layers[part], layer.overlay.x, layer.overlay.y, layer.opacity);
            s->dirty = 1;
        }
        s->opacity[part] = layer.opacity;
    }
}

/* ---- drawing ---- */

static int draw(Screen *s, MediaError *error)
{
    char why[256];
    const int64_t begin = clock_now();
    const ViewScene scene = scene_of(s);
    if (view_draw(s->view, &scene, why, sizeof(why)) < 0)
        return media_fail(error, MEDIA_USAGE, "%s", why);
    s->state.draw_us = (double)(clock_now() - begin);
    window_swap(s->window);
    s->state.drawing += clock_now() - begin;
    s->dirty = 0;
    return 1;
}

int screen_update(Screen *s, const ScreenContent *content, int64_t now, int64_t *wait,
                  MediaError *error)
{
    if (content->fresh || (s->panel_at && now >= s->panel_at))
        s->dirty = 1;
    const int64_t begin = clock_now();
    if (s->dirty)
        draw_panel(s, content->frame, now);
    draw_subtitles(s, content);
    osd_notice(s->osd, content->notice);
    osd_recording(s->osd, content->recording);
    draw_osd(s, now);
    s->state.layers_us = (double)(clock_now() - begin);
    *wait = FFMIN(*wait, osd_wait(s->osd, now));
    *wait = FFMIN(*wait, FFMAX(s->statistics_at - now, 0));
    if (!s->dirty)
        return 0;
    const int ret = draw(s, error);
    if (ret >= 0 && content->fresh)
        start_text(s);
    *wait = 0;
    return ret;
}

/* ---- pictures of it ---- */

void screen_shoot(Screen *s, const char *path, int64_t position)
{
    char why[256];
    int width, height;
    view_picture_size(s->view, VIEW_OUTPUT, &width, &height);
    if (width <= 0 || screenshot_is_busy(s->screenshot))
        return;
    const Canvas canvas = {malloc((size_t)width * (size_t)height * 4), (ptrdiff_t)width * 4, width,
                           height};
    if (!canvas.pixels) {
        screen_say(s, "No screenshot: out of memory");
    } else if (view_render_picture(s->view, VIEW_OUTPUT, &canvas, why, sizeof(why)) < 0) {
        free(canvas.pixels);
        screen_say(s, "No screenshot: %s", why);
    } else if (screenshot_start(s->screenshot, s->options.player->screenshot_dir, path, position,
                                canvas.pixels, width, height) < 0) {
        screen_say(s, "No screenshot: no thread can be started");
    }
}

uint8_t *screen_grab(Screen *s, int *width, int *height)
{
    char why[256];
    const ViewScene scene = scene_of(s);
    *width = scene.width;
    *height = scene.height;
    const Canvas canvas = {malloc((size_t)scene.width * (size_t)scene.height * 4),
                           (ptrdiff_t)scene.width * 4, scene.width, scene.height};
    if (canvas.pixels && view_read(s->view, &scene, &canvas, why, sizeof(why)) < 0) {
        free(canvas.pixels);
        return NULL;
    }
    return canvas.pixels;
}
