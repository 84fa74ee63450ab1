#include "player/screen.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "media/file_name.h"
#include "media/gpu_frame.h"
#include "media/input/track_choice.h"
#include "media/output/picture_file.h"
#include "media/picture_format.h"
#include "panel/panel.h"
#include "panel/panel_place.h"
#include "player/clock.h"
#include "player/view/view_cuda.h"
#include "run/frame_scopes.h"

/* Grab distance of the split line, in window units. */
#define SPLIT_UNITS 12

#define ZOOM_STEP 1.25

/* Show the window with its first picture, or after this time so that the user can close it. */
#define HIDDEN_US 1000000

/* Minimum time between panel updates: every other frame at 60 fps. */
#define PANEL_US 25000

/* If no frame follows a skipped update, update the panel this long after its last update. */
#define PANEL_LAST_US 60000

#define STATISTICS_US 500000

/* Maximum bytes of the video's name in a screenshot's name, which also needs room for
 * "-123.45.67.890-1234.png". */
#define MAX_STEM (NAME_MAX - 32)

/* A screenshot, which a thread compresses and writes. */
typedef struct Screenshot {
    pthread_t thread;
    bool running;     /* the thread must be joined */
    atomic_bool done; /* the thread has finished, so joining will not block */

    /* Used by the thread while it runs. */
    const char *folder; /* borrowed; NULL: the video's folder, or the current one */
    char path[PATH_MAX];
    int64_t position;
    Canvas canvas;
    bool written;
    char text[PATH_MAX + 64];
} Screenshot;

struct Screen {
    const PlayerOptions *options;
    ScreenHelp *help;
    ScreenState state;
    View *view;
    ViewCuda *cuda; /* NULL: frames go through host memory */
    Screenshot screenshot;
    Text *text; /* NULL: no font */
    Osd *osd;
    PanelCache *panel;
    Scopes *scopes;        /* NULL: no scope was shown yet */
    int64_t panel_drawn;   /* time of the last panel update */
    int64_t panel_at;      /* time of the next update without a new frame; 0: none */
    int64_t statistics_at; /* time of the next statistics update */
    double opacity[OSD_PARTS];
    PanelMode other_histogram; /* panel mode after fullscreen is toggled */
    bool cursor_shown;
    int given_width, given_height; /* window size set by the program, in window units */
    bool dirty;                    /* redraw needed */
    int64_t hidden_until; /* the window is hidden until then or its first picture; 0: visible */
};

const ScreenState *screen_state(const Screen *s)
{
    return &s->state;
}

bool screen_takes_device(const Screen *s)
{
    return s->cuda && !view_cuda_failure(s->cuda);
}

void screen_touch(Screen *s)
{
    s->dirty = 1;
}

/* The scene with pictures fitted into `area` or zoomed inside it. */
static ViewScene scene_in(const Screen *s, Rect area, ViewZoom zoom)
{
    ViewScene scene = {
        .area = area,
        .compare = s->state.look.compare,
        .shown = s->state.look.source ? VIEW_INPUT : VIEW_OUTPUT,
        .split = s->state.look.split,
        .zoom = zoom,
    };
    window_size(s->state.window, &scene.width, &scene.height);
    return scene;
}

/* The rectangle around all pictures. */
static Rect pictures_in(const Screen *s, Rect area)
{
    const ViewScene scene = scene_in(s, area, (ViewZoom){0});
    const ViewPlaces places = view_layout(s->view, &scene);
    const Rect in = places.picture[VIEW_INPUT], out = places.picture[VIEW_OUTPUT];
    return in.width > 0 && out.width > 0 ? rect_union(in, out) : out;
}

static PanelText panel_text(const Screen *s)
{
    return (PanelText){.scale = s->options->osd_scale, .density = window_density(s->state.window)};
}

static PanelPlace place_panel(const Screen *s)
{
    int width, height;
    window_size(s->state.window, &width, &height);
    const Look *look = &s->state.look;
    const double density = window_density(s->state.window);
    if (look->histogram != PANEL_OVER)
        return panel_place(width, height, look->histogram, density);
    const Rect around = pictures_in(s, (Rect){0, 0, width, height});
    PanelPlace place = panel_place_over(width, height, around, look->compare, density);
    place.panel.height =
        panel_scope_height(place.panel.width, place.panel.height, panel_text(s), look->scope);
    return place;
}

