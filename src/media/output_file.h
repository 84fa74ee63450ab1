/*
 * The file that is being written: under a temporary name beside the final one until it is whole,
 * then synced and renamed. A final name that is a pipe or a device, and "-" (standard output), is
 * written directly.
 */
#ifndef LUMEQ_MEDIA_OUTPUT_FILE_H
#define LUMEQ_MEDIA_OUTPUT_FILE_H

#include <stdatomic.h>
#include <sys/stat.h>

#include <libavformat/avio.h>

#include "media/error.h"

typedef struct OutputFile {
    AVIOContext *io;
    const atomic_int
        *stop;  /* not 0: writing into a pipe that nobody empties is given up; or NULL */
    char *path; /* symbolic links resolved */
    char *temp; /* NULL: written directly */
    mode_t mode;
} OutputFile;

/*
 * Of a zeroed file: decides what `path` is, without touching it. Errors: MEDIA_USAGE when it exists
 * and `overwrite` is 0, is a directory, or is `input` (compared by device and inode); MEDIA_OUTPUT
 * when its folder is not there or not writable.
 */
int output_file_check(OutputFile *file, const char *path, int overwrite, const struct stat *input,
                      MediaError *error);

/* Opens the temporary file, or the final one when that is written directly. MEDIA_OUTPUT. */
int output_file_open(OutputFile *file, MediaError *error);

/* After the last byte: closes the file, so that what could not be written is known. MEDIA_OUTPUT.
 */
int output_file_flush(OutputFile *file, MediaError *error);

/* Closes, syncs and gives the file its final name; `partial`: NAME.partial.EXT instead.
 * MEDIA_OUTPUT, and the temporary file is gone. */
int output_file_commit(OutputFile *file, int partial, MediaError *error);

/* Closes and removes what is not committed. Frees all. Accepts {0} and half-open files. */
void output_file_close(OutputFile *file);

/* The name output_file_commit() gives a part, to be freed with av_free(); NULL: out of memory, or
 * the file is written directly. Once it is open. */
char *output_file_partial_name(const OutputFile *file);

/* For a signal handler that ends the program: removes the temporary files. Async-signal-safe. */
void output_file_remove_temp(void);

#endif
