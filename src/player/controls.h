/* Events of SDL become commands, by the one table of keys. For the thread of the window. */
#ifndef LUMEQ_PLAYER_CONTROLS_H
#define LUMEQ_PLAYER_CONTROLS_H

#include "player/command.h"
#include "player/osd/osd.h"

/* The next command: 1, or 0 after the last event. */
int controls_next(Controls *controls, int64_t now, Command *command);

/* The keys, for the help. Answers how many rows it has. */
int controls_help(OsdRow *rows, int room);

#endif
