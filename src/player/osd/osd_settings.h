/* The panel of settings: each with its value and its default, one of them chosen. */
#ifndef LUMEQ_PLAYER_OSD_SETTINGS_H
#define LUMEQ_PLAYER_OSD_SETTINGS_H

#include "panel/canvas.h"
#include "panel/text.h"

#define OSD_SETTING_ROWS 16
#define OSD_SETTING_TEXT 40

typedef struct OsdSetting {
    char name[OSD_SETTING_TEXT], value[OSD_SETTING_TEXT];
    char usual[OSD_SETTING_TEXT]; /* its default */
    int changed;                  /* the value is another one */
    int idle;                     /* it has no effect now */
} OsdSetting;

/* {0} is none. Compared byte by byte. */
typedef struct OsdSettings {
    int count, chosen;
    OsdSetting rows[OSD_SETTING_ROWS];
} OsdSettings;

/* Where its parts are in a window; {0}: it has no room. */
typedef struct OsdSettingsPlaces {
    Rect all;
    int size;       /* of its text, in pixels */
    int top, row;   /* of the first row, and the height of each */
    int value, end; /* columns of the window: values between these, */
    int usual;      /* and from here on defaults */
} OsdSettingsPlaces;

/* Within `limit`, at its left; its text has `size` pixels where it has room for that. */
OsdSettingsPlaces osd_settings_places(const OsdSettings *settings, Rect limit, int size,
                                      Text *text);

/* The row that is there, or -1; *step is what a click there changes it by: 0 puts the default back;
 * where it only chooses the row *acts is 0. */
int osd_settings_at(const OsdSettings *settings, const OsdSettingsPlaces *places, int x, int y,
                    int *acts, int *step);

/* The caller frees the canvas. */
Overlay osd_settings_draw(const OsdSettings *settings, const OsdSettingsPlaces *places, Text *text);

#endif
