/* A temporary file without a name, which disappears when it is closed. */
#ifndef LUMEQ_MEDIA_UNNAMED_FILE_H
#define LUMEQ_MEDIA_UNNAMED_FILE_H

#include <stddef.h>
#include <stdint.h>

typedef struct UnnamedFile {
    int fd;       /* -1: not open */
    char *folder; /* its folder, also if opening failed; NULL: out of memory */
} UnnamedFile;

/* Opens a file in the folder of `beside` if that is not NULL and writable, else in the system's
 * temporary folder. Returns 0, or -1 with errno set. Call unnamed_file_close() in both cases. */
int unnamed_file_open(UnnamedFile *file, const char *beside);

/* Write or read all bytes at a position. Return 0 or an errno; reading returns -1 if the file is
 * too short. */
int unnamed_file_write(const UnnamedFile *file, const void *data, size_t size, int64_t position);
int unnamed_file_read(const UnnamedFile *file, void *data, size_t size, int64_t position);

void unnamed_file_close(UnnamedFile *file);

#endif
