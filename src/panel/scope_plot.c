#include "panel/scope_plot.h"

#include <math.h>

/* A level with this share of its column's samples has full brightness. Smaller shares are
 * brightened by the gamma, so that gradients stay visible. */
#define FULL_SHARE 0.08
#define WAVEFORM_GAMMA 0.55

/* Minimum brightness of a vector with a count. */
#define LEAST_VECTOR 0.3
#define BESIDE_VECTOR 0.45 /* maximum brightness of a vector's neighbours */

/* Saturation of the colours that have a box. */
#define MARKED 0.75

/* Half the side of a box, in levels. */
#define MARK 5.0

/* Angle of the skin tone line, from Cb towards Cr. */
#define SKIN_DEGREES 123.0

/* Luma of the colour drawn for a vector. */
#define VECTOR_LUMA 0.6

static double chroma_reach(const Scopes *s)
{
    return s->full_range ? 127.5 : 112;
}

/* The middle of a level, in pixels. */
static double level_y(Rect rect, double level)
{
    return rect.y + rect.height - (level + 0.5) * rect.height / SCOPES_LEVELS;
}

/* The levels that a pixel shows: from `first` to before `end`, at least one. */
typedef struct Levels {
    int first, end;
} Levels;

static Levels levels_at(int pixel, int length)
{
    const int middle = (int)((2 * (int64_t)pixel + 1) * SCOPES_LEVELS / (2 * (int64_t)length));
    if (length >= SCOPES_LEVELS)
        return (Levels){middle, middle + 1};
    const int first = (int)((int64_t)pixel * SCOPES_LEVELS / length);
    const int end = (int)((int64_t)(pixel + 1) * SCOPES_LEVELS / length);
    return (Levels){first, max_int(end, first + 1)};
}

void scope_plot_waveform_ground(const ScopePlot *p, Rect rect, const Scopes *s)
{
    static const char *const percent[] = {"0", "25", "50", "75", "100"};
    const PanelTheme *t = p->theme;
    const double black = s->full_range ? 0 : 16, white = s->full_range ? 255 : 235;
    const int top = (int)lrint(level_y(rect, white + 0.5));
    const int bottom = (int)lrint(level_y(rect, black - 0.5));
    int step = rect.height >= 4 * p->size ? 2 : 4; /* every step-th line has a number */
    if (rect.height >= 7 * p->size)
        step = 1;
    canvas_set(p->canvas, rect, t->plot, t->plot_alpha);
    canvas_set(p->canvas, (Rect){rect.x, rect.y, rect.width, top - rect.y}, t->outside,
               t->outside_alpha);
    canvas_set(p->canvas, (Rect){rect.x, bottom, rect.width, rect.y + rect.height - bottom},
               t->outside, t->outside_alpha);
    for (int i = 0; i <= 4; i++) {
        const double level = black + (white - black) * i / 4;
        const int is_end = i % 4 == 0;
        const int y = (int)floor(level_y(rect, level)) - (p->line - 1) / 2;
        canvas_fill(p->canvas, (Rect){rect.x, y, rect.width, p->line}, is_end ? t->axis : t->grid,
                    is_end ? t->axis_cover : t->grid_cover);
        if (p->size && i % step == 0)
            text_add(p->text, rect.x - p->size / 3, (int)level_y(rect, level), TEXT_RIGHT, p->size,
                     t->dim, text_room(p->size, 4), percent[i]);
    }
}

static uint32_t count_in(const uint32_t *column, Levels levels)
{
    uint32_t count = 0;
    for (int level = levels.first; level < levels.end; level++)
        count += column[level];
    return count;
}

