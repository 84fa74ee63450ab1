/* The bar: position, duration, chapters, volume and buttons. It lays out its parts for drawing and
 * for the mouse. */
#ifndef LUMEQ_PLAYER_OSD_BAR_H
#define LUMEQ_PLAYER_OSD_BAR_H

#include <stdio.h>

#include "panel/canvas.h"
#include "panel/text.h"

/* Formats microseconds as "1:02:03" or "2:03". */
static inline void osd_time(int64_t us, char *text, size_t size)
{
    const int64_t s = us > 0 ? us / 1000000 : 0;
    if (s >= 3600)
        snprintf(text, size, "%d:%02d:%02d", (int)(s / 3600), (int)(s / 60 % 60), (int)(s % 60));
    else
        snprintf(text, size, "%d:%02d", (int)(s / 60), (int)(s % 60));
}

/* Later chapters are not marked. */
#define OSD_BAR_MARKS 64

/* The bar's content. Times are microseconds. */
typedef struct OsdBar {
    int64_t position, duration; /* duration 0: unknown, no seek bar */
    int file, files;            /* number of the current file and of all; files 0: a single file */
    int64_t from, to;           /* repeated section; -1: not set */
    int paused;
    int volume, most, muted; /* in %; most 0: no sound */
    int marks;
    int64_t mark[OSD_BAR_MARKS]; /* chapter starts */
} OsdBar;

/* In window pixels. Parts without room or use are {0}. */
typedef struct OsdBarPlaces {
    Rect all, button, track, volume, settings, fullscreen; /* `button` pauses */
} OsdBarPlaces;

/* Lays out the bar in `area` with this margin and text size. */
OsdBarPlaces osd_bar_places(const OsdBar *bar, Rect area, int margin, int size);

/* Draws into a new canvas that the caller frees; no pixels without memory or room. */
Overlay osd_bar_draw(const OsdBar *bar, const OsdBarPlaces *places, int size, Text *text);

#endif