bool screen_has_room_for_all(const Screen *s)
{
    const PanelMode mode =
        s->state.look.histogram == PANEL_OFF ? PANEL_BESIDE : s->state.look.histogram;
    int width, height;
    window_size(s->state.window, &width, &height);
    const Rect panel = panel_place(width, height, mode, window_density(s->state.window)).panel;
    return panel_has_room_for_all(panel.width, panel.height, panel_text(s));
}

static Rect to_pixels(const Screen *s, Rect part)
{
    const double density = window_density(s->state.window);
    return (Rect){(int)(part.x * density), (int)(part.y * density), (int)(part.width * density),
                  (int)(part.height * density)};
}

static ViewScene scene_of(const Screen *s)
{
    ViewScene scene = scene_in(s, place_panel(s).picture, s->state.look.zoom);
    scene.mark = to_pixels(s, s->state.look.mark);
    return scene;
}

static OsdPlace osd_place(const Screen *s)
{
    const PanelPlace panel = place_panel(s);
    OsdPlace place = {
        .area = panel.free,
        .picture = panel.picture,
        .bar = panel.picture, /* at the picture's bottom, even if the panel is there */
        .density = window_density(s->state.window),
        .scale = s->options->osd_scale,
    };
    window_size(s->state.window, &place.width, &place.height);
    return place;
}

void screen_toggle_help(Screen *s)
{
    OsdRow rows[OSD_MAX_ROWS];
    s->state.look.help = !s->state.look.help;
    const int count = s->state.look.help ? s->help(rows, OSD_MAX_ROWS) : 0;
    osd_set_rows(s->osd, OSD_HELP, rows, count);
}

/* The position of x within a rectangle, 0..1. */
static double share_at(const Screen *s, Rect rect, int x)
{
    const int column = to_pixels(s, (Rect){.x = x}).x;
    return rect.width > 0 ? av_clipd((double)(column - rect.x) / rect.width, 0, 1) : 0;
}

ControlsTarget screen_target(const Screen *s, int x, int y)
{
    const OsdPlace place = osd_place(s);
    const OsdBarPlaces bar = osd_bar_at(s->osd, &place);
    const Rect at = to_pixels(s, (Rect){.x = x, .y = y});
    if (rect_contains(osd_settings_place(s->osd, &place).all, at.x, at.y))
        return CONTROLS_SETTINGS;
    if (s->opacity[OSD_BAR] > 0 && rect_contains(bar.all, at.x, at.y))
        return rect_contains(bar.button, at.x, at.y)       ? CONTROLS_BUTTON
               : rect_contains(bar.track, at.x, at.y)      ? CONTROLS_TRACK
               : rect_contains(bar.volume, at.x, at.y)     ? CONTROLS_VOLUME
               : rect_contains(bar.settings, at.x, at.y)   ? CONTROLS_SETTINGS_BUTTON
               : rect_contains(bar.fullscreen, at.x, at.y) ? CONTROLS_FULLSCREEN_BUTTON
                                                           : CONTROLS_BAR;
    const ViewScene scene = scene_of(s);
    const ViewPlaces places = view_layout(s->view, &scene);
    const int column = view_split_column(&places, scene.split);
    const Rect picture = places.picture[VIEW_OUTPUT];
    const int reach = (int)(SPLIT_UNITS * window_density(s->state.window));
    const int is_near_split = scene.compare == VIEW_COMPARE_SPLIT && abs(at.x - column) <= reach &&
                              at.y >= picture.y && at.y < picture.y + picture.height;
    return is_near_split ? CONTROLS_SPLIT : CONTROLS_PICTURE;
}

int screen_setting_at(const Screen *s, int x, int y, int *acts, int *step)
{
    const OsdPlace place = osd_place(s);
    const OsdSettingsPlaces places = osd_settings_place(s->osd, &place);
    const Rect at = to_pixels(s, (Rect){.x = x, .y = y});
    return osd_settings_at(&places, at.x, at.y, acts, step);
}

double screen_split_at(const Screen *s, int x)
{
    const ViewScene scene = scene_of(s);
    const Rect picture = view_layout(s->view, &scene).picture[VIEW_OUTPUT];
    return picture.width > 0 ? share_at(s, picture, x) : s->state.look.split;
}