void scope_plot_waveform(const ScopePlot *p, Rect rect, const Scopes *s)
{
    const double full = FULL_SHARE * s->column_samples;
    for (int x = 0; x < rect.width && s->columns > 0; x++) {
        const uint32_t *column = s->waveform[(int64_t)x * s->columns / rect.width];
        for (int y = 0; y < rect.height; y++) {
            const Levels levels = levels_at(rect.height - 1 - y, rect.height);
            const uint32_t count = count_in(column, levels);
            if (!count)
                continue;
            const double share = count / full / (levels.end - levels.first);
            const int cover = (int)(255 * fmin(pow(share, WAVEFORM_GAMMA), 1));
            canvas_blend(p->canvas, rect.x + x, rect.y + y, PANEL_OUTPUT, cover);
        }
    }
}

typedef struct Hue {
    const char *name;
    double r, g, b;
} Hue;

static const Hue hues[] = {
    {"R", 1, 0, 0},  {"Yl", 1, 1, 0}, {"G", 0, 1, 0},
    {"Cy", 0, 1, 1}, {"B", 0, 0, 1},  {"Mg", 1, 0, 1},
};

/* Draws an antialiased circle through the maximum chroma of each axis. */
static void draw_circle(const ScopePlot *p, Rect rect, double radius)
{
    const double x = rect.x + rect.width / 2.0, y = rect.y + rect.height / 2.0;
    for (int row = (int)(y - radius) - p->line; row <= (int)(y + radius) + p->line; row++)
        for (int column = (int)(x - radius) - p->line; column <= (int)(x + radius) + p->line;
             column++) {
            const double off = fabs(hypot(column + 0.5 - x, row + 0.5 - y) - radius);
            const double share = fmin(fmax(0.5 * p->line + 0.5 - off, 0), 1);
            canvas_blend(p->canvas, column, row, p->theme->axis,
                         (int)(share * p->theme->axis_cover));
        }
}

static void draw_skin(const ScopePlot *p, Rect rect, double radius)
{
    const double x = rect.x + rect.width / 2.0, y = rect.y + rect.height / 2.0;
    const double angle = SKIN_DEGREES * acos(-1) / 180, across = cos(angle), down = -sin(angle);
    for (int row = (int)(y - radius); row <= (int)y; row++)
        for (int column = (int)(x - radius); column <= (int)x; column++) {
            const double dx = column + 0.5 - x, dy = row + 0.5 - y;
            const double along = dx * across + dy * down, off = fabs(dx * down - dy * across);
            const double share = fmin(fmax(0.5 * p->line + 0.5 - off, 0), 1);
            if (along > 0 && along <= radius)
                canvas_blend(p->canvas, column, row, p->theme->dim, (int)(share * 200));
        }
}

static void draw_frame(const ScopePlot *p, double x, double y, double half, Colour colour)
{
    const int left = (int)(x - half), top = (int)(y - half), side = (int)(2 * half), w = p->line;
    const Rect sides[] = {{left, top, side, w},
                          {left, top + side - w, side, w},
                          {left, top + w, w, side - 2 * w},
                          {left + side - w, top + w, w, side - 2 * w}};
    for (int i = 0; i < 4; i++)
        canvas_fill(p->canvas, sides[i], colour, 230);
}

static Colour colour_of(double r, double g, double b)
{
    return (Colour)lrint(255 * fmin(fmax(r, 0), 1)) << 16 |
           (Colour)lrint(255 * fmin(fmax(g, 0), 1)) << 8 | (Colour)lrint(255 * fmin(fmax(b, 0), 1));
}

/* Draws a box at 75 % saturation of the colour. Its label is outside the box: away from the centre
 * or, if it would meet the circle there, towards the centre. */
