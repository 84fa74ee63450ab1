#include "player/osd/osd_parts.h"

#include <math.h>

/* In multiples of the text height. */
#define LINE 1.42
#define PADDING 0.8
#define INSET 0.45 /* how far the selected row's background exceeds its text */
#define NAME 6.5
#define VALUE 8.0 /* includes the arrows on both sides */
#define DEFAULT 6.0
#define BETWEEN 1.0
#define CORNER 0.5
#define FOOT 0.78 /* text height of the lines below the rows */

#define ALPHA 225
#define CHOSEN_ALPHA 34

/* Lines besides the rows: title, sentence about the selected row, hints about keys. */
#define MORE_LINES 3

#define TITLE "Settings"
#define USUAL "default"
#define KEYS "↑↓ select   ←→ change   Del default   Tab close"

enum { FAINT = 0x7C8591 };

OsdSettingsPlaces osd_settings_places(int count, Rect limit, int size)
{
    const double lines = (count + MORE_LINES) * LINE + 2 * PADDING;
    const double width = 2 * PADDING + NAME + VALUE + 2 * BETWEEN + DEFAULT;
    const double fits = fmin(limit.width / width, limit.height / lines);
    OsdSettingsPlaces p = {.size = (int)fmin(size, fits), .rows = count};
    if (!count || p.size < 1)
        return (OsdSettingsPlaces){0};
    p.row = (int)(LINE * p.size);
    p.all = (Rect){limit.x, limit.y, (int)(width * p.size),
                   (count + MORE_LINES) * p.row + (int)(2 * PADDING * p.size)};
    p.top = limit.y + (int)(PADDING * p.size) + p.row;
    p.value = limit.x + (int)((PADDING + NAME + BETWEEN) * p.size);
    p.end = p.value + (int)(VALUE * p.size);
    p.usual = p.end + (int)(BETWEEN * p.size);
    return p;
}

int osd_settings_at(const OsdSettingsPlaces *p, int x, int y, int *acts, int *step)
{
    const int row = p->row > 0 && y >= p->top ? (y - p->top) / p->row : -1;
    if (row < 0 || row >= p->rows || x < p->all.x || x >= p->all.x + p->all.width)
        return -1;
    *acts = x >= p->value;
    *step = x >= p->end ? 0 : x < (p->value + p->end) / 2 ? -1 : 1;
    return row;
}

static void draw_row(const OsdSettings *s, const OsdSettingsPlaces *p, int number,
                     const Canvas *canvas, Text *text)
{
    const OsdSetting *row = &s->rows[number];
    const int size = p->size, top = p->top - p->all.y + number * p->row, y = top + p->row / 2;
    const int name = (int)(PADDING * size), value = p->value - p->all.x, end = p->end - p->all.x;
    const int usual = p->usual - p->all.x, inset = (int)(INSET * size);
    const int chosen = number == s->chosen;
    Colour name_colour = chosen ? OSD_BRIGHT : OSD_DIM;
    Colour colour = row->changed ? OSD_ACCENT : OSD_BRIGHT;
    if (row->idle)
        colour = name_colour = FAINT;
    if (chosen)
        canvas_fill(canvas, (Rect){name - inset, top, canvas->width - 2 * (name - inset), p->row},
                    OSD_BRIGHT, CHOSEN_ALPHA);
    text_add(text, name, y, TEXT_LEFT, size, name_colour, value - name, row->name);
    text_add(text, (value + end) / 2, y, TEXT_CENTRE, size, colour, end - value, row->value);
    if (chosen) {
        text_add(text, value, y, TEXT_LEFT, size, OSD_BRIGHT, size, "‹");
        text_add(text, end, y, TEXT_RIGHT, size, OSD_BRIGHT, size, "›");
    }
    text_add(text, usual, y, TEXT_LEFT, size, FAINT, canvas->width - usual, row->usual);
}

Overlay osd_settings_draw(const OsdSettings *s, const OsdSettingsPlaces *p, Text *text)
{
    const Overlay overlay = osd_box(p->all, (int)lrint(CORNER * p->size), ALPHA);
    const Canvas *canvas = &overlay.canvas;
    if (!canvas->pixels)
        return overlay;
    const int left = (int)(PADDING * p->size), y = p->top - p->all.y - p->row / 2;
    const int foot = p->top - p->all.y + s->count * p->row + p->row / 2;
    text_add(text, left, y, TEXT_LEFT, p->size, OSD_ACCENT, canvas->width, TITLE);
    text_add(text, p->usual - p->all.x, y, TEXT_LEFT, p->size, FAINT, canvas->width, USUAL);
    for (int i = 0; i < s->count; i++)
        draw_row(s, p, i, canvas, text);
    if (s->rows[s->chosen].about)
        text_add(text, left, foot + p->row / 8, TEXT_LEFT, (int)(FOOT * p->size), OSD_DIM,
                 canvas->width - left, s->rows[s->chosen].about);
    text_add(text, left, foot + p->row, TEXT_LEFT, (int)(FOOT * p->size), FAINT,
             canvas->width - 2 * left, KEYS);
    text_draw(text, canvas);
    return overlay;
}
