/* A picture in memory that the panel and its text are drawn into. */
#ifndef LUMEQ_PANEL_CANVAS_H
#define LUMEQ_PANEL_CANVAS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Plain data, borrowed. Bytes are R, G, B, A in this order, alpha not multiplied in. */
typedef struct Canvas {
    uint8_t *pixels;  /* first row */
    ptrdiff_t stride; /* bytes from one row to the next; may be negative */
    int width, height;
} Canvas;

/* A canvas to be laid over something, and where; with a width of 0 there is nothing to be laid. */
typedef struct Overlay {
    Canvas canvas;
    int x, y;
} Overlay;

/* 0xRRGGBB */
typedef uint32_t Colour;

/* In pixels; what lies outside the canvas is not drawn. */
typedef struct Rect {
    int x, y, width, height;
} Rect;

static inline uint8_t *canvas_pixel(const Canvas *canvas, int x, int y)
{
    return canvas->pixels + y * canvas->stride + (ptrdiff_t)x * 4;
}

/* The part of the rectangle that is on the canvas; without any, its width or height is 0. */
static inline Rect canvas_clip(const Canvas *canvas, Rect rect)
{
    const int left = rect.x > 0 ? rect.x : 0, top = rect.y > 0 ? rect.y : 0;
    const int right = rect.x + rect.width < canvas->width ? rect.x + rect.width : canvas->width;
    const int bottom =
        rect.y + rect.height < canvas->height ? rect.y + rect.height : canvas->height;
    return (Rect){left, top, right > left ? right - left : 0, bottom > top ? bottom - top : 0};
}

/* The smallest rectangle around two. */
static inline Rect canvas_around(Rect a, Rect b)
{
    const int x = a.x < b.x ? a.x : b.x, y = a.y < b.y ? a.y : b.y;
    const int a_right = a.x + a.width, b_right = b.x + b.width;
    const int a_bottom = a.y + a.height, b_bottom = b.y + b.height;
    return (Rect){x, y, (a_right > b_right ? a_right : b_right) - x,
                  (a_bottom > b_bottom ? a_bottom : b_bottom) - y};
}

/* Lays `colour` over one pixel; `cover` is 0 (nothing) to 255 (all of it). Outside the canvas
 * nothing happens. */
static inline void canvas_blend(const Canvas *canvas, int x, int y, Colour colour, int cover)
{
    if (x < 0 || y < 0 || x >= canvas->width || y >= canvas->height || cover == 0)
        return;
    uint8_t *pixel = canvas_pixel(canvas, x, y);
    /* What both contribute to the result, of 255 * 255. */
    const int below = pixel[3] * (255 - cover), above = cover * 255, both = below + above;
    for (int i = 0; i < 3; i++) {
        const int part = (int)(colour >> (16 - 8 * i) & 0xFF);
        pixel[i] = (uint8_t)((pixel[i] * below + part * above + both / 2) / both);
    }
    pixel[3] = (uint8_t)((both + 127) / 255);
}

/* The rectangle becomes `colour` with that alpha, whatever was there. */
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

/* Lays `colour` over the rectangle. */
static inline void canvas_fill(const Canvas *canvas, Rect rect, Colour colour, int cover)
{
    if (cover == 255) { /* most of a panel: not worth three divisions a pixel */
        canvas_set(canvas, rect, colour, 255);
        return;
    }
    const Rect part = canvas_clip(canvas, rect);
    for (int y = 0; y < part.height; y++)
        for (int x = 0; x < part.width; x++)
            canvas_blend(canvas, part.x + x, part.y + y, colour, cover);
}

/* Cuts the corners of the whole canvas to arcs, smoothly. */
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

/* Copies a rectangle of a canvas to the same place of another of its size. */
static inline void canvas_copy(const Canvas *to, const Canvas *from, Rect rect)
{
    const Rect part = canvas_clip(to, rect);
    for (int y = 0; y < part.height; y++)
        memcpy(canvas_pixel(to, part.x, part.y + y), canvas_pixel(from, part.x, part.y + y),
               (size_t)part.width * 4);
}

#endif
