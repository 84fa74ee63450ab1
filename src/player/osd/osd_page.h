/* Pages of two-column rows on a translucent background. */
#ifndef LUMEQ_PLAYER_OSD_PAGE_H
#define LUMEQ_PLAYER_OSD_PAGE_H

#include "panel/canvas.h"
#include "panel/text.h"

/* A two-column line; UTF-8, any bytes. Without a name the value is a heading. */
typedef struct OsdRow {
    const char *name, *value;
} OsdRow;

/* Further rows are ignored. */
#define OSD_MAX_ROWS 64

enum {
    OSD_GROUND = 0x0B0D11,
    OSD_BRIGHT = 0xF1F3F6,
    OSD_DIM = 0xB4BCC8,
    OSD_ACCENT = 0xF2B45C,
    OSD_HEADING = 0x8FC1F2,
    OSD_RED = 0xF0322B,
};

/* Maximum length of a line in bytes. */
#define OSD_MAX_LINE 512

/* {0} is an empty page. */
typedef struct OsdPage {
    char *cells[OSD_MAX_ROWS][2]; /* name, value; owned; may be NULL */
    int count;
} OsdPage;

/* Layout of a page. */
typedef struct OsdPageStyle {
    Rect limit;         /* the page stays inside */
    Rect around;        /* centre on this if possible; {0}: top left */
    int usual_height;   /* preferred maximum height while the text stays easy to read; 0: none */
    int size;           /* preferred text height */
    int easy, smallest; /* smallest comfortable and smallest readable text height */
    int max_columns;    /* maximum columns of rows */
    int alpha;          /* of the background */
    Colour name, value;
    int min_width; /* minimum width of the page if it fits */
} OsdPageStyle;

/* Copies up to OSD_MAX_ROWS rows; cells may be lost if out of memory. */
void osd_page_set(OsdPage *page, const OsdRow *rows, int count);

/* Draws into a new canvas that the caller frees; no pixels without memory or room. */
Overlay osd_page_draw(const OsdPage *page, const OsdPageStyle *style, Text *text);

void osd_page_free(OsdPage *page);

/* A new canvas with only the rounded background. */
Overlay osd_box(Rect rect, int radius, int alpha);

/* Draws an antialiased disc. */
void osd_disc(const Canvas *canvas, double x, double y, double radius, Colour colour);

/* The width of a line in multiples of the text height. */
double osd_width(Text *text, const char *line);

/* Shortens a line to `room` pixels, with "…" if it was cut. `fitted` has OSD_MAX_LINE bytes. */
void osd_fit(Text *text, int size, const char *line, int room, char *fitted);

#endif
