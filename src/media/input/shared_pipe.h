/* A pipe that two sources read independently. Keeps bytes until both have read them. */
#ifndef LUMEQ_MEDIA_SHARED_PIPE_H
#define LUMEQ_MEDIA_SHARED_PIPE_H

#include <stddef.h>
#include <sys/types.h>

typedef struct SharedPipe SharedPipe;

/* Maximum number of bytes that one side may be ahead of the other. Beyond it, side 1 is cut off and
 * gets no more bytes. Side 0 always gets all bytes. */
#define SHARED_PIPE_MOST ((size_t)256 << 20)

/* Opens a path; "-" is standard input. NULL: see errno. */
SharedPipe *shared_pipe_open(const char *path);

/* The file descriptor, owned by the pipe. */
int shared_pipe_fd(const SharedPipe *pipe);

/* Like read(), but returns -1 with EAGAIN after 100 ms without data. One thread per side. */
ssize_t shared_pipe_read(SharedPipe *pipe, int side, void *buffer, size_t size);

/* Returns 1 if side 1 was cut off. Call when side 1 no longer reads. */
int shared_pipe_was_cut(const SharedPipe *pipe);

/* *pipe may be NULL. */
void shared_pipe_close(SharedPipe **pipe);

#endif