static void draw_mark(const ScopePlot *p, Rect rect, const Scopes *s, const Hue *hue)
{
    const double unit = (double)rect.width / SCOPES_LEVELS;
    const double luma = s->kr * hue->r + (1 - s->kr - s->kb) * hue->g + s->kb * hue->b;
    /* chroma relative to the maximum: 0 (gray) to 0.5 */
    const double cb = (hue->b - luma) / (2 * (1 - s->kb)), cr = (hue->r - luma) / (2 * (1 - s->kr));
    const double x =
        rect.x + (127.5 + 2 * MARKED * cb * chroma_reach(s) + 0.5) * rect.width / SCOPES_LEVELS;
    const double y = level_y(rect, 127.5 + 2 * MARKED * cr * chroma_reach(s));
    const double half = fmax(3, MARK * unit), length = hypot(cb, cr);
    const double beside = half + 0.75 * p->size, radius = chroma_reach(s) * unit;
    const double beyond = 2 * MARKED * length * radius + beside;
    const double away = beyond + 0.75 * p->size < radius ? beside : -beside;
    const int size = p->size * 4 / 5;
    draw_frame(p, x, y, half,
               colour_of(0.35 + 0.65 * hue->r, 0.35 + 0.65 * hue->g, 0.35 + 0.65 * hue->b));
    if (p->size && rect.width >= 10 * p->size)
        text_add(p->text, (int)(x + away * cb / length), (int)(y - away * cr / length), TEXT_CENTRE,
                 size, p->theme->dim, text_room(size, 3), hue->name);
}

void scope_plot_vectors_ground(const ScopePlot *p, Rect rect, const Scopes *s)
{
    const PanelTheme *t = p->theme;
    const double radius = chroma_reach(s) * rect.width / SCOPES_LEVELS;
    const int x = rect.x + rect.width / 2, y = rect.y + rect.height / 2;
    canvas_set(p->canvas, rect, t->plot, t->plot_alpha);
    canvas_fill(p->canvas, (Rect){x, rect.y, p->line, rect.height}, t->grid, t->grid_cover);
    canvas_fill(p->canvas, (Rect){rect.x, y, rect.width, p->line}, t->grid, t->grid_cover);
    draw_circle(p, rect, radius);
    draw_skin(p, rect, radius);
    for (size_t i = 0; i < sizeof(hues) / sizeof(hues[0]); i++)
        draw_mark(p, rect, s, &hues[i]);
}

static Colour vector_colour(const Scopes *s, int cr, int cb)
{
    const double reach = 2 * chroma_reach(s);
    const double red = 2 * (1 - s->kr) * (cr - 127.5) / reach;
    const double blue = 2 * (1 - s->kb) * (cb - 127.5) / reach;
    const double green = -(s->kr * red + s->kb * blue) / (1 - s->kr - s->kb);
    return colour_of(VECTOR_LUMA + red, VECTOR_LUMA + green, VECTOR_LUMA + blue);
}

static uint32_t count_within(const Scopes *s, Levels cr, Levels cb)
{
    uint32_t count = 0;
    for (int row = cr.first; row < cr.end; row++)
        count += count_in(s->vectors[row], cb);
    return count;
}

static Levels wider(Levels levels)
{
    return (Levels){max_int(levels.first - 1, 0),
                    levels.end < SCOPES_LEVELS ? levels.end + 1 : SCOPES_LEVELS};
}

/* Brightness 0..1. Neighbours of a vector are lit so that a single colour is visible. */
static double vector_light(const Scopes *s, Levels cr, Levels cb)
{
    const double full = log1p(s->most_vectors);
    const uint32_t count = count_within(s, cr, cb);
    if (count)
        return LEAST_VECTOR + (1 - LEAST_VECTOR) * fmin(log1p(count) / full, 1);
    const uint32_t beside = count_within(s, wider(cr), wider(cb));
    return beside ? BESIDE_VECTOR * fmin(log1p(beside) / full, 1) : 0;
}

void scope_plot_vectors(const ScopePlot *p, Rect rect, const Scopes *s)
{
    for (int y = 0; y < rect.height && s->most_vectors; y++) {
        const Levels cr = levels_at(rect.height - 1 - y, rect.height);
        for (int x = 0; x < rect.width; x++) {
            const Levels cb = levels_at(x, rect.width);
            const double light = vector_light(s, cr, cb);
            if (light > 0)
                canvas_blend(p->canvas, rect.x + x, rect.y + y,
                             vector_colour(s, cr.first, cb.first), (int)(255 * light));
        }
    }
}
