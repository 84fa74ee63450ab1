/*
 * A file that is there whole or not at all: written under a name of its own, which no other process
 * has, then synced and renamed. Several may write one at a time, on several machines: the last one
 * stays. What a killed process leaves behind hinders nobody.
 */
#ifndef LUMEQ_MEDIA_ATOMIC_FILE_H
#define LUMEQ_MEDIA_ATOMIC_FILE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "media/error.h"

/* {0}: none. */
typedef struct AtomicFile {
    int fd;            /* where there is a name */
    char *path, *name; /* at the end, and until then */
    uint8_t *buffer;
    size_t used;
    int64_t written; /* bytes, those in the buffer too */
} AtomicFile;

/* What the names of those that are being written end in. */
#define ATOMIC_FILE_ENDING ".tmp"

/* MEDIA_OUTPUT. */
int atomic_file_open(AtomicFile *file, const char *path, MediaError *error);
int atomic_file_write(AtomicFile *file, const void *bytes, size_t size, MediaError *error);

/* Syncs it and gives it its name. MEDIA_OUTPUT: nothing has changed. It is closed in any case. */
int atomic_file_commit(AtomicFile *file, MediaError *error);

/* All of these in one call. MEDIA_OUTPUT. */
int atomic_file_save(const char *path, const void *bytes, size_t size, MediaError *error);

/* Removes what was not committed. */
void atomic_file_close(AtomicFile *file);

/* Returns 1 if this is the temporary name of `base` and no process here has its number. A process
 * on another machine may still be writing it: temp_file_remove_leftover() sees that by the lock. */
int atomic_file_is_leftover(const char *name, char base[NAME_MAX + 1]);

#endif
