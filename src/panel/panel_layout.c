#include "panel/panel.h"
#include "panel/panel_parts.h"

/* Panels with a side shorter than this have no room for text that can be read. */
#define MIN_TEXT_WIDTH 160
#define MIN_TEXT_HEIGHT 110
#define MIN_TEXT_SIZE 11

/* Plots with a side shorter than this are left out. */
#define MIN_PLOT 4

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

int panel_room_left(const PanelLayout *layout)
{
    return layout->text ? text_room(layout->text, layout->digits) + layout->text / 3 : 0;
}

/* Histograms above each other, the curve to the right of both. */
static void lay_wide(PanelLayout *layout, Rect inner)
{
    const int gap = max_int(2, layout->text * 4 / 5);
    const int above = room_above(layout), below = room_below(layout);
    const int top = inner.y + above, bottom = inner.y + inner.height - below;
    const int half = (inner.width - gap - panel_room_left(layout)) / 2;
    const int side = min_int(half, bottom - top);
    const int width = inner.width - gap - panel_room_left(layout) - side;
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
    const int left = inner.x + panel_room_left(layout);
    const int width = inner.width - panel_room_left(layout);
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

PanelLayout panel_layout(int width, int height, int digits)
{
    PanelLayout layout = {.digits = digits};
    if (digits && width >= MIN_TEXT_WIDTH && height >= MIN_TEXT_HEIGHT)
        layout.text = max_int(MIN_TEXT_SIZE, min_int(width / 26, height / 20));
    layout.marks = max_int(3, min_int(width, height) / 36);
    const int margin = max_int(min_int(width, height) / 40, layout.text * 3 / 4);
    /* The last number of an axis is centred on its end. */
    const int end =
        layout.text ? max_int(0, text_room(layout.text, digits) / 2 + layout.text / 3 - margin) : 0;
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
