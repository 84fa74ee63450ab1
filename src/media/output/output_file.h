/*
 * An output file is written under a temporary name beside the final one, then synced and renamed
 * when complete. Pipes, devices and "-" (standard output) are written directly.
 */
#ifndef LUMEQ_MEDIA_OUTPUT_FILE_H
#define LUMEQ_MEDIA_OUTPUT_FILE_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>

#include <libavformat/avio.h>

#include "media/error.h"

/* A hidden file beside the output. Its name contains the output's, and a lock marks it as in use.
 * {0} is closed. */
typedef struct TempFile {
    const char *name; /* valid until the commit */
    int fd;           /* holds the lock if the file system has locks; not for writing */
    struct TempNote *note;
} TempFile;

typedef struct OutputFile {
    AVIOContext *io;
    const atomic_int *stop; /* if it becomes not 0, waiting for a pipe's reader ends; or NULL */
    char *path;             /* output_file_check() resolves symbolic links */
    char *name;             /* path of the file after a commit, even a failed one; or NULL */
    const char *temp_like;  /* path to derive the temporary name from; NULL: `path` */
    /* Called for OUTPUT_OWN_NAME when the file is complete and synced, before it is renamed; a
     * fault prevents the rename. Or NULL. */
    int (*whole)(void *opaque, const struct stat *file, MediaError *error);
    void *opaque;
    TempFile temp;
    int fifo; /* descriptor of a named pipe; 0: none */
    int overwrite;
    bool keeps_leftovers; /* skip the search for files of killed runs */
    size_t room;          /* maximum bytes of a file name in its folder; 0: written directly */
} OutputFile;

/* The final name of a file. */
typedef enum OutputName {
    OUTPUT_OWN_NAME, /* its path */
    OUTPUT_PARTIAL,  /* the first free one of NAME.partial.EXT, NAME.partial-2.EXT, ... */
    OUTPUT_FREE,     /* the first free one of NAME.EXT, NAME-2.EXT, ... */
    OUTPUT_REPLACE,  /* its path, replacing any file; after a failure nothing has changed */
} OutputName;

/*
 * Initializes a zeroed file and decides how to write `path`, without touching it. Errors:
 * MEDIA_USAGE if it exists and `overwrite` is 0, is a directory, or is `input` (compared by device
 * and inode); MEDIA_OUTPUT if its folder is missing or not writable, or its name is too long.
 */
int output_file_check(OutputFile *file, const char *path, int overwrite, const struct stat *input,
                      MediaError *error);

/* Stores in `place` the folder of an output after resolving symbolic links, or the path of a pipe
 * or device itself. Returns 0, or -1 and sets errno. */
int output_file_place(const char *path, char place[PATH_MAX]);

/* Like output_file_check(), but the name may exist: for OUTPUT_FREE and OUTPUT_REPLACE. */
int output_file_check_free(OutputFile *file, const char *path, MediaError *error);

/* Removes unfinished files that killed runs left for this path, if this user owns them and no
 * process holds their lock. On a file system without locks, removes nothing. */
void output_file_remove_leftovers(const char *path);

/* For a signal handler that ends the program: removes all temporary files. `removed`, if not NULL,
 * receives the quoted output path of each. Async-signal-safe, as `removed` must be. */
void output_file_remove_all(void (*removed)(const char *path));

/* True if the checked path is a terminal. */
bool output_file_is_terminal(const OutputFile *file);

/* Opens the temporary file, or the final one if it is written directly. MEDIA_OUTPUT. */
int output_file_open(OutputFile *file, MediaError *error);

/* Instead of output_file_open(): writes no file, only counts the bytes. MEDIA_OUTPUT. */
int output_file_open_null(OutputFile *file, MediaError *error);

/* Opens a zeroed file that will replace whatever is at `path`, by OUTPUT_REPLACE. MEDIA_OUTPUT. */
int output_file_replace(OutputFile *file, const char *path, MediaError *error);

/* Writes a whole file with output_file_replace(). MEDIA_OUTPUT: nothing has changed. */
int output_file_save(const char *path, const void *bytes, size_t size, MediaError *error);

/* Writes to an open file. MEDIA_OUTPUT, also after an earlier failure. */
int output_file_write(OutputFile *file, const void *bytes, size_t size, MediaError *error);

/* The size of an open file so far, even if the last write was in its header; 0: not open. */
int64_t output_file_bytes(const OutputFile *file);

/* Reports a failed write, with the error that FFmpeg has logged since media_log_clear(). Returns
 * MEDIA_OUTPUT. */
int output_file_fail(const OutputFile *file, int averror, MediaError *error);

/* Returns 1 if the error of a muxer means that the packet is at fault, not the file. */
int output_file_refuses(int averror);

/* Prints text to an open file. After a failed write, output_file_has_failed() returns true and
 * output_file_flush() the error. */
void output_file_print(OutputFile *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool output_file_has_failed(const OutputFile *file);

/* Writes all buffered data, so that every write error is known. MEDIA_OUTPUT. */
int output_file_flush(OutputFile *file, MediaError *error);

/*
 * Closes, syncs and renames the file; replaces an existing file only for OUTPUT_REPLACE, and for
 * OUTPUT_OWN_NAME with `overwrite`. MEDIA_OUTPUT. After a write error, output_file_close() removes
 * the file, except for OUTPUT_PARTIAL. If the file could not be synced or renamed, it is kept, and
 * `error` and `name` contain its path, except for OUTPUT_REPLACE. `error` may already hold an
 * earlier failure.
 */
int output_file_commit(OutputFile *file, OutputName kind, MediaError *error);

/* Closes the file, removes it if it was not committed, and frees everything. Accepts {0} and
 * half-open files. */
void output_file_close(OutputFile *file);

#endif
