/* The playlist: the first source, and the files that follow it or are dropped on the window. */
#ifndef LUMEQ_PLAYER_PLAYLIST_H
#define LUMEQ_PLAYER_PLAYLIST_H

#include "player/player_inside.h"

/* From any thread: ends the wait of a turn. `player` is a Player. */
void player_wake(void *player);

/* Opens the source and shows it; what cannot be played is not opened. */
int playlist_open(Player *p, Source *source, const char *path, MediaError *error);

/* The window's title, which tells the position of each second. */
void playlist_set_title(Player *p);

/* Tells the host where the file is left. */
void playlist_leave(const Player *p);

/* The index of the file after the one that is shown, or -1. */
int playlist_following(const Player *p);

/* Begins to open a file of the list, and skips those that cannot be played, in the direction of
 * `step`, with a message. The file on the screen goes on; `waits`: until its end. */
void playlist_start(Player *p, int at, int step, int waits);

/* The user's: one that waits already takes its turn at once. */
void playlist_change(Player *p, int at, int step);

/* Files that are dropped together (`adds`) are one list, which replaces the one before. */
void playlist_drop(Player *p, const char *path, int adds);

/* Once a turn, while a next file waits: shows it once its first frame is there. */
void playlist_follow(Player *p);

/* Some of the options select a part of the input. */
int playlist_is_part(const Player *p);

/* Says the error on the screen, and to the host if a list goes on. */
void playlist_say_failed(Player *p, const char *why);

#endif
