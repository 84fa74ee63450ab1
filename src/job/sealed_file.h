/*
 * A file of a job: bytes, and at its end a text of keys and values that describes them and has a
 * checksum of its own. It is there whole or not at all.
 */
#ifndef LUMEQ_JOB_SEALED_FILE_H
#define LUMEQ_JOB_SEALED_FILE_H

#include "job/key_text.h"
#include "media/error.h"
#include "media/output/atomic_file.h"

/* The position of the caller's first byte. */
#define SEALED_FILE_HEAD 8

/* Creates it. MEDIA_OUTPUT. */
int sealed_file_create(AtomicFile *file, const char *path, MediaError *error);

/* Adds the text, gives the file its name, and frees the text in any case. MEDIA_OUTPUT. */
int sealed_file_commit(AtomicFile *file, KeyText *text, MediaError *error);

/* {0}: none. */
typedef struct SealedFile {
    int fd;
    char *path;
    char *text;   /* for key_text_next() */
    int64_t size; /* where the text begins */
} SealedFile;

/* `path` is taken over. -ENOENT: it does not exist; MEDIA_INPUT: it is damaged or not a sealed
 * file. Close it in any case. */
int sealed_file_open(SealedFile *file, char *path, MediaError *error);

/* MEDIA_INPUT: the file has fewer bytes, or cannot be read. */
int sealed_file_read(const SealedFile *file, void *to, size_t size, int64_t position,
                     MediaError *error);

/* Notes that the file is not whole, and why. MEDIA_INPUT. */
int sealed_file_fail(const SealedFile *file, const char *why, MediaError *error);

/* Closes the descriptor alone; the rest stays until sealed_file_close(). */
void sealed_file_release(SealedFile *file);

/* Accepts {0}. */
void sealed_file_close(SealedFile *file);

#endif
