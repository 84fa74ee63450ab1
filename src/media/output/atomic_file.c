#include "media/output/atomic_file.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libavutil/avstring.h>
#include <libavutil/common.h>
#include <libavutil/mem.h>
#include <libavutil/random_seed.h>

#include "media/output/file_name.h"
#include "media/output/temp_file.h"

#define BUFFER_BYTES ((size_t)256 << 10)
#define NAME_TRIES 100

/* ".NAME-PID-RANDOM.tmp" */
#define NAME_END "-%08x-%08x" ATOMIC_FILE_ENDING
#define NAME_END_BYTES (strlen("-01234567-01234567" ATOMIC_FILE_ENDING))

static int fail(const AtomicFile *f, int reason, MediaError *error)
{
    return media_fail(error, MEDIA_OUTPUT, "cannot write %s: %s",
                      f->path ? media_quote(f->path) : "a file", strerror(reason));
}

/* Returns 1 on success, 0 to try another name, -1 with errno. */
static int create(AtomicFile *f, const char *folder)
{
    f->name = av_asprintf("%s/.%s" NAME_END, folder, file_name_base(f->path), (unsigned)getpid(),
                          av_get_random_seed());
    errno = ENOMEM;
    f->fd = f->name ? temp_file_open(f->name, f->path) : -1;
    if (f->fd >= 0 && temp_file_lock(f->fd, f->name))
        return 1;
    const int reason = f->fd >= 0 ? EEXIST : errno;
    if (f->fd >= 0)
        (void)close(f->fd);
    av_freep(&f->name); /* nothing to remove */
    errno = reason;
    return reason == EEXIST ? 0 : -1;
}

int atomic_file_open(AtomicFile *f, const char *path, MediaError *error)
{
    *f = (AtomicFile){.path = av_strdup(path), .buffer = av_malloc(BUFFER_BYTES)};
    char *folder = file_name_folder(path);
    int ret = f->path && f->buffer && folder ? 0 : -1;
    errno = ENOMEM;
    for (int i = 0; ret == 0 && i < NAME_TRIES; i++)
        ret = create(f, folder);
    const int reason = errno;
    av_free(folder);
    if (ret > 0)
        return 0;
    (void)fail(f, reason, error);
    atomic_file_close(f);
    return error->fault;
}

static int flush(AtomicFile *f, MediaError *error)
{
    size_t done = 0;
    while (done < f->used) {
        const ssize_t n = write(f->fd, f->buffer + done, f->used - done);
        if (n < 0 && errno != EINTR)
            return fail(f, errno, error);
        done += n > 0 ? (size_t)n : 0;
    }
    f->used = 0;
    return 0;
}

int atomic_file_write(AtomicFile *f, const void *bytes, size_t size, MediaError *error)
{
    const uint8_t *from = bytes;
    f->written += (int64_t)size;
    while (size) {
        const size_t n = FFMIN(size, BUFFER_BYTES - f->used);
        memcpy(f->buffer + f->used, from, n);
        f->used += n;
        from += n;
        size -= n;
        if (f->used == BUFFER_BYTES && flush(f, error) < 0)
            return error->fault;
    }
    return 0;
}

int atomic_file_commit(AtomicFile *f, MediaError *error)
{
    int ret = flush(f, error);
    temp_file_take_mode(f->fd, f->path);
    if (ret >= 0 && fsync(f->fd) < 0)
        ret = fail(f, errno, error);
    if (close(f->fd) < 0 && ret >= 0)
        ret = fail(f, errno, error);
    f->fd = -1;
    if (ret >= 0 && rename(f->name, f->path) < 0)
        ret = fail(f, errno, error);
    if (ret >= 0) {
        av_freep(&f->name);
        temp_file_sync_folder(f->path);
    }
    atomic_file_close(f);
    return ret;
}

int atomic_file_save(const char *path, const void *bytes, size_t size, MediaError *error)
{
    AtomicFile f;
    int ret = atomic_file_open(&f, path, error);
    if (ret >= 0)
        ret = atomic_file_write(&f, bytes, size, error);
    if (ret >= 0)
        ret = atomic_file_commit(&f, error);
    atomic_file_close(&f);
    return ret;
}

void atomic_file_close(AtomicFile *f)
{
    if (f->name && f->fd >= 0)
        (void)close(f->fd);
    if (f->name)
        (void)unlink(f->name);
    av_freep(&f->buffer);
    av_freep(&f->name);
    av_freep(&f->path);
    *f = (AtomicFile){0};
}

int atomic_file_is_leftover(const char *name, char base[NAME_MAX + 1])
{
    static const char digits[] = "0123456789abcdef";
    const size_t length = strlen(name);
    if (name[0] != '.' || length <= NAME_END_BYTES || length > NAME_MAX)
        return 0;
    const char *end = name + length - NAME_END_BYTES;
    if (end[0] != '-' || strspn(end + 1, digits) != 8 || end[9] != '-' ||
        strspn(end + 10, digits) != 8 || strcmp(end + 18, ATOMIC_FILE_ENDING) != 0)
        return 0;
    memcpy(base, name + 1, (size_t)(end - name) - 1);
    base[end - name - 1] = '\0';
    /* Another process with this number may be writing it. In containers, consecutive runs often
     * have the same number. */
    const pid_t pid = (pid_t)strtol(end + 1, NULL, 16);
    const int is_running = pid > 0 && pid != getpid() && (kill(pid, 0) == 0 || errno == EPERM);
    return !is_running;
}
