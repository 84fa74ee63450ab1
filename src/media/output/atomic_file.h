/*
 * A file that appears only when complete: written under a unique temporary name, then synced and
 * renamed. Several processes on several machines may write it at once: the last one wins. A killed
 * process leaves only a temporary file.
 */
#ifndef LUMEQ_MEDIA_ATOMIC_FILE_H
#define LUMEQ_MEDIA_ATOMIC_FILE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "media/error.h"

/* {0} is a closed one. */
typedef struct AtomicFile {
    int fd;            /* valid if `name` is set */
    char *path, *name; /* the final and the temporary name */
    uint8_t *buffer;
    size_t used;
    int64_t written; /* bytes, including buffered ones */
} AtomicFile;

/* The extension of temporary names. */
#define ATOMIC_FILE_ENDING ".tmp"

/* MEDIA_OUTPUT. */
int atomic_file_open(AtomicFile *file, const char *path, MediaError *error);
int atomic_file_write(AtomicFile *file, const void *bytes, size_t size, MediaError *error);

/* Syncs and renames the file, and closes it in any case. MEDIA_OUTPUT: nothing has changed. */
int atomic_file_commit(AtomicFile *file, MediaError *error);

/* Opens, writes and commits a file. MEDIA_OUTPUT. */
int atomic_file_save(const char *path, const void *bytes, size_t size, MediaError *error);

/* Removes the file if it was not committed. */
void atomic_file_close(AtomicFile *file);

/* Returns 1 if `name` is a temporary name and no other process of this machine has the process
 * number in it. Sets `base` to the final name. A process on another machine may still be writing
 * the file: temp_file_remove_leftover() finds that out by the lock. */
int atomic_file_is_leftover(const char *name, char base[NAME_MAX + 1]);

#endif
