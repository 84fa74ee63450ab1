#include "media/output/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <libavutil/avstring.h>
#include <libavutil/common.h>
#include <libavutil/mem.h>
#include <libavutil/random_seed.h>

#include "media/output/file_name.h"
#include "media/output/temp_file.h"

#define BUFFER_BYTES ((size_t)256 << 10)

static int fail(const AtomicFile *f, int reason, MediaError *error)
{
    return media_fail(error, MEDIA_OUTPUT, "cannot write %s: %s",
                      f->path ? media_quote(f->path) : "a file", strerror(reason));
}

int atomic_file_open(AtomicFile *f, const char *path, MediaError *error)
{
    *f = (AtomicFile){.path = av_strdup(path)};
    char *folder = file_name_folder(path);
    if (f->path && folder)
        f->name = av_asprintf("%s/.%s-%08x-%08x" ATOMIC_FILE_ENDING, folder, file_name_base(path),
                              (unsigned)getpid(), av_get_random_seed());
    av_free(folder);
    f->buffer = av_malloc(BUFFER_BYTES);
    errno = ENOMEM;
    f->fd =
        f->name && f->buffer ? open(f->name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666) : -1;
    if (f->fd >= 0)
        return 0;
    const int reason = errno;
    av_freep(&f->name); /* there is nothing to remove */
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
