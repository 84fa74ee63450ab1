/* A picture in memory that the panel and its text are drawn into. */
#ifndef LUMEQ_PANEL_CANVAS_H
#define LUMEQ_PANEL_CANVAS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Plain data, borrowed. Bytes are R, G, B, A in this order, alpha not multiplied in. */
typedef struct Canvas {
    uint8_t *pixels;  /* first row */
    ptrdiff_t stride; /* bytes from one row to the next; may be negative */
    int width, height;
} Canvas;

/* 0xRRGGBB */
typedef uint32_t Colour;

/* In pixels; what lies outside the canvas is not drawn. */
typedef struct Rect {
    int x, y, width, height;
} Rect;

/* Lays `colour` over one pixel; `cover` is 0 (nothing) to 255 (all of it). Outside the canvas
 * nothing happens. */
static inline void canvas_blend(const Canvas *canvas, int x, int y, Colour colour, int cover)
{
    if (x < 0 || y < 0 || x >= canvas->width || y >= canvas->height)
        return;
    uint8_t *pixel = canvas->pixels + y * canvas->stride + (ptrdiff_t)x * 4;
    for (int i = 0; i < 3; i++) {
        const int part = (int)(colour >> (16 - 8 * i) & 0xFF);
        pixel[i] = (uint8_t)((pixel[i] * (255 - cover) + part * cover + 127) / 255);
    }
    pixel[3] = (uint8_t)(pixel[3] + (cover * (255 - pixel[3]) + 127) / 255);
}

static inline void canvas_fill(const Canvas *canvas, Rect rect, Colour colour, int cover)
{
    const int left = rect.x > 0 ? rect.x : 0, top = rect.y > 0 ? rect.y : 0;
    const int right = rect.x + rect.width < canvas->width ? rect.x + rect.width : canvas->width;
    const int bottom =
        rect.y + rect.height < canvas->height ? rect.y + rect.height : canvas->height;
    const uint8_t opaque[4] = {(uint8_t)(colour >> 16), (uint8_t)(colour >> 8), (uint8_t)colour,
                               255};
    for (int y = top; y < bottom; y++)
        for (int x = left; x < right; x++)
            if (cover == 255) /* most of a panel: not worth three divisions a pixel */
                memcpy(canvas->pixels + y * canvas->stride + (ptrdiff_t)x * 4, opaque, 4);
            else
                canvas_blend(canvas, x, y, colour, cover);
}

#endif
