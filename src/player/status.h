/* What the window says in words. Nothing is changed here. */
#ifndef LUMEQ_PLAYER_STATUS_H
#define LUMEQ_PLAYER_STATUS_H

#include "player/player_inside.h"

/* The statistics. */
#define STATUS_ROWS 20
typedef struct StatusRows {
    int count;
    OsdRow rows[STATUS_ROWS];
    char values[STATUS_ROWS][160]; /* that rows point to */
} StatusRows;

void status_rows(const Player *p, StatusRows *rows);

/* "1:02 / 5:00"; a duration of 0 is not known. */
void status_position(int64_t position, int64_t duration, char *text, size_t size);

/* "1:02.345" */
void status_frame(int64_t position, char *text, size_t size);

/* What the mouse points to: the time, and the chapter. */
void status_pointed(const Source *source, int64_t position, char *text, size_t size);

/* What the bar shows. Positions of what is played are those of full quarters of a second, so that
 * it is not drawn for every frame. */
void status_bar(const Player *p, OsdBar *bar);

/* "2/5: name" */
void status_file(const FileList *files, int at, char *text, size_t size);

/* What the window is called while it plays this; with a duration, and where it is. */
void status_title(const Source *source, const char *path, const FileList *files, int64_t position,
                  int64_t duration, char *text, size_t size);

#endif
