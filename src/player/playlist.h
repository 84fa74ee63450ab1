/* The playlist: the first source, and the files that follow it or are dropped on the window. */
#ifndef LUMEQ_PLAYER_PLAYLIST_H
#define LUMEQ_PLAYER_PLAYLIST_H

#include "player/player_inside.h"

/* Opens the source and waits until it can play. On failure the caller keeps the source. */
int playlist_open(Player *p, Source *source, const char *path, MediaError *error);

/* Updates the window's title. */
void playlist_set_title(Player *p);

/* Reports to the host the position at which the file is left. */
void playlist_note_position(const Player *p);

/* Returns the index of the file after the current one, or -1. */
int playlist_following(const Player *p);

/* Begins to open file `at` of the list. Files that cannot be opened are reported and skipped in
 * direction `step`. The current file plays until the new one can start or, with `waits`, until its
 * end. */
void playlist_start(Player *p, int at, int step, int waits);

/* Like playlist_start() for a file that the user chose. If the file is already open because it
 * comes next, it starts at once. */
void playlist_change(Player *p, int at, int step);

/* Starts to show the playback's selected subtitles. */
void player_show_subtitles(Player *p);

/* Opens a dropped file, or loads it as subtitles of the current file. `adds`: adds it to the
 * files dropped before it in the same drop. The files of a drop replace the list. */
void playlist_drop(Player *p, const char *path, int adds);

/* Call once a turn while p->next has a file. Continues to open and then starts that file. */
void playlist_poll(Player *p);

/* True if --ss, --to or --frames selects a part of the input. */
bool playlist_is_part(const Player *p);

/* Shows why a file failed. If the list has several files, also prints the reason. */
void playlist_say_failed(Player *p, const char *why);

#endif
