#include "panel/panel_parts.h"

#include <math.h>

/* As many highest bins (black bars, a caption) may be cut off rather than flatten all others. */
#define SPIKES 4
#define SPIKE_RATIO 1.25 /* how far above the next they stand out then */

/* Columns of bars that are drawn together, row by row. */
#define COLUMNS 64

/* ---- histograms ---- */

PanelMarks panel_find_marks(const PanelData *data, const uint32_t *hist)
{
    const int bins = data->bins, codes = panel_bin_codes(data);
    const double middle = 0.5 * (codes - 1); /* of a bin's codes, from its first one */
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

/* The count that is drawn over the whole height of a plot. */
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

/* Some bars beside each other, from the left side of `part` on: `top` is each one's first row that
 * is whole. */
static void fill_bars(const Panel *p, Rect part, const int *top, Colour colour)
{
    const uint8_t bytes[4] = {(uint8_t)(colour >> 16), (uint8_t)(colour >> 8), (uint8_t)colour,
                              (uint8_t)p->theme->bars};
    uint32_t bar, row[COLUMNS];
    memcpy(&bar, bytes, 4);
    int highest = part.y + part.height;
    for (int i = 0; i < part.width; i++)
        highest = min_int(highest, top[i]);
    for (int y = highest; y < part.y + part.height; y++) {
        uint8_t *pixels = canvas_pixel(p->canvas, part.x, y);
        memcpy(row, pixels, (size_t)part.width * 4);
        for (int i = 0; i < part.width; i++)
            row[i] = y >= top[i] ? bar : row[i];
        memcpy(pixels, row, (size_t)part.width * 4);
    }
}

void panel_draw_bars(const Panel *p, Rect plot, const uint32_t *hist, Colour colour)
{
    const int bins = p->data->bins, bottom = plot.y + plot.height;
    const double full = full_height(hist, bins, plot.width, p->data->scale);
    if (full <= 0)
        return;
    for (int first = 0; first < plot.width; first += COLUMNS) {
        const int count = min_int(COLUMNS, plot.width - first);
        int top[COLUMNS];
        for (int i = 0; i < count; i++) {
            const double mean = mean_in_column(hist, bins, plot.width, first + i);
            const double share =
                p->data->scale == PANEL_LOG ? log1p(mean) / log1p(full) : mean / full;
            const double height = (share < 1 ? share : 1) * plot.height;
            top[i] = bottom - (int)height;
            if (top[i] > plot.y) /* smooth at the top */
                canvas_blend(p->canvas, plot.x + first + i, top[i] - 1, colour,
                             (int)lrint((height - (int)height) * p->theme->bars));
        }
        fill_bars(p, (Rect){plot.x + first, plot.y, count, plot.height}, top, colour);
    }
}

/* A line from the 1 % to the 99 % code, and where between them the mean is. */
void panel_draw_marks(const Panel *p, Rect plot, const PanelMarks *marks, Colour colour)
{
    const int line = panel_line_width(p), height = p->layout.marks - line;
    const int left = (int)panel_code_x(p, plot, marks->low);
    const int right = (int)panel_code_x(p, plot, marks->high);
    const double mean_x = panel_code_x(p, plot, marks->mean);
    const int top = plot.y - p->layout.marks;
    const Rect between = {left, top + (height - line) / 2, right - left, line};
    canvas_fill(p->canvas, between, colour, 160);
    panel_vertical_line(p, left, top, height, colour, 255);
    panel_vertical_line(p, right, top, height, colour, 255);
    const int wide = max_int(1, height / 2) | 1;
    const Rect mean = {(int)mean_x - wide / 2, top, wide, height};
    canvas_fill(p->canvas, mean, BRIGHT, 255);
    panel_vertical_line(p, mean_x, plot.y, plot.height, BRIGHT, 110);
}

/* ---- the curve ---- */

typedef struct Point {
    double x, y;
} Point;

/* The curve as points with a line through them. */
typedef struct Line {
    Point points[PANEL_MAX_BINS + 1];
    int count;
    double spacing; /* from one point to the next, in pixels */
    double radius;  /* half its width */
} Line;

/* Points nearer to each other than a quarter of a pixel would cost time and show nothing. */
static void find_line(const Panel *p, Rect plot, Line *line)
{
    const int bins = p->data->bins, step = max_int(1, bins / (4 * plot.width));
    const int codes = panel_bin_codes(p->data);
    line->count = 0;
    for (int b = 0;; b = min_int(b + step, bins - 1)) {
        line->points[line->count++] = (Point){panel_code_x(p, plot, b * codes),
                                              panel_code_y(p, plot, p->data->curve[b] / 65536.0)};
        if (b == bins - 1)
            break;
    }
    line->spacing = (double)step * plot.width / bins;
    line->radius = 0.9 * panel_line_width(p);
}

static double squared_distance(Point p, Point a, Point b)
{
    const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
    double t = length > 0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / length : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    const double x = p.x - a.x - t * dx, y = p.y - a.y - t * dy;
    return x * x + y * y;
}

/* How much of a pixel the line through points first..last covers, 0 to 255. */
static int line_cover(const Line *line, Point pixel, int first, int last)
{
    const double reach = line->radius + 1;
    double nearest = reach * reach;
    for (int i = first; i < last; i++) {
        const Point a = line->points[i], b = line->points[i + 1];
        if ((pixel.y < a.y - reach && pixel.y < b.y - reach) ||
            (pixel.y > a.y + reach && pixel.y > b.y + reach))
            continue;
        const double squared = squared_distance(pixel, a, b);
        nearest = squared < nearest ? squared : nearest;
    }
    const double cover = line->radius + 0.5 - sqrt(nearest);
    return cover <= 0 ? 0 : cover >= 1 ? 255 : (int)lrint(cover * 255);
}

/* One column of pixels of the line; points first..last are those that can reach it. */
static void draw_line_column(const Panel *p, Rect plot, const Line *line, int x, int first,
                             int last)
{
    double top = plot.y + plot.height, bottom = plot.y;
    for (int i = first; i <= last; i++) {
        const double y = line->points[i].y;
        top = y < top ? y : top;
        bottom = y > bottom ? y : bottom;
    }
    const int begin = max_int(plot.y, (int)floor(top - line->radius - 1));
    const int end = min_int(plot.y + plot.height, (int)ceil(bottom + line->radius + 1));
    for (int y = begin; y < end; y++)
        canvas_blend(p->canvas, x, y, BRIGHT,
                     line_cover(line, (Point){x + 0.5, y + 0.5}, first, last));
}

void panel_draw_curve(const Panel *p, Rect plot)
{
    Line line;
    find_line(p, plot, &line);
    for (int column = 0; column < plot.width; column++) {
        const double middle = column + 0.5 - (line.points[0].x - plot.x);
        const double reach = line.radius + 1;
        const int first = max_int(0, (int)floor((middle - reach) / line.spacing));
        const int last = (int)ceil((middle + reach) / line.spacing);
        /* The last step may be a shorter one. */
        draw_line_column(p, plot, &line, plot.x + column, min_int(first, line.count - 1),
                         last >= line.count - 2 ? line.count - 1 : last);
    }
}
