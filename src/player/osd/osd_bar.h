/* The bar: position, duration, chapters and volume. It lays out its parts for drawing and for the
 * mouse. */
#ifndef LUMEQ_PLAYER_OSD_BAR_H
#define LUMEQ_PLAYER_OSD_BAR_H

#include "panel/canvas.h"
#include "panel/text.h"

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
    Rect all, button, track, volume;
} OsdBarPlaces;

/* Lays out the bar in `area` with this margin and text size. */
OsdBarPlaces osd_bar_places(const OsdBar *bar, Rect area, int margin, int size);

/* Draws into a new canvas that the caller frees; no pixels without memory or room. */
Overlay osd_bar_draw(const OsdBar *bar, const OsdBarPlaces *places, int size, Text *text);

#endif
