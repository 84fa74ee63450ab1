#include "media/regular_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int regular_file_open(const char *path, int flags)
{
    struct stat about;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
    if (fd < 0)
        return -1;
    int reason = fstat(fd, &about) < 0 ? errno : 0;
    if (!reason && S_ISREG(about.st_mode))
        return fd;
    if (!reason && S_ISDIR(about.st_mode))
        reason = EISDIR;
    close(fd);
    errno = reason;
    return -1;
}

FILE *regular_file_stream(const char *path, int flags)
{
    const int fd = regular_file_open(path, flags);
    FILE *file = fd >= 0 ? fdopen(fd, "rb") : NULL;
    if (fd >= 0 && !file)
        close(fd);
    return file;
}

const char *regular_file_why(void)
{
    if (!errno)
        return "it is not a regular file";
    return errno == ELOOP ? "it is a symbolic link" : strerror(errno);
}
