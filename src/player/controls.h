/*
 * What the user does becomes commands. Nothing is carried out here. For the thread of the window.
 */
#ifndef LUMEQ_PLAYER_CONTROLS_H
#define LUMEQ_PLAYER_CONTROLS_H

#include <limits.h>
#include <stdint.h>

#include "player/osd/osd.h"

typedef enum CommandKind {
    COMMAND_PAUSE,
    COMMAND_SEEK, /* by `arg` seconds */
    COMMAND_STEP, /* a frame on, or, `arg` not 0, back */
    /* By `arg` steps; no step is back to the usual. */
    COMMAND_SPEED,
    COMMAND_LOOP,
    COMMAND_VOLUME, /* by `arg` steps */
    COMMAND_MUTE,
    COMMAND_NEXT_SOUND,
    COMMAND_NEXT_SUBTITLES,
    COMMAND_SUBTITLES,
    COMMAND_EQUALIZER,
    COMMAND_STRENGTH, /* these five by `arg` steps */
    COMMAND_CLIP,
    COMMAND_SMOOTH,
    COMMAND_BRIGHTNESS,
    COMMAND_GAMMA,
    COMMAND_RESET,
    COMMAND_COMPARE,
    COMMAND_HISTOGRAM,
    COMMAND_SCALE,
    COMMAND_RECORD,
    COMMAND_DEINTERLACE,
    COMMAND_MIRROR,
    COMMAND_FULLSCREEN,
    COMMAND_SCREENSHOT,
    COMMAND_STATISTICS,
    COMMAND_HELP,
    COMMAND_QUIT,
    COMMAND_ESCAPE,
    COMMAND_SPLIT,  /* the line to x, y */
    COMMAND_OPEN,   /* the file `path` */
    COMMAND_REDRAW, /* the window is another one */
    COMMAND_CLOSE,  /* the window; `arg` not 0: by something else than the user */
    COMMAND_KINDS,
} CommandKind;

typedef struct Command {
    CommandKind kind;
    int arg;
    int repeated;        /* the key is held down */
    int x, y;            /* units of the window */
    int64_t at;          /* when SDL was told of it, in system time */
    char path[PATH_MAX]; /* COMMAND_OPEN's */
} Command;

/* {0} to begin with. */
typedef struct Controls {
    int can_drag; /* the caller's: there is a split line */
    int dragging;
    int repeated;         /* the key that is down repeats itself */
    int closed;           /* by the user */
    int twice;            /* there is a second command of a double click */
    int64_t cursor_until; /* when the cursor is to be hidden, in system time */
} Controls;

/* The next command of what has happened: 1, or 0 when there is none left. */
int controls_next(Controls *controls, int64_t now, Command *command);

/* The keys, for the help. Answers how many rows it has. */
int controls_help(OsdRow *rows, int room);

#endif
