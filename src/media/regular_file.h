/* Opens only regular files, so that a FIFO or device cannot block the program. */
#ifndef LUMEQ_MEDIA_REGULAR_FILE_H
#define LUMEQ_MEDIA_REGULAR_FILE_H

#include <fcntl.h>
#include <stdio.h>

/* Open a file for reading. `flags`: O_NOFOLLOW to refuse a symbolic link, or 0. On failure, return
 * -1 or NULL and set errno: EISDIR for a folder, 0 for another file that is not regular. */
int regular_file_open(const char *path, int flags);
FILE *regular_file_stream(const char *path, int flags);

/* The reason for a failure in words. Reads errno, so call it right after the failure. */
const char *regular_file_why(void);

#endif
