/* Opens regular files only, so that nobody waits for a FIFO or a device. */
#ifndef LUMEQ_MEDIA_REGULAR_FILE_H
#define LUMEQ_MEDIA_REGULAR_FILE_H

#include <fcntl.h>
#include <stdio.h>

/* For reading. `flags`: O_NOFOLLOW to refuse a symbolic link, or 0. On failure, -1 or NULL:
 * regular_file_why() gives the reason, and errno is 0 if it is not a regular file. */
int regular_file_open(const char *path, int flags);
FILE *regular_file_stream(const char *path, int flags);

/* For a message, right after a failure. */
const char *regular_file_why(void);

#endif
