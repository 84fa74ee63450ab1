/* The effects of keys and the mouse. `which`, `arg`, x and y are members of the player's command.
 */
#ifndef LUMEQ_PLAYER_ACTIONS_H
#define LUMEQ_PLAYER_ACTIONS_H

#include "player/player_inside.h"

typedef void Action(Player *p);

/* Time. */
Action act_pause;
Action act_seek;    /* by `arg` seconds */
Action act_seek_to; /* where x is on the bar's track; `arg` 1: while it is dragged there */
Action act_edge;    /* `arg` 0: the beginning; 1: the end */
Action act_chapter; /* by `arg` chapters */
Action act_step;    /* a frame on; `arg` 1: back */
Action act_speed;   /* by `arg` steps; 0: usual speed */
Action act_loop;
Action act_repeat; /* from here; to here; off */
Action act_position;

/* Sound and tracks. */
Action act_volume;    /* by `arg` steps */
Action act_volume_to; /* where x is on the bar's line */
Action act_mute;
Action act_next_sound;
Action act_next_subtitles;

/* Settings. A step of 0 restores the default. */
Action act_setting;        /* `which`, a PlayerSetting, by `arg` steps */
Action act_setting_row;    /* chooses the row of the panel `arg` below */
Action act_setting_chosen; /* the one of that row by `arg` steps */
Action act_setting_at;     /* the one at x, y, as a click there says */
Action act_setting_turn;   /* the one at x, y, by `arg` steps */
Action act_meter; /* the part drawn up to x, y; `arg` 1: asks for it; 2: all; 3: the visible part */

/* The look. */
Action act_toggle; /* the member of Look at `which` bytes */
Action act_compare;
Action act_panel; /* the next one */
Action act_panel_place;
Action act_help;
Action act_source;   /* `arg` 1: in place of the picture; 0: no longer */
Action act_split;    /* the line to x, y */
Action act_split_by; /* by `arg` steps */
Action act_zoom;     /* by `arg` steps at x, y; 0: the whole picture */
Action act_zoom_by;  /* by `arg` steps in the middle */
Action act_pan;      /* by x, y */
Action act_pan_by;   /* by `arg` steps; `which` 0: to the right; 1: downwards */
Action act_mark;     /* a part up to x, y is being drawn */
Action act_point;    /* the mouse is at x, y */
Action act_fullscreen;

/* Files. */
Action act_screenshot;
Action act_record;
Action act_write;         /* the film, as it looks, to a file */
Action act_print_command; /* the command that does */
Action act_open;          /* the command's path; `arg` 1: as well as those dropped with it */
Action act_file;          /* the next file of the list; `arg` -1: the one before */
Action act_dialog;
Action act_escape;
Action act_quit; /* `arg` 1: something other than the user closes the window */

/* Shared with the loop. */
void player_go(Player *p, FeedStart start);
void player_pause(Player *p, int paused);
void player_step_back(Player *p);
void player_say_frame(Player *p);
void player_say_pointed(Player *p);

#endif
