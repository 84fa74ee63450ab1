/* Draws parts of the on-screen display: pages of rows, the bar and the settings panel. Functions
 * that return an Overlay draw into a new canvas, which the caller frees. Without enough memory or
 * room, the canvas has no pixels. */
#ifndef LUMEQ_PLAYER_OSD_PARTS_H
#define LUMEQ_PLAYER_OSD_PARTS_H

#include <stdbool.h>
#include <stdio.h>

#include "panel/canvas.h"
#include "panel/text.h"

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

/* ---- pages: rows of names and values on a translucent background ---- */

/* If the name is NULL, the value is a heading. Invalid UTF-8 is allowed. */
typedef struct OsdRow {
    const char *name, *value;
} OsdRow;

#define OSD_MAX_ROWS 64 /* further rows are ignored */
#define OSD_CELL 160    /* bytes of a cell, including the final 0 */

/* {0} is an empty page. */
typedef struct OsdPage {
    char cells[OSD_MAX_ROWS][2][OSD_CELL]; /* name ("": a heading), value */
    int count;
} OsdPage;

typedef struct OsdPageStyle {
    Rect limit;      /* the page stays inside */
    Rect around;     /* the page is centred on this if possible; {0}: top left of `limit` */
    int size;        /* preferred text height */
    int smallest;    /* minimum text height; lines that are still too long are cut */
    int max_columns; /* the rows are laid out in up to this many columns */
    int alpha;       /* of the background, 0 to 255 */
    Colour name, value;
    int min_width; /* minimum width of the page, if `limit` has room */
} OsdPageStyle;

/* Copies up to OSD_MAX_ROWS rows, and OSD_CELL - 1 bytes of each cell. */
void osd_page_set(OsdPage *page, const OsdRow *rows, int count);

Overlay osd_page_draw(const OsdPage *page, const OsdPageStyle *style, Text *text);

/* A new canvas with only the rounded background. */
Overlay osd_box(Rect rect, int radius, int alpha);

/* Shortens a line to `room` pixels, with "…" if it was cut. `fitted` has OSD_MAX_LINE bytes. */
void osd_fit(Text *text, int size, const char *line, int room, char *fitted);

/* ---- the bar: position, duration, chapters, volume and buttons ---- */

/* Formats microseconds as "1:02:03" or "2:03"; negative ones as "0:00". */
static inline void osd_time(int64_t us, char *text, size_t size)
{
    const int64_t s = us > 0 ? us / 1000000 : 0;
    if (s >= 3600)
        snprintf(text, size, "%d:%02d:%02d", (int)(s / 3600), (int)(s / 60 % 60), (int)(s % 60));
    else
        snprintf(text, size, "%d:%02d", (int)(s / 60), (int)(s % 60));
}

/* Maximum number of marked chapters. Further chapters are not marked. */
#define OSD_BAR_MARKS 64

/* The bar's content. Times are microseconds. */
typedef struct OsdBar {
    int64_t position, duration; /* duration 0: no seek bar */
    int64_t from, to;           /* repeated section; -1: not set */
    int paused;
    int volume, most, muted; /* volume and its maximum, in %; `most` 0: no sound */
    int marks;
    int64_t mark[OSD_BAR_MARKS]; /* chapter starts */
} OsdBar;

/* In window pixels. Parts without room or use are {0}. */
typedef struct OsdBarPlaces {
    Rect all, button, track, volume, settings, fullscreen; /* `button` pauses */
} OsdBarPlaces;

/* Lays out the bar in `area` with this margin and text size. */
OsdBarPlaces osd_bar_places(const OsdBar *bar, Rect area, int margin, int size);

Overlay osd_bar_draw(const OsdBar *bar, const OsdBarPlaces *places, int size, Text *text);

/* ---- the settings panel: the value and default of each setting, one row selected ---- */

#define OSD_SETTING_ROWS 16
#define OSD_SETTING_TEXT 40

typedef struct OsdSetting {
    char name[OSD_SETTING_TEXT], value[OSD_SETTING_TEXT];
    char usual[OSD_SETTING_TEXT]; /* default value */
    const char *about;            /* one sentence, shown while the row is selected; or NULL */
    int changed;                  /* the value differs from the default */
    int idle;                     /* the setting has no effect now */
} OsdSetting;

/* {0} hides the panel. Unused bytes must be 0, because the struct is compared with memcmp(). */
typedef struct OsdSettings {
    int count, chosen; /* number of rows, and the selected row */
    OsdSetting rows[OSD_SETTING_ROWS];
} OsdSettings;

/* Places of the settings panel's parts; {0}: no room. */
typedef struct OsdSettingsPlaces {
    Rect all;
    int size, rows; /* text height, number of rows */
    int top, row;   /* top of the first row, height of each row */
    int value, end; /* values lie between these window columns */
    int usual;      /* window column at which defaults start */
} OsdSettingsPlaces;

/* Lays out the panel at the top left of `limit`; its text height is at most `size`. */
OsdSettingsPlaces osd_settings_places(int count, Rect limit, int size);

/* Returns the row at x, y, or -1. *acts: nonzero if a click there changes the setting, by *step (0:
 * to the default); 0 if a click only selects the row. */
int osd_settings_at(const OsdSettingsPlaces *places, int x, int y, int *acts, int *step);

Overlay osd_settings_draw(const OsdSettings *settings, const OsdSettingsPlaces *places, Text *text);

#endif