double screen_bar_at(const Screen *s, ControlsTarget part, int x)
{
    const OsdPlace place = osd_place(s);
    const OsdBarPlaces bar = osd_bar_at(s->osd, &place);
    return share_at(s, part == CONTROLS_TRACK ? bar.track : bar.volume, x);
}

ViewZoom screen_zoom_at(const Screen *s, int steps, int x, int y, double *pixels)
{
    const ViewScene scene = scene_of(s);
    const Rect at = to_pixels(s, (Rect){.x = x, .y = y});
    return view_zoom(s->view, &scene, steps ? pow(ZOOM_STEP, steps) : 0, at.x, at.y, pixels);
}

ViewZoom screen_pan_by(const Screen *s, int x, int y)
{
    const ViewScene scene = scene_of(s);
    const Rect by = to_pixels(s, (Rect){.x = x, .y = y});
    return view_pan(s->view, &scene, by.x, by.y);
}

Rect screen_picture(const Screen *s)
{
    const ViewScene scene = scene_of(s);
    const double density = window_density(s->state.window);
    const Rect r = view_layout(s->view, &scene).picture[scene.compare ? VIEW_OUTPUT : scene.shown];
    return (Rect){(int)(r.x / density), (int)(r.y / density), (int)(r.width / density),
                  (int)(r.height / density)};
}

Rect screen_to_samples(const Screen *s, Rect part)
{
    const ViewScene scene = scene_of(s);
    return view_to_samples(s->view, &scene, to_pixels(s, part));
}

/* Maximum attempts to find a fitting size; each attempt reduces the error to about a quarter. */
#define TRIES 16

/* Window managers may round a size by this many units. */
#define SAME_UNITS 2

static bool is_resized(const Screen *s)
{
    int width, height;
    window_own_size(s->state.window, &width, &height);
    return width > 0 &&
           (abs(width - s->given_width) > SAME_UNITS || abs(height - s->given_height) > SAME_UNITS);
}

void screen_own_size(const Screen *s, int *width, int *height)
{
    *width = *height = 0;
    if (is_resized(s))
        window_own_size(s->state.window, width, height);
}

/* Resizes the window to hold a picture of this size and the panel. If the options give a size, the
 * window is as large as fits into that size. It never exceeds window_max_size(). */
static void fit_window(Screen *s, int width, int height)
{
    int most_width, most_height, across = width, down = height;
    const int asked = s->options->width, asked_height = s->options->height;
    double share = 1;
    window_max_size(s->state.window, &most_width, &most_height);
    if (asked > 0 && asked_height > 0) {
        most_width = FFMIN(most_width, asked);
        most_height = FFMIN(most_height, asked_height);
        share = FFMIN((double)most_width / width, (double)most_height / height);
    }
    for (int i = 0; i < TRIES; i++) {
        across = FFMAX((int)(width * share), 1);
        down = FFMAX((int)(height * share), 1);
        if (s->state.look.histogram == PANEL_BESIDE)
            panel_add_room(&across, &down);
        if (across <= most_width && down <= most_height)
            break;
        share *= FFMIN((double)most_width / across, (double)most_height / down);
    }
    window_resize(s->state.window, across, down);
    window_own_size(s->state.window, &across, &down);
    if (across > 0) {
        s->given_width = across;
        s->given_height = down;
    }
}

void screen_fit(Screen *s, const Source *source)
{
    int width, height, across, down;
    view_picture_size(s->view, VIEW_OUTPUT, &width, &height);
    track_display_size(source, &across, &down);
    if (across > 0 && (width > height) != (across > down))
        fit_window(s, width, height);
}

void screen_say(Screen *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(s->state.message, sizeof(s->state.message), format, args);
    va_end(args);
    osd_message(s->osd, clock_now(), s->state.message);
    s->dirty = 1;
}

void screen_warn(Screen *s, const char *line)
{
    screen_say(s, "%s", line);
    osd_show(s->osd, OSD_MESSAGE, clock_now() + OSD_WARNING_US);
}

void screen_show_bar(Screen *s, int64_t until)
{
    osd_show(s->osd, OSD_BAR, until);
}

void screen_set_pointed(Screen *s, int x, const char *line)
{
    osd_set_pointed(s->osd, to_pixels(s, (Rect){.x = x}).x, line);
    s->dirty = 1;
}

