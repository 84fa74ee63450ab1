/* Text into a canvas, through libass. */
#ifndef LUMEQ_PANEL_TEXT_H
#define LUMEQ_PANEL_TEXT_H

#include "panel/canvas.h"

/* May be used by one thread at a time. */
typedef struct Text Text;

/* Which point of the text is at the position that is given. */
typedef enum TextAnchor {
    TEXT_LEFT = 4, /* the middle of its left side; the numbers are those of ASS's \an */
    TEXT_CENTRE = 5,
    TEXT_RIGHT = 6,
} TextAnchor;

/*
 * Answers 0, or -1 when there is no font or no memory; *text is then NULL, which all other
 * functions take: they draw nothing. Finding the fonts of a machine can take seconds: any thread
 * may open it and hand it to another.
 */
int text_open(Text **text);

/*
 * Notes a line of text to be drawn: UTF-8, any bytes; control characters are shown as \n, \x1b.
 * `size` is the height of a line in pixels, ascent and descent together. It is drawn up to `room`
 * pixels wide and cut off there.
 */
void text_add(Text *text, int x, int y, TextAnchor anchor, int size, Colour colour, int room,
              const char *line);

/* The same, formatted, up to 511 bytes. */
void text_addf(Text *text, int x, int y, TextAnchor anchor, int size, Colour colour, int room,
               const char *format, ...) __attribute__((format(printf, 8, 9)));

/* How wide a line is drawn, in pixels; 0 without a Text. */
int text_width(Text *text, int size, const char *line);

/* Draws what has been added, and forgets it. */
void text_draw(Text *text, const Canvas *canvas);

/* Pixels that `count` usual characters of that size need, on the safe side. */
static inline int text_room(int size, int count)
{
    return (size * count * 11 + 19) / 20;
}

void text_close(Text **text);

/* Of libass, that is running: "0.17.1". */
void text_library_version(char version[32]);

#endif
