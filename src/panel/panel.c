#include "panel/panel.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "panel/scope_plot.h"

typedef struct Panel {
    const PanelData *data;
    const Canvas *canvas;
    Text *text;
    const PanelTheme *theme;
    PanelLayout layout;
    PanelMarks input, output;
} Panel;

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

/* Lines are lighter than the background, so that they are readable over any picture. */
static const PanelTheme translucent = {
    .ground = 165,
    .bars = 240,
    .plot = 0x0A0C10,
    .plot_alpha = 165,
    .outside = 0x040506,
    .outside_alpha = 190,
    .grid = PANEL_BRIGHT,
    .grid_cover = 34,
    .axis = PANEL_BRIGHT,
    .axis_cover = 100,
    .dim = 0xD2D7DE,
};

/* Smaller panels, in pixels, have no text. */
#define MIN_TEXT_WIDTH 160
#define MIN_TEXT_HEIGHT 110
/* Minimum text height in desktop pixels. */
#define MIN_TEXT_SIZE 11
#define LEAST_TEXT_SIZE 8 /* minimum if the user chose smaller text */

/* In a panel with room for this many characters, PanelData.words has one line, else two. */
#define LONG_WORDS 76

/* Plots with a side below this many pixels are left out. */
#define MIN_PLOT 4

static int room_above(const PanelLayout *layout)
{
    return layout->text + layout->text / 4;
}

static int room_below(const PanelLayout *layout)
{
    return layout->text + layout->text / 5;
}

static int word_line(const PanelLayout *layout)
{
    return layout->text * 6 / 5;
}

/* Width of the numbers at the left of a plot. */
static int room_left(const PanelLayout *layout)
{
    return layout->text ? text_room(layout->text, layout->digits) + layout->text / 3 : 0;
}

/* Lays out one histogram above the other and the curve to their right. */
static void lay_wide(PanelLayout *layout, Rect inner)
{
    const int gap = max_int(2, layout->text * 4 / 5);
    const int above = room_above(layout), below = room_below(layout);
    const int top = inner.y + above, bottom = inner.y + inner.height - below;
    const int half = (inner.width - gap - room_left(layout)) / 2;
    const int side = min_int(half, bottom - top);
    const int width = inner.width - gap - room_left(layout) - side;
    const int between = max_int(gap, above);
    const int height = (bottom - top - between) / 2 - layout->marks;
    const int input = top + layout->marks, output = bottom - height;
    layout->input = (Rect){inner.x, input, width, height};
    layout->output = (Rect){inner.x, output, width, height};
    layout->curve = (Rect){inner.x + inner.width - side, top, side, bottom - top};
}

/* Lays out one histogram above the other and the curve below them. */
static void lay_tall(PanelLayout *layout, Rect inner)
{
    const int left = inner.x + room_left(layout);
    const int width = inner.width - room_left(layout);
    const int gap = max_int(2, layout->text / 2);
    const int above = room_above(layout), below = room_below(layout);
    const int rest = inner.height - 3 * above - 2 * below - 2 * gap - 2 * layout->marks;
    const int curve = min_int(width, rest * 2 / 5), height = (rest - curve) / 2;
    int y = inner.y + above + layout->marks;
    layout->input = (Rect){left, y, width, height};
    y += height + gap + above + layout->marks;
    layout->output = (Rect){left, y, width, height};
    y += height + below + gap + above;
    layout->curve = (Rect){left, y, width, curve};
}

/* The user's text size, limited so that plots keep most of the room. */
static int text_size(int width, int height, PanelText text)
{
    const double scale = text.scale, density = text.density > 0 ? text.density : 1;
    const int usual = max_int((int)(MIN_TEXT_SIZE * density), min_int(width / 26, height / 20));
    const int most = max_int(usual, min_int(width / 15, height / 16));
    const int least = (int)(LEAST_TEXT_SIZE * density);
    return scale > 0 ? max_int(least, min_int((int)(usual * scale), most)) : usual;
}

/* Maximum height of a waveform relative to its width. Over a picture and in PANEL_ALL, it is 1. */
#define HIGHEST_WAVEFORM 3

