/*
 * A file that is being written: under a temporary name beside the final one until it is whole,
 * then synced and renamed. A final name that is a pipe or a device, and "-" (standard output), is
 * written directly.
 */
#ifndef LUMEQ_MEDIA_OUTPUT_FILE_H
#define LUMEQ_MEDIA_OUTPUT_FILE_H

#include <stdatomic.h>
#include <sys/stat.h>

#include <libavformat/avio.h>

#include "media/error.h"
#include "media/output/temp_file.h"

typedef struct OutputFile {
    AVIOContext *io;
    const atomic_int
        *stop;  /* not 0: writing into a pipe that nobody empties is given up; or NULL */
    char *path; /* symbolic links resolved */
    char *name; /* once committed, also where that failed: where what was written is; else NULL */
    const char *temp_like; /* the path that the temporary name is made of; NULL: its own */
    /* Called before the file gets its own name, when it is whole and synced; a fault prevents the
     * rename. Or NULL. */
    int (*whole)(void *opaque, const struct stat *file, MediaError *error);
    void *opaque;
    TempFile temp;
    int fifo; /* a pipe with a name, open; 0: it is none */
    int overwrite;
    size_t room; /* of names in its folder; 0: written directly */
} OutputFile;

/* What a file is to be called at the end. */
typedef enum OutputName {
    OUTPUT_OWN_NAME, /* its path */
    OUTPUT_PARTIAL,  /* NAME.partial.EXT, NAME.partial-2.EXT, ...: the first that is free */
    OUTPUT_FREE,     /* the first free of NAME.EXT, NAME-2.EXT, ... */
} OutputName;

/*
 * Of a zeroed file: decides what `path` is, without touching it. Errors: MEDIA_USAGE when it exists
 * and `overwrite` is 0, is a directory, or is `input` (compared by device and inode); MEDIA_OUTPUT
 * when its folder is not there or not writable, or its name is too long for it.
 */
int output_file_check(OutputFile *file, const char *path, int overwrite, const struct stat *input,
                      MediaError *error);

/* As output_file_check(), for OUTPUT_FREE: there may be one of that name, whatever it is. */
int output_file_check_free(OutputFile *file, const char *path, MediaError *error);

/* Not 0: what was checked is a terminal. */
int output_file_is_terminal(const OutputFile *file);

/* Opens the temporary file, or the final one when that is written directly. MEDIA_OUTPUT. */
int output_file_open(OutputFile *file, MediaError *error);

/* Of an open one: text. What cannot be written is known by output_file_has_failed(), not 0 then, as
 * soon as it was tried, and by output_file_flush(). */
void output_file_print(OutputFile *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int output_file_has_failed(const OutputFile *file);

/* After the last byte: what could not be written is known. MEDIA_OUTPUT. */
int output_file_flush(OutputFile *file, MediaError *error);

/*
 * Closes, syncs and gives the file its name; without `overwrite` nothing is replaced by it, and by
 * the other kinds never. MEDIA_OUTPUT. Where something could not be written, the file is left for
 * output_file_close() to remove; a part stays, though, as does all that was written and then could
 * not be synced or renamed: `error` says where, and `name` is that. `error` may hold, of a part,
 * what has failed before.
 */
int output_file_commit(OutputFile *file, OutputName kind, MediaError *error);

/* Closes and removes what is not committed. Frees all. Accepts {0} and half-open files. */
void output_file_close(OutputFile *file);

#endif
