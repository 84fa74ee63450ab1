#include "media/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <libavutil/avstring.h>
#include <libavutil/error.h>
#include <libavutil/mem.h>
#include <libavutil/random_seed.h>
#include <libavutil/time.h>

#define NAME_TRIES 100

/* Once stopped: a pipe whose reader leaves what is in it for this long is given up. */
#define PATIENCE_MS 500

/* Symbolic links in a row, as the system has it. */
#define MAX_LINKS 40

/* The temporary files of this process, for output_file_remove_temp(). */
#define MAX_TEMPS 4
static _Atomic(char *) temps[MAX_TEMPS];

static void note_temp(char *temp)
{
    for (int i = 0; i < MAX_TEMPS; i++) {
        char *none = NULL;
        if (atomic_compare_exchange_strong(&temps[i], &none, temp))
            return;
    }
}

static void forget_temp(char *temp)
{
    for (int i = 0; i < MAX_TEMPS; i++) {
        char *expected = temp;
        if (atomic_compare_exchange_strong(&temps[i], &expected, NULL))
            return;
    }
}

/* Whether the reader empties the pipe: what is written at once fits into it then, and nothing
 * waits. */
static int is_emptied(int fd)
{
    int left = 1;
    for (int i = 0; i < PATIENCE_MS && ioctl(fd, FIONREAD, &left) == 0 && left; i++)
        av_usleep(1000);
    return !left;
}

