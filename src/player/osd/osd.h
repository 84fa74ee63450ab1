/*
 * What the player writes over the window: messages, that it records, statistics, the help page and
 * the bar at the bottom, each a canvas of its own that overlaps no other, and which half of a
 * comparison is which. All functions are for one thread.
 *
 * Times are microseconds of a clock that does not go back, sizes and positions pixels of the
 * window.
 */
#ifndef LUMEQ_PLAYER_OSD_H
#define LUMEQ_PLAYER_OSD_H

#include "panel/canvas.h"
#include "panel/text.h"
#include "player/osd/osd_bar.h"
#include "player/osd/osd_page.h"
#include "player/osd/osd_settings.h"

typedef struct Osd Osd;

typedef enum OsdPart {
    OSD_MESSAGE = 0, /* top left */
    OSD_STATISTICS,  /* below it */
    OSD_HELP,        /* in the middle of the picture; while it is there, statistics are not */
    OSD_RECORDING,   /* top right */
    OSD_BEFORE,      /* the labels of a comparison */
    OSD_AFTER,
    OSD_SETTINGS, /* at the left, below the message, in place of the statistics */
    OSD_BAR,      /* at the bottom */
    OSD_POINTED,  /* above it: where the mouse points to */
    OSD_PARTS,
} OsdPart;

typedef struct OsdPlace {
    int width, height; /* of the window */
    Rect area;         /* where messages and statistics may be: beside the panel, perhaps */
    Rect picture;      /* that the help page is in the middle of */
    Rect bar;          /* that the bar is at the bottom of */
    double density;    /* pixels for each unit of the desktop, 1 or more */
    double scale;      /* of text and the bar, on top of what suits all of these */
} OsdPlace;

typedef struct OsdLayer {
    Overlay overlay; /* its canvas is the Osd's, valid until the next osd_draw() of that part */
    double opacity;  /* of the whole, 0..1 */
} OsdLayer;

/* A message is seen for OSD_MESSAGE_US and then fades. */
#define OSD_MESSAGE_US 1500000
#define OSD_FADE_US 250000

/* How long labels are usually seen when there is a comparison to be labelled. */
#define OSD_LABELS_US 3000000

/* Nothing is to be seen. 0, or -1 without memory; *osd is then NULL. */
int osd_open(Osd **osd);

/* What it writes with; borrowed. NULL, as at first: nothing is drawn. */
void osd_set_text(Osd *osd, Text *text);

/* Shows a line from now on, in place of the one before. `share`: of a bar below it that is filled,
 * 0..1; negative: without a bar. */
void osd_message(Osd *osd, int64_t now_us, const char *line, double share);

/* What stays, before any message in its line; copied. NULL: none. */
void osd_notice(Osd *osd, const char *line);

/* A red light with this line beside it; copied. NULL: none. */
void osd_recording(Osd *osd, const char *line);

/* Labels a part of the window, OSD_BEFORE or OSD_AFTER: in the middle of its upper side, below what
 * messages take. {0}, or too small: without a label. */
void osd_label(Osd *osd, OsdPart part, Rect within);

/* Labels are seen at least until then, in time of osd_draw(), and fade. */
void osd_show_labels(Osd *osd, int64_t until_us);

/* What the bar shows; copied. */
void osd_set_bar(Osd *osd, const OsdBar *bar);

/* The bar is seen at least until then, as labels are. */
void osd_show_bar(Osd *osd, int64_t until_us);

/* Where its parts are in such a window, whether it is seen or not. */
OsdBarPlaces osd_bar_at(const Osd *osd, const OsdPlace *place);

/* What stands above it, centred at a column of the window: a line, and a picture above that, which
 * may be NULL; copied. A line of NULL: nothing. */
void osd_point(Osd *osd, int column, const char *line, const Canvas *picture);

/* The statistics or the help page; copied. A count of 0 hides it. */
void osd_set_rows(Osd *osd, OsdPart part, const OsdRow *rows, int count);

/* The help page comes in so many parts where the window is small, once it has rows; which of them
 * is shown, from 0 on, or else the last one. */
int osd_help_parts(const Osd *osd, const OsdPlace *place);
void osd_set_help_part(Osd *osd, int part);

/* The panel of settings; copied. Without rows: there is none. */
void osd_set_settings(Osd *osd, const OsdSettings *settings);

/* Where it was drawn in such a window; {0}: it is not there. */
OsdSettingsPlaces osd_settings_place(const Osd *osd, const OsdPlace *place);

/*
 * Lays one part out and draws it: *layer is what to show, with a width of 0 nothing. Answers 1 when
 * the canvas or its place differs from the last call's for this part, else 0; the opacity is to be
 * followed in any case.
 */
int osd_draw(Osd *osd, OsdPart part, const OsdPlace *place, int64_t now_us, OsdLayer *layer);

/* How long until something changes by itself: 0 while something fades, INT64_MAX: nothing does. */
int64_t osd_wait(const Osd *osd, int64_t now_us);

/* NULL is allowed inside. */
void osd_close(Osd **osd);

#endif
