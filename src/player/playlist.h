/* The playlist: the first source, and the files that follow it or are dropped on the window. */
#ifndef LUMEQ_PLAYER_PLAYLIST_H
#define LUMEQ_PLAYER_PLAYLIST_H

#include "player/player_inside.h"

/* Opens the first source and waits until it can play. On failure the caller keeps the source. */
int playlist_open(Player *p, Source *source, const char *path, MediaError *error);

void playlist_set_title(Player *p);

/* Tells the host at which position the user leaves the current file. */
void playlist_note_position(const Player *p);

/* Returns the index of the file after the current one, or -1. */
int playlist_following(const Player *p);

/* Begins to open file `at` of the list. Files that cannot be opened are reported and skipped in
 * direction `step`. The current file plays until the new file can start or, with `waits`, until the
 * current file ends. */
void playlist_start(Player *p, int at, int step, int waits);

/* Like playlist_start(), for a file that the user chose. If the file was already opened as the
 * next one, starts it at once. */
void playlist_change(Player *p, int at, int step);

/* Starts to show the playback's selected subtitles. */
void player_show_subtitles(Player *p);

/* Opens a dropped file, or loads it as subtitles of the current file. The files of a drop replace
 * the list. `adds`: the file is not the first of its drop. */
void playlist_drop(Player *p, const char *path, int adds);

/* Call once in each turn while p->next has a file. Continues to open that file, then starts it. */
void playlist_poll(Player *p);

/* True if --ss, --to or --frames selects a part of the input. */
bool playlist_is_part(const Player *p);

/* Shows why a file failed. If the list has several files, also prints the reason. */
void playlist_say_failed(Player *p, const char *why);

#endif