static Rect waveform_in(const PanelLayout *layout, Rect r, int is_over)
{
    const int left = room_left(layout), above = room_above(layout);
    const Rect plot = {r.x + left, r.y + above, r.width - left, r.height - above};
    const int most = plot.width * (is_over ? 1 : HIGHEST_WAVEFORM);
    return (Rect){plot.x, plot.y, plot.width, min_int(plot.height, most)};
}

static Rect vectors_in(const PanelLayout *layout, Rect r)
{
    const int above = room_above(layout), height = r.height - above;
    const int side = min_int(r.width, height);
    return (Rect){r.x + (r.width - side) / 2, r.y + above, side, side};
}

static bool has_room_side_by_side(Rect scopes)
{
    return scopes.width * 6 >= scopes.height * 7;
}

static void lay_scopes(PanelLayout *layout, Rect inner)
{
    const int gap = max_int(2, layout->text * 2 / 3);
    Rect waveform = inner, vectors = inner;
    if (has_room_side_by_side(inner)) {
        vectors.width = min_int(inner.height, inner.width / 2);
        waveform.width -= vectors.width + gap;
        vectors.x += waveform.width + gap;
    } else {
        waveform.height = (inner.height - gap) * 2 / 5;
        vectors.y += waveform.height + gap;
        vectors.height -= waveform.height + gap;
    }
    layout->waveform = waveform_in(layout, waveform, 1);
    layout->vectors = vectors_in(layout, vectors);
}

/* Lays out all plots, with the histograms and the curve in the left or upper half. */
static void lay_all(PanelLayout *layout, Rect inner, int wide)
{
    const int gap = max_int(2, layout->text);
    Rect histograms = inner, scopes = inner;
    int has_wide = inner.width * 16 >= (inner.height - gap) * 9;
    if (wide) {
        histograms.width = (inner.width - gap) / 2;
        scopes.x += histograms.width + gap;
        scopes.width -= histograms.width + gap;
        has_wide = histograms.width * 8 >= histograms.height * 9;
    } else {
        scopes.height = inner.height - gap - (inner.height - gap) / 2;
        /* side by side, the scopes need only the vectorscope's height, which is half the width */
        if (has_room_side_by_side(scopes))
            scopes.height = min_int(scopes.height, inner.width / 2 + room_above(layout));
        histograms.height -= scopes.height + gap;
        scopes.y += histograms.height + gap;
    }
    (has_wide ? lay_wide : lay_tall)(layout, histograms);
    lay_scopes(layout, scopes);
}

static void lay_plots(PanelLayout *layout, Rect inner, int wide, PanelScope scope, int is_over)
{
    switch (scope) {
    case PANEL_HISTOGRAM: (wide ? lay_wide : lay_tall)(layout, inner); break;
    case PANEL_WAVEFORM: layout->waveform = waveform_in(layout, inner, is_over); break;
    case PANEL_VECTORSCOPE: layout->vectors = vectors_in(layout, inner); break;
    case PANEL_ALL: lay_all(layout, inner, wide); break;
    }
    Rect *const plots[] = {&layout->input, &layout->output, &layout->curve, &layout->waveform,
                           &layout->vectors};
    for (int i = 0; i < 5; i++)
        if (plots[i]->width < MIN_PLOT || plots[i]->height < MIN_PLOT)
            *plots[i] = (Rect){0};
}

/* Minimum width and height of a plot in PANEL_ALL, in lines of text and in pixels. */
#define LEAST_LINES 2
#define LEAST_PIXELS 48

static PanelLayout lay_out(int width, int height, int digits, const PanelData *data, int text,
                           PanelScope scope)
{
    PanelLayout layout = {.digits = digits, .text = text};
    layout.marks = max_int(3, min_int(width, height) / 36);
    const int margin = max_int(min_int(width, height) / 40, text * 3 / 4);
    /* an axis's last number is centred on its tick, so half of it reaches beyond the axis */
    const int end = text ? max_int(0, text_room(text, digits) / 2 + text / 3 - margin) : 0;
    Rect inner = {margin, margin, width - 2 * margin - end, height - 2 * margin};
    if (data->words && text) { /* at the bottom: two lines in narrow panels */
        layout.word_lines = inner.width >= text_room(text, LONG_WORDS) ? 1 : 2;
        const int rows = layout.word_lines * word_line(&layout);
        inner.height -= rows + text / 3;
        layout.words = (Rect){inner.x, inner.y + inner.height + text / 3, inner.width, rows};
    }
    lay_plots(&layout, inner, width * 4 >= height * 5, scope, data->translucent);
    return layout;
}

