#include "panel/panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    BACKGROUND = 0x16191F,
    PLOT = 0x1E222A,
    OUTSIDE = 0x12151A, /* codes below black and above white */
    GRID = 0x333A46,
    AXIS = 0x56606F,
    BRIGHT = 0xE6E9EE,
    DIM = 0x98A2B0,
    INPUT = 0x74A7DC,
    OUTPUT = 0xF2B45C,
};

/* Panels with a side shorter than this have no room for text that can be read. */
#define MIN_TEXT_WIDTH 160
#define MIN_TEXT_HEIGHT 110
#define MIN_TEXT_SIZE 11

/* Plots with a side shorter than this are left out. */
#define MIN_PLOT 4

/* As many highest bins (black bars, a caption) may be cut off rather than flatten all others. */
#define SPIKES 4
#define SPIKE_RATIO 1.25 /* how far above the next they stand out then */

/* What the marks above a histogram show. */
typedef struct Marks {
    double mean;
    int low, high; /* the codes that 1 % and 99 % of the pixels do not exceed */
} Marks;

/* What all parts of one drawing share. */
typedef struct Panel {
    const PanelData *data;
    const Canvas *canvas;
    Text *text;
    PanelLayout layout;
} Panel;

static int max_int(int a, int b)
{
    return a > b ? a : b;
}

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

/* ---- where things are ---- */

static Rect plot_or_none(Rect rect)
{
    return rect.width < MIN_PLOT || rect.height < MIN_PLOT ? (Rect){0} : rect;
}

static int room_above(const PanelLayout *layout)
{
    return layout->text + layout->text / 4;
}

static int room_below(const PanelLayout *layout)
{
    return layout->text + layout->text / 5;
}

static int room_left(const PanelLayout *layout)
{
    return layout->text ? text_room(layout->text, 3) + layout->text / 3 : 0;
}

/* Histograms above each other, the curve to the right of both. */
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

