/* A list of files to play. */
#ifndef LUMEQ_PLAYER_FILE_LIST_H
#define LUMEQ_PLAYER_FILE_LIST_H

typedef struct FileListEntry {
    char *path;
    char *name; /* for display: the path, or a URL's file name, because a URL may hold secrets */
    int failed; /* could not be played; skipped from now on */
} FileListEntry;

/* {.at = -1} is an empty list. */
typedef struct FileList {
    FileListEntry *entries;
    int count, room;
    int at;    /* index of the current file; -1: none yet */
    int round; /* nonzero: repeat the whole list */
} FileList;

/* Empties the list but keeps `round`. */
void file_list_clear(FileList *list);

/* Adds a copy of the path at the end or, if `shuffled`, at a random place after the current file.
 * Returns 0, or -1 if out of memory. */
int file_list_add(FileList *list, const char *path, int shuffled);

/* Returns the index of the next playable file after `at` in direction `step` (1 or -1), or -1. With
 * `round`, the search wraps around and may return `at` itself. */
int file_list_find(const FileList *list, int at, int step);

#endif
