/* A file for what is too large to be kept in memory: without a name, and gone when it is closed. */
#ifndef LUMEQ_MEDIA_UNNAMED_FILE_H
#define LUMEQ_MEDIA_UNNAMED_FILE_H

#include <stddef.h>
#include <stdint.h>

typedef struct UnnamedFile {
    int fd;       /* -1: there is none */
    char *folder; /* that it lies in, or should have; NULL: out of memory */
} UnnamedFile;

/* In the folder of `beside`, unless that is NULL or not to be written to, else in the one for
 * temporary files. 0, or -1 with errno set. Ends with unnamed_file_close(), in both cases. */
int unnamed_file_open(UnnamedFile *file, const char *beside);

/* All of it, at a position: 0, or an errno; of reading, -1 where the file is too short. */
int unnamed_file_write(const UnnamedFile *file, const void *data, size_t size, int64_t position);
int unnamed_file_read(const UnnamedFile *file, void *data, size_t size, int64_t position);

void unnamed_file_close(UnnamedFile *file);

#endif
