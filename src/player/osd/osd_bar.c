#include "player/osd/osd_parts.h"

/* In multiples of the text height. */
#define HEIGHT 2.2
#define PADDING 0.8
#define LINE 0.28
#define KNOB 0.42
#define VOLUME_LENGTH 4.5
#define SHORTEST_TRACK 6.0

#define ALPHA 200
#define LINE_ALPHA 70

static int time_width(const OsdBar *bar, int size)
{
    const int64_t most = bar->duration > bar->position ? bar->duration : bar->position;
    return text_room(size, most >= INT64_C(3600000000) ? 7 : 5);
}

OsdBarPlaces osd_bar_places(const OsdBar *bar, Rect area, int margin, int size)
{
    const int padding = (int)(PADDING * size), height = (int)(HEIGHT * size);
    const int time = time_width(bar, size), least = (int)(SHORTEST_TRACK * size);
    OsdBarPlaces p = {.all = {area.x + margin, area.y + area.height - margin - height,
                              area.width - 2 * margin, height}};
    p.button = (Rect){p.all.x, p.all.y, 2 * padding + size, height};
    int left = p.button.x + p.button.width + time + padding;
    int right = p.all.x + p.all.width - padding;
    const int buttons = 2 * (size + padding);
    if (right - buttons - 2 * time - 2 * padding - left >= least) {
        p.fullscreen = (Rect){p.all.x + p.all.width - size - 3 * padding / 2, p.all.y,
                              size + 3 * padding / 2, height};
        p.settings = (Rect){p.fullscreen.x - size - padding, p.all.y, size + padding, height};
        right -= buttons + padding / 2;
    }
    const int sound = bar->most > 0 ? (int)(VOLUME_LENGTH * size) : 0;
    if (sound && right - sound - 2 * padding - time - left >= least) {
        p.volume = (Rect){right - sound, p.all.y, sound, height};
        right -= sound + 2 * padding;
    }
    if (bar->duration > 0 && right - time - padding - left >= least)
        p.track = (Rect){left, p.all.y, right - time - padding - left, height};
    if (p.all.height > area.height || left + time > p.all.x + p.all.width)
        return (OsdBarPlaces){0};
    return p;
}

static int column_of(const OsdBar *bar, Rect track, int64_t position)
{
    const double share = (double)position / (double)bar->duration;
    return track.x + (int)(fmin(fmax(share, 0), 1) * track.width);
}

/* Converts window coordinates to coordinates in the canvas of `all`. */
static Rect to_canvas(Rect all, int x, int y, int width, int height)
{
    return (Rect){x - all.x, y - all.y, width, height};
}

/* Icons as ASS drawing commands. Settings: two sliders; fullscreen: the corners of a frame. */
static const char *const pause_shape = "m 12 12 l 34 12 34 88 12 88 m 66 12 l 88 12 88 88 66 88";
static const char *const play_shape = "m 20 12 l 88 50 20 88";
static const char *const settings_shape = "m 10 21 l 90 21 90 31 10 31 m 10 69 l 90 69 90 79 10 79 "
                                          "m 53 19 l 63 9 77 9 87 19 87 33 77 43 63 43 53 33 "
                                          "m 13 67 l 23 57 37 57 47 67 47 81 37 91 23 91 13 81";
static const char *const fullscreen_shape =
    "m 12 12 l 37 12 37 24 24 24 24 37 12 37 m 63 12 l 88 12 88 37 76 37 76 24 63 24 "
    "m 12 63 l 24 63 24 76 37 76 37 88 12 88 m 76 63 l 88 63 88 88 63 88 63 76 76 76";

static void draw_icon(Text *text, Rect all, Rect place, int size, const char *shape)
{
    text_add_shape(text, place.x - all.x + (place.width - size) / 2, (place.height - size) / 2,
                   size, OSD_BRIGHT, shape);
}

/* Draws a line that is filled up to `end`, with a knob at `end`. */
static void draw_line(const Canvas *canvas, Rect all, Rect track, int end, int size, Colour colour,
                      Text *text)
{
    const int height = (int)fmax(2, LINE * size), y = track.y + (track.height - height) / 2;
    canvas_fill(canvas, to_canvas(all, track.x, y, track.width, height), OSD_BRIGHT, LINE_ALPHA);
    canvas_fill(canvas, to_canvas(all, track.x, y, end - track.x, height), colour, 255);
    text_add_disc(text, end - all.x, track.y - all.y + track.height / 2, (int)(2 * KNOB * size),
                  colour);
}

static void draw_marks(const Canvas *canvas, const OsdBar *bar, const OsdBarPlaces *p, int size)
{
    const int wide = (int)fmax(1, 0.1 * size), high = (int)(0.8 * size);
    const int y = p->track.y + (p->track.height - high) / 2;
    for (int i = 0; i < bar->marks; i++)
        if (bar->mark[i] > 0 && bar->mark[i] < bar->duration)
            canvas_fill(canvas,
                        to_canvas(p->all, column_of(bar, p->track, bar->mark[i]), y, wide, high),
                        OSD_DIM, 255);
    const int64_t ends[] = {bar->from, bar->to};
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            canvas_fill(canvas,
                        to_canvas(p->all, column_of(bar, p->track, ends[i]) - wide, y - wide,
                                  2 * wide, high + 2 * wide),
                        OSD_RED, 255);
}

static void write_times(const OsdBar *bar, const OsdBarPlaces *p, int size, Text *text)
{
    char time[32];
    const int room = time_width(bar, size), y = p->all.height / 2;
    const int left = p->button.x + p->button.width - p->all.x;
    osd_time(bar->position, time, sizeof(time));
    text_add(text, left, y, TEXT_LEFT, size, OSD_BRIGHT, room, time);
    osd_time(bar->duration, time, sizeof(time));
    if (p->track.width > 0)
        text_add(text, p->track.x + p->track.width + (int)(PADDING * size) - p->all.x, y, TEXT_LEFT,
                 size, OSD_DIM, room, time);
}

Overlay osd_bar_draw(const OsdBar *bar, const OsdBarPlaces *p, int size, Text *text)
{
    if (p->all.width <= 0)
        return (Overlay){0};
    const Overlay overlay = osd_box(p->all, (int)(0.45 * size), ALPHA);
    if (!overlay.canvas.pixels)
        return overlay;
    draw_icon(text, p->all, p->button, size, bar->paused ? play_shape : pause_shape);
    if (p->track.width > 0) {
        draw_line(&overlay.canvas, p->all, p->track, column_of(bar, p->track, bar->position), size,
                  OSD_ACCENT, text);
        draw_marks(&overlay.canvas, bar, p, size);
    }
    if (p->volume.width > 0) {
        const int end = p->volume.x + p->volume.width * bar->volume / bar->most;
        draw_line(&overlay.canvas, p->all, p->volume, end, size, bar->muted ? OSD_DIM : OSD_BRIGHT,
                  text);
    }
    if (p->settings.width > 0) {
        const Rect fullscreen = {p->fullscreen.x, p->all.y, p->settings.width, p->all.height};
        draw_icon(text, p->all, p->settings, size, settings_shape);
        draw_icon(text, p->all, fullscreen, size, fullscreen_shape);
    }
    write_times(bar, p, size, text);
    text_draw(text, &overlay.canvas);
    return overlay;
}
