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

static int at(const OsdBar *bar, Rect track, int64_t position)
{
    const double share = (double)position / (double)bar->duration;
    return track.x + (int)(fmin(fmax(share, 0), 1) * track.width);
}

/* Converts window coordinates to a canvas that begins at `all`. */
static Rect on(Rect all, int x, int y, int width, int height)
{
    return (Rect){x - all.x, y - all.y, width, height};
}

/* Draws pause bars or a play triangle. */
static void draw_button(const Canvas *canvas, Rect place, int paused, int size)
{
    const double x = place.width / 2.0, y = place.height / 2.0, half = 0.38 * size;
    const int wide = (int)fmax(2, 0.22 * size);
    if (!paused) {
        canvas_fill(canvas, (Rect){(int)(x - half), (int)(y - half), wide, (int)(2 * half)},
                    OSD_BRIGHT, 255);
        canvas_fill(canvas, (Rect){(int)(x + half) - wide, (int)(y - half), wide, (int)(2 * half)},
                    OSD_BRIGHT, 255);
        return;
    }
    for (int row = (int)(y - half); row < (int)(y + half); row++) {
        const double share = 1 - fabs(row + 0.5 - y) / half;
        canvas_fill(canvas, (Rect){(int)(x - 0.8 * half), row, (int)(share * 1.8 * half), 1},
                    OSD_BRIGHT, 255);
    }
}

/* Two sliders, for the settings. */
static void draw_settings(const Canvas *canvas, Rect all, Rect place, int size)
{
    const int wide = (int)(0.8 * size), thin = (int)fmax(1, 0.1 * size);
    const int x = place.x - all.x + (place.width - wide) / 2;
    for (int i = 0; i < 2; i++) {
        const double y = place.height / 2.0 + (i ? 0.24 : -0.24) * size;
        canvas_fill(canvas, (Rect){x, (int)(y - thin / 2.0), wide, thin}, OSD_BRIGHT, 255);
        canvas_disc(canvas, x + (i ? 0.25 : 0.75) * wide, y, 0.17 * size, OSD_BRIGHT);
    }
}

/* The four corners of a frame. */
static void draw_fullscreen(const Canvas *canvas, Rect all, Rect place, int size)
{
    const int side = (int)(0.76 * size), thin = (int)fmax(1, 0.12 * size), arm = side / 3;
    const int x = place.x - all.x + (place.width - (int)(PADDING * size / 2) - side) / 2;
    const int y = (place.height - side) / 2;
    for (int corner = 0; corner < 4; corner++) {
        const int right = corner & 1, low = corner & 2;
        canvas_fill(canvas,
                    (Rect){x + (right ? side - arm : 0), y + (low ? side - thin : 0), arm, thin},
                    OSD_BRIGHT, 255);
        canvas_fill(canvas,
                    (Rect){x + (right ? side - thin : 0), y + (low ? side - arm : 0), thin, arm},
                    OSD_BRIGHT, 255);
    }
}

/* A line filled up to `end` with a knob there. */
static void draw_line(const Canvas *canvas, Rect all, Rect track, int end, int size, Colour colour)
{
    const int height = (int)fmax(2, LINE * size), y = track.y + (track.height - height) / 2;
    canvas_fill(canvas, on(all, track.x, y, track.width, height), OSD_BRIGHT, LINE_ALPHA);
    canvas_fill(canvas, on(all, track.x, y, end - track.x, height), colour, 255);
    canvas_disc(canvas, end - all.x, track.y - all.y + track.height / 2.0, KNOB * size, colour);
}

static void draw_marks(const Canvas *canvas, const OsdBar *bar, const OsdBarPlaces *p, int size)
{
    const int wide = (int)fmax(1, 0.1 * size), high = (int)(0.8 * size);
    const int y = p->track.y + (p->track.height - high) / 2;
    for (int i = 0; i < bar->marks; i++)
        if (bar->mark[i] > 0 && bar->mark[i] < bar->duration)
            canvas_fill(canvas, on(p->all, at(bar, p->track, bar->mark[i]), y, wide, high), OSD_DIM,
                        255);
    const int64_t ends[] = {bar->from, bar->to};
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            canvas_fill(
                canvas,
                on(p->all, at(bar, p->track, ends[i]) - wide, y - wide, 2 * wide, high + 2 * wide),
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
    draw_button(&overlay.canvas, p->button, bar->paused, size);
    if (p->track.width > 0) {
        draw_line(&overlay.canvas, p->all, p->track, at(bar, p->track, bar->position), size,
                  OSD_ACCENT);
        draw_marks(&overlay.canvas, bar, p, size);
    }
    if (p->volume.width > 0) {
        const int end = p->volume.x + p->volume.width * bar->volume / bar->most;
        draw_line(&overlay.canvas, p->all, p->volume, end, size, bar->muted ? OSD_DIM : OSD_BRIGHT);
    }
    if (p->settings.width > 0) {
        draw_settings(&overlay.canvas, p->all, p->settings, size);
        draw_fullscreen(&overlay.canvas, p->all, p->fullscreen, size);
    }
    write_times(bar, p, size, text);
    text_draw(text, &overlay.canvas);
    return overlay;
}
