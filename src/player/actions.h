/* The actions of keys and the mouse. They read `which`, `arg`, x and y from Player.command. */
#ifndef LUMEQ_PLAYER_ACTIONS_H
#define LUMEQ_PLAYER_ACTIONS_H

#include "player/player_inside.h"

typedef void Action(Player *p);

/* Time. */
Action act_pause;
Action act_seek;    /* by `arg` seconds */
Action act_seek_to; /* to x on the seek bar */
Action act_edge;    /* `arg` 0: the beginning; 1: the end */
Action act_chapter; /* by `arg` chapters */
Action act_step;    /* one frame forward; `arg` 1: back */
Action act_speed;   /* by `arg` steps; 0: normal speed */
Action act_loop;
Action act_repeat;   /* 1st call: marks a section's start; 2nd: its end; 3rd: stops repeating */
Action act_position; /* shows the bar for a second */

/* Sound and tracks. */
Action act_volume;    /* by `arg` steps */
Action act_volume_to; /* to x on the volume bar */
Action act_mute;
Action act_next_sound;
Action act_next_subtitles;
Action act_last_subtitles; /* shows the file that was added last */
Action act_subtitle_delay; /* by `arg` steps */
Action act_sound_delay;    /* by `arg` steps */

/* Settings. 0 steps restore the default. */
Action act_setting;        /* changes `which`, a PlayerSetting, by `arg` steps */
Action act_setting_chosen; /* changes the selected setting by `arg` steps */
Action act_setting_at;     /* handles a click on the panel at x, y */
Action act_setting_scroll; /* changes the setting at x, y by `arg` steps */
Action act_meter; /* `arg` 0: meters the rectangle that the user has drawn up to x, y; 1: asks the
                     user to draw one; 2: meters the whole picture; 3: the visible part */

/* The window's look. */
typedef enum LookChange {
    LOOK_SUBTITLES, /* switched on or off, as are the next five */
    LOOK_SETTINGS,
    LOOK_MIRROR,
    LOOK_LOG_SCALE,
    LOOK_STATISTICS,
    LOOK_HELP,
    LOOK_COMPARE,     /* split, side by side, off */
    LOOK_PANEL,       /* next panel or scope */
    LOOK_PANEL_PLACE, /* over or beside the picture */
    LOOK_SOURCE,      /* shows the unprocessed picture while `arg` is 1 */
    LOOK_SPLIT,       /* moves the split line to x */
    LOOK_SPLIT_BY,    /* moves the split line by `arg` steps */
    LOOK_MARK,        /* outlines the rectangle being drawn */
    LOOK_SETTING_ROW, /* moves the settings panel's selection by `arg` rows */
} LookChange;
Action act_look;    /* `which`, a LookChange */
Action act_zoom;    /* by `arg` steps around x, y; 0: the whole picture */
Action act_zoom_by; /* by `arg` steps around the centre */
Action act_pan;     /* by x, y */
Action act_pan_by;  /* by `arg` steps; `which` 0: right; 1: down */
Action act_point;   /* the mouse moved to x, y */
Action act_fullscreen;

/* Files. */
Action act_screenshot;
Action act_record;
Action act_write;         /* exports the video with the current settings */
Action act_print_command; /* prints a command for the same export */
Action act_open;          /* opens a dropped file; `arg` 1: a further file of the same drop */
Action act_file;          /* next file in the list; `arg` -1: previous */
Action act_dialog;        /* shows the desktop's file dialog */
Action act_escape;        /* leaves fullscreen, else quits */
Action act_quit;          /* `arg` 1: the user did not ask; perhaps the display is lost */

/* Shared with player.c. */
void player_seek(Player *p, InputStart start);
void player_pause(Player *p, int paused);
void player_step_back(Player *p);
void player_say_frame(Player *p);

#endif
