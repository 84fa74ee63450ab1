/*
 * The hidden file that is written in place of another one beside it, until it is whole. Its name
 * says for which, and a lock says that it is being written: what a killed run has left behind is
 * removed by the next one for the same path.
 */
#ifndef LUMEQ_MEDIA_TEMP_FILE_H
#define LUMEQ_MEDIA_TEMP_FILE_H

#include <stddef.h>

/* The least room for its name, see file_name_room(). */
#define TEMP_FILE_ROOM 48

/* {0}: none. */
typedef struct TempFile {
    const char *name; /* valid until it is kept or removed */
    int fd;           /* of the file, locked where the file system can; not for writing */
    struct TempNote *note;
} TempFile;

/* Removes the leftovers, and creates a new one. `replaces`: see temp_file_open(). `room` is at
 * least TEMP_FILE_ROOM. -1: see errno. */
int temp_file_create(TempFile *temp, const char *path, const char *replaces, size_t room);

/* Not 0: its name is still its own. */
int temp_file_has_name(const TempFile *temp);

/* The name that it has now, also where its folder was renamed; to be freed with av_free(). NULL:
 * it was deleted, or out of memory. */
char *temp_file_where(const TempFile *temp);

/* It stays for good: under another name, or under its own where `own` is not 0; it is made
 * read-only then, by which it is no leftover. Closes it. */
void temp_file_keep(TempFile *temp, int own);

/* Closes and removes it, unless another file has its name by now. Nothing happens to {0}. */
void temp_file_remove(TempFile *temp);

/*
 * Creates an empty file that will replace the regular file `replaces`, if that exists: meanwhile
 * its group and others may do no more with it than with the old one. NULL: it replaces nothing. -1:
 * see errno.
 */
int temp_file_open(const char *name, const char *replaces);

/* Before it is renamed: gives it the permissions of the file that it replaces, without set-uid,
 * set-gid and the sticky bit. If owner or group differ, the umask applies as well. */
void temp_file_take_mode(int fd, const char *replaces);

/* Locks a new file, if its file system can. Returns 0 if another run has removed it as a leftover.
 */
int temp_file_lock(int fd, const char *name);

/* Removes an unfinished file of a killed run: this user owns it, and no process has locked it. On a
 * file system without locks it stays. */
void temp_file_remove_leftover(const char *name);

/* fsync(), with a note of activity for each piece that has reached the disk. */
int temp_file_sync(int fd);

/* Has the folder of this path know of a file's new name after a loss of power, as far as its file
 * system can. */
void temp_file_sync_folder(const char *path);

/* For a signal handler that ends the program: removes all there are. `removed`, if not NULL, gets
 * the path, quoted, that each was written for. Async-signal-safe, as `removed` has to be. */
void temp_file_remove_all(void (*removed)(const char *path));

#endif
