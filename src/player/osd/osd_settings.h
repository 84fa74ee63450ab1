/* The settings panel: each setting's value and default, one row selected. */
#ifndef LUMEQ_PLAYER_OSD_SETTINGS_H
#define LUMEQ_PLAYER_OSD_SETTINGS_H

#include "panel/canvas.h"
#include "panel/text.h"

#define OSD_SETTING_ROWS 16
#define OSD_SETTING_TEXT 40

typedef struct OsdSetting {
    char name[OSD_SETTING_TEXT], value[OSD_SETTING_TEXT];
    char usual[OSD_SETTING_TEXT]; /* its default */
    const char *about;            /* one sentence, shown while it is selected; or NULL */
    int changed;                  /* differs from the default */
    int idle;                     /* has no effect now */
} OsdSetting;

/* {0} hides the panel. Compared with memcmp(). */
typedef struct OsdSettings {
    int count, chosen;
    OsdSetting rows[OSD_SETTING_ROWS];
} OsdSettings;

/* Places of its parts; {0}: no room. */
typedef struct OsdSettingsPlaces {
    Rect all;
    int size;       /* text height */
    int top, row;   /* top of the first row, height of each row */
    int value, end; /* window columns: values lie between these, */
    int usual;      /* defaults start here */
} OsdSettingsPlaces;

/* Lays out the panel at the left of `limit`, with text of at most `size` pixels. */
OsdSettingsPlaces osd_settings_places(const OsdSettings *settings, Rect limit, int size,
                                      Text *text);

/* Returns the row at x, y, or -1. *acts: a click there changes the setting by *step (0: restores
 * the default), else it only selects the row. */
int osd_settings_at(const OsdSettings *settings, const OsdSettingsPlaces *places, int x, int y,
                    int *acts, int *step);

/* The caller frees the canvas. */
Overlay osd_settings_draw(const OsdSettings *settings, const OsdSettingsPlaces *places, Text *text);

#endif
