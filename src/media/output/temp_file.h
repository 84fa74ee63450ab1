/*
 * A hidden temporary file beside the output. Its name contains the output's, and a lock marks it as
 * in use: the next run for the same path removes what a killed run left behind.
 */
#ifndef LUMEQ_MEDIA_TEMP_FILE_H
#define LUMEQ_MEDIA_TEMP_FILE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "media/error.h"

/* Shortest limit for names in a folder (file_name_room()) that suffices. */
#define TEMP_FILE_ROOM 48

/* {0} is a closed one. */
typedef struct TempFile {
    const char *name; /* valid until temp_file_keep() or temp_file_remove() */
    int fd;           /* locked if the file system supports it; not for writing */
    struct TempNote *note;
} TempFile;

/* Removes unfinished files that killed runs left for this path: owned by this user and not locked
 * by any process. Keeps them on a file system without locks. */
void temp_file_remove_leftovers(const char *path, size_t room);

/*
 * Creates an empty file for this path. It will replace the regular file `replaces`, if that exists;
 * until then it is no more accessible to group and others than the old one. NULL: it replaces
 * nothing. `room` is at least TEMP_FILE_ROOM. -1: see errno.
 */
int temp_file_create(TempFile *temp, const char *path, const char *replaces, size_t room);

/* Returns 1 if its name still refers to it. */
int temp_file_has_name(const TempFile *temp);

/* Its current name, even if its folder was renamed; free with av_free(). NULL: it was deleted, or
 * out of memory. */
char *temp_file_where(const TempFile *temp);

/* Closes and keeps the file: renamed, or with `own` under its temporary name; then it becomes
 * read-only, so that it does not count as a leftover. */
void temp_file_keep(TempFile *temp, int own);

/* Closes and removes it, unless its name now belongs to another file. Does nothing to {0}. */
void temp_file_remove(TempFile *temp);

/* Call before renaming: copies the permissions of the replaced file without set-uid, set-gid and
 * the sticky bit. If owner or group differ, the umask applies too. */
void temp_file_take_mode(int fd, const char *replaces);

/* fsync() that notes activity for each chunk that has reached the disk. */
int temp_file_sync(int fd);

/* Syncs the folder of this path, so that a renamed file survives a power loss; best effort. */
void temp_file_sync_folder(const char *path);

/* For a signal handler that ends the program: removes all temporary files. `removed`, if not NULL,
 * receives the quoted output path of each. Async-signal-safe, as `removed` must be. */
void temp_file_remove_all(void (*removed)(const char *path));

/* ---- file name ---- */

/* The folder of a path, or "."; free with av_free(). NULL: out of memory. */
char *file_name_folder(const char *path);

/* The file name without the folder. */
const char *file_name_base(const char *path);

/* The longest file name in this folder, in bytes, also limited by PATH_MAX. */
size_t file_name_room(const char *folder);

/* The length of the longest prefix of a name that has at most `most` bytes and ends with a whole
 * UTF-8 character. */
size_t file_name_cut(const char *name, size_t most);

/* Inserts `word` between NAME and .EXT; shortens NAME if the file name would exceed `room` bytes.
 * Free with av_free(). NULL: out of memory. */
char *file_name_with(const char *path, const char *word, size_t room);

#endif