bool screen_wants_statistics(const Screen *s, int64_t now)
{
    return now >= s->statistics_at;
}

void screen_set_statistics(Screen *s, const OsdRow *rows, int count, int64_t now)
{
    osd_set_rows(s->osd, OSD_STATISTICS, rows, count);
    s->statistics_at = now + STATISTICS_US;
}

void screen_poll_screenshot(Screen *s)
{
    Screenshot *shot = &s->screenshot;
    if (!shot->running || !atomic_load(&shot->done))
        return;
    pthread_join(shot->thread, NULL);
    shot->running = false;
    atomic_store(&shot->done, false);
    screen_say(s, "%s", shot->text);
    s->state.screenshots += shot->written;
}

/* The source's display size or, if that is unknown, the size of the new window. */
static void wanted_size(const Screen *s, const Source *source, int *width, int *height)
{
    *width = *height = 0;
    if (source)
        track_display_size(source, width, height);
    if (*width <= 0 || *height <= 0)
        window_own_size(s->state.window, width, height);
}

static int open_window(Screen *s, const Source *source, MediaError *error)
{
    const PlayerOptions *o = s->options;
    int width, height;
    if (window_open(&s->state.window, error) < 0 || view_open(&s->view, error) < 0) {
        media_add(error, "; %s or --null works without a window",
                  source && source->camera ? "-o with --frames" : "-o");
        return error->fault = MEDIA_USAGE;
    }
    window_set_lost(s->state.window, o->host.lost, o->host.opaque);
    snprintf(s->state.renderer, sizeof(s->state.renderer), "%s", view_renderer(s->view));
    view_set_mirror(s->view, s->state.look.mirrored);
    wanted_size(s, source, &width, &height);
    fit_window(s, width, height);
    if (o->fullscreen && window_set_fullscreen(s->state.window, true, error) < 0)
        return error->fault = MEDIA_USAGE;
    s->hidden_until = clock_now() + (source ? HIDDEN_US : 0);
    window_keep_awake(s->state.window, source != NULL);
    s->dirty = true;
    return 0;
}

static void open_cuda(Screen *s)
{
    char line[320] = "equalized luma stays on the GPU";
    MediaError why = {0};
    if (s->options->device < 0)
        return;
    if (view_cuda_open(&s->cuda, s->options->device, &why) >= 0)
        view_set_uploader(s->view, view_cuda_uploader(s->cuda));
    else
        snprintf(line, sizeof(line), "frames are shown through host memory: %.256s", why.text);
    s->options->host.detail(line);
}

static int open_all(Screen *s, const Source *source, MediaError *error)
{
    if (osd_open(&s->osd) < 0 || panel_cache_create(&s->panel) < 0)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    if (text_open(&s->text) < 0)
        s->options->host.detail("no font found: the window shows no text");
    osd_set_text(s->osd, s->text);
    osd_show(s->osd, OSD_BEFORE, clock_now() + OSD_LABELS_US);
    const int ret = open_window(s, source, error);
    if (ret >= 0)
        open_cuda(s);
    return ret;
}

static void set_options(Screen *s, const PlayerOptions *options, int fullscreen)
{
    const PlayerOptions *o = options;
    s->options = options;
    s->state.look = (Look){
        .compare = o->compare,
        .histogram = fullscreen ? o->fullscreen_histogram : o->histogram,
        .scope = o->scope,
        .log_scale = o->log_scale,
        .mirrored = o->mirror,
        .subtitles_on = 1,
        .split = 0.5,
    };
    s->other_histogram = fullscreen ? o->histogram : o->fullscreen_histogram;
    s->statistics_at = INT64_MAX;
}

void screen_adopt(Screen *s, const PlayerOptions *options, const Source *source)
{
    int width, height;
    const int keeps_size = is_resized(s) || window_is_fullscreen(s->state.window);
    set_options(s, options, window_is_fullscreen(s->state.window));
    osd_set_rows(s->osd, OSD_HELP, NULL, 0);
    window_set_lost(s->state.window, options->host.lost, options->host.opaque);
    view_set_mirror(s->view, s->state.look.mirrored);
    wanted_size(s, source, &width, &height);
    if (!keeps_size)
        fit_window(s, width, height);
    window_keep_awake(s->state.window, 1);
    open_cuda(s);
    s->dirty = 1;
}

