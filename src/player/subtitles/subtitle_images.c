#include "player/subtitles/subtitles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 16:9 canvases of at least this height belong to the uncropped picture with its black bars. */
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
        bytes -= bytes_of(&s->events[0]); /* drop the oldest */
        subtitle_event_free(&s->events[0]);
        memmove(s->events, s->events + 1, (size_t)--s->count * sizeof(s->events[0]));
        s->is_gone |= s->drawn == 1;
        if (s->drawn > 0)
            s->drawn--;
    }
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

/* The canvas covers the picture. If it was made for an uncropped 16:9 picture, it keeps its shape
 * over a cropped one. */
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

/* Reach of half a filter (see Axis) beyond a pixel's edge in the picture. */
static double reach_out(double scale)
{
    return fmax(scale, 1) - 0.5 * scale + 0.5;
}

/* Pixels that a bitmap affects. */
static Rect find_target(const SubtitleBitmap *b, const Mapping *m)
{
    const double across = reach_out(m->across), down = reach_out(m->down);
    const double left = m->left + b->x * m->across, top = m->top + b->y * m->down;
    const int x = (int)floor(left - across) + 1, y = (int)floor(top - down) + 1;
    return (Rect){x, y, (int)ceil(left + b->width * m->across + across - 1) - x,
                  (int)ceil(top + b->height * m->down + down - 1) - y};
}

static Rect find_targets(const SubtitleEvent *event, const Mapping *m)
{
    Rect all = find_target(&event->bitmaps[0], m);
    for (int i = 1; i < event->bitmap_count; i++)
        all = rect_around(all, find_target(&event->bitmaps[i], m));
    return all;
}

/* Offset that moves a span between two limits; the start has priority. */
static int move_between(int begin, int size, int limit, int limit_size)
{
    const int to = max_int(limit, min_int(begin, limit + limit_size - size));
    return to - begin;
}

/* One axis of a bitmap: target pixel i is centred over source pixel `at`. The weights of the source
 * pixels around it form a triangle as wide as two pixels of the larger grid. */
typedef struct Axis {
    double scale, offset, reach; /* source pixel 0 begins at `offset` in the target */
    int size;                    /* source pixels */
} Axis;

static Axis axis_of(double scale, double offset, int size)
{
    return (Axis){scale, offset, fmax(1, 1 / scale), size};
}

static double centre_of(const Axis *axis, int target)
{
    return (target + 0.5 - axis->offset) / axis->scale - 0.5;
}

/* Computes one target pixel. Outside the source is transparent. */
static void scale_pixel(const SubtitleBitmap *b, const Axis *across, const Axis *down, int x, int y,
                        const Overlay *overlay)
{
    const double at_x = centre_of(across, x), at_y = centre_of(down, y);
    double sum[4] = {0}, all = 0;
    for (int j = (int)ceil(at_y - down->reach); j <= at_y + down->reach; j++)
        for (int i = (int)ceil(at_x - across->reach); i <= at_x + across->reach; i++) {
            const double weight =
                (1 - fabs(i - at_x) / across->reach) * (1 - fabs(j - at_y) / down->reach);
            all += weight;
            if (i < 0 || j < 0 || i >= across->size || j >= down->size)
                continue;
            const uint8_t *pixel = b->pixels + ((ptrdiff_t)j * b->width + i) * 4;
            for (int c = 0; c < 3; c++)
                sum[c] += weight * pixel[3] * pixel[c];
            sum[3] += weight * pixel[3];
        }
    const int cover = (int)lrint(sum[3] / all);
    Colour colour = 0;
    for (int c = 0; c < 3 && cover > 0; c++)
        colour = colour << 8 | (Colour)lrint(sum[c] / sum[3]);
    canvas_blend(&overlay->canvas, x - overlay->x, y - overlay->y, colour, cover);
}

static void draw_bitmap(const Overlay *overlay, const SubtitleBitmap *b, const Mapping *m)
{
    const Rect limit = {overlay->x, overlay->y, overlay->canvas.width, overlay->canvas.height};
    const Rect target = rect_intersect(find_target(b, m), limit);
    const Axis across = axis_of(m->across, m->left + b->x * m->across, b->width);
    const Axis down = axis_of(m->down, m->top + b->y * m->down, b->height);
    for (int y = target.y; y < target.y + target.height; y++)
        for (int x = target.x; x < target.x + target.width; x++)
            scale_pixel(b, &across, &down, x, y, overlay);
}

static void draw_event(SubtitleImages *s, const SubtitleEvent *event, Rect picture)
{
    int cut;
    Mapping m = map_canvas(event, picture, &cut);
    Rect all = find_targets(event, &m);
    if (cut) {
        m.left += move_between(all.x, all.width, picture.x, picture.width);
        m.top += move_between(all.y, all.height, picture.y, picture.height);
        all = find_targets(event, &m);
    }
    all = rect_intersect(all, picture);
    Canvas *canvas = &s->overlay.canvas;
    free(canvas->pixels);
    *canvas = canvas_alloc(all.width, all.height);
    s->overlay.x = all.x;
    s->overlay.y = all.y;
    for (int i = 0; canvas->pixels && i < event->bitmap_count; i++)
        draw_bitmap(&s->overlay, &event->bitmaps[i], &m);
}

int subtitle_images_draw(SubtitleImages *s, int64_t position, const SubtitlesPlace *place,
                         Overlay *overlay)
{
    const Rect p = place->picture;
    int shown = s->count; /* 1-based; 0: none */
    while (shown > 0 &&
           !(s->events[shown - 1].start <= position && position < s->events[shown - 1].end))
        shown--;
    const int moved =
        shown && (!rect_same(s->place.picture, p) || s->place.covered != place->covered);
    const int changed = shown != s->drawn || s->is_gone || moved;
    if (changed && shown)
        draw_event(s, &s->events[shown - 1], p);
    else if (changed)
        s->overlay.canvas.width = s->overlay.canvas.height = 0;
    s->drawn = shown;
    s->is_gone = 0;
    s->place = *place;
    *overlay = s->overlay;
    /* above the covered rows if possible */
    const int lowest = p.y + p.height - place->covered - overlay->canvas.height;
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
