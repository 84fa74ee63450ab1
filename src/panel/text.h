/* Draws text into a canvas, through libass. */
#ifndef LUMEQ_PANEL_TEXT_H
#define LUMEQ_PANEL_TEXT_H

#include "panel/canvas.h"

/* For one thread at a time. */
typedef struct Text Text;

/* The part of a text that is placed at (x, y). Values as in ASS's \an. */
typedef enum TextAnchor {
    TEXT_LEFT = 4, /* middle of the left side */
    TEXT_CENTRE = 5,
    TEXT_RIGHT = 6,
} TextAnchor;

/* Returns 0, or -1 if no font is found or memory runs out; *text is then NULL. With NULL as Text,
 * all functions draw nothing. The search for fonts can take seconds, so another thread may open the
 * Text. */
int text_open(Text **text);

/* Queues a line of UTF-8 text without control characters. `size` is the line height (ascent plus
 * descent) in pixels. Text beyond `room` pixels is clipped. */
void text_add(Text *text, int x, int y, TextAnchor anchor, int size, Colour colour, int room,
              const char *line);

/* Queues text that is wrapped at the box's width. Lines below the box are clipped. */
void text_add_wrapped(Text *text, Rect box, int size, Colour colour, const char *line);

/* Queues a filled shape of ASS drawing commands such as "m 0 0 l 100 0 100 100". 100 units become
 * `size` pixels. (x, y) is the top left corner. */
void text_add_shape(Text *text, int x, int y, int size, Colour colour, const char *commands);

/* Queues a disc of diameter `size` around (x, y). */
static inline void text_add_disc(Text *text, int x, int y, int size, Colour colour)
{
    text_add_shape(
        text, x - size / 2, y - size / 2, size, colour,
        "m 0 50 b 0 22 22 0 50 0 78 0 100 22 100 50 100 78 78 100 50 100 22 100 0 78 0 50");
}

/* The width of a line in pixels; 0 without a Text. */
int text_width(Text *text, int size, const char *line);

/* Draws the queued lines and shapes and empties the queue. */
void text_draw(Text *text, const Canvas *canvas);

/* Upper estimate of the width of `count` ordinary characters, in pixels. */
static inline int text_room(int size, int count)
{
    return (size * count * 11 + 19) / 20;
}

void text_close(Text **text);

typedef struct ass_library ASS_Library;
typedef struct ass_renderer ASS_Renderer;
typedef struct ass_image ASS_Image;

/* Starts libass without its messages. NULL: out of memory. */
ASS_Library *ass_library_open(void);

/* True if the renderer can draw a letter. Without fonts, libass reports no error but draws nothing.
 * Changes the renderer's frame size. */
bool ass_can_draw(ASS_Library *library, ASS_Renderer *renderer);

/* The bounding box of all visible pixels of libass's images, in pixels of its frame; {0}: none. */
Rect ass_images_ink(const ASS_Image *images);

/* Blends images into a canvas whose top left pixel is at (x, y) of libass's frame. */
void ass_images_blend(const Canvas *canvas, int x, int y, const ASS_Image *images);

/* The version of libass in use: "0.17.1". */
void text_library_version(char version[32]);

#endif
