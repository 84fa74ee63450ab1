#include "job/job_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIGIT "[0-9]"
#define PART DIGIT DIGIT DIGIT DIGIT DIGIT
#define HEX "[0-9a-f]"
#define MARK HEX HEX HEX HEX HEX HEX HEX HEX

/* Patterns of a job's files, and of their temporary names. */
#define NAMES "@(plan|joining|@(curves|part|measured|report)-" PART "|rows-" PART ".@(csv|jsonl))"
static const char *const names[] = {NAMES, "." NAMES "-" MARK "-" MARK ".tmp",
                                    "." NAMES ".lumeq-" MARK ".part"};

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

static int is_of_job(const char *name)
{
    size_t i = 0;
    while (i < sizeof(names) / sizeof(names[0]) && fnmatch(names[i], name, FNM_EXTMATCH) != 0)
        i++;
    return i < sizeof(names) / sizeof(names[0]);
}

static void remove_one(int fd, const char *name)
{
    struct stat about;
    if (fstatat(fd, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(about.st_mode))
        (void)unlinkat(fd, name, 0);
}

void job_folder_clear(const char *folder)
{
    MediaError ignored = {0};
    const struct dirent *entry;
    const int fd = job_folder_open(folder, &ignored);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    if (!entries) {
        if (fd >= 0)
            close(fd);
        return;
    }
    while ((entry = readdir(entries)))
        if (is_of_job(entry->d_name) && strcmp(entry->d_name, "plan") != 0 &&
            strcmp(entry->d_name, JOB_JOINING) != 0)
            remove_one(fd, entry->d_name);
    remove_one(fd, "plan");
    remove_one(fd, JOB_JOINING);
    closedir(entries);
    (void)rmdir(folder);
}
