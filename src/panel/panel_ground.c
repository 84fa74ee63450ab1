#include "panel/panel_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- codes ---- */

static int black_code(const PanelData *data)
{
    return data->full_range ? 0 : 16 * panel_codes(data) / 256;
}

static int white_code(const PanelData *data)
{
    return data->full_range ? panel_codes(data) - 1 : 235 * panel_codes(data) / 256;
}

double panel_code_x(const Panel *p, Rect plot, double code)
{
    return plot.x + (code + 0.5) * plot.width / panel_codes(p->data);
}

double panel_code_y(const Panel *p, Rect plot, double code)
{
    return plot.y + plot.height - (code + 0.5) * plot.height / panel_codes(p->data);
}

/* The codes that the axes are marked with: quarters, the last one being the last code. */
static int tick_code(const Panel *p, int tick)
{
    const int codes = panel_codes(p->data);
    return min_int(codes * tick / 4, codes - 1);
}

/* ---- the ground of a plot ---- */

int panel_line_width(const Panel *p)
{
    return max_int(1, min_int(p->canvas->width, p->canvas->height) / 300);
}

void panel_vertical_line(const Panel *p, double x, int y, int height, Colour colour, int cover)
{
    const int width = panel_line_width(p);
    const Rect line = {(int)floor(x - 0.5 * (width - 1)), y, width, height};
    canvas_fill(p->canvas, line, colour, cover);
}

static void draw_plot(const Panel *p, Rect plot)
{
    const PanelTheme *t = p->theme;
    canvas_set(p->canvas, plot, t->plot, t->plot_alpha);
    if (!p->data->full_range) {
        const int black = (int)lrint(panel_code_x(p, plot, black_code(p->data) - 0.5));
        const int white = (int)lrint(panel_code_x(p, plot, white_code(p->data) + 0.5));
        const Rect below = {plot.x, plot.y, black - plot.x, plot.height};
        const Rect above = {white, plot.y, plot.x + plot.width - white, plot.height};
        canvas_set(p->canvas, below, t->outside, t->outside_alpha);
        canvas_set(p->canvas, above, t->outside, t->outside_alpha);
    }
    for (int tick = 1; tick < 4; tick++)
        panel_vertical_line(p, panel_code_x(p, plot, tick_code(p, tick)), plot.y, plot.height,
                            t->grid, t->grid_cover);
}

/* Where black and white are; the same codes in every plot. */
static void draw_range(const Panel *p, Rect plot)
{
    const int codes[] = {black_code(p->data), white_code(p->data)};
    for (int i = 0; i < 2; i++)
        panel_vertical_line(p, panel_code_x(p, plot, codes[i]), plot.y, plot.height, p->theme->axis,
                            p->theme->axis_cover);
}

static void draw_axis(const Panel *p, Rect plot)
{
    const Rect base = {plot.x, plot.y + plot.height, plot.width, panel_line_width(p)};
    canvas_fill(p->canvas, base, p->theme->axis, p->theme->axis_cover);
}

static void draw_x_numbers(const Panel *p, Rect plot)
{
    const int size = p->layout.text, room = text_room(size, p->layout.digits + 1);
    const int step = plot.width >= 5 * room ? 1 : plot.width >= 3 * room ? 2 : 4;
    const int line = panel_line_width(p), y = plot.y + plot.height + size * 2 / 3;
    for (int tick = 0; size && tick <= 4; tick += step) {
        const double x = panel_code_x(p, plot, tick_code(p, tick));
        panel_vertical_line(p, x, plot.y + plot.height + line, max_int(2, size / 5) - line,
                            p->theme->axis, p->theme->axis_cover);
        text_addf(p->text, (int)x, y, TEXT_CENTRE, size, p->theme->dim, room, "%d",
                  tick_code(p, tick));
    }
}

static void draw_y_numbers(const Panel *p, Rect plot)
{
    const int size = p->layout.text;
    const int step = plot.height >= 5 * size ? 1 : plot.height >= 3 * size ? 2 : 4;
    for (int tick = 0; size && tick <= 4; tick += step) {
        const int y = (int)panel_code_y(p, plot, tick_code(p, tick));
        text_addf(p->text, plot.x - size / 3, y, TEXT_RIGHT, size, p->theme->dim,
                  panel_room_left(&p->layout), "%d", tick_code(p, tick));
    }
}

/* ---- headers ---- */

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
        text_add(p->text, plot.x + plot.width, y, TEXT_RIGHT, size, p->theme->dim, room, *facts);
        return;
    }
}

void panel_draw_header(const Panel *p, Rect plot, const char *name, Colour colour,
                       const PanelMarks *marks)
{
    char full[64] = "", brief[32] = "";
    if (!plot.width)
        return;
    if (marks->known) {
        snprintf(full, sizeof(full), "mean %.0f, 1–99 %%: %d–%d", marks->mean, marks->low,
                 marks->high);
        snprintf(brief, sizeof(brief), "mean %.0f", marks->mean);
    }
    draw_header(p, plot, plot.y - p->layout.marks - p->layout.text * 3 / 5, name, colour,
                (const char *const[]){full, brief, NULL});
}

/* ---- the curve's ---- */

/* The curve that changes nothing, dotted. */
static void draw_identity(const Panel *p, Rect plot)
{
    const int dash = max_int(2, plot.width / 60), width = panel_line_width(p);
    for (int column = 0; column < plot.width; column++) {
        const int y = plot.y + plot.height - 1 - column * plot.height / plot.width;
        const Rect dot = {plot.x + column, y - width / 2, 1, width};
        if (column / dash % 2 == 0)
            canvas_fill(p->canvas, dot, p->theme->dim, 150);
    }
}

static void draw_curve_ground(const Panel *p, Rect plot)
{
    char full[64], brief[32];
    const int black = black_code(p->data), white = white_code(p->data);
    draw_plot(p, plot);
    for (int tick = 1; tick < 4; tick++) {
        const int y = (int)panel_code_y(p, plot, tick_code(p, tick));
        canvas_fill(p->canvas, (Rect){plot.x, y, plot.width, panel_line_width(p)}, p->theme->grid,
                    p->theme->grid_cover);
    }
    draw_range(p, plot);
    draw_axis(p, plot);
    draw_identity(p, plot);
    snprintf(brief, sizeof(brief), "%d–%d", black, white);
    snprintf(full, sizeof(full), "%s range %s", p->data->full_range ? "full" : "limited", brief);
    draw_header(p, plot, plot.y - p->layout.text * 3 / 5, "curve", BRIGHT,
                (const char *const[]){full, brief, NULL});
    draw_x_numbers(p, plot);
    draw_y_numbers(p, plot);
}

void panel_draw_ground(const Panel *p)
{
    const Rect all = {0, 0, p->canvas->width, p->canvas->height};
    const Rect histograms[] = {p->layout.input, p->layout.output};
    canvas_set(p->canvas, all, BACKGROUND, p->theme->ground);
    for (int i = 0; i < 2; i++)
        if (histograms[i].width) {
            draw_plot(p, histograms[i]);
            draw_range(p, histograms[i]);
            draw_axis(p, histograms[i]);
        }
    if (p->layout.output.width)
        draw_x_numbers(p, p->layout.output);
    if (p->layout.curve.width)
        draw_curve_ground(p, p->layout.curve);
}
