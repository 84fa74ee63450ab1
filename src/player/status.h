/* Writes the window's texts: titles, times, statistics. Changes no state. */
#ifndef LUMEQ_PLAYER_STATUS_H
#define LUMEQ_PLAYER_STATUS_H

#include "player/player_inside.h"

/* Maximum rows of the statistics overlay. */
#define STATUS_ROWS 20
typedef struct StatusRows {
    int count;
    OsdRow rows[STATUS_ROWS];
    char values[STATUS_ROWS][160]; /* storage for the rows */
} StatusRows;

void status_rows(const Player *p, StatusRows *rows);

/* Writes "1:02 / 5:00", or "1:02" if the duration is 0 (unknown). */
void status_position(int64_t position, int64_t duration, char *text, size_t size);

/* Writes "1:02.345". */
void status_frame(int64_t position, char *text, size_t size);

/* Writes the time and chapter title at a position of the seek bar. */
void status_pointed(const Source *source, int64_t position, char *text, size_t size);

/* Fills in the bar. During playback the position is rounded to 0.25 s, so that the bar changes less
 * often than the frame. */
void status_bar(const Player *p, OsdBar *bar);

/* Returns one sentence that explains a setting. */
const char *status_setting(PlayerSetting setting);

/* Writes "2/5: name". */
void status_file(const FileList *files, int at, char *text, size_t size);

/* Writes the window's title, with the position if `duration` is not 0. */
void status_title(const Source *source, const char *path, const FileList *files, int64_t position,
                  int64_t duration, char *text, size_t size);

#endif
