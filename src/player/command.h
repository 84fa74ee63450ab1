/* Keyboard and mouse state, and the command that an event produces. */
#ifndef LUMEQ_PLAYER_COMMAND_H
#define LUMEQ_PLAYER_COMMAND_H

#include <limits.h>
#include <stdint.h>

typedef struct Player Player;

/* The player executes a command by calling `act`, a function of actions.h. */
typedef struct Command {
    void (*act)(Player *player); /* NULL: only redraw the window */
    int which, arg;              /* see actions.h */
    int repeated;                /* nonzero: from a key that is held down */
    int x, y;                    /* in window units */
    int from_x, from_y;          /* where the drag to x, y began */
    char path[PATH_MAX];         /* a dropped file */
} Command;

/* The item under the mouse. */
typedef enum ControlsTarget {
    CONTROLS_PICTURE = 0,
    CONTROLS_SPLIT,  /* the split line */
    CONTROLS_BUTTON, /* the pause button */
    CONTROLS_SETTINGS_BUTTON,
    CONTROLS_FULLSCREEN_BUTTON,
    CONTROLS_TRACK,  /* the seek bar */
    CONTROLS_VOLUME, /* the volume bar */
    CONTROLS_PART,   /* the metering rectangle, while the mouse draws it */
    CONTROLS_SETTINGS,
    CONTROLS_BAR, /* the rest of the bar at the bottom */
} ControlsTarget;

/* Starts as {0}. */
typedef struct Controls {
    /* Set by the caller: finds the item at x, y (window units). NULL: everything is the picture. */
    ControlsTarget (*target)(const void *opaque, int x, int y);
    const void *opaque;
    ControlsTarget at, held; /* item under the mouse: now, and at the last left press */
    int dragging;            /* left button is down */
    int settings;         /* set by the caller: the settings panel is open and takes keys first */
    int x, y;             /* mouse position */
    int metering;         /* the next drag draws the metering rectangle */
    int from_x, from_y;   /* start of that drag */
    int repeated;         /* the current key event is a repeat */
    int closed;           /* the user closed the window */
    int dropping;         /* 1: a drop of files has begun; 2: its first file has arrived */
    int twice;            /* the second command of a double click is pending */
    int64_t cursor_until; /* when the cursor hides (clock_now() time) */
} Controls;

#endif
