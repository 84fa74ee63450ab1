/*
 * A pipe that two sources read, each all of it at its own pace: what one has read and the other has
 * not is kept in memory.
 */
#ifndef LUMEQ_MEDIA_SHARED_PIPE_H
#define LUMEQ_MEDIA_SHARED_PIPE_H

#include <stddef.h>
#include <sys/types.h>

typedef struct SharedPipe SharedPipe;

/* Side 0 gets all bytes; side 1 sees the end early when they are so many apart. */
#define SHARED_PIPE_MOST ((size_t)256 << 20)

/* Reads from this path, "-": standard input. NULL: it cannot be opened, or out of memory, as errno
 * says. */
SharedPipe *shared_pipe_open(const char *path);

/* That it reads from; the pipe's. */
int shared_pipe_fd(const SharedPipe *pipe);

/* As read(): bytes, 0 at the end, or -1 with errno. EAGAIN: there was nothing for 100 ms. Each side
 * is for one thread. */
ssize_t shared_pipe_read(SharedPipe *pipe, int side, void *buffer, size_t size);

/* Not 0: side 1 saw the end early, or never began. When it reads no more. */
int shared_pipe_was_cut(const SharedPipe *pipe);

/* NULL is allowed inside. */
void shared_pipe_close(SharedPipe **pipe);

#endif
