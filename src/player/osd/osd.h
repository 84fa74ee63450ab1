/*
 * Draws the on-screen display: messages, recording light, statistics, help, settings, comparison
 * labels and the bar. Each part is a separate canvas, and no visible parts overlap.
 *
 * All functions are for one thread, and copy the lines and content that they receive. Times are
 * microseconds of a monotonic clock; sizes and positions are window pixels.
 */
#ifndef LUMEQ_PLAYER_OSD_H
#define LUMEQ_PLAYER_OSD_H

#include "player/osd/osd_parts.h"

typedef struct Osd Osd;

/* In drawing order. */
typedef enum OsdPart {
    OSD_BEFORE = 0, /* comparison label "before" */
    OSD_AFTER,      /* comparison label "after" */
    OSD_BAR,        /* at the bottom */
    OSD_POINTED,    /* time under the mouse, above the bar */
    OSD_STATISTICS, /* below the message */
    OSD_SETTINGS,   /* on the left below the message; hides the statistics */
    OSD_MESSAGE,    /* top left */
    OSD_RECORDING,  /* top right */
    OSD_HELP,       /* centred over the picture; hides statistics and settings */
    OSD_PARTS,
} OsdPart;

typedef struct OsdPlace {
    int width, height; /* of the window */
    Rect area; /* the window without the histogram panel; messages, statistics and settings are here
                */
    Rect picture;   /* the help is centred here */
    Rect bar;       /* the bar is at the bottom of this area */
    double density; /* pixels per desktop unit, at least 1 */
    double scale;   /* user's factor for text and the bar */
} OsdPlace;

typedef struct OsdLayer {
    Overlay overlay; /* its canvas belongs to the Osd, valid until the part's next osd_draw() */
    double opacity;  /* 0..1 */
} OsdLayer;

/* Messages stay for OSD_MESSAGE_US, warnings for OSD_WARNING_US, then they fade. */
#define OSD_MESSAGE_US 1500000
#define OSD_WARNING_US 3000000
#define OSD_FADE_US 250000

/* How long comparison labels stay when a comparison begins. */
#define OSD_LABELS_US 3000000

/* Returns 0, or -1 if out of memory; *osd is then NULL. */
int osd_open(Osd **osd);

/* Sets the text renderer (borrowed). Without one (NULL), nothing is drawn. */
void osd_set_text(Osd *osd, Text *text);

/* Shows a message, replacing the last one. */
void osd_message(Osd *osd, int64_t now_us, const char *line);

/* Shows `part` at least until `until_us`, then fades it. `part`: OSD_MESSAGE, OSD_BAR, or
 * OSD_BEFORE for both labels. */
void osd_show(Osd *osd, OsdPart part, int64_t until_us);

/* Sets a permanent notice, shown to the left of messages. NULL: none. */
void osd_notice(Osd *osd, const char *line);

/* Sets the line beside the red light; NULL: no recording. `level`: the sound's level, 0..1, shown
 * as a bar below the line; negative: no bar. */
void osd_recording(Osd *osd, const char *line, double level);

/* Places the label OSD_BEFORE or OSD_AFTER at the top centre of a rectangle, below messages. A
 * label that does not fit is hidden. */
void osd_label(Osd *osd, OsdPart part, Rect within);

/* Sets the bar's content. */
void osd_set_bar(Osd *osd, const OsdBar *bar);

/* The places of the bar's parts, even while the bar is hidden. */
OsdBarPlaces osd_bar_at(const Osd *osd, const OsdPlace *place);

/* Sets a line above the bar, centred at a window column. "": none. */
void osd_set_pointed(Osd *osd, int column, const char *line);

/* Sets the rows of OSD_STATISTICS or OSD_HELP. Count 0 hides the part. */
void osd_set_rows(Osd *osd, OsdPart part, const OsdRow *rows, int count);

/* Sets the settings panel's content. Without rows, the panel is hidden. */
void osd_set_settings(Osd *osd, const OsdSettings *settings);

/* The places of the settings panel; {0}: hidden. */
OsdSettingsPlaces osd_settings_place(const Osd *osd, const OsdPlace *place);

/* Lays out one part, draws it if it has changed, and stores it in *layer. A hidden part has a
 * canvas of width 0. Returns true if the canvas has changed since the last call for this part. The
 * opacity may change even if the canvas does not. */
bool osd_draw(Osd *osd, OsdPart part, const OsdPlace *place, int64_t now_us, OsdLayer *layer);

/* Time until something changes by itself: 0 while fading, INT64_MAX if never. */
int64_t osd_wait(const Osd *osd, int64_t now_us);

/* *osd may be NULL. */
void osd_close(Osd **osd);

#endif
