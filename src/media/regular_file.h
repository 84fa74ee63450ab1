/* Opens only regular files, so that a FIFO or device cannot block the program. */
#ifndef LUMEQ_MEDIA_REGULAR_FILE_H
#define LUMEQ_MEDIA_REGULAR_FILE_H

#include <fcntl.h>
#include <stdio.h>

/* Opens for reading. `flags`: O_NOFOLLOW to refuse a symbolic link, or 0. Returns -1 or NULL on
 * failure; errno is then 0 if it is not a regular file. */
int regular_file_open(const char *path, int flags);
FILE *regular_file_stream(const char *path, int flags);

/* The reason for a message; call right after a failure. */
const char *regular_file_why(void);

#endif