/* If PANEL_ALL has no room at the user's text size, tries smaller text, then PANEL_HISTOGRAM. */
PanelLayout panel_layout(int width, int height, int digits, const PanelData *data)
{
    const PanelText usual = {.density = data->text.density};
    const int has_text = digits && width >= MIN_TEXT_WIDTH && height >= MIN_TEXT_HEIGHT;
    const int text = has_text ? text_size(width, height, data->text) : 0;
    const int least = has_text ? min_int(text, text_size(width, height, usual)) : 0;
    for (int size = text; data->scope == PANEL_ALL && size >= least; size--) {
        const PanelLayout layout = lay_out(width, height, digits, data, size, PANEL_ALL);
        const Rect plots[] = {layout.input, layout.output, layout.curve, layout.waveform,
                              layout.vectors};
        const int smallest = max_int(LEAST_LINES * size, LEAST_PIXELS);
        int is_readable = 1;
        for (int i = 0; i < 5; i++)
            is_readable &= plots[i].width >= smallest && plots[i].height >= smallest;
        if (is_readable)
            return layout;
    }
    return lay_out(width, height, digits, data, text,
                   data->scope == PANEL_ALL ? PANEL_HISTOGRAM : data->scope);
}

/* Assumes a panel with text, and codes of five digits. */
bool panel_has_room_for_all(int width, int height, PanelText text)
{
    const PanelData data = {.words = "", .text = text, .scope = PANEL_ALL};
    return panel_layout(width, height, 5, &data).vectors.width > 0;
}

int panel_scope_height(int width, int height, PanelText text, PanelScope scope)
{
    const PanelData data = {.words = "", .text = text, .scope = scope, .translucent = 1};
    const PanelLayout l = panel_layout(width, height, 5, &data);
    const Rect plot = scope == PANEL_WAVEFORM ? l.waveform : l.vectors;
    if (scope == PANEL_HISTOGRAM || scope == PANEL_ALL || !l.words.width)
        return height;
    const int below = height - l.words.y + l.text / 3;
    return min_int(height, plot.y + plot.height + below);
}

static int code_count(const PanelData *data)
{
    return data->depth ? 1 << data->depth : data->bins;
}

static int bin_codes(const PanelData *data)
{
    return max_int(1, code_count(data) / data->bins);
}

static int black_code(const PanelData *data)
{
    return data->full_range ? 0 : 16 * code_count(data) / 256;
}

static int white_code(const PanelData *data)
{
    return data->full_range ? code_count(data) - 1 : 235 * code_count(data) / 256;
}

/* The middle of a code, in pixels. */
static double code_x(const Panel *p, Rect plot, double code)
{
    return plot.x + (code + 0.5) * plot.width / code_count(p->data);
}

static double code_y(const Panel *p, Rect plot, double code)
{
    return plot.y + plot.height - (code + 0.5) * plot.height / code_count(p->data);
}

/* An axis of codes has ticks at each quarter and at the last code, an axis of nits at `nits`. */
#define QUARTERS 4
#define NITS 6

static const char *const nits[NITS] = {"0.1", "1", "10", "100", "203", "1000"};

/* Places of `nits` between black (0) and white (1). */
static const double nits_place[][NITS] = {
    [PANEL_PQ] = {0.062, 0.150, 0.302, 0.508, 0.581, 0.752},
    [PANEL_HLG] = {0.037, 0.097, 0.254, 0.629, 0.749, 1},
};

static int last_tick(const Panel *p)
{
    return p->data->light ? NITS - 1 : QUARTERS;
}

/* The first tick with a grid line. An axis of codes has no grid lines at the plot's sides. */
static int first_line(const Panel *p)
{
    return p->data->light ? 0 : 1;
}

static int tick_code(const Panel *p, int tick)
{
    const int codes = code_count(p->data), black = black_code(p->data);
    if (!p->data->light)
        return min_int(codes * tick / QUARTERS, codes - 1);
    return black + (int)lrint(nits_place[p->data->light][tick] * (white_code(p->data) - black));
}

