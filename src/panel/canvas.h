/* An RGBA picture in memory, and simple drawing. */
#ifndef LUMEQ_PANEL_CANVAS_H
#define LUMEQ_PANEL_CANVAS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The pixels are borrowed. Bytes are R, G, B, A; alpha is not premultiplied. */
typedef struct Canvas {
    uint8_t *pixels;  /* first row */
    ptrdiff_t stride; /* bytes between rows */
    int width, height;
} Canvas;

/* A canvas and its place in a picture or window. canvas.width is 0 if there is nothing to draw. */
typedef struct Overlay {
    Canvas canvas;
    int x, y;
    int width, height; /* 0: not scaled; else size on the screen, and alpha is premultiplied */
} Overlay;

/* 0xRRGGBB */
typedef uint32_t Colour;

/* In pixels; drawing is clipped to the canvas. */
typedef struct Rect {
    int x, y, width, height;
} Rect;

static inline int min_int(int a, int b)
{
    return a < b ? a : b;
}

static inline int max_int(int a, int b)
{
    return a > b ? a : b;
}

static inline Rect overlay_place(const Overlay *o)
{
    const int scaled = o->width > 0;
    return (Rect){o->x, o->y, scaled ? o->width : o->canvas.width,
                  scaled ? o->height : o->canvas.height};
}

static inline bool rect_contains(Rect r, int x, int y)
{
    return x >= r.x && y >= r.y && x < r.x + r.width && y < r.y + r.height;
}

static inline bool rect_same(Rect a, Rect b)
{
    return a.x == b.x && a.y == b.y && a.width == b.width && a.height == b.height;
}

/* The area that both rectangles cover; {0} if they do not overlap. */
static inline Rect rect_intersect(Rect a, Rect b)
{
    const int left = max_int(a.x, b.x), right = min_int(a.x + a.width, b.x + b.width);
    const int top = max_int(a.y, b.y), bottom = min_int(a.y + a.height, b.y + b.height);
    return right > left && bottom > top ? (Rect){left, top, right - left, bottom - top} : (Rect){0};
}

static inline Rect rect_union(Rect a, Rect b)
{
    const int left = min_int(a.x, b.x), right = max_int(a.x + a.width, b.x + b.width);
    const int top = min_int(a.y, b.y), bottom = max_int(a.y + a.height, b.y + b.height);
    return (Rect){left, top, right - left, bottom - top};
}

/* A transparent canvas whose pixels the caller frees; {0} if out of memory. */
static inline Canvas canvas_alloc(int width, int height)
{
    uint8_t *pixels = calloc((size_t)width * (size_t)height, 4);
    return pixels ? (Canvas){pixels, (ptrdiff_t)width * 4, width, height} : (Canvas){0};
}

static inline uint8_t *canvas_pixel(const Canvas *canvas, int x, int y)
{
    return canvas->pixels + y * canvas->stride + (ptrdiff_t)x * 4;
}

static inline Rect canvas_clip(const Canvas *canvas, Rect rect)
{
    return rect_intersect(rect, (Rect){0, 0, canvas->width, canvas->height});
}

/* Blends `colour` over one pixel; does nothing outside the canvas. `cover`: 0 (transparent) to 255
 * (opaque). */
static inline void canvas_blend(const Canvas *canvas, int x, int y, Colour colour, int cover)
{
    if (x < 0 || y < 0 || x >= canvas->width || y >= canvas->height || cover == 0)
        return;
    uint8_t *pixel = canvas_pixel(canvas, x, y);
    /* the weights of the colours below and above, out of 255 * 255 */
    const int below = pixel[3] * (255 - cover), above = cover * 255, both = below + above;
    for (int i = 0; i < 3; i++) {
        const int part = (int)(colour >> (16 - 8 * i) & 0xFF);
        pixel[i] = (uint8_t)((pixel[i] * below + part * above + both / 2) / both);
    }
    pixel[3] = (uint8_t)((both + 127) / 255);
}

/* Overwrites the rectangle with `colour` and this alpha. */
static inline void canvas_set(const Canvas *canvas, Rect rect, Colour colour, int alpha)
{
    const uint8_t pixel[4] = {(uint8_t)(colour >> 16), (uint8_t)(colour >> 8), (uint8_t)colour,
                              (uint8_t)alpha};
    const Rect part = canvas_clip(canvas, rect);
    for (int y = 0; y < part.height; y++) {
        uint8_t *row = canvas_pixel(canvas, part.x, part.y + y);
        for (int x = 0; x < part.width; x++)
            memcpy(row + (ptrdiff_t)x * 4, pixel, 4);
    }
}

/* Blends `colour` over the rectangle. */
static inline void canvas_fill(const Canvas *canvas, Rect rect, Colour colour, int cover)
{
    if (cover == 255) { /* saves three divisions per pixel */
        canvas_set(canvas, rect, colour, 255);
        return;
    }
    const Rect part = canvas_clip(canvas, rect);
    for (int y = 0; y < part.height; y++)
        for (int x = 0; x < part.width; x++)
            canvas_blend(canvas, part.x + x, part.y + y, colour, cover);
}

/* Rounds the canvas's corners, antialiased. */
static inline void canvas_round(const Canvas *canvas, int radius)
{
    for (int y = 0; y < radius && y < canvas->height; y++)
        for (int x = 0; x < radius && x < canvas->width; x++) {
            const double distance = hypot(radius - x - 0.5, radius - y - 0.5);
            const double share = fmin(fmax(radius + 0.5 - distance, 0), 1);
            const int right = canvas->width - 1 - x, bottom = canvas->height - 1 - y;
            uint8_t *const pixels[] = {canvas_pixel(canvas, x, y), canvas_pixel(canvas, right, y),
                                       canvas_pixel(canvas, x, bottom),
                                       canvas_pixel(canvas, right, bottom)};
            for (int i = 0; i < 4; i++)
                pixels[i][3] = (uint8_t)lrint(share * pixels[i][3]);
        }
}

/* Copies a rectangle to the same place of a canvas of the same size. */
static inline void canvas_copy(const Canvas *to, const Canvas *from, Rect rect)
{
    const Rect part = canvas_clip(to, rect);
    for (int y = 0; y < part.height; y++)
        memcpy(canvas_pixel(to, part.x, part.y + y), canvas_pixel(from, part.x, part.y + y),
               (size_t)part.width * 4);
}

#endif
