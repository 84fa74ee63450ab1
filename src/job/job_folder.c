#include "job/job_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The names of a job's files. '#': the five digits of a part; '@': eight hexadecimal digits. */
static const char *const names[] = {
    "plan",         "curves-#",       "part-#",     "part-#.damaged", "measured-#",
    "rows-#-@.csv", "rows-#-@.jsonl", "report-#-@", JOB_JOINING,
};

/* Endings of temporary names, which begin with a dot. */
static const char *const temporary[] = {"-@-@.tmp", ".lumeq-@.part"};

static int refuse_folder(const char *folder, const char *why, MediaError *error)
{
    return media_fail(error, MEDIA_OUTPUT, "%s cannot be the folder of a job: %s",
                      media_quote(folder), why);
}

int job_folder_open(const char *folder, MediaError *error)
{
    struct stat about;
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int reason = errno;
    if (fd < 0 && reason == ENOENT)
        return -ENOENT;
    if (fd < 0 && lstat(folder, &about) == 0 && S_ISLNK(about.st_mode))
        return refuse_folder(folder, "it is a symbolic link", error);
    if (fd < 0 || fstat(fd, &about) < 0)
        return refuse_folder(folder, strerror(fd < 0 ? reason : errno), error);
    if (about.st_uid == geteuid())
        return fd;
    close(fd);
    return refuse_folder(folder, "it belongs to another user", error);
}

int job_folder_check(const char *folder, MediaError *error)
{
    const int fd = job_folder_open(folder, error);
    if (fd >= 0)
        close(fd);
    return error->fault;
}

int job_folder_make(const char *folder, const char *output, MediaError *error)
{
    struct stat old, about;
    mode_t mode = stat(output, &old) == 0 ? (old.st_mode & 0777) | S_IRWXU : 0777;
    mode |= (mode & 0444) >> 2;
    if (mkdir(folder, mode) < 0 && errno != EEXIST)
        return media_fail(error, MEDIA_OUTPUT, "cannot make the folder %s: %s", media_quote(folder),
                          strerror(errno));
    const int fd = job_folder_open(folder, error);
    if (fd >= 0 && fstat(fd, &about) == 0 && (about.st_mode & 0777 & ~mode))
        (void)fchmod(fd, about.st_mode & mode); /* an earlier job made it */
    if (fd >= 0)
        close(fd);
    return fd == -ENOENT
               ? media_fail(error, MEDIA_OUTPUT, "the folder %s was removed", media_quote(folder))
               : error->fault;
}

/* Returns the rest of a name after the pattern; NULL if it does not match. */
static const char *match(const char *name, const char *pattern)
{
    for (; *pattern; pattern++) {
        const size_t n = *pattern == '#' ? 5 : *pattern == '@' ? 8 : 0;
        if (n ? strspn(name, *pattern == '#' ? "0123456789" : "0123456789abcdef") < n
              : *name != *pattern)
            return NULL;
        name += n ? n : 1;
    }
    return name;
}

static int is_of_job(const char *name)
{
    const int hidden = name[0] == '.';
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *end = match(name + hidden, names[i]);
        if (end && !hidden && !*end)
            return 1;
        for (size_t k = 0; end && hidden && k < sizeof(temporary) / sizeof(temporary[0]); k++) {
            const char *rest = match(end, temporary[k]);
            if (rest && !*rest)
                return 1;
        }
    }
    return 0;
}

static void remove_one(int fd, const char *name)
{
    struct stat about;
    if (fstatat(fd, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(about.st_mode))
        (void)unlinkat(fd, name, 0);
}

int job_folder_has_job(const char *folder)
{
    MediaError ignored = {0};
    const struct dirent *entry;
    const int fd = job_folder_open(folder, &ignored);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    int has = fd < 0 && fd != -ENOENT;
    while (!has && entries && (entry = readdir(entries)))
        has = strcmp(entry->d_name, JOB_BEGUN) == 0 || is_of_job(entry->d_name);
    if (entries)
        closedir(entries);
    else if (fd >= 0)
        close(fd);
    return has;
}

void job_folder_clear(const char *folder, int all)
{
    MediaError ignored = {0};
    const struct dirent *entry;
    const int fd = job_folder_open(folder, &ignored);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    if (fd >= 0)
        remove_one(fd, "plan");
    while (entries && (entry = readdir(entries)))
        if (is_of_job(entry->d_name) && strcmp(entry->d_name, JOB_JOINING) != 0)
            remove_one(fd, entry->d_name);
    if (fd >= 0 && all)
        remove_one(fd, JOB_BEGUN);
    if (fd >= 0)
        remove_one(fd, JOB_JOINING);
    if (entries)
        closedir(entries);
    else if (fd >= 0)
        close(fd);
    if (fd >= 0 && all)
        (void)rmdir(folder);
}