/* The next tick with a number, if the plot has room for `numbers` numbers. */
static int next_number(const Panel *p, int tick, int numbers)
{
    const int first = tick_code(p, tick), room = code_count(p->data) / max_int(numbers, 1);
    if (!p->data->light && numbers >= 3)
        return tick + (numbers >= 5 ? 1 : 2);
    if (!p->data->light)
        return tick + QUARTERS;
    do
        tick++;
    while (tick < NITS && tick_code(p, tick) - first < room);
    return tick;
}

static void add_number(const Panel *p, int tick, int x, int y, TextAnchor anchor, int room)
{
    char code[16];
    snprintf(code, sizeof(code), "%d", tick_code(p, tick));
    text_add(p->text, x, y, anchor, p->layout.text, p->theme->dim, room,
             p->data->light ? nits[tick] : code);
}

static int line_width(const Panel *p)
{
    return max_int(1, min_int(p->canvas->width, p->canvas->height) / 300);
}

static void vertical_line(const Panel *p, double x, int y, int height, Colour colour, int cover)
{
    const int width = line_width(p);
    const Rect line = {(int)floor(x - 0.5 * (width - 1)), y, width, height};
    canvas_fill(p->canvas, line, colour, cover);
}

static void draw_plot(const Panel *p, Rect plot)
{
    const PanelTheme *t = p->theme;
    canvas_set(p->canvas, plot, t->plot, t->plot_alpha);
    if (!p->data->full_range) {
        const int black = (int)lrint(code_x(p, plot, black_code(p->data) - 0.5));
        const int white = (int)lrint(code_x(p, plot, white_code(p->data) + 0.5));
        const Rect below = {plot.x, plot.y, black - plot.x, plot.height};
        const Rect above = {white, plot.y, plot.x + plot.width - white, plot.height};
        canvas_set(p->canvas, below, t->outside, t->outside_alpha);
        canvas_set(p->canvas, above, t->outside, t->outside_alpha);
    }
    for (int tick = first_line(p); tick <= last_tick(p) - first_line(p); tick++)
        vertical_line(p, code_x(p, plot, tick_code(p, tick)), plot.y, plot.height, t->grid,
                      t->grid_cover);
}

/* Draws the base line, and lines at black and white. */
static void draw_axis(const Panel *p, Rect plot)
{
    const int codes[] = {black_code(p->data), white_code(p->data)};
    for (int i = 0; i < 2; i++)
        vertical_line(p, code_x(p, plot, codes[i]), plot.y, plot.height, p->theme->axis,
                      p->theme->axis_cover);
    canvas_fill(p->canvas, (Rect){plot.x, plot.y + plot.height, plot.width, line_width(p)},
                p->theme->axis, p->theme->axis_cover);
}

static void draw_x_numbers(const Panel *p, Rect plot)
{
    const int size = p->layout.text, room = text_room(size, p->layout.digits + 1);
    const int line = line_width(p), y = plot.y + plot.height + size * 2 / 3;
    for (int tick = 0; size && tick <= last_tick(p);
         tick = next_number(p, tick, plot.width / room)) {
        const double x = code_x(p, plot, tick_code(p, tick));
        vertical_line(p, x, plot.y + plot.height + line, max_int(2, size / 5) - line,
                      p->theme->axis, p->theme->axis_cover);
        add_number(p, tick, (int)x, y, TEXT_CENTRE, room);
    }
}

/* Draws the plot's name and, at the right, the first of `facts` that fits. `facts`: longest first,
 * NULL-terminated. */
static void draw_header(const Panel *p, Rect plot, int y, const char *name, Colour colour,
                        const char *const *facts)
{
    const int size = p->layout.text;
    const int name_room = text_room(size, (int)strlen(name));
    if (!size)
        return;
    const int end = plot.x + plot.width, is_wider = text_width(p->text, size, name) > plot.width;
    text_add(p->text, is_wider ? end : plot.x, y, is_wider ? TEXT_RIGHT : TEXT_LEFT, size, colour,
             is_wider ? end : plot.width, name);
    for (; *facts; facts++) {
        const int room = plot.width - name_room - size / 2;
        if (text_room(size, (int)strlen(*facts)) > room)
            continue;
        text_add(p->text, end, y, TEXT_RIGHT, size, p->theme->dim, room, *facts);
        return;
    }
}

