#include "media/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libavutil/avstring.h>
#include <libavutil/error.h>
#include <libavutil/mem.h>
#include <libavutil/random_seed.h>

#define NAME_TRIES 100

/* The temporary file of this process, for output_file_remove_temp(). */
static _Atomic(const char *) current_temp;

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

/* The name behind symbolic links, also where the last one points to nothing yet. */
static char *resolve(const char *path)
{
    char *real = realpath(path, NULL);
    if (real) {
        char *copy = av_strdup(real);
        free(real);
        return copy;
    }
    char target[PATH_MAX];
    const ssize_t n = readlink(path, target, sizeof(target) - 1);
    if (n <= 0)
        return av_strdup(path);
    target[n] = '\0';
    if (target[0] == '/')
        return av_strdup(target);
    char *folder = folder_of(path);
    char *joined = folder ? av_asprintf("%s/%s", folder, target) : NULL;
    av_free(folder);
    return joined;
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
        return media_fail(error, MEDIA_OUTPUT, "out of memory");
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
    if (file->mode)
        (void)fchmod(
            fd, file->mode); /* the permissions of the file that is replaced, as far as allowed */
    close(fd);
    atomic_store(&current_temp, file->temp);
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
        ret = url ? avio_open(&file->io, url, AVIO_FLAG_WRITE) : AVERROR(ENOMEM);
        av_free(url);
    }
    if (ret < 0)
        return media_fail(error, MEDIA_OUTPUT, "cannot write %s: %s", media_quote(file->path),
                          media_av_text(ret));
    return 0;
}

char *output_file_partial_name(const char *path)
{
    const char *dot = strrchr(base_of(path), '.');
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
    if (!name || sync_path(file->temp) < 0 || rename(file->temp, name) < 0)
        return media_fail(error, MEDIA_OUTPUT, "cannot finish %s: %s", media_quote(file->path),
                          strerror(name ? errno : ENOMEM));
    atomic_store(&current_temp, NULL);
    av_freep(&file->temp);
    char *folder = folder_of(name);
    if (folder)
        (void)sync_path(folder); /* not every file system can; the file itself is safe */
    av_free(folder);
    return 0;
}

int output_file_commit(OutputFile *file, int partial, MediaError *error)
{
    const int ret = avio_closep(&file->io);
    if (ret < 0)
        return media_fail(error, MEDIA_OUTPUT, "cannot write %s: %s", media_quote(file->path),
                          media_av_text(ret));
    if (!file->temp)
        return 0;
    if (!partial)
        return rename_temp(file, file->path, error);
    char *name = output_file_partial_name(file->path);
    const int renamed = rename_temp(file, name, error);
    av_free(name);
    return renamed;
}

void output_file_close(OutputFile *file)
{
    (void)avio_closep(&file->io); /* what failed has been reported, or is being thrown away */
    if (file->temp) {
        atomic_store(&current_temp, NULL);
        unlink(file->temp);
    }
    av_freep(&file->temp);
    av_freep(&file->path);
}

void output_file_remove_temp(void)
{
    const char *temp = atomic_load(&current_temp);
    if (temp)
        unlink(temp);
}
