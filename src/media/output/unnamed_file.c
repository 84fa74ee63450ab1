#include "media/output/unnamed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <libavutil/mem.h>

#include "media/output/file_name.h"

static int open_unnamed(const char *folder)
{
    const int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL))
        return fd;
    char name[4096];
    const int length = snprintf(name, sizeof(name), "%s/.lumeq-XXXXXX", folder);
    if (length < 0 || (size_t)length >= sizeof(name)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int named = mkostemp(name, O_CLOEXEC);
    if (named >= 0)
        (void)unlink(name);
    return named;
}

static int open_in(UnnamedFile *f, char *folder)
{
    av_free(f->folder);
    f->folder = folder;
    f->fd = folder ? open_unnamed(folder) : -1;
    if (!folder)
        errno = ENOMEM;
    return f->fd;
}

int unnamed_file_open(UnnamedFile *f, const char *beside)
{
    const char *temporary = getenv("TMPDIR");
    *f = (UnnamedFile){.fd = -1};
    if (beside && open_in(f, file_name_folder(beside)) >= 0)
        return 0;
    return open_in(f, av_strdup(temporary && temporary[0] ? temporary : P_tmpdir)) < 0 ? -1 : 0;
}

int unnamed_file_write(const UnnamedFile *f, const void *data, size_t size, int64_t position)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t n = pwrite(f->fd, (const uint8_t *)data + done, size - done,
                                 (off_t)(position + (int64_t)done));
        if (n < 0 && errno != EINTR)
            return errno;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int unnamed_file_read(const UnnamedFile *f, void *data, size_t size, int64_t position)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t n =
            pread(f->fd, (uint8_t *)data + done, size - done, (off_t)(position + (int64_t)done));
        if (n == 0)
            return -1;
        if (n < 0 && errno != EINTR)
            return errno;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

void unnamed_file_close(UnnamedFile *f)
{
    if (f->fd >= 0)
        (void)close(f->fd);
    av_free(f->folder);
    *f = (UnnamedFile){.fd = -1};
}