static void draw_histogram_header(const Panel *p, Rect plot, const char *name, Colour colour,
                                  const PanelMarks *marks)
{
    char full[64] = "", brief[32] = "";
    if (!plot.width)
        return;
    if (marks->known) {
        const char *mean = p->data->light ? "mean code" : "mean";
        snprintf(full, sizeof(full), "%s %.0f, 1–99 %%: %d–%d", mean, marks->mean, marks->low,
                 marks->high);
        snprintf(brief, sizeof(brief), "%s %.0f", mean, marks->mean);
    }
    draw_header(p, plot, plot.y - p->layout.marks - p->layout.text * 3 / 5, name, colour,
                (const char *const[]){full, brief, NULL});
}

static void draw_words(const Panel *p)
{
    Rect words = p->layout.words;
    words.y += (word_line(&p->layout) - p->layout.text) / 2;
    words.height = p->layout.word_lines * p->layout.text;
    if (words.width && p->data->words)
        text_add_wrapped(p->text, words, p->layout.text, PANEL_BRIGHT, p->data->words);
}

static void draw_curve_ground(const Panel *p, Rect plot)
{
    char full[64], brief[32];
    const int black = black_code(p->data), white = white_code(p->data);
    draw_plot(p, plot);
    for (int tick = first_line(p); tick <= last_tick(p) - first_line(p); tick++) {
        const int y = (int)code_y(p, plot, tick_code(p, tick));
        canvas_fill(p->canvas, (Rect){plot.x, y, plot.width, line_width(p)}, p->theme->grid,
                    p->theme->grid_cover);
    }
    draw_axis(p, plot);
    const int dash = max_int(2, plot.width / 60), width = line_width(p);
    for (int column = 0; column < plot.width; column++) { /* the identity curve, dashed */
        const int y = plot.y + plot.height - 1 - column * plot.height / plot.width;
        if (column / dash % 2 == 0)
            canvas_fill(p->canvas, (Rect){plot.x + column, y - width / 2, 1, width}, p->theme->dim,
                        150);
    }
    snprintf(brief, sizeof(brief), "%d–%d", black, white);
    snprintf(full, sizeof(full), "%s range %s", p->data->full_range ? "full" : "limited", brief);
    if (p->data->light)
        snprintf(full, sizeof(full), "axes in nits");
    draw_header(p, plot, plot.y - p->layout.text * 3 / 5, "curve", PANEL_BRIGHT,
                (const char *const[]){full, brief, NULL});
    draw_x_numbers(p, plot);
    const int size = p->layout.text;
    const int numbers = size ? plot.height / size : 0;
    for (int tick = 0; size && tick <= last_tick(p); tick = next_number(p, tick, numbers))
        add_number(p, tick, plot.x - size / 3, (int)code_y(p, plot, tick_code(p, tick)), TEXT_RIGHT,
                   room_left(&p->layout));
}

static ScopePlot scope_plot(const Panel *p)
{
    return (ScopePlot){p->canvas, p->text, p->theme, p->layout.text, line_width(p)};
}

static void draw_scopes_ground(const Panel *p)
{
    const ScopePlot plot = scope_plot(p);
    const Rect waveform = p->layout.waveform, vectors = p->layout.vectors;
    const Scopes *scopes = p->data->scopes;
    const int above = p->layout.text * 3 / 5;
    if (scopes && waveform.width > 0) {
        scope_plot_waveform_ground(&plot, waveform, scopes);
        draw_header(p, waveform, waveform.y - above, "waveform", PANEL_OUTPUT,
                    (const char *const[]){"luma in %", NULL});
    }
    if (scopes && vectors.width > 0) {
        scope_plot_vectors_ground(&plot, vectors, scopes);
        draw_header(p, vectors, vectors.y - above, "vectorscope", PANEL_OUTPUT,
                    (const char *const[]){scopes->has_chroma ? "boxes: 75 %" : "gray", NULL});
    }
}

