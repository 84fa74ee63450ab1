#include "panel/panel_place.h"

/* A panel narrower than this cannot be read; a shorter one neither. */
#define MIN_WIDTH 216
#define MIN_HEIGHT 150
/* Beyond this width it takes a smaller share of the window. */
#define USUAL_WIDTH 480

/* Subtitles are left free by a panel over the picture: the last share of the height. */
#define SUBTITLES 4

static int max_int(int a, int b)
{
    return a > b ? a : b;
}

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

static int wide_enough(int width, int height)
{
    return width >= height * 5 / 4;
}

static int panel_width(int width)
{
    const int usual = max_int(USUAL_WIDTH, width / 5);
    return min_int(max_int(width / 4, MIN_WIDTH), usual);
}

static int panel_height(int height)
{
    return max_int(height / 4, min_int(MIN_HEIGHT, height / 2));
}

static PanelPlace place_beside(int width, int height)
{
    if (wide_enough(width, height)) {
        const int left = width - panel_width(width);
        return (PanelPlace){.panel = {left, 0, width - left, height},
                            .picture = {0, 0, left, height}};
    }
    const int top = height - panel_height(height);
    return (PanelPlace){.panel = {0, top, width, height - top}, .picture = {0, 0, width, top}};
}

void panel_add_room(int *width, int *height)
{
    const int wide = max_int(*width / 3, MIN_WIDTH); /* a quarter of the whole */
    const int more = min_int(wide, max_int(USUAL_WIDTH, *width / 4));
    if (wide_enough(*width + more, *height))
        *width += more;
    else
        *height += max_int(*height / 3, MIN_HEIGHT);
}

/* With a margin around it, at the top right or all along the top. */
static PanelPlace place_over(int width, int height)
{
    const int margin = max_int(8, min_int(width, height) / 50);
    PanelPlace place = {.picture = {0, 0, width, height}};
    if (wide_enough(width, height)) {
        const int wide = panel_width(width), left = width - margin - wide;
        const int tall = min_int(height - height / SUBTITLES - margin, wide * 2);
        place.panel = (Rect){left, margin, wide, tall};
        place.free = (Rect){0, 0, left, height};
    } else {
        const int bottom = height - height / SUBTITLES, tall = panel_height(height);
        place.panel = (Rect){margin, bottom - tall, width - 2 * margin, tall};
        place.free = (Rect){0, 0, width, bottom - tall};
    }
    return place;
}

PanelPlace panel_place(int width, int height, PanelMode mode)
{
    PanelPlace place = {.picture = {0, 0, width, height}};
    const int fits = wide_enough(width, height) ? width >= 2 * MIN_WIDTH && height >= MIN_HEIGHT
                                                : width >= MIN_WIDTH && height >= 2 * MIN_HEIGHT;
    if (mode == PANEL_BESIDE && fits)
        place = place_beside(width, height);
    else if (mode == PANEL_OVER && fits)
        return place_over(width, height);
    place.free = place.picture;
    return place;
}
