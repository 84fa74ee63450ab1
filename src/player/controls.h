/* Turns SDL events into commands. For the window's thread. */
#ifndef LUMEQ_PLAYER_CONTROLS_H
#define LUMEQ_PLAYER_CONTROLS_H

#include "player/command.h"
#include "player/osd/osd_parts.h"

/* Returns 1 with the next command, or 0 after the last event. */
int controls_next(Controls *controls, int64_t now, Command *command);

/* Fills in the rows of the help overlay and returns their number. */
int controls_help(OsdRow *rows, int room);

#endif
