/* Rows of two columns on a translucent ground: the pages of the on-screen display. */
#ifndef LUMEQ_PLAYER_OSD_PAGE_H
#define LUMEQ_PLAYER_OSD_PAGE_H

#include "panel/canvas.h"
#include "panel/text.h"

/* A line of two columns; UTF-8, any bytes. Without a name the value is a heading. */
typedef struct OsdRow {
    const char *name, *value;
} OsdRow;

/* Rows beyond these are left out. */
#define OSD_MAX_ROWS 64

enum {
    OSD_GROUND = 0x0B0D11,
    OSD_BRIGHT = 0xF1F3F6,
    OSD_DIM = 0xB4BCC8,
    OSD_ACCENT = 0xF2B45C,
    OSD_RED = 0xF0322B,
};

/* What text is written at most, in bytes. */
#define OSD_MAX_LINE 512

/* {0} is empty. */
typedef struct OsdPage {
    char *cells[OSD_MAX_ROWS][2]; /* name, value; owned, NULL where there is none */
    int count;
} OsdPage;

/* How a page is laid out. */
typedef struct OsdPageStyle {
    Rect limit;       /* it stays inside */
    Rect around;      /* what it is in the middle of, as far as that can be; {0}: at the top left */
    int usual_height; /* it is no higher while its text is easily read; 0: as high as it fits */
    int size;         /* height of its text as it is wanted */
    int easy, smallest; /* ... as it is easily read, and as it can just be read */
    int max_columns;    /* of rows beside each other */
    int alpha;          /* of the ground */
    Colour name, value;
    int min_width;         /* of the whole, where that fits */
    int parts, part;       /* it is cut into so many, of which this one is drawn; 0: it is not */
    const char *part_name; /* above the rows of one of several */
} OsdPageStyle;

/* Copies the rows, up to OSD_MAX_ROWS. Without memory it has fewer. */
void osd_page_set(OsdPage *page, const OsdRow *rows, int count);

/* Into how many parts of about as many rows it has to be cut for text that can be read. */
int osd_page_parts(const OsdPage *page, const OsdPageStyle *style, Text *text);

/* Draws it into a new canvas, which is the caller's to free; without memory or room it has no
 * pixels. */
Overlay osd_page_draw(const OsdPage *page, const OsdPageStyle *style, Text *text);

void osd_page_free(OsdPage *page);

/* A canvas with nothing but a rounded ground, as above. */
Overlay osd_box(Rect rect, int radius, int alpha);

/* A disc with a smooth edge. */
void osd_disc(const Canvas *canvas, double x, double y, double radius, Colour colour);

/* As much of a line as fits into `room` pixels, "…" behind it where that is not all; `fitted` has
 * OSD_MAX_LINE bytes. */
void osd_fit(Text *text, int size, const char *line, int room, char *fitted);

#endif
