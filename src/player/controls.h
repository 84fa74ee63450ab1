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
    COMMAND_SEEK_TO, /* where x is on the bar's track; `arg` not 0: while it is dragged there */
    COMMAND_EDGE,    /* to the begin, or, `arg` not 0, the end */
    COMMAND_CHAPTER, /* by `arg` chapters */
    COMMAND_REPEAT,  /* from here; to here; not any more */
    COMMAND_POSITION,
    COMMAND_VOLUME,    /* by `arg` steps */
    COMMAND_VOLUME_TO, /* where x is on the bar's line */
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
    COMMAND_SETTINGS,     /* their panel, or not any more */
    COMMAND_SETTINGS_ROW, /* the row `arg` below */
    COMMAND_SETTING,      /* the one of that row, by `arg` steps; no step is its default */
    COMMAND_SETTING_AT,   /* the one at x, y, as it says there */
    COMMAND_SETTING_TURN, /* the one at x, y, by `arg` steps */
    COMMAND_COMPARE,
    COMMAND_HISTOGRAM, /* where the panel is, then the next scope */
    COMMAND_PLACE,     /* of the panel */
    COMMAND_SCALE,
    COMMAND_RECORD,
    COMMAND_WRITE,  /* what is seen as a file */
    COMMAND_SCRIPT, /* the command that does */
    COMMAND_DEINTERLACE,
    COMMAND_MIRROR,
    COMMAND_FULLSCREEN,
    COMMAND_SCREENSHOT,
    COMMAND_STATISTICS,
    COMMAND_HELP,
    COMMAND_QUIT,
    COMMAND_ESCAPE,
    COMMAND_SPLIT, /* the line to x, y */
    COMMAND_ZOOM,  /* by `arg` steps at x, y; no step is back to the whole */
    COMMAND_PAN,   /* by x, y */
    /* The same by keys: by `arg` steps; in the middle; to the right and downwards. */
    COMMAND_SPLIT_BY,
    COMMAND_ZOOM_BY,
    COMMAND_PAN_ACROSS,
    COMMAND_PAN_DOWN,
    COMMAND_MARK,   /* a part from `from` to x, y is being drawn */
    COMMAND_METER,  /* by that part; `arg` 1: it is to be drawn; 2: by all of the picture; 3: by
                       what is seen of it */
    COMMAND_POINT,  /* the mouse is at x, y */
    COMMAND_SOURCE, /* shows it instead, or, `arg` 0, not any more */
    COMMAND_OPEN,   /* the file `path`; `arg` not 0: too, as more are dropped at once */
    COMMAND_FILE,   /* the next of the list, or, `arg` -1, the one before */
    COMMAND_DIALOG, /* one to choose a file */
    COMMAND_REDRAW, /* the window is another one */
    COMMAND_CLOSE,  /* the window; `arg` not 0: by something else than the user */
    COMMAND_KINDS,
} CommandKind;

typedef struct Command {
    CommandKind kind;
    int arg;
    int repeated; /* the key is held down */
    int x, y;     /* units of the window */
    struct {
        int x, y;
    } from;
    int64_t at;          /* when SDL was told of it, in system time */
    char path[PATH_MAX]; /* COMMAND_OPEN's */
} Command;

/* What the mouse is on. */
typedef enum ControlsTarget {
    CONTROLS_PICTURE = 0,
    CONTROLS_SPLIT, /* the line */
    CONTROLS_BUTTON,
    CONTROLS_TRACK,
    CONTROLS_VOLUME, /* of the bar */
    CONTROLS_PART,   /* what is drawn for metering */
    CONTROLS_SETTINGS,
    CONTROLS_BAR, /* the rest of it */
} ControlsTarget;

/* {0} to begin with. */
typedef struct Controls {
    /* The caller's: what is there, in units of the window; NULL: the picture everywhere. */
    ControlsTarget (*target)(const void *opaque, int x, int y);
    const void *opaque;
    ControlsTarget at, held; /* what the mouse is on; what its left button was pressed on */
    int dragging;            /* that button is down */
    int settings;            /* the caller's: their panel is there, and takes keys first */
    int x, y;                /* where the mouse is */
    int metering;            /* the next part that is dragged over is for metering */
    int from_x, from_y;      /* where that began */
    int repeated;            /* the key that is down repeats itself */
    int closed;              /* by the user */
    int dropping;            /* 1: files are being dropped at once; 2: one of them has come */
    int twice;               /* there is a second command of a double click */
    int64_t cursor_until;    /* when the cursor is to be hidden, in system time */
} Controls;

/* The next command of what has happened: 1, or 0 when there is none left. */
int controls_next(Controls *controls, int64_t now, Command *command);

/* The keys, for the help. Answers how many rows it has. */
int controls_help(OsdRow *rows, int room);

#endif
