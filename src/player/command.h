/* The state of keys and mouse, and the command that an event gives. */
#ifndef LUMEQ_PLAYER_COMMAND_H
#define LUMEQ_PLAYER_COMMAND_H

#include <limits.h>
#include <stdint.h>

typedef struct Player Player;

/* The player carries it out by calling `act`, one of actions.h, with the command in Player. */
typedef struct Command {
    void (*act)(Player *player); /* NULL: the window is only drawn again */
    int which, arg;              /* described in actions.h */
    int repeated;                /* the key is held down */
    int x, y;                    /* units of the window */
    int from_x, from_y;          /* where the drag that ends at x, y began */
    int64_t at;                  /* when SDL received the event, in system time */
    char path[PATH_MAX];         /* of a file that was dropped */
} Command;

/* The thing under the mouse. */
typedef enum ControlsTarget {
    CONTROLS_PICTURE = 0,
    CONTROLS_SPLIT, /* the line */
    CONTROLS_BUTTON,
    CONTROLS_TRACK,
    CONTROLS_VOLUME, /* of the bar */
    CONTROLS_PART,   /* a rectangle for metering */
    CONTROLS_SETTINGS,
    CONTROLS_BAR, /* the rest of it */
} ControlsTarget;

/* {0} to begin with. */
typedef struct Controls {
    /* The caller's: the thing at x, y, in units of the window; NULL: the picture everywhere. */
    ControlsTarget (*target)(const void *opaque, int x, int y);
    const void *opaque;
    ControlsTarget at, held; /* under the mouse; under it when the left button went down */
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

#endif