int screen_open(Screen **screen, const PlayerOptions *options, ScreenHelp *help,
                const Source *source, MediaError *error)
{
    Screen *s = calloc(1, sizeof(*s));
    *screen = s;
    if (!s)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    set_options(s, options, options->fullscreen);
    s->help = help;
    s->cursor_shown = 1; /* until the first turn */
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
    if (s->screenshot.running)
        pthread_join(s->screenshot.thread, NULL);
    osd_close(&s->osd);
    text_close(&s->text);
    panel_cache_free(&s->panel);
    free(s->scopes);
    view_close(&s->view);
    view_cuda_close(&s->cuda);
    window_close(&s->state.window);
    free(s);
    *screen = NULL;
}

static bool shows_input(const Screen *s)
{
    return s->state.look.compare != VIEW_COMPARE_OFF || s->state.look.source;
}

/* Uploads or removes the unprocessed picture. Returns 1 if the picture was lost with the GPU. */
static int upload_input(Screen *s, const Frame *f, MediaError *error)
{
    const AVFrame *frame = f && shows_input(s) ? f->decoded.frame : NULL;
    AVFrame *host;
    if (!frame || !gpu_frame_is(frame))
        return view_set_frame(s->view, VIEW_INPUT, frame, error);
    int ret = frame_memory_download(s->options->stage.memory, &host, frame);
    if (ret == AVERROR(ENOMEM))
        return media_fail(error, MEDIA_INPUT, "out of memory");
    if (ret < 0) {
        gpu_frame_mark_lost(frame);
        return 1;
    }
    ret = view_set_frame(s->view, VIEW_INPUT, host, error);
    av_frame_free(&host);
    return ret;
}

/* True if CUDA can copy planes to OpenGL. After one failure CUDA stays off. */
static bool check_device(Screen *s)
{
    if (s->cuda && view_cuda_failure(s->cuda)) {
        s->options->host.detail(view_cuda_failure(s->cuda));
        view_set_uploader(s->view, NULL);
        view_cuda_close(&s->cuda);
    }
    return s->cuda != NULL;
}

int screen_upload(Screen *s, const Frame *frame, int lost, MediaError *error)
{
    const int64_t begin = clock_now();
    MediaError failed = {0};
    s->state.upload_us = 0;
    if (s->cuda && lost)
        view_cuda_give_up(s->cuda, "the CPU has taken over");
    const int can_stay = check_device(s);
    if (frame->on_device && !can_stay)
        return 1;
    int ret = view_set_frame(s->view, VIEW_OUTPUT, frame->out, &failed);
    if (ret >= 0 && shows_input(s))
        ret = upload_input(s, frame, &failed);
    if (ret < 0 && frame->on_device && !check_device(s))
        return 1;
    if (ret < 0)
        return media_fail(error, failed.fault, "%s", failed.text);
    if (ret > 0)
        return 1;
    s->state.upload_us = (double)(clock_now() - begin);
    s->dirty = 1;
    return 0;
}

/* Moves the panel or changes its scope. */
static void show_panel(Screen *s, const Look *look)
{
    static const char *const names[] = {"off", "beside the picture", "over the picture"};
    static const char *const scopes[] = {"histogram", "waveform", "vectorscope", "all scopes"};
    const int moves = look->histogram != s->state.look.histogram;
    s->state.look.scope = look->scope;
    s->state.look.histogram = look->histogram;
    const int has_room = look->histogram == PANEL_OFF || place_panel(s).panel.width > 0;
    if (!has_room)
        screen_say(s, "Panel: no room %s", names[look->histogram]);
    else
        screen_say(s, "Panel: %s", moves ? names[look->histogram] : scopes[look->scope]);
}