/* Draws everything except counts and the curve. */
static void draw_ground(const Panel *p)
{
    const Rect all = {0, 0, p->canvas->width, p->canvas->height};
    const Rect histograms[] = {p->layout.input, p->layout.output};
    canvas_set(p->canvas, all, PANEL_BACKGROUND, p->theme->ground);
    for (int i = 0; i < 2; i++)
        if (histograms[i].width) {
            draw_plot(p, histograms[i]);
            draw_axis(p, histograms[i]);
        }
    if (p->layout.output.width)
        draw_x_numbers(p, p->layout.output);
    if (p->layout.curve.width)
        draw_curve_ground(p, p->layout.curve);
    draw_scopes_ground(p);
    if (p->data->translucent)
        canvas_round(p->canvas, p->layout.text / 2);
    draw_histogram_header(p, p->layout.input, "input", PANEL_INPUT, &p->input);
    draw_histogram_header(p, p->layout.output, "output", PANEL_OUTPUT, &p->output);
    draw_words(p);
}

/* On the linear scale, up to SPIKES bars are cut off at SPIKE_RATIO times the next highest bar, so
 * that black borders or a caption do not flatten the other bars. */
#define SPIKES 4
#define SPIKE_RATIO 1.25

PanelMarks panel_find_marks(const PanelData *data, const uint32_t *hist)
{
    const int bins = data->bins, codes = bin_codes(data);
    const double middle = 0.5 * (codes - 1); /* offset of a bin's middle code */
    double total = 0, sum = 0;
    for (int b = 0; hist && b < bins; b++) {
        total += hist[b];
        sum += (double)hist[b] * b;
    }
    if (total == 0)
        return (PanelMarks){0};
    PanelMarks marks = {.known = 1, .mean = sum / total * codes + middle, .low = -1, .high = -1};
    double below = 0;
    for (int b = 0; b < bins && marks.high < 0; b++) {
        below += hist[b];
        if (marks.low < 0 && below >= 0.01 * total)
            marks.low = b * codes + (int)middle;
        if (below >= 0.99 * total)
            marks.high = b * codes + (int)middle;
    }
    return marks;
}

static double mean_in_column(const uint32_t *hist, int bins, int width, int column)
{
    const double first = (double)column * bins / width, last = (double)(column + 1) * bins / width;
    double sum = 0;
    for (int b = (int)first; b < bins && b < last; b++)
        sum += hist[b] * ((b + 1 < last ? b + 1 : last) - (b > first ? b : first));
    return sum / (last - first);
}

/* The count that fills the plot's height. */
static double full_height(const uint32_t *hist, int bins, int width, PanelScale scale)
{
    double highest[SPIKES + 1] = {0};
    for (int bar = 0; bar < min_int(bins, width); bar++) {
        double count = bins > width ? mean_in_column(hist, bins, width, bar) : hist[bar];
        for (int i = 0; i <= SPIKES && count > highest[SPIKES]; i++)
            if (count > highest[i]) {
                const double lower = highest[i];
                highest[i] = count;
                count = lower;
            }
    }
    if (scale == PANEL_LOG || highest[SPIKES] == 0)
        return highest[0];
    const double limit = SPIKE_RATIO * highest[SPIKES];
    return highest[0] < limit ? highest[0] : limit;
}

static void draw_bars(const Panel *p, Rect plot, const uint32_t *hist, Colour colour)
{
    const int bins = p->data->bins, bottom = plot.y + plot.height;
    const double full = full_height(hist, bins, plot.width, p->data->scale);
    if (full <= 0)
        return;
    for (int x = 0; x < plot.width; x++) {
        const double mean = mean_in_column(hist, bins, plot.width, x);
        const double share = p->data->scale == PANEL_LOG ? log1p(mean) / log1p(full) : mean / full;
        const double height = fmin(share, 1) * plot.height;
        const int top = bottom - (int)height;
        if (top > plot.y) /* antialiased */
            canvas_blend(p->canvas, plot.x + x, top - 1, colour,
                         (int)lrint((height - (int)height) * p->theme->bars));
        canvas_set(p->canvas, (Rect){plot.x + x, top, 1, bottom - top}, colour, p->theme->bars);
    }
}

