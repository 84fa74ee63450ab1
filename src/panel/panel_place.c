#include "panel/panel_place.h"

/* Minimum size of a readable panel, in desktop pixels. */
#define MIN_WIDTH 216
#define MIN_HEIGHT 150
/* A panel takes a quarter of the window's width, but at most USUAL_WIDTH desktop pixels. In windows
 * wider than five times USUAL_WIDTH, it takes a fifth. */
#define USUAL_WIDTH 480

/* A panel over the picture leaves the lowest 1/SUBTITLES of the picture to subtitles. */
#define SUBTITLES 4

static bool wide_enough(int width, int height)
{
    return width >= height * 5 / 4;
}

static int panel_width(int width, double density)
{
    const int usual = max_int((int)(USUAL_WIDTH * density), width / 5);
    return min_int(max_int(width / 4, (int)(MIN_WIDTH * density)), usual);
}

static int panel_height(int height, double density)
{
    return max_int(height / 4, min_int((int)(MIN_HEIGHT * density), height / 2));
}

static PanelPlace place_beside(int width, int height, double density)
{
    if (wide_enough(width, height)) {
        const int left = width - panel_width(width, density);
        return (PanelPlace){.panel = {left, 0, width - left, height},
                            .picture = {0, 0, left, height}};
    }
    const int top = height - panel_height(height, density);
    return (PanelPlace){.panel = {0, top, width, height - top}, .picture = {0, 0, width, top}};
}

/* Places a panel over the picture `around`: at the top of one side or, if the picture is narrow,
 * across it above the subtitles. */
static Rect place_over(Rect around, bool at_left, double density)
{
    const int width = around.width, height = around.height;
    const int margin = max_int((int)(8 * density), min_int(width, height) / 50);
    const int bottom = height - height / SUBTITLES;
    Rect panel = {margin, margin, width - 2 * margin, panel_height(height, density)};
    if (wide_enough(width, height)) {
        panel.width = panel_width(width, density);
        panel.height = min_int(bottom - margin, panel.width * 2);
        if (!at_left)
            panel.x = width - margin - panel.width;
    } else {
        panel.y = bottom - panel.height;
    }
    panel.x += around.x;
    panel.y += around.y;
    return panel;
}

Rect panel_free(Rect whole, Rect panel)
{
    const int right = whole.x + whole.width, bottom = whole.y + whole.height;
    const int panel_right = panel.x + panel.width, panel_bottom = panel.y + panel.height;
    const Rect sides[] = {
        {whole.x, whole.y, panel.x - whole.x, whole.height},
        {panel_right, whole.y, right - panel_right, whole.height},
        {whole.x, whole.y, whole.width, panel.y - whole.y},
        {whole.x, panel_bottom, whole.width, bottom - panel_bottom},
    };
    Rect most = {0};
    if (panel.x >= right || panel_right <= whole.x || panel.y >= bottom || panel_bottom <= whole.y)
        return whole;
    for (int i = 0; i < 4; i++)
        if (sides[i].width > 0 && sides[i].height > 0 &&
            (int64_t)sides[i].width * sides[i].height > (int64_t)most.width * most.height)
            most = sides[i];
    return most;
}

static bool fits(double width, double height, double density)
{
    const bool is_wide = wide_enough((int)width, (int)height);
    return width >= MIN_WIDTH * (is_wide ? 2 : 1) * density &&
           height >= MIN_HEIGHT * (is_wide ? 1 : 2) * density;
}

PanelPlace panel_place_over(int width, int height, Rect around, bool at_left, double density)
{
    PanelPlace place = {.picture = {0, 0, width, height}, .free = {0, 0, width, height}};
    if (!fits(around.width, around.height, density))
        return place;
    place.panel = place_over(around, at_left, density);
    /* `free` excludes the area below the panel, because messages start at the top */
    const Rect down = {place.panel.x, place.panel.y, place.panel.width, height - place.panel.y};
    place.free = panel_free(place.picture, down);
    return place;
}

PanelPlace panel_place(int width, int height, PanelMode mode, double density)
{
    const Rect window = {0, 0, width, height};
    PanelPlace place = {.picture = window};
    if (mode == PANEL_OVER)
        return panel_place_over(width, height, window, false, density);
    if (mode == PANEL_BESIDE && fits(width, height, density))
        place = place_beside(width, height, density);
    place.free = place.picture;
    return place;
}

void panel_add_room(int *width, int *height)
{
    const int wide = max_int(*width / 3, MIN_WIDTH); /* so the panel has 1/4 of the window */
    const int more = min_int(wide, max_int(USUAL_WIDTH, *width / 4));
    int across = *width, down = *height;
    if (wide_enough(*width + more, *height))
        across += more;
    else
        down += max_int(*height / 3, MIN_HEIGHT);
    if (!fits(across, down, 1))
        return;
    *width = across;
    *height = down;
}