int screen_set_look(Screen *s, const Look *look, const Frame *frame, MediaError *error)
{
    const Look before = s->state.look;
    if (look->histogram != before.histogram || look->scope != before.scope)
        show_panel(s, look);
    s->state.look = *look;
    if (look->log_scale != before.log_scale)
        screen_say(s, "Histogram: %s", look->log_scale ? "logarithmic" : "linear");
    if (look->subtitles_on != before.subtitles_on)
        screen_say(s, "Subtitles: %s", look->subtitles_on ? "shown" : "hidden");
    if (look->mirrored != before.mirrored) {
        view_set_mirror(s->view, look->mirrored);
        screen_say(s, "Mirror: %s", look->mirrored ? "on" : "off");
    }
    if (look->statistics != before.statistics) {
        osd_set_rows(s->osd, OSD_STATISTICS, NULL, 0);
        s->statistics_at = look->statistics ? 0 : INT64_MAX;
    }
    if (look->source != before.source) {
        screen_say(s, "%s", look->source ? "Source" : "Equalized");
        return upload_input(s, frame, error);
    }
    if (look->compare == before.compare)
        return 0;
    static const char *const names[] = {"off", "split", "side by side"};
    screen_say(s, "Compare: %s", names[look->compare]);
    osd_show(s->osd, OSD_BEFORE, clock_now() + OSD_LABELS_US);
    return upload_input(s, frame, error);
}

void screen_toggle_fullscreen(Screen *s)
{
    MediaError error = {0};
    if (window_set_fullscreen(s->state.window, !window_is_fullscreen(s->state.window), &error) <
        0) {
        screen_say(s, "%s", error.text);
        return;
    }
    const PanelMode other = s->other_histogram;
    s->other_histogram = s->state.look.histogram;
    s->state.look.histogram = other;
    s->dirty = 1;
}

void screen_show_cursor(Screen *s, int64_t until, int64_t now)
{
    const bool shown = until && now <= until;
    if (shown != s->cursor_shown)
        window_show_cursor(s->state.window, shown);
    if (shown) {
        osd_show(s->osd, OSD_BEFORE, until);
        osd_show(s->osd, OSD_BAR, until);
    }
    s->cursor_shown = shown;
}

/* If OpenGL cannot hold a layer, the window is drawn without the layer. */
static void put_layer(Screen *s, ViewLayer layer, const Overlay *overlay, double opacity)
{
    MediaError error = {0};
    if (view_set_layer(s->view, layer, overlay, opacity, &error) < 0)
        s->options->host.detail(error.text);
    s->dirty = 1;
}

/* Updates the scopes. If the GPU does not deliver the frame, the old counts stay. */
static const Scopes *count_scopes(Screen *s, const Frame *f)
{
    FrameRows rows[FRAME_ROWS_PLANES];
    const int mirrored = s->state.look.mirrored;
    if (!s->scopes)
        s->scopes = calloc(1, sizeof(*s->scopes));
    const int planes = s->scopes && f ? frame_scopes_rows(rows, f->out, mirrored) : 0;
    if (planes <= 0 || (f->on_device && (!s->cuda || view_cuda_fetch(s->cuda, rows, planes) < 0)))
        return s->scopes;
    frame_scopes_count_rows(s->scopes, f->out, rows, mirrored);
    return s->scopes;
}

static void draw_panel(Screen *s, const ScreenContent *content, int64_t now)
{
    const Frame *f = content->frame;
    const LumeqFrameStats none = {0}, *m = f ? &f->stats : &none;
    const Rect panel = place_panel(s).panel;
    const PanelScope scope = s->state.look.scope;
    const PanelData data = {
        .bins = m->bins,
        .depth = f ? equalizer_depth(f->out) : 0,
        .hist_in = m->hist_in,
        .hist_out = m->hist_out,
        .curve = m->curve,
        .full_range = f && f->out->color_range == AVCOL_RANGE_JPEG,
        .light = f ? frame_scopes_light(f->out) : PANEL_CODES,
        .scale = s->state.look.log_scale ? PANEL_LOG : PANEL_LINEAR,
        .translucent = s->state.look.histogram == PANEL_OVER,
        .words = content->words,
        .scope = scope,
        .scopes = scope != PANEL_HISTOGRAM && panel.width > 0 ? count_scopes(s, f) : NULL,
        .text = panel_text(s),
    };
    Overlay overlay = {.x = panel.x, .y = panel.y};
    const Canvas *canvas = NULL;
    if (panel.width > 0 && m->bins)
        canvas = panel_cache_draw(s->panel, &data, panel.width, panel.height, s->text, now);
    if (canvas)
        overlay.canvas = *canvas;
    s->panel_drawn = now;
    s->panel_at = canvas && panel_cache_is_late(s->panel) ? now + PANEL_NUMBERS_US : 0;
    put_layer(s, VIEW_LAYER_PANEL, &overlay, 1);
}

