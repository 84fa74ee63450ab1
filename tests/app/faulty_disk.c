/*
 * Preloaded into a program, this makes system calls fail for the files of one folder.
 *
 *     LD_PRELOAD=libfaulty_disk.so FAULTY_DISK_IN=/tmp/x FAULTY_DISK="fsync rename" lumeq ...
 *
 * In a sanitizer's build, set ASAN_OPTIONS=verify_asan_link_order=0.
 *
 * Environment variables:
 *   FAULTY_DISK_IN    the folder; its subfolders are included
 *   FAULTY_DISK_NAME  optional: only files with this text in their path fail
 *   FAULTY_DISK_WHEN  optional: calls fail only while this file exists
 *   FAULTY_DISK_LOG   this file gets a line for each fsync() and rename
 *   FAULTY_DISK       the faults, words separated by blanks:
 *     write      writing fails: the disk is full (ENOSPC)
 *     fsync      fsync() fails (EIO)
 *     sleep      fsync() does not return before FAULTY_DISK_WHEN is removed
 *     close      close() fails after closing the file (EIO)
 *     rename     all calls that rename a file fail (EIO)
 *     renameat2  renameat2() is not supported (EINVAL)
 *     link       hard links are not supported (EPERM)
 *     flock      locks are not supported (ENOLCK)
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const char *setting(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

static int is_set(const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = setting("FAULTY_DISK"); *at; at += strcspn(at, " ")) {
        at += strspn(at, " ");
        if (strncmp(at, word, n) == 0 && strchr(" ", at[n]))
            return 1;
    }
    return 0;
}

static int fails_path(const char *word, const char *path)
{
    const char *folder = setting("FAULTY_DISK_IN"), *when = setting("FAULTY_DISK_WHEN");
    return is_set(word) && strncmp(path, folder, strlen(folder)) == 0 &&
           strstr(path, setting("FAULTY_DISK_NAME")) && (!*when || access(when, F_OK) == 0);
}

static void find_path(int fd, char path[PATH_MAX])
{
    char link[32];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    const int reason = errno;
    const ssize_t n = readlink(link, path, PATH_MAX - 1);
    path[n > 0 ? n : 0] = '\0';
    errno = reason;
}

static int fails(const char *word, int fd)
{
    char path[PATH_MAX];
    find_path(fd, path);
    return fails_path(word, path);
}

static void note(const char *word, const char *path)
{
    const char *name = setting("FAULTY_DISK_LOG"), *folder = setting("FAULTY_DISK_IN");
    const int reason = errno;
    FILE *file = *name && strncmp(path, folder, strlen(folder)) == 0 ? fopen(name, "a") : NULL;
    if (file) {
        fprintf(file, "%s %s\n", word, path);
        fclose(file);
    }
    errno = reason;
}

static int fail(int reason)
{
    errno = reason;
    return -1;
}

static void *real(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (!function)
        abort();
    return function;
}

ssize_t write(int fd, const void *data, size_t size)
{
    ssize_t (*call)(int, const void *, size_t);
    *(void **)&call = real("write");
    return fails("write", fd) ? fail(ENOSPC) : call(fd, data, size);
}

/* Programs built with _FILE_OFFSET_BITS=64 call pwrite64() instead. */
ssize_t pwrite(int fd, const void *data, size_t size, off_t position)
{
    ssize_t (*call)(int, const void *, size_t, off_t);
    *(void **)&call = real("pwrite");
    return fails("write", fd) ? fail(ENOSPC) : call(fd, data, size, position);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t position)
{
    ssize_t (*call)(int, const void *, size_t, off64_t);
    *(void **)&call = real("pwrite64");
    return fails("write", fd) ? fail(ENOSPC) : call(fd, data, size, position);
}

int fsync(int fd)
{
    int (*call)(int);
    *(void **)&call = real("fsync");
    char path[PATH_MAX];
    find_path(fd, path);
    note("fsync", path);
    while (fails("sleep", fd))
        usleep(10000);
    return fails("fsync", fd) ? fail(EIO) : call(fd);
}

int close(int fd)
{
    int (*call)(int);
    *(void **)&call = real("close");
    const int failing = fails("close", fd);
    const int ret = call(fd);
    return failing ? fail(EIO) : ret;
}

int flock(int fd, int operation)
{
    int (*call)(int, int);
    *(void **)&call = real("flock");
    return fails("flock", fd) ? fail(ENOLCK) : call(fd, operation);
}

int rename(const char *from, const char *to)
{
    int (*call)(const char *, const char *);
    *(void **)&call = real("rename");
    note("rename", from);
    return fails_path("rename", from) ? fail(EIO) : call(from, to);
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    int (*call)(int, const char *, int, const char *, unsigned);
    *(void **)&call = real("renameat2");
    note("rename", from);
    return fails_path("rename", from)      ? fail(EIO)
           : fails_path("renameat2", from) ? fail(EINVAL)
                                           : call(from_fd, from, to_fd, to, flags);
}

int link(const char *from, const char *to)
{
    int (*call)(const char *, const char *);
    *(void **)&call = real("link");
    note("rename", from);
    return fails_path("rename", from) ? fail(EIO)
           : fails_path("link", from) ? fail(EPERM)
                                      : call(from, to);
}
