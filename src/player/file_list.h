/* The files that are played one after the other. */
#ifndef LUMEQ_PLAYER_FILE_LIST_H
#define LUMEQ_PLAYER_FILE_LIST_H

typedef struct FileListEntry {
    char *path;
    int failed; /* it could not be played: it is passed over */
} FileListEntry;

/* {0} is empty. */
typedef struct FileList {
    FileListEntry *entries;
    int count, room;
    int at;    /* the one that is played; -1: none is yet */
    int round; /* not 0: after the last one comes the first */
} FileList;

/* Nothing but `round` stays. */
void file_list_clear(FileList *list);

/* A copy of the path is put at the end or, `shuffled`, anywhere behind the one that is played. 0,
 * or -1 without memory. */
int file_list_add(FileList *list, const char *path, int shuffled);

/* The nearest one that has not failed, from `at` on by a `step` of 1 or -1; -1: there is none. */
int file_list_find(const FileList *list, int at, int step);

#endif