static int stopped(void *opaque)
{
    const OutputFile *file = opaque;
    if (!file->stop || !atomic_load(file->stop))
        return 0;
    if (strcmp(file->path, "-") == 0)
        return !is_emptied(STDOUT_FILENO);
    const int fd = open(file->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    const int emptied = fd >= 0 && is_emptied(fd);
    if (fd >= 0)
        close(fd);
    return !emptied;
}

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return av_strdup(".");
    return slash == path ? av_strdup("/") : av_strndup(path, (size_t)(slash - path));
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int check_existing(OutputFile *file, const char *path, int overwrite,
                          const struct stat *input, const struct stat *there, MediaError *error)
{
    if (S_ISDIR(there->st_mode))
        return media_fail(error, MEDIA_USAGE, "the output %s is a directory", media_quote(path));
    if (!S_ISREG(there->st_mode))
        return 0;
    if (input && input->st_dev == there->st_dev && input->st_ino == there->st_ino)
        return media_fail(error, MEDIA_USAGE, "the output %s is the input", media_quote(path));
    if (!overwrite)
        return media_fail(error, MEDIA_USAGE, "the output %s exists; -y overwrites it",
                          media_quote(path));
    file->mode = there->st_mode & 07777;
    return 0;
}

/* What a symbolic link points to; NULL where the path is none (errno is 0 then) or out of memory.
 */
static char *follow(const char *path)
{
    char target[PATH_MAX];
    const ssize_t n = readlink(path, target, sizeof(target) - 1);
    if (n <= 0) {
        errno = 0;
        return NULL;
    }
    target[n] = '\0';
    errno = ENOMEM;
    if (target[0] == '/')
        return av_strdup(target);
    char *folder = folder_of(path);
    char *joined = folder ? av_asprintf("%s/%s", folder, target) : NULL;
    av_free(folder);
    return joined;
}

/* The name behind symbolic links, also where the last one points to nothing yet. NULL: see errno.
 */
static char *resolve(const char *path)
{
    char *name = av_strdup(path);
    errno = ENOMEM;
    for (int i = 0; name && i < MAX_LINKS; i++) {
        char *next = follow(name);
        if (!next && !errno)
            return name;
        av_free(name);
        name = next;
    }
    if (name)
        errno = ELOOP;
    av_free(name);
    return NULL;
}

static int check_folder(const char *path, MediaError *error)
{
    char *folder = folder_of(path);
    if (!folder)
        return media_fail(error, MEDIA_OUTPUT, "out of memory");
    struct stat there;
    int ret = 0;
    if (stat(folder, &there) < 0 || !S_ISDIR(there.st_mode) || access(folder, W_OK | X_OK) < 0)
        ret = media_fail(error, MEDIA_OUTPUT, "cannot write into the folder %s: %s",
                         media_quote(folder), strerror(errno ? errno : ENOTDIR));
    av_free(folder);
    return ret;
}

int output_file_check(OutputFile *file, const char *path, int overwrite, const struct stat *input,
                      MediaError *error)
{
    if (strcmp(path, "-") == 0) {
        file->path = av_strdup(path);
        return file->path ? 0 : media_fail(error, MEDIA_OUTPUT, "out of memory");
    }
    errno = 0;
    file->path = resolve(path);
    if (!file->path)
        return media_fail(error, MEDIA_OUTPUT, "cannot write %s: %s", media_quote(path),
                          strerror(errno));
    struct stat there;
    const int exists = stat(file->path, &there) == 0;
    if (exists) {
        const int ret = check_existing(file, path, overwrite, input, &there, error);
        if (ret < 0 || !S_ISREG(there.st_mode))
            return ret;
    }
    errno = 0;
    return check_folder(file->path, error);
}

/* A new hidden file beside the final one, on the same file system as a rename needs. */
static int create_temp(OutputFile *file)
{
    char *folder = folder_of(file->path);
    int fd = -1;
    errno = ENOMEM;
    for (int i = 0; folder && fd < 0 && i < NAME_TRIES; i++) {
        av_freep(&file->temp);
        file->temp =
            av_asprintf("%s/.%.200s.%08x.part", folder, base_of(file->path), av_get_random_seed());
        if (!file->temp)
            break;
        fd = open(file->temp, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    const int reason = errno;
    av_free(folder);
    if (fd < 0) {
        av_freep(&file->temp); /* not ours to remove */
        return AVERROR(reason);
    }
    close(fd);
    note_temp(file->temp);
    return 0;
}

int output_file_open(OutputFile *file, MediaError *error)
{
    struct stat there;
    const int direct =
        strcmp(file->path, "-") == 0 || (stat(file->path, &there) == 0 && !S_ISREG(there.st_mode));
    int ret = direct ? 0 : create_temp(file);
    if (ret >= 0) {
        const char *name = file->temp ? file->temp : file->path;
        char *url =
            strcmp(file->path, "-") == 0 ? av_strdup("pipe:1") : av_asprintf("file:%s", name);
        const AVIOInterruptCB interrupt = {stopped, file};
        ret = url ? avio_open2(&file->io, url, AVIO_FLAG_WRITE, direct ? &interrupt : NULL, NULL)
                  : AVERROR(ENOMEM);
        av_free(url);
    }
    if (ret < 0)
        return media_fail(error, MEDIA_OUTPUT, "cannot write %s: %s", media_quote(file->path),
                          media_av_text(ret));
    return 0;
}

char *output_file_partial_name(const OutputFile *file)
{
    const char *path = file->path, *dot = strrchr(base_of(path), '.');
    if (!file->temp)
        return NULL;
    if (!dot || dot == base_of(path))
        return av_asprintf("%s.partial", path);
    return av_asprintf("%.*s.partial%s", (int)(dot - path), path, dot);
}

static int sync_path(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    const int ret = fsync(fd);
    const int reason = errno;
    close(fd);
    errno = reason;
    return ret;
}

static int rename_temp(OutputFile *file, const char *name, MediaError *error)
{
    if (file->mode) /* the permissions of the file that is replaced, as far as allowed */
        (void)chmod(file->temp, file->mode);
    if (!name || sync_path(file->temp) < 0 || rename(file->temp, name) < 0)
        return media_fail(error, MEDIA_OUTPUT, "cannot finish %s: %s", media_quote(file->path),
                          strerror(name ? errno : ENOMEM));
    forget_temp(file->temp);
    av_freep(&file->temp);
    char *folder = folder_of(name);
    if (folder)
        (void)sync_path(folder); /* not every file system can; the file itself is safe */
    av_free(folder);
    return 0;
}

int output_file_flush(OutputFile *file, MediaError *error)
{
    const int ret = avio_closep(&file->io);
    if (ret < 0)
        return media_fail(error, MEDIA_OUTPUT, "cannot write %s: %s", media_quote(file->path),
                          media_av_text(ret));
    return 0;
}

int output_file_commit(OutputFile *file, int partial, MediaError *error)
{
    const int ret = output_file_flush(file, error);
    if (ret < 0 || !file->temp)
        return ret;
    if (!partial)
        return rename_temp(file, file->path, error);
    char *name = output_file_partial_name(file);
    const int renamed = rename_temp(file, name, error);
    av_free(name);
    return renamed;
}

void output_file_close(OutputFile *file)
{
    (void)avio_closep(&file->io); /* what failed has been reported, or is being thrown away */
    if (file->temp) {
        forget_temp(file->temp);
        unlink(file->temp);
    }
    av_freep(&file->temp);
    av_freep(&file->path);
}

void output_file_remove_temp(void)
{
    for (int i = 0; i < MAX_TEMPS; i++) {
        const char *temp = atomic_load(&temps[i]);
        if (temp)
            unlink(temp);
    }
}
