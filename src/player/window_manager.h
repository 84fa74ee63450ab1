/* Whether somebody on X11 takes care of windows: places them, and makes them cover the screen. */
#ifndef LUMEQ_PLAYER_WINDOW_MANAGER_H
#define LUMEQ_PLAYER_WINDOW_MANAGER_H

/* 0: nobody does on the display of the environment, or what runs there does not say so (EWMH). */
int window_manager_is_there(void);

#endif