static SubtitlesPlace place_subtitles(const Screen *s, const AVFrame *in)
{
    char why[128];
    PictureFormat format;
    const int turned = picture_format(&format, in, why, sizeof(why)) >= 0 && format.has_turn &&
                       format.turn.xx == 0; /* by 90 degrees */
    const ViewScene scene = scene_of(s);
    const OsdPlace place = osd_place(s);
    const Rect picture = view_layout(s->view, &scene).picture[scene.shown];
    const int covered = picture.y + picture.height - osd_bar_at(s->osd, &place).all.y;
    return (SubtitlesPlace){
        .picture = picture,
        .covered = s->opacity[OSD_BAR] > 0 ? av_clip(covered, 0, picture.height) : 0,
        .video_width = turned ? in->height : in->width,
        .video_height = turned ? in->width : in->height,
    };
}

static void draw_subtitles(Screen *s, const ScreenContent *content)
{
    Overlay overlay;
    SubtitlesPlace place = {.picture = {0}};
    if (!content->subtitles)
        return;
    if (s->state.look.subtitles_on && content->frame)
        place = place_subtitles(s, content->frame->decoded.frame);
    if (subtitle_thread_draw(content->subtitles, content->position, content->next_position, &place,
                             &overlay))
        put_layer(s, VIEW_LAYER_SUBTITLES, &overlay, 1);
}

static void draw_osd(Screen *s, int64_t now)
{
    const ViewScene scene = scene_of(s);
    const OsdPlace place = osd_place(s);
    const ViewPlaces places = view_layout(s->view, &scene);
    const Rect panel = place_panel(s).panel;
    Rect before = places.picture[VIEW_INPUT], after = places.picture[VIEW_OUTPUT];
    if (before.width <= 0 || after.width <= 0)
        before = after = (Rect){0};
    if (scene.compare == VIEW_COMPARE_SPLIT) {
        const int column = view_split_column(&places, scene.split);
        before.width = column - before.x;
        after.width = after.x + after.width - column;
        after.x = column;
    }
    osd_label(s->osd, OSD_BEFORE, panel_free(before, panel));
    osd_label(s->osd, OSD_AFTER, panel_free(after, panel));
    for (int part = OSD_PARTS - 1; part >= 0; part--) { /* pages first, because they hide the bar */
        const ViewLayer at = (ViewLayer)(VIEW_LAYER_OSD + part);
        OsdLayer layer;
        if (osd_draw(s->osd, (OsdPart)part, &place, now, &layer)) {
            put_layer(s, at, &layer.overlay, layer.opacity);
        } else if (layer.opacity != s->opacity[part]) {
            view_move_layer(s->view, at, layer.overlay.x, layer.overlay.y, layer.opacity);
            s->dirty = 1;
        }
        s->opacity[part] = layer.opacity;
    }
}

static int draw(Screen *s, MediaError *error)
{
    const int64_t begin = clock_now();
    const ViewScene scene = scene_of(s);
    if (view_draw(s->view, &scene, error) < 0)
        return error->fault = MEDIA_USAGE;
    s->state.draw_us = (double)(clock_now() - begin);
    s->dirty = s->hidden_until != 0; /* showing the window may resize it */
    if (s->hidden_until)
        window_show(s->state.window);
    s->hidden_until = 0;
    window_swap(s->state.window);
    return 1;
}

int screen_update(Screen *s, const ScreenContent *content, int64_t now, int64_t *wait,
                  MediaError *error)
{
    const int64_t begin = clock_now();
    if (s->dirty || (s->panel_at && now >= s->panel_at) ||
        (content->fresh && now >= s->panel_drawn + PANEL_US))
        draw_panel(s, content, now);
    else if (content->fresh)
        s->panel_at = s->panel_drawn + PANEL_LAST_US;
    s->dirty |= content->fresh;
    osd_notice(s->osd, content->notice);
    osd_recording(s->osd, content->recording, content->recording_level);
    if (content->bar)
        osd_set_bar(s->osd, content->bar);
    if (content->settings)
        osd_set_settings(s->osd, content->settings);
    draw_osd(s, now);
    draw_subtitles(s, content); /* after the bar, because subtitles move above the bar */
    s->state.layers_us = (double)(clock_now() - begin);
    *wait = FFMIN(*wait, osd_wait(s->osd, now));
    *wait = FFMIN(*wait, FFMAX(s->statistics_at - now, 0));
    if (!content->frame && now < s->hidden_until) {
        *wait = FFMIN(*wait, s->hidden_until - now);
        return 0;
    }
    if (!s->dirty)
        return 0;
    *wait = 0;
    return draw(s, error);
}