/* Draws a line from the 1st to the 99th percentile, and a bar at the mean. */
static void draw_marks(const Panel *p, Rect plot, const PanelMarks *marks, Colour colour)
{
    const int line = line_width(p), height = p->layout.marks - line;
    const int left = (int)code_x(p, plot, marks->low);
    const int right = (int)code_x(p, plot, marks->high);
    const double mean_x = code_x(p, plot, marks->mean);
    const int top = plot.y - p->layout.marks;
    const Rect between = {left, top + (height - line) / 2, right - left, line};
    canvas_fill(p->canvas, between, colour, 160);
    vertical_line(p, left, top, height, colour, 255);
    vertical_line(p, right, top, height, colour, 255);
    const int wide = max_int(1, height / 2) | 1;
    const Rect mean = {(int)mean_x - wide / 2, top, wide, height};
    canvas_fill(p->canvas, mean, PANEL_BRIGHT, 255);
    vertical_line(p, mean_x, plot.y, plot.height, PANEL_BRIGHT, 110);
}

static double curve_y(const Panel *p, Rect plot, double column)
{
    const int bins = p->data->bins;
    const double bin =
        fmin(fmax(column * bins / plot.width - 0.5 / bin_codes(p->data), 0), bins - 1);
    const int below = (int)bin, above = min_int(below + 1, bins - 1);
    const double share = bin - below;
    const uint32_t *curve = p->data->curve;
    return code_y(p, plot, ((1 - share) * curve[below] + share * curve[above]) / 65536.0);
}

static void draw_curve(const Panel *p, Rect plot)
{
    const double radius = 0.9 * line_width(p);
    for (int x = 0; x < plot.width; x++) {
        const double left = curve_y(p, plot, x), right = curve_y(p, plot, x + 1.0);
        const double middle = (left + right) / 2, rise = fabs(right - left);
        const double half = fmin(radius * hypot(1, rise), rise / 2 + radius);
        const int end = min_int(plot.y + plot.height, (int)ceil(middle + half + 1));
        for (int y = max_int(plot.y, (int)floor(middle - half - 1)); y < end; y++) {
            const double cover = fmin(fmax(half + 0.5 - fabs(y + 0.5 - middle), 0), 1);
            canvas_blend(p->canvas, plot.x + x, y, PANEL_BRIGHT, (int)lrint(255 * cover));
        }
    }
}

static Panel make_panel(const PanelData *data, const Canvas *canvas, Text *text)
{
    const int most = code_count(data) - 1;
    const int digits = 3 + (most > 999) + (most > 9999);
    return (Panel){
        .data = data,
        .canvas = canvas,
        .text = text,
        .theme = data->translucent ? &translucent : &opaque,
        .layout = panel_layout(canvas->width, canvas->height, text ? digits : 0, data),
        .input = panel_find_marks(data, data->hist_in),
        .output = panel_find_marks(data, data->hist_out),
    };
}

/* The parts that change with each frame. */
static void draw_live(const Panel *p)
{
    const PanelLayout *l = &p->layout;
    const ScopePlot plot = scope_plot(p);
    if (l->input.width && p->input.known) {
        draw_bars(p, l->input, p->data->hist_in, PANEL_INPUT);
        draw_marks(p, l->input, &p->input, PANEL_INPUT);
    }
    if (l->output.width && p->output.known) {
        draw_bars(p, l->output, p->data->hist_out, PANEL_OUTPUT);
        draw_marks(p, l->output, &p->output, PANEL_OUTPUT);
    }
    if (l->curve.width && p->data->curve)
        draw_curve(p, l->curve);
    if (p->data->scopes && l->waveform.width > 0)
        scope_plot_waveform(&plot, l->waveform, p->data->scopes);
    if (p->data->scopes && l->vectors.width > 0)
        scope_plot_vectors(&plot, l->vectors, p->data->scopes);
}

void panel_draw(const PanelData *data, const Canvas *canvas, Text *text)
{
    const Panel p = make_panel(data, canvas, text);
    draw_ground(&p);
    draw_live(&p);
    text_draw(text, canvas);
}

struct PanelCache {
    Canvas ground;   /* the background with the text */
    Canvas canvas;   /* the complete panel */
    PanelData drawn; /* data of the background; its pointers may dangle */
    Text *text;      /* the Text that drew the background */
    double kr, kb;   /* of the background's scopes */
    int scopes_full_range, has_chroma;
    PanelMarks input, output; /* the numbers drawn */
    char words[256];          /* the words drawn */
    int64_t interval;         /* panel_interval() of the drawn numbers */
    int late;                 /* the numbers have changed, but must wait for the next interval */
};

