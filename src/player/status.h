/* What the window says in words. Nothing is changed here. */
#ifndef LUMEQ_PLAYER_STATUS_H
#define LUMEQ_PLAYER_STATUS_H

#include "player/situation.h"

/* The statistics. */
#define STATUS_ROWS 19
typedef struct StatusRows {
    int count;
    OsdRow rows[STATUS_ROWS];
    char values[STATUS_ROWS][160]; /* that rows point to */
} StatusRows;

void status_rows(const Situation *now, StatusRows *rows);

/* "1:02 / 5:00"; a duration of 0 is not known. */
void status_position(int64_t position, int64_t duration, char *text, size_t size);

/* "1:02.345" */
void status_frame(int64_t position, char *text, size_t size);

/* What the window is called while it plays this. */
void status_title(const Source *source, const char *path, char *text, size_t size);

#endif
