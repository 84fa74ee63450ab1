#include "panel/panel.h"

#include <stdlib.h>

#include "panel/panel_parts.h"

static const PanelTheme opaque = {
    .ground = 255,
    .bars = 255,
    .plot = 0x1E222A,
    .plot_alpha = 255,
    .outside = 0x12151A,
    .outside_alpha = 255,
    .grid = 0x333A46,
    .grid_cover = 255,
    .axis = 0x56606F,
    .axis_cover = 255,
    .dim = 0x98A2B0,
};

/* Legible on fog as well as on black: lines are lighter than the ground by what they cover. */
static const PanelTheme translucent = {
    .ground = 165,
    .bars = 240,
    .plot = 0x0A0C10,
    .plot_alpha = 165,
    .outside = 0x040506,
    .outside_alpha = 190,
    .grid = BRIGHT,
    .grid_cover = 34,
    .axis = BRIGHT,
    .axis_cover = 100,
    .dim = 0xD2D7DE,
};

int panel_codes(const PanelData *data)
{
    return data->depth ? 1 << data->depth : data->bins;
}

int panel_bin_codes(const PanelData *data)
{
    return max_int(1, panel_codes(data) / data->bins);
}

static int count_digits(int number)
{
    int digits = 1;
    for (; number > 9; number /= 10)
        digits++;
    return digits;
}

static Panel make_panel(const PanelData *data, const Canvas *canvas, Text *text)
{
    const int digits = max_int(3, count_digits(panel_codes(data) - 1));
    return (Panel){
        .data = data,
        .canvas = canvas,
        .text = text,
        .theme = data->translucent ? &translucent : &opaque,
        .layout = panel_layout(canvas->width, canvas->height, text ? digits : 0),
        .input = panel_find_marks(data, data->hist_in),
        .output = panel_find_marks(data, data->hist_out),
    };
}

static void draw_ground(const Panel *p)
{
    panel_draw_ground(p);
    if (p->data->translucent)
        canvas_round(p->canvas, p->layout.text / 2);
    panel_draw_header(p, p->layout.input, "input", INPUT, &p->input);
    panel_draw_header(p, p->layout.output, "output", OUTPUT, &p->output);
}

static void draw_histogram(const Panel *p, Rect plot, const uint32_t *hist, const PanelMarks *marks,
                           Colour colour)
{
    if (!plot.width || !marks->known)
        return;
    panel_draw_bars(p, plot, hist, colour);
    panel_draw_marks(p, plot, marks, colour);
}

/* What changes from frame to frame. */
static void draw_live(const Panel *p)
{
    draw_histogram(p, p->layout.input, p->data->hist_in, &p->input, INPUT);
    draw_histogram(p, p->layout.output, p->data->hist_out, &p->output, OUTPUT);
    if (p->layout.curve.width && p->data->curve)
        panel_draw_curve(p, p->layout.curve);
}

void panel_draw(const PanelData *data, const Canvas *canvas, Text *text)
{
    const Panel p = make_panel(data, canvas, text);
    draw_ground(&p);
    draw_live(&p);
    text_draw(text, canvas);
}

/* ---- drawn for every frame ---- */

struct PanelCache {
    Canvas ground;   /* with the text */
    Canvas canvas;   /* with all */
    PanelData drawn; /* what the ground was drawn for; pointers are not looked at */
    Text *text;
    PanelMarks input, output; /* the numbers that are written */
    int64_t time;             /* when */
    int late;
};

int panel_cache_create(PanelCache **cache)
{
    *cache = calloc(1, sizeof(**cache));
    return *cache ? 0 : -1;
}

static int allocate(Canvas *canvas, int width, int height)
{
    free(canvas->pixels);
    *canvas =
        (Canvas){calloc((size_t)height, (size_t)width * 4), (ptrdiff_t)width * 4, width, height};
    return canvas->pixels ? 0 : -1;
}

/* 1: the canvases are new; 0: as before. */
static int resize(PanelCache *c, int width, int height)
{
    if (c->canvas.pixels && c->canvas.width == width && c->canvas.height == height)
        return 0;
    if (allocate(&c->ground, width, height) == 0 && allocate(&c->canvas, width, height) == 0)
        return 1;
    free(c->canvas.pixels);
    c->canvas = (Canvas){0};
    return -1;
}

static int same_ground(const PanelCache *c, const Panel *p)
{
    return c->text == p->text && c->drawn.bins == p->data->bins &&
           c->drawn.depth == p->data->depth && c->drawn.full_range == p->data->full_range &&
           c->drawn.translucent == p->data->translucent;
}

/* Whether they read the same. */
static int same_marks(const PanelMarks *a, const PanelMarks *b)
{
    return a->known == b->known && (int)(a->mean + 0.5) == (int)(b->mean + 0.5) &&
           a->low == b->low && a->high == b->high;
}

static void redraw_ground(PanelCache *c, const Panel *p, int64_t now_us)
{
    Panel ground = *p;
    ground.canvas = &c->ground;
    draw_ground(&ground);
    text_draw(p->text, &c->ground);
    canvas_copy(&c->canvas, &c->ground, (Rect){0, 0, c->canvas.width, c->canvas.height});
    c->drawn = *p->data;
    c->text = p->text;
    c->input = p->input;
    c->output = p->output;
    c->time = now_us;
}

/* Takes away what draw_live() has drawn. */
static void restore_plots(const PanelCache *c, const Panel *p)
{
    const Rect plots[] = {p->layout.input, p->layout.output, p->layout.curve};
    const int around = p->layout.marks; /* marks stand above a plot and reach beyond its sides */
    for (int i = 0; i < 3; i++)
        canvas_copy(&c->canvas, &c->ground,
                    (Rect){plots[i].x - around, plots[i].y - around, plots[i].width + 2 * around,
                           plots[i].height + around});
}

const Canvas *panel_cache_draw(PanelCache *c, const PanelData *data, int width, int height,
                               Text *text, int64_t now_us)
{
    if (width <= 0 || height <= 0)
        return NULL;
    const int resized = resize(c, width, height);
    if (resized < 0)
        return NULL;
    const Panel p = make_panel(data, &c->canvas, text);
    const int same_numbers = same_marks(&c->input, &p.input) && same_marks(&c->output, &p.output);
    c->late = !same_numbers && now_us - c->time < PANEL_NUMBERS_US;
    if (resized || !same_ground(c, &p) || (!same_numbers && !c->late)) {
        redraw_ground(c, &p, now_us);
        c->late = 0;
    } else {
        restore_plots(c, &p);
    }
    draw_live(&p);
    return &c->canvas;
}

int panel_cache_is_late(const PanelCache *c)
{
    return c->late;
}

void panel_cache_free(PanelCache **cache)
{
    if (!*cache)
        return;
    free((*cache)->ground.pixels);
    free((*cache)->canvas.pixels);
    free(*cache);
    *cache = NULL;
}