int panel_cache_create(PanelCache **cache)
{
    *cache = calloc(1, sizeof(**cache));
    return *cache ? 0 : -1;
}

/* Returns 1 if the canvases are new, 0 if unchanged, -1 if out of memory. */
static int resize(PanelCache *c, int width, int height)
{
    Canvas *const both[] = {&c->ground, &c->canvas};
    if (c->canvas.pixels && c->canvas.width == width && c->canvas.height == height)
        return 0;
    for (int i = 0; i < 2; i++) {
        free(both[i]->pixels);
        *both[i] = canvas_alloc(width, height);
    }
    if (c->ground.pixels && c->canvas.pixels)
        return 1;
    free(c->canvas.pixels);
    c->canvas = (Canvas){0};
    return -1;
}

/* True if both print the same numbers. */
static bool same_marks(const PanelMarks *a, const PanelMarks *b)
{
    return a->known == b->known && (int)(a->mean + 0.5) == (int)(b->mean + 0.5) &&
           a->low == b->low && a->high == b->high;
}

/* True if the cached background is valid for this data, apart from numbers and words. */
static bool same_ground(const PanelCache *c, const PanelData *d, const Text *text)
{
    const PanelData *b = &c->drawn;
    const Scopes *s = d->scopes;
    const bool same_scopes =
        !s || (c->kr == s->kr && c->kb == s->kb && c->scopes_full_range == s->full_range &&
               c->has_chroma == s->has_chroma);
    return c->text == text && b->text.scale == d->text.scale &&
           b->text.density == d->text.density && b->bins == d->bins && b->depth == d->depth &&
           b->full_range == d->full_range && b->light == d->light &&
           b->translucent == d->translucent && !b->words == !d->words && b->scope == d->scope &&
           !b->scopes == !s && same_scopes;
}

/* Erases what draw_live() drew. */
static void restore_plots(const PanelCache *c, const Panel *p)
{
    const PanelLayout *l = &p->layout;
    const Rect plots[] = {l->input, l->output, l->curve, l->waveform, l->vectors};
    const int around = p->layout.marks; /* marks reach above a plot and beyond its sides */
    for (int i = 0; i < 5; i++)
        canvas_copy(&c->canvas, &c->ground,
                    (Rect){plots[i].x - around, plots[i].y - around, plots[i].width + 2 * around,
                           plots[i].height + around});
}

int64_t panel_interval(int64_t now_us)
{
    return now_us / PANEL_NUMBERS_US - (now_us % PANEL_NUMBERS_US < 0);
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
    const int64_t interval = panel_interval(now_us);
    const int same_numbers =
        same_marks(&c->input, &p.input) && same_marks(&c->output, &p.output) &&
        (!data->words || strncmp(c->words, data->words, sizeof(c->words) - 1) == 0);
    c->late = !same_numbers && interval == c->interval;
    if (resized || !same_ground(c, data, text) || (!same_numbers && !c->late)) {
        Panel below = p;
        below.canvas = &c->ground;
        draw_ground(&below);
        text_draw(text, &c->ground);
        canvas_copy(&c->canvas, &c->ground, (Rect){0, 0, width, height});
        c->input = p.input;
        c->output = p.output;
        snprintf(c->words, sizeof(c->words), "%s", data->words ? data->words : "");
        c->drawn = *data;
        c->text = text;
        if (data->scopes) {
            c->kr = data->scopes->kr;
            c->kb = data->scopes->kb;
            c->scopes_full_range = data->scopes->full_range;
            c->has_chroma = data->scopes->has_chroma;
        }
        c->late = 0;
    } else {
        restore_plots(c, &p);
    }
    c->interval = interval;
    draw_live(&p);
    return &c->canvas;
}

bool panel_cache_is_late(const PanelCache *c)
{
    return c->late;
}

void panel_cache_free(PanelCache **cache)
{
    if (*cache) {
        free((*cache)->ground.pixels);
        free((*cache)->canvas.pixels);
    }
    free(*cache);
    *cache = NULL;
}
