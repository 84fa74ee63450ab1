/* The bar at the bottom of the window: where the video is, how long it is, its chapters and the
 * volume. It knows where its parts are, for drawing and for the mouse. */
#ifndef LUMEQ_PLAYER_OSD_BAR_H
#define LUMEQ_PLAYER_OSD_BAR_H

#include "panel/canvas.h"
#include "panel/text.h"

/* Chapters beyond these have no mark. */
#define OSD_BAR_MARKS 64

/* What it shows. Times are microseconds. */
typedef struct OsdBar {
    int64_t position, duration; /* duration 0: not known, and there is nothing to seek on */
    int file, files;            /* which of so many is played; files 0: it is alone */
    int64_t from, to;           /* what is repeated; -1: no such end */
    int paused;
    int volume, most, muted; /* of the sound, in %; most 0: there is none */
    int marks;
    int64_t mark[OSD_BAR_MARKS]; /* where chapters begin */
} OsdBar;

/* Pixels of the window. What there is no room for, or no use, is {0}. */
typedef struct OsdBarPlaces {
    Rect all, button, track, volume;
} OsdBarPlaces;

/* In `area`, with a margin and text of these sizes. */
OsdBarPlaces osd_bar_places(const OsdBar *bar, Rect area, int margin, int size);

/* Draws it into a new canvas, which is the caller's to free; without memory or room it has no
 * pixels. */
Overlay osd_bar_draw(const OsdBar *bar, const OsdBarPlaces *places, int size, Text *text);

#endif
