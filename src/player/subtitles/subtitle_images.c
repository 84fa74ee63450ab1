#include "player/subtitles/subtitles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A 16:9 canvas of at least this height is assumed to be made for a picture with black bars. */
#define HD_HEIGHT 720
#define SHAPE_TOLERANCE 0.02

static int64_t bytes_of(const SubtitleEvent *event)
{
    int64_t bytes = 0;
    for (int i = 0; i < event->bitmap_count; i++)
        bytes += (int64_t)event->bitmaps[i].width * event->bitmaps[i].height * 4;
    return bytes;
}

void subtitle_images_add(SubtitleImages *s, SubtitleEvent *event)
{
    int64_t bytes = bytes_of(event);
    for (int i = 0; i < s->count; i++) {
        SubtitleEvent *before = &s->events[i];
        if (before->start <= event->start && before->end > event->start)
            before->end = event->start;
        bytes += bytes_of(before);
    }
    while (s->count && (s->count == SUBTITLE_IMAGES_KEPT || bytes > SUBTITLE_BUDGET)) {
        bytes -= bytes_of(&s->events[0]);
        subtitle_event_free(&s->events[0]);
        memmove(s->events, s->events + 1, (size_t)--s->count * sizeof(s->events[0]));
    }
    s->drawn = AV_NOPTS_VALUE; /* the event may replace the drawn event */
    if (event->bitmap_count && bytes <= SUBTITLE_BUDGET)
        s->events[s->count++] = *event;
    else
        subtitle_event_free(event);
    *event = (SubtitleEvent){0};
}

/* Canvas point (x, y) maps to (left + x * across, top + y * down) in the window. */
typedef struct Mapping {
    double left, top, across, down;
} Mapping;

/* Maps the event's canvas to the picture. If black bars around the picture were cropped, the canvas
 * keeps its shape and *cut is set. */
static Mapping map_canvas(const SubtitleEvent *event, Rect picture, int *cut)
{
    const double width = event->canvas_width, height = event->canvas_height;
    const double shape = (double)picture.width / picture.height * height / width;
    Mapping m = {picture.x, picture.y, picture.width / width, picture.height / height};
    *cut = height >= HD_HEIGHT && event->canvas_width * 9 == event->canvas_height * 16 &&
           fabs(shape - 1) > SHAPE_TOLERANCE;
    if (*cut) {
        m.across = m.down = shape > 1 ? m.across : m.down;
        m.left += 0.5 * (picture.width - width * m.across);
        m.top += 0.5 * (picture.height - height * m.down);
    }
    return m;
}

/* Offset that moves a span inside the limits. A span that is too long begins at `limit`. */
static int move_between(int begin, int size, int limit, int limit_size)
{
    const int to = max_int(limit, min_int(begin, limit + limit_size - size));
    return to - begin;
}

/* Copies a bitmap into a canvas that begins at box.x and box.y, and premultiplies its alpha. */
static void copy_bitmap(const Canvas *canvas, const SubtitleBitmap *b, Rect box)
{
    const Rect part = rect_intersect((Rect){b->x, b->y, b->width, b->height}, box);
    for (int y = part.y; y < part.y + part.height; y++)
        for (int x = part.x; x < part.x + part.width; x++) {
            const uint8_t *from = b->pixels + ((ptrdiff_t)(y - b->y) * b->width + x - b->x) * 4;
            uint8_t *to = canvas_pixel(canvas, x - box.x, y - box.y);
            for (int c = 0; c < 3; c++)
                to[c] = (uint8_t)((from[c] * from[3] + 127) / 255);
            to[3] = from[3];
        }
}

/* Copies an event's bitmaps into a canvas, which OpenGL scales. */
static void draw_event(SubtitleImages *s, const SubtitleEvent *event, Rect picture)
{
    int cut;
    Overlay *o = &s->overlay;
    const Mapping m = map_canvas(event, picture, &cut);
    Rect box = {0};
    for (int i = 0; i < event->bitmap_count; i++) {
        const SubtitleBitmap *b = &event->bitmaps[i];
        const Rect rect = {b->x, b->y, b->width, b->height};
        box = i ? rect_union(box, rect) : rect;
    }
    box = rect_intersect(box, (Rect){0, 0, event->canvas_width, event->canvas_height});
    o->x = (int)lrint(m.left + box.x * m.across);
    o->y = (int)lrint(m.top + box.y * m.down);
    o->width = max_int((int)lrint(m.left + (box.x + box.width) * m.across) - o->x, 1);
    o->height = max_int((int)lrint(m.top + (box.y + box.height) * m.down) - o->y, 1);
    if (cut) {
        o->x += move_between(o->x, o->width, picture.x, picture.width);
        o->y += move_between(o->y, o->height, picture.y, picture.height);
    }
    free(o->canvas.pixels);
    o->canvas = canvas_alloc(box.width, box.height);
    for (int i = 0; o->canvas.pixels && i < event->bitmap_count; i++)
        copy_bitmap(&o->canvas, &event->bitmaps[i], box);
}

int subtitle_images_draw(SubtitleImages *s, int64_t position, const SubtitlesPlace *place,
                         Overlay *overlay)
{
    const Rect p = place->picture;
    int shown = s->count; /* 1-based index of the event; 0: none */
    while (shown > 0 &&
           !(s->events[shown - 1].start <= position && position < s->events[shown - 1].end))
        shown--;
    const int64_t start = shown ? s->events[shown - 1].start : AV_NOPTS_VALUE;
    const int was_drawn = s->overlay.canvas.width > 0,
              moved = !rect_same(s->place.picture, p) || s->place.covered != place->covered;
    const int changed = shown ? !was_drawn || start != s->drawn || moved : was_drawn;
    if (changed && shown)
        draw_event(s, &s->events[shown - 1], p);
    else if (changed)
        s->overlay.canvas.width = s->overlay.canvas.height = 0;
    s->drawn = start;
    s->place = *place;
    *overlay = s->overlay;
    /* above the covered rows if possible */
    const int lowest = p.y + p.height - place->covered - overlay->height;
    overlay->y = min_int(overlay->y, max_int(lowest, p.y));
    return changed;
}

void subtitle_images_free(SubtitleImages *s)
{
    for (int i = 0; i < s->count; i++)
        subtitle_event_free(&s->events[i]);
    free(s->overlay.canvas.pixels);
    *s = (SubtitleImages){0};
}