/* Writes "FOLDER/NAME-0.01.23.456", without colons, which some systems forbid. `beside`: use the
 * video's folder unless the options give a folder. */
static void base_name(const Screenshot *s, int beside, char *base, size_t size)
{
    const char *slash = strrchr(s->path, '/');
    const char *name = strcmp(s->path, "-") == 0 ? "lumeq" : file_name_base(s->path);
    const char *folder = s->folder ? s->folder : "";
    int length = (int)strlen(folder);
    if (!s->folder && beside && slash) {
        folder = s->path;
        length = (int)(slash - s->path);
    }
    while (length > 0 && folder[length - 1] == '/')
        length--;
    const char *dot = strrchr(name, '.');
    const size_t whole = dot && dot != name ? (size_t)(dot - name) : strlen(name);
    const int stem = (int)(whole > MAX_STEM ? file_name_cut(name, MAX_STEM) : whole);
    const int64_t ms = s->position > 0 ? s->position / 1000 : 0;
    snprintf(base, size, "%.*s%s%.*s-%d.%02d.%02d.%03d", length, folder, *folder ? "/" : "", stem,
             name, (int)(ms / 3600000), (int)(ms / 60000 % 60), (int)(ms / 1000 % 60),
             (int)(ms % 1000));
}

static int write_at(Screenshot *s, int beside, char *name, size_t size, MediaError *error)
{
    char base[PATH_MAX + NAME_MAX];
    base_name(s, beside, base, sizeof(base));
    return picture_file_write(base, s->canvas.pixels, s->canvas.stride, s->canvas.width,
                              s->canvas.height, name, size, error);
}

static void *screenshot_main(void *arg)
{
    Screenshot *s = arg;
    char name[PATH_MAX];
    MediaError error = {0};
    s->written = (!s->folder && write_at(s, 1, name, sizeof(name), &(MediaError){0}) >= 0) ||
                 write_at(s, 0, name, sizeof(name), &error) >= 0;
    if (s->written)
        snprintf(s->text, sizeof(s->text), "Screenshot: %s", name);
    else
        snprintf(s->text, sizeof(s->text), "No screenshot: %s", error.text);
    free(s->canvas.pixels);
    atomic_store(&s->done, true);
    window_wake(NULL);
    return NULL;
}

void screen_take_screenshot(Screen *s, const char *path, int64_t position)
{
    Screenshot *shot = &s->screenshot;
    MediaError error = {0};
    int width, height;
    view_picture_size(s->view, VIEW_OUTPUT, &width, &height);
    if (width <= 0 || shot->running)
        return;
    shot->folder = s->options->screenshot_dir;
    snprintf(shot->path, sizeof(shot->path), "%s", path);
    shot->position = position;
    shot->canvas = canvas_alloc(width, height);
    if (!shot->canvas.pixels)
        (void)media_fail(&error, MEDIA_INPUT, "out of memory");
    else if (view_render_picture(s->view, VIEW_OUTPUT, &shot->canvas, &error) >= 0 &&
             pthread_create(&shot->thread, NULL, screenshot_main, shot) != 0)
        (void)media_fail(&error, MEDIA_INPUT, "cannot start a thread");
    shot->running = !error.fault;
    if (shot->running)
        return;
    free(shot->canvas.pixels);
    screen_say(s, "No screenshot: %s", error.text);
}

uint8_t *screen_grab(Screen *s, int *width, int *height)
{
    const ViewScene scene = scene_of(s);
    *width = scene.width;
    *height = scene.height;
    const Canvas canvas = canvas_alloc(scene.width, scene.height);
    if (canvas.pixels && view_read(s->view, &scene, &canvas, &(MediaError){0}) < 0) {
        free(canvas.pixels);
        return NULL;
    }
    return canvas.pixels;
}