/* All three above each other, with one axis of codes. */
static void lay_tall(PanelLayout *layout, Rect inner)
{
    const int left = inner.x + room_left(layout), width = inner.width - room_left(layout);
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

PanelLayout panel_layout(int width, int height, int with_text)
{
    PanelLayout layout = {0};
    if (with_text && width >= MIN_TEXT_WIDTH && height >= MIN_TEXT_HEIGHT)
        layout.text = max_int(MIN_TEXT_SIZE, min_int(width / 30, height / 20));
    layout.marks = max_int(3, min_int(width, height) / 36);
    const int margin = max_int(min_int(width, height) / 40, layout.text * 3 / 4);
    /* The last number of an axis is centred on its end. */
    const int end = layout.text ? max_int(0, text_room(layout.text, 3) / 2 - margin) : 0;
    const Rect inner = {margin, margin, width - 2 * margin - end, height - 2 * margin};
    if (width * 4 >= height * 5)
        lay_wide(&layout, inner);
    else
        lay_tall(&layout, inner);
    layout.input = plot_or_none(layout.input);
    layout.output = plot_or_none(layout.output);
    layout.curve = plot_or_none(layout.curve);
    return layout;
}

/* ---- codes ---- */

static int black_code(const PanelData *data)
{
    return data->full_range ? 0 : 16 * data->bins / 256;
}

static int white_code(const PanelData *data)
{
    return data->full_range ? data->bins - 1 : 235 * data->bins / 256;
}

/* The middle of a code, in pixels. */
static double code_x(const Panel *p, Rect plot, double code)
{
    return plot.x + (code + 0.5) * plot.width / p->data->bins;
}

static double code_y(const Panel *p, Rect plot, double code)
{
    return plot.y + plot.height - (code + 0.5) * plot.height / p->data->bins;
}

/* The codes that the axes are marked with: quarters, the last one being the last code. */
static int tick_code(const Panel *p, int tick)
{
    return min_int(p->data->bins * tick / 4, p->data->bins - 1);
}

static int line_width(const Panel *p)
{
    return max_int(1, min_int(p->canvas->width, p->canvas->height) / 400);
}

static void vertical_line(const Panel *p, double x, int y, int height, Colour colour, int cover)
{
    const int width = line_width(p);
    const Rect line = {(int)floor(x - 0.5 * (width - 1)), y, width, height};
    canvas_fill(p->canvas, line, colour, cover);
}

/* ---- the ground of a plot ---- */

static void draw_ground(const Panel *p, Rect plot)
{
    canvas_fill(p->canvas, plot, PLOT, 255);
    if (!p->data->full_range) {
        const int black = (int)lrint(code_x(p, plot, black_code(p->data) - 0.5));
        const int white = (int)lrint(code_x(p, plot, white_code(p->data) + 0.5));
        const Rect below = {plot.x, plot.y, black - plot.x, plot.height};
        const Rect above = {white, plot.y, plot.x + plot.width - white, plot.height};
        canvas_fill(p->canvas, below, OUTSIDE, 255);
        canvas_fill(p->canvas, above, OUTSIDE, 255);
    }
    for (int tick = 1; tick < 4; tick++)
        vertical_line(p, code_x(p, plot, tick_code(p, tick)), plot.y, plot.height, GRID, 255);
}

/* Where black and white are; the same codes in every plot. */
static void draw_range(const Panel *p, Rect plot)
{
    vertical_line(p, code_x(p, plot, black_code(p->data)), plot.y, plot.height, AXIS, 255);
    vertical_line(p, code_x(p, plot, white_code(p->data)), plot.y, plot.height, AXIS, 255);
}

static void draw_axis(const Panel *p, Rect plot)
{
    const Rect base = {plot.x, plot.y + plot.height, plot.width, line_width(p)};
    canvas_fill(p->canvas, base, AXIS, 255);
}

static void draw_x_numbers(const Panel *p, Rect plot)
{
    const int size = p->layout.text, room = text_room(size, 4);
    const int step = plot.width >= 5 * room ? 1 : plot.width >= 3 * room ? 2 : 4;
    const int y = plot.y + plot.height + size * 2 / 3;
    for (int tick = 0; size && tick <= 4; tick += step) {
        const double x = code_x(p, plot, tick_code(p, tick));
        vertical_line(p, x, plot.y + plot.height, max_int(2, size / 5), AXIS, 255);
        text_addf(p->text, (int)x, y, TEXT_CENTRE, size, DIM, room, "%d", tick_code(p, tick));
    }
}

static void draw_y_numbers(const Panel *p, Rect plot)
{
    const int size = p->layout.text;
    const int step = plot.height >= 5 * size ? 1 : plot.height >= 3 * size ? 2 : 4;
    for (int tick = 0; size && tick <= 4; tick += step) {
        const int y = (int)code_y(p, plot, tick_code(p, tick));
        text_addf(p->text, plot.x - size / 3, y, TEXT_RIGHT, size, DIM, room_left(&p->layout), "%d",
                  tick_code(p, tick));
    }
}

/* The plot's name, and to the right the longest of `facts` (longest first, NULL at the end) that
 * fits beside it. */
static void draw_header(const Panel *p, Rect plot, int y, const char *name, Colour colour,
                        const char *const *facts)
{
    const int size = p->layout.text;
    const int name_room = text_room(size, (int)strlen(name));
    if (!size)
        return;
    text_add(p->text, plot.x, y, TEXT_LEFT, size, colour, plot.width, name);
    for (; *facts; facts++) {
        const int room = plot.width - name_room - size / 2;
        if (text_room(size, (int)strlen(*facts)) > room)
            continue;
        text_add(p->text, plot.x + plot.width, y, TEXT_RIGHT, size, DIM, room, *facts);
        return;
    }
}

/* ---- histograms ---- */

/* Answers 0 when there is nothing to mark. */
static int find_marks(const uint32_t *hist, int bins, Marks *marks)
{
    double total = 0, sum = 0;
    for (int b = 0; b < bins; b++) {
        total += hist[b];
        sum += (double)hist[b] * b;
    }
    if (total == 0)
        return 0;
    *marks = (Marks){.mean = sum / total, .low = -1, .high = -1};
    double below = 0;
    for (int b = 0; b < bins; b++) {
        below += hist[b];
        if (marks->low < 0 && below >= 0.01 * total)
            marks->low = b;
        if (marks->high < 0 && below >= 0.99 * total)
            marks->high = b;
    }
    return 1;
}

/* The count that is drawn over the whole height. */
static double full_height(const uint32_t *hist, int bins, PanelScale scale)
{
    uint32_t highest[SPIKES + 1] = {0};
    for (int b = 0; b < bins; b++) {
        uint32_t count = hist[b];
        for (int i = 0; i <= SPIKES; i++)
            if (count > highest[i]) {
                const uint32_t lower = highest[i];
                highest[i] = count;
                count = lower;
            }
    }
    if (scale == PANEL_LOG || highest[SPIKES] == 0)
        return highest[0];
    return fmin(highest[0], SPIKE_RATIO * highest[SPIKES]);
}

static double mean_in_column(const uint32_t *hist, int bins, int width, int column)
{
    const double first = (double)column * bins / width, last = (double)(column + 1) * bins / width;
    double sum = 0;
    for (int b = (int)first; b < bins && b < last; b++)
        sum += hist[b] * (fmin(b + 1, last) - fmax(b, first));
    return sum / (last - first);
}

/* A bar of `height` pixels, its top smooth. */
static void draw_bar(const Panel *p, Rect plot, int column, double height, Colour colour)
{
    const int whole = (int)height, bottom = plot.y + plot.height;
    const Rect body = {plot.x + column, bottom - whole, 1, whole};
    canvas_fill(p->canvas, body, colour, 255);
    if (whole < plot.height)
        canvas_blend(p->canvas, body.x, body.y - 1, colour, (int)lrint((height - whole) * 255));
}

static void draw_bars(const Panel *p, Rect plot, const uint32_t *hist, Colour colour)
{
    const double full = full_height(hist, p->data->bins, p->data->scale);
    if (full <= 0)
        return;
    for (int column = 0; column < plot.width; column++) {
        const double count = mean_in_column(hist, p->data->bins, plot.width, column);
        const double share =
            p->data->scale == PANEL_LOG ? log1p(count) / log1p(full) : fmin(count / full, 1);
        draw_bar(p, plot, column, share * plot.height, colour);
    }
}

/* A line from the 1 % to the 99 % code, and where between them the mean is. */
static void draw_marks(const Panel *p, Rect plot, const Marks *marks, Colour colour)
{
    const int line = line_width(p), height = p->layout.marks - line;
    const int left = (int)code_x(p, plot, marks->low), right = (int)code_x(p, plot, marks->high);
    const int top = plot.y - p->layout.marks;
    const Rect between = {left, top + (height - line) / 2, right - left, line};
    canvas_fill(p->canvas, between, colour, 160);
    vertical_line(p, left, top, height, colour, 255);
    vertical_line(p, right, top, height, colour, 255);
    const int wide = max_int(1, height / 2) | 1;
    const Rect mean = {(int)code_x(p, plot, marks->mean) - wide / 2, top, wide, height};
    canvas_fill(p->canvas, mean, BRIGHT, 255);
    vertical_line(p, code_x(p, plot, marks->mean), plot.y, plot.height, BRIGHT, 110);
}

static void draw_histogram(const Panel *p, Rect plot, const uint32_t *hist, const char *name,
                           Colour colour)
{
    if (!plot.width)
        return;
    char full[64] = "", brief[32] = "";
    Marks marks;
    draw_ground(p, plot);
    draw_range(p, plot);
    if (hist && find_marks(hist, p->data->bins, &marks)) {
        draw_bars(p, plot, hist, colour);
        draw_marks(p, plot, &marks, colour);
        snprintf(full, sizeof(full), "mean %.0f, 1–99 %%: %d–%d", marks.mean, marks.low,
                 marks.high);
        snprintf(brief, sizeof(brief), "mean %.0f", marks.mean);
    }
    draw_axis(p, plot);
    const int y = plot.y - p->layout.marks - p->layout.text * 3 / 5;
    draw_header(p, plot, y, name, colour, (const char *const[]){full, brief, NULL});
}

/* ---- the curve ---- */

typedef struct Point {
    double x, y;
} Point;

static double distance(Point p, Point a, Point b)
{
    const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
    double t = length > 0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / length : 0;
    t = fmin(fmax(t, 0), 1);
    return hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

static Point curve_point(const Panel *p, Rect plot, int code)
{
    return (Point){code_x(p, plot, code), code_y(p, plot, p->data->curve[code] / 65536.0)};
}

/* One column of pixels of the line through the points of the codes first..last. */
static void draw_curve_column(const Panel *p, Rect plot, int x, int first, int last, double radius)
{
    double top = plot.y + plot.height, bottom = plot.y;
    for (int code = first; code <= last; code++) {
        const double y = curve_point(p, plot, code).y;
        top = fmin(top, y);
        bottom = fmax(bottom, y);
    }
    const int begin = max_int(plot.y, (int)floor(top - radius - 1));
    const int end = min_int(plot.y + plot.height, (int)ceil(bottom + radius + 1));
    for (int y = begin; y < end; y++) {
        double nearest = radius + 1;
        for (int code = first; code < last; code++)
            nearest = fmin(nearest, distance((Point){x + 0.5, y + 0.5}, curve_point(p, plot, code),
                                             curve_point(p, plot, code + 1)));
        const double cover = fmin(fmax(radius + 0.5 - nearest, 0), 1);
        canvas_blend(p->canvas, x, y, BRIGHT, (int)lrint(cover * 255));
    }
}

static void draw_line(const Panel *p, Rect plot)
{
    const int bins = p->data->bins;
    const double radius = 0.9 * line_width(p);
    const double reach = (radius + 1) * bins / plot.width; /* codes beside a column that reach it */
    for (int column = 0; column < plot.width; column++) {
        const double middle = (column + 0.5) * bins / plot.width - 0.5;
        const int first = max_int(0, (int)floor(middle - reach));
        const int last = min_int(bins - 1, (int)ceil(middle + reach));
        draw_curve_column(p, plot, plot.x + column, first, last, radius);
    }
}

/* The curve that changes nothing, dotted. */
static void draw_identity(const Panel *p, Rect plot)
{
    const int dash = max_int(2, plot.width / 60), width = line_width(p);
    for (int column = 0; column < plot.width; column++) {
        const int y = plot.y + plot.height - 1 - column * plot.height / plot.width;
        const Rect dot = {plot.x + column, y - width / 2, 1, width};
        if (column / dash % 2 == 0)
            canvas_fill(p->canvas, dot, DIM, 150);
    }
}

static void draw_curve(const Panel *p, Rect plot)
{
    if (!plot.width)
        return;
    char full[64], brief[32];
    draw_ground(p, plot);
    for (int tick = 1; tick < 4; tick++) {
        const int y = (int)code_y(p, plot, tick_code(p, tick));
        canvas_fill(p->canvas, (Rect){plot.x, y, plot.width, line_width(p)}, GRID, 255);
    }
    draw_range(p, plot);
    draw_axis(p, plot);
    draw_identity(p, plot);
    if (p->data->curve)
        draw_line(p, plot);
    snprintf(brief, sizeof(brief), "%d–%d", black_code(p->data), white_code(p->data));
    snprintf(full, sizeof(full), "%s range %s", p->data->full_range ? "full" : "limited", brief);
    draw_header(p, plot, plot.y - p->layout.text * 3 / 5, "curve", BRIGHT,
                (const char *const[]){full, brief, NULL});
    draw_x_numbers(p, plot);
    draw_y_numbers(p, plot);
}

void panel_draw(const PanelData *data, const Canvas *canvas, Text *text)
{
    const Panel p = {data, canvas, text, panel_layout(canvas->width, canvas->height, text != NULL)};
    canvas_fill(canvas, (Rect){0, 0, canvas->width, canvas->height}, BACKGROUND, 255);
    draw_histogram(&p, p.layout.input, data->hist_in, "input", INPUT);
    draw_histogram(&p, p.layout.output, data->hist_out, "output", OUTPUT);
    draw_x_numbers(&p, p.layout.output);
    draw_curve(&p, p.layout.curve);
    text_draw(text, canvas);
}
