#include "media/input/shared_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define READ_SIZE ((size_t)256 << 10)
#define POLL_MS 100

struct SharedPipe {
    int fd;
    pthread_mutex_t lock; /* protects all below */
    pthread_cond_t changed;
    uint8_t *data;     /* bytes that at least one side has not read yet */
    size_t room, size; /* bytes allocated, and bytes used, in `data` */
    size_t at[2];      /* read position in `data`, by side */
    int reads;         /* a side is reading from the pipe, without the lock */
    int ended, error;  /* error: errno of a failed read */
    int cut;           /* side 1 was cut off */
};

SharedPipe *shared_pipe_open(const char *path)
{
    SharedPipe *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    p->fd =
        strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (p->fd < 0)
        shared_pipe_close(&p);
    return p;
}

int shared_pipe_fd(const SharedPipe *p)
{
    return p->fd;
}

/* Removes data that both sides have read. */
static void drop(SharedPipe *p)
{
    const size_t done = p->cut || p->at[0] < p->at[1] ? p->at[0] : p->at[1];
    if (!done || done < p->room / 4)
        return;
    memmove(p->data, p->data + done, p->size - done);
    p->size -= done;
    p->at[0] -= done;
    p->at[1] = p->cut ? p->size : p->at[1] - done;
}

static int make_room(SharedPipe *p)
{
    drop(p);
    if (p->room - p->size >= READ_SIZE)
        return 0;
    const size_t room = p->room + p->room / 4 + READ_SIZE;
    uint8_t *data = realloc(p->data, room);
    if (!data)
        return -1;
    p->data = data;
    p->room = room;
    return 0;
}

/* Reads more for both sides, releasing the lock meanwhile. Returns -1 with errno. */
static int read_more(SharedPipe *p)
{
    struct pollfd wait = {.fd = p->fd, .events = POLLIN};
    if (make_room(p) < 0) {
        p->error = errno = ENOMEM;
        return -1;
    }
    uint8_t *const to = p->data + p->size; /* stays valid while `reads` is set */
    p->reads = 1;
    pthread_mutex_unlock(&p->lock);
    ssize_t got = -1;
    const int ready = poll(&wait, 1, POLL_MS);
    int error = ready == 0 ? EAGAIN : errno;
    if (ready > 0) {
        got = read(p->fd, to, READ_SIZE);
        error = errno;
    }
    pthread_mutex_lock(&p->lock);
    p->reads = 0;
    if (got > 0)
        p->size += (size_t)got;
    p->ended |= got == 0;
    if (got < 0 && error != EAGAIN && error != EINTR)
        p->error = error;
    p->cut |= p->size - (p->at[0] < p->at[1] ? p->at[0] : p->at[1]) > SHARED_PIPE_MOST;
    pthread_cond_broadcast(&p->changed);
    errno = error;
    return got < 0 ? -1 : 0;
}

ssize_t shared_pipe_read(SharedPipe *p, int side, void *buffer, size_t size)
{
    ssize_t got = 0;
    pthread_mutex_lock(&p->lock);
    const int ends = p->ended || p->error || (side && p->cut);
    if (p->at[side] == p->size && !ends && p->reads) { /* wait once for the other side */
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += POLL_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&p->changed, &p->lock, &until);
    } else if (p->at[side] == p->size && !ends) {
        got = read_more(p);
    }
    if (side && p->cut) {
        got = 0;
    } else if (p->at[side] < p->size) {
        got = (ssize_t)(size < p->size - p->at[side] ? size : p->size - p->at[side]);
        memcpy(buffer, p->data + p->at[side], (size_t)got);
        p->at[side] += (size_t)got;
    } else if (p->error) {
        errno = p->error;
        got = -1;
    } else if (!p->ended) {
        errno = EAGAIN;
        got = -1;
    }
    pthread_mutex_unlock(&p->lock);
    return got;
}

int shared_pipe_was_cut(const SharedPipe *p)
{
    return p->cut;
}

void shared_pipe_close(SharedPipe **pipe)
{
    SharedPipe *p = *pipe;
    if (!p)
        return;
    if (p->fd >= 0)
        close(p->fd);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p->data);
    free(p);
    *pipe = NULL;
}
