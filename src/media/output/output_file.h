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
    const atomic_int *stop; /* *stop not 0: no longer wait for a pipe's reader; or NULL */
    char *path;             /* the final path; output_file_check() resolves its symbolic links */
    char *name;             /* path of the file after a commit, even a failed one; or NULL */
    const char *temp_like;  /* path to derive the temporary name from; NULL: `path` */
    /* If not NULL, called for OUTPUT_OWN_NAME when the file is complete and synced. If the call
     * fails, the file is not renamed. */
    int (*whole)(void *opaque, const struct stat *file, MediaError *error);
    void *opaque;
    TempFile temp;
    int fifo; /* descriptor of a named pipe; 0: none */
    int overwrite;
    bool keeps_leftovers; /* skip the search for files of killed runs */
    size_t room;          /* maximum bytes of a name in the folder; 0: written directly */
} OutputFile;

/* The final name of a file. */
typedef enum OutputName {
    OUTPUT_OWN_NAME, /* its path */
    OUTPUT_PARTIAL,  /* the first free one of NAME.partial.EXT, NAME.partial-2.EXT, ... */
    OUTPUT_FREE,     /* the first free one of NAME.EXT, NAME-2.EXT, ... */
    OUTPUT_REPLACE,  /* its path, replacing any file; after a failure nothing has changed */
} OutputName;

/*
 * Initializes a zeroed file and decides how to write `path`, without touching it. MEDIA_USAGE: the
 * path exists and `overwrite` is 0, or it is a directory, or it is `input` (compared by device and
 * inode). MEDIA_OUTPUT: the folder is missing or not writable, or the name is too long.
 */
int output_file_check(OutputFile *file, const char *path, int overwrite, const struct stat *input,
                      MediaError *error);

/* Stores in `place` the folder of an output after resolving symbolic links, or the path of a pipe
 * or device itself. Returns 0, or -1 and sets errno. */
int output_file_place(const char *path, char place[PATH_MAX]);

/* Like output_file_check(), but `path` may exist. For OUTPUT_FREE and OUTPUT_REPLACE. */
int output_file_check_free(OutputFile *file, const char *path, MediaError *error);

/* Removes unfinished files that killed runs left for this path, if this user owns them and no
 * process holds their lock. On a file system without locks, removes nothing. */
void output_file_remove_leftovers(const char *path);

/* For a signal handler that ends the program: removes all temporary files. `removed`, if not NULL,
 * receives the quoted output path of each removed file. Async-signal-safe if `removed` is. */
void output_file_remove_all(void (*removed)(const char *path));

bool output_file_is_terminal(const OutputFile *file);

/* Opens the temporary file, or the final one if it is written directly. MEDIA_OUTPUT. */
int output_file_open(OutputFile *file, MediaError *error);

/* Instead of output_file_open(): writes no file, only counts the bytes. MEDIA_OUTPUT. */
int output_file_open_null(OutputFile *file, MediaError *error);

/* Opens a zeroed file for a commit with OUTPUT_REPLACE. MEDIA_OUTPUT. */
int output_file_replace(OutputFile *file, const char *path, MediaError *error);

/* Writes a whole file with output_file_replace(). MEDIA_OUTPUT: nothing has changed. */
int output_file_save(const char *path, const void *bytes, size_t size, MediaError *error);

/* Writes to an open file. MEDIA_OUTPUT, also after an earlier failure. */
int output_file_write(OutputFile *file, const void *bytes, size_t size, MediaError *error);

/* The size of an open file so far; 0: not open. */
int64_t output_file_bytes(const OutputFile *file);

/* Reports a failed write, with the error that FFmpeg has logged since media_log_clear(). Returns
 * MEDIA_OUTPUT. */
int output_file_fail(const OutputFile *file, int averror, MediaError *error);

/* Returns 1 if a muxer's error is about the packet, not about the file. */
int output_file_refuses(int averror);

/* Prints text to an open file. After a failed write, output_file_has_failed() returns true, and
 * output_file_flush() returns the error. */
void output_file_print(OutputFile *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool output_file_has_failed(const OutputFile *file);

/* Writes all buffered data, so that every write error is known. MEDIA_OUTPUT. */
int output_file_flush(OutputFile *file, MediaError *error);

/*
 * Closes, syncs and renames the file. Replaces an existing file only for OUTPUT_REPLACE, and for
 * OUTPUT_OWN_NAME with `overwrite`. MEDIA_OUTPUT; `error` may already hold an earlier failure.
 * After a write error, only OUTPUT_PARTIAL keeps the file. If syncing or renaming failed, all kinds
 * except OUTPUT_REPLACE keep the file. `name` and `error` contain the path of a file that was kept.
 */
int output_file_commit(OutputFile *file, OutputName kind, MediaError *error);

/* Closes the file, removes it unless output_file_commit() kept it, and frees everything. Accepts
 * {0} and files that failed to open. */
void output_file_close(OutputFile *file);

#endif
