#include "media/output/output_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <libavutil/avstring.h>
#include <libavutil/crc.h>
#include <libavutil/error.h>
#include <libavutil/macros.h>
#include <libavutil/mem.h>
#include <libavutil/random_seed.h>
#include <libavutil/time.h>

#include "media/activity.h"
#include "media/compat.h"
#include "media/file_name.h"
#include "media/log.h"

/* ---- temporary files, listed for a signal handler ---- */

#define NAME_TRIES 100       /* random names to try */
#define MOST_FILES 64        /* temporary files at once */
#define SYNC_BYTES (8 << 20) /* to sync at a time; a slow USB stick needs 2 seconds for this */

/* ".NAME.lumeq-0123abcd.part". If NAME is too long, "~" and a checksum of NAME replace its end. */
#define MARK ".lumeq-"
#define DIGITS 8
#define ENDING ".part"

/* Bytes that a folder must allow for a temporary name. */
#define TEMP_NAME_ROOM 48

typedef enum NoteState {
    NOTE_FREE,  /* can be reused */
    NOTE_LIVE,  /* the file exists; its owner or the handler may take the note */
    NOTE_TAKEN, /* owned by one thread, which may change it */
} NoteState;

/* Data about a temporary file. The signal handler never frees a note that it has taken. */
typedef struct TempNote {
    atomic_int state;
    dev_t device;
    ino_t inode;
    char name[PATH_MAX];
    char path[MEDIA_QUOTED]; /* the output path, quoted */
} TempNote;

static TempNote notes[MOST_FILES];

static bool take_note(TempNote *note, NoteState from)
{
    int expected = from;
    return atomic_compare_exchange_strong(&note->state, &expected, NOTE_TAKEN);
}

/* Returns NULL on failure. */
static TempNote *register_file(int fd, const char *name, const char *path)
{
    TempNote *note = notes;
    struct stat file;
    while (note < notes + MOST_FILES && !take_note(note, NOTE_FREE))
        note++;
    if (note == notes + MOST_FILES)
        return NULL;
    if (fstat(fd, &file) < 0 || strlen(name) >= sizeof(note->name)) {
        atomic_store(&note->state, NOTE_FREE);
        return NULL;
    }
    note->device = file.st_dev;
    note->inode = file.st_ino;
    av_strlcpy(note->name, name, sizeof(note->name));
    media_quote_to(note->path, path);
    atomic_store(&note->state, NOTE_LIVE);
    return note;
}

/* True if the name still refers to the file. */
static bool note_is_valid(const TempNote *note)
{
    struct stat there;
    return lstat(note->name, &there) == 0 && there.st_dev == note->device &&
           there.st_ino == note->inode;
}

/* Frees the note and, if `removes`, removes its file. Does nothing if the handler has taken the
 * note. */
static void release_note(TempNote *note, bool removes)
{
    if (!take_note(note, NOTE_LIVE))
        return;
    if (removes && note_is_valid(note))
        (void)unlink(note->name);
    atomic_store(&note->state, NOTE_FREE);
}

void output_file_remove_all(void (*removed)(const char *path))
{
    for (TempNote *note = notes; note < notes + MOST_FILES; note++)
        if (take_note(note, NOTE_LIVE) && note_is_valid(note) && unlink(note->name) == 0 && removed)
            removed(note->path);
}

/* The beginning of a temporary name: ".NAME.lumeq-". */
static char *prefix_of(const char *base, size_t room)
{
    const size_t fixed = strlen("." MARK ENDING) + DIGITS, length = strlen(base);
    if (room > NAME_MAX) /* some file systems count characters, not bytes */
        room = NAME_MAX;
    if (fixed + length <= room)
        return av_asprintf(".%s" MARK, base);
    const uint32_t sum = av_crc(av_crc_get_table(AV_CRC_32_IEEE), 0, (const uint8_t *)base, length);
    return av_asprintf(".%.*s~%08x" MARK, (int)file_name_cut(base, room - fixed - DIGITS - 1), base,
                       sum);
}

static void remove_leftover(const char *name)
{
    struct stat there, file;
    if (lstat(name, &there) < 0 || !S_ISREG(there.st_mode))
        return;
    const int fd = open(name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &file) == 0 && lstat(name, &there) == 0 &&
        file.st_dev == there.st_dev && file.st_ino == there.st_ino && S_ISREG(file.st_mode) &&
        file.st_uid == geteuid() && (file.st_mode & S_IWUSR))
        unlink(name);
    close(fd);
}

void output_file_remove_leftovers(const char *path)
{
    char *folder = file_name_folder(path);
    const size_t room = folder ? file_name_room(folder) : 0;
    char *prefix = room < TEMP_NAME_ROOM ? NULL : prefix_of(file_name_base(path), room);
    DIR *entries = folder && prefix ? opendir(folder) : NULL;
    const struct dirent *entry;
    while (entries && (entry = readdir(entries))) {
        const char *rest = entry->d_name;
        const bool is_leftover = av_strstart(rest, prefix, &rest) &&
                                 strspn(rest, "0123456789abcdef") == DIGITS &&
                                 strcmp(rest + DIGITS, ENDING) == 0;
        char *name = is_leftover ? av_asprintf("%s/%s", folder, entry->d_name) : NULL;
        if (name)
            remove_leftover(name);
        av_free(name);
    }
    if (entries)
        closedir(entries);
    av_free(prefix);
    av_free(folder);
}

/* Gets the status of the file to replace. Returns false if nothing will be replaced. */
static bool find_replaced(const OutputFile *file, struct stat *old)
{
    return file->overwrite && stat(file->path, old) == 0 && S_ISREG(old->st_mode);
}

/* Returns 1 on success, 0 to try another name, or -1 and sets errno. Group and others get no more
 * access to the new file than to the replaced one. */
static int create_temp(OutputFile *file, const char *name, const char *path)
{
    struct stat old;
    /* The owner must be able to read and write, because the muxer opens the file again by name. */
    const mode_t mode = find_replaced(file, &old) ? (old.st_mode & 0777) | S_IRUSR | S_IWUSR : 0666;
    const int fd = open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode);
    if (fd < 0)
        return errno == EEXIST ? 0 : -1;
    TempNote *note = register_file(fd, name, path);
    /* On a file system without locks, the file is used unlocked. With locks, another run may
     * already have locked or removed the file as a leftover. */
    if (note && (flock(fd, LOCK_EX | LOCK_NB) < 0 ? errno != EWOULDBLOCK : note_is_valid(note))) {
        file->temp = (TempFile){.name = note->name, .fd = fd, .note = note};
        return 1;
    }
    if (!note)
        unlink(name);
    else
        release_note(note, false);
    close(fd);
    errno = ENOMEM;
    return note ? 0 : -1;
}

/* Creates an empty file whose name is made from `path`. -1: see errno. */
static int open_temp(OutputFile *file, const char *path)
{
    char *folder = file_name_folder(path);
    char *prefix = prefix_of(file_name_base(path), file->room);
    int ret = folder && prefix ? 0 : -1;
    errno = ENOMEM;
    for (int i = 0; ret == 0 && i < NAME_TRIES; i++) {
        char *name = av_asprintf("%s/%s%08x" ENDING, folder, prefix, av_get_random_seed());
        ret = name ? create_temp(file, name, path) : -1;
        av_free(name);
    }
    const int reason = ret == 0 ? EEXIST : errno;
    av_free(prefix);
    av_free(folder);
    errno = reason;
    return ret > 0 ? 0 : -1;
}

static void close_temp(TempFile *temp, bool removes)
{
    release_note(temp->note, removes);
    close(temp->fd);
    *temp = (TempFile){0};
}

/* Like fsync(), but notes activity whenever a chunk has reached the disk. */
static int sync_temp(int fd)
{
    struct stat file;
    const off_t size = fstat(fd, &file) == 0 ? file.st_size : 0;
    const unsigned how = SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    for (off_t at = 0; at < size && sync_file_range(fd, at, SYNC_BYTES, how) == 0; at += SYNC_BYTES)
        activity_note();
    return fsync(fd);
}

/* Syncs the folder, so that a renamed file survives a power loss; best effort. */
static void sync_folder(const char *path)
{
    char *folder = file_name_folder(path);
    const int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    av_free(folder);
    if (fd < 0)
        return;
    (void)fsync(fd); /* not supported everywhere; the file itself is safe */
    close(fd);
}

/* ---- paths ---- */

/* Longest chain of symbolic links, as in Linux. */
#define MAX_LINKS 40

/* True if the path must be written directly, such as a pipe that /dev/stdout links to. */
static bool is_special(const char *path)
{
    struct stat there;
    return strcmp(path, "-") == 0 || (stat(path, &there) == 0 && !S_ISREG(there.st_mode));
}

/* Resolves symbolic links, even if the last one points to a missing file. NULL: see errno. */
static char *resolve(const char *path)
{
    char target[PATH_MAX], *name = av_strdup(path);
    for (int i = 0; name && i < MAX_LINKS; i++) {
        const ssize_t n = is_special(name) ? 0 : readlink(name, target, sizeof(target) - 1);
        if (n <= 0)
            return name;
        target[n] = '\0';
        const int before = target[0] == '/' ? 0 : (int)(file_name_base(name) - name);
        char *next = av_asprintf("%.*s%s", before, name, target);
        av_free(name);
        name = next;
    }
    errno = name ? ELOOP : ENOMEM;
    av_free(name);
    return NULL;
}

int output_file_place(const char *path, char place[PATH_MAX])
{
    char *name = resolve(path);
    char *folder = name && !is_special(name) ? file_name_folder(name) : NULL;
    const int special = name && is_special(name);
    if (folder || special)
        av_strlcpy(place, special ? name : folder, PATH_MAX);
    av_free(folder);
    av_free(name);
    return folder || special ? 0 : -1;
}

/* Checks that the folder allows names as long as the output's and the temporary file's. */
static int check_name(OutputFile *file, const char *path, const char *folder, MediaError *error)
{
    const size_t length = strlen(file_name_base(file->path));
    file->room = file_name_room(folder);
    if (length > file->room)
        return media_fail(error, MEDIA_OUTPUT,
                          "cannot write %s: its name has %zu bytes, but the folder allows %zu",
                          media_quote(path), length, file->room);
    struct stat there;
    if (lstat(file->path, &there) < 0 && errno != ENOENT) /* some file systems have a lower limit */
        return media_fail(error, MEDIA_OUTPUT, "cannot write %s: %s", media_quote(path),
                          strerror(errno));
    if (file->room < TEMP_NAME_ROOM)
        return media_fail(error, MEDIA_OUTPUT,
                          "cannot write %s: its folder allows names of %zu bytes, but the "
                          "temporary name needs %d",
                          media_quote(path), file->room, TEMP_NAME_ROOM);
    return 0;
}

static int check_folder(OutputFile *file, const char *path, MediaError *error)
{
    char *folder = file_name_folder(file->path);
    if (!folder)
        return media_no_memory(error, MEDIA_OUTPUT);
    struct stat there;
    int ret = 0;
    errno = 0;
    if (stat(folder, &there) < 0 || !S_ISDIR(there.st_mode) || access(folder, W_OK | X_OK) < 0)
        ret = media_fail(error, MEDIA_OUTPUT, "cannot write into the folder %s: %s",
                         media_quote(folder), strerror(errno ? errno : ENOTDIR));
    else
        ret = check_name(file, path, folder, error);
    av_free(folder);
    return ret;
}

int output_file_check(OutputFile *file, const char *path, int overwrite, const struct stat *input,
                      MediaError *error)
{
    if (strcmp(path, "-") == 0) {
        file->path = av_strdup(path);
        return file->path ? 0 : media_no_memory(error, MEDIA_OUTPUT);
    }
    errno = 0;
    file->path = resolve(path);
    if (!file->path)
        return media_fail(error, MEDIA_OUTPUT, "cannot write %s: %s", media_quote(path),
                          strerror(errno));
    struct stat there;
    file->overwrite = overwrite;
    if (stat(file->path, &there) < 0) {
        if (errno == ENAMETOOLONG && strlen(file->path) >= PATH_MAX)
            return media_fail(error, MEDIA_OUTPUT,
                              "cannot write %s: its path has %zu bytes, but only %d are allowed",
                              media_quote(path), strlen(file->path), PATH_MAX - 1);
        return check_folder(file, path, error);
    }
    if (S_ISDIR(there.st_mode))
        return media_fail(error, MEDIA_USAGE, "the output %s is a directory", media_quote(path));
    if (!S_ISREG(there.st_mode))
        return 0;
    if (input && input->st_dev == there.st_dev && input->st_ino == there.st_ino)
        return media_fail(error, MEDIA_USAGE, "the output %s is the input", media_quote(path));
    if (!overwrite)
        return media_fail(error, MEDIA_USAGE, "the output %s exists; -y overwrites it",
                          media_quote(path));
    return check_folder(file, path, error);
}

int output_file_check_free(OutputFile *file, const char *path, MediaError *error)
{
    file->path = av_strdup(path);
    if (!file->path)
        return media_no_memory(error, MEDIA_OUTPUT);
    return check_folder(file, path, error);
}

int output_file_replace(OutputFile *file, const char *path, MediaError *error)
{
    file->overwrite = 1;
    const int ret = output_file_check_free(file, path, error);
    return ret < 0 ? ret : output_file_open(file, error);
}

int output_file_save(const char *path, const void *bytes, size_t size, MediaError *error)
{
    OutputFile file = {0};
    int ret = output_file_replace(&file, path, error);
    if (ret >= 0)
        ret = output_file_write(&file, bytes, size, error);
    if (ret >= 0)
        ret = output_file_commit(&file, OUTPUT_REPLACE, error);
    output_file_close(&file);
    return ret;
}

bool output_file_is_terminal(const OutputFile *file)
{
    struct stat there;
    if (strcmp(file->path, "-") == 0)
        return isatty(STDOUT_FILENO);
    if (stat(file->path, &there) < 0 || !S_ISCHR(there.st_mode))
        return false;
    const int fd = open(file->path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    const bool is = fd >= 0 && isatty(fd);
    if (fd >= 0)
        close(fd);
    return is;
}

/* ---- opening ---- */

/* After a stop request, the reader of a pipe has this time to empty it. */
#define PATIENCE_MS 500

/* Interval for checking whether a pipe has a reader. */
#define READER_US 10000

/* Waits until the reader has emptied the pipe. Then a write that fits into the pipe cannot block.
 * Returns false after PATIENCE_MS. */
static bool wait_emptied(int fd)
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
        return !wait_emptied(STDOUT_FILENO);
    const int fd = open(file->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    const int emptied = fd >= 0 && wait_emptied(fd);
    if (fd >= 0)
        close(fd);
    return !emptied;
}

/* Waits for a reader. A blocking open() could miss a stop request that comes just before it. */
static int open_fifo(OutputFile *file)
{
    int fd;
    while ((fd = open(file->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0 &&
           (errno == ENXIO || errno == EINTR)) {
        if (file->stop && atomic_load(file->stop))
            return AVERROR_EXIT;
        av_usleep(READER_US);
    }
    if (fd < 0)
        return AVERROR(errno);
    file->fifo = fd;
    return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) < 0 ? AVERROR(errno) : 0;
}

int output_file_open(OutputFile *file, MediaError *error)
{
    const int direct = !file->room;
    struct stat there;
    int ret = 0;
    if (direct && !is_special(file->path))
        ret = AVERROR(EEXIST);
    else if (direct && stat(file->path, &there) == 0 && S_ISFIFO(there.st_mode))
        ret = open_fifo(file);
    else if (!direct) {
        const char *like = file->temp_like ? file->temp_like : file->path;
        if (!file->keeps_leftovers)
            output_file_remove_leftovers(like);
        if (open_temp(file, like) < 0)
            ret = AVERROR(errno);
    }
    if (ret >= 0) {
        const int pipe = strcmp(file->path, "-") == 0 ? STDOUT_FILENO : file->fifo;
        char *url = pipe ? av_asprintf("pipe:%d", pipe)
                         : av_asprintf("file:%s", direct ? file->path : file->temp.name);
        const AVIOInterruptCB interrupt = {stopped, file};
        ret = url ? avio_open2(&file->io, url, AVIO_FLAG_WRITE, direct ? &interrupt : NULL, NULL)
                  : AVERROR(ENOMEM);
        av_free(url);
    }
    if (ret < 0)
        return media_fail(error, MEDIA_OUTPUT, "cannot write %s: %s", media_quote(file->path),
                          ret == AVERROR_EXIT ? "no program reads this pipe" : media_av_text(ret));
    return 0;
}

int64_t output_file_bytes(const OutputFile *file)
{
    const bool can_seek = file->io && (file->io->seekable & AVIO_SEEKABLE_NORMAL);
    const int64_t size = can_seek ? avio_size(file->io) : -1;
    return file->io ? FFMAX(size, avio_tell(file->io)) : 0;
}

/* ---- writing ---- */

static int fail_write(const OutputFile *file, int averror, MediaError *error)
{
    return media_fail(error, MEDIA_OUTPUT, "cannot write %s: %s", media_quote(file->path),
                      media_av_text(averror));
}

int output_file_open_null(OutputFile *file, MediaError *error)
{
    const int ret = avio_open(&file->io, "file:/dev/null", AVIO_FLAG_WRITE);
    return ret < 0 ? fail_write(file, ret, error) : 0;
}

int output_file_fail(const OutputFile *file, int averror, MediaError *error)
{
    const char *detail = media_log_error();
    return media_fail(error, MEDIA_OUTPUT, "cannot write %s: %s%s%s", media_quote(file->path),
                      media_av_text(averror), detail[0] ? "; " : "", detail);
}

int output_file_write(OutputFile *file, const void *bytes, size_t size, MediaError *error)
{
    avio_write(file->io, bytes, (int)size);
    return file->io->error < 0 ? fail_write(file, file->io->error, error) : 0;
}

int output_file_refuses(int averror)
{
    return averror == AVERROR_INVALIDDATA || averror == AVERROR_PATCHWELCOME ||
           averror == AVERROR(EINVAL);
}

void output_file_print(OutputFile *file, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    avio_vprintf(file->io, format, args);
    va_end(args);
}

bool output_file_has_failed(const OutputFile *file)
{
    return file->io->error != 0;
}

int output_file_flush(OutputFile *file, MediaError *error)
{
    avio_flush(file->io);
    return file->io->error < 0 ? fail_write(file, file->io->error, error) : 0;
}

/* ---- the end ---- */

/* Highest number to try in names such as NAME-2.EXT. */
#define MAX_NUMBER 9999

/* Fails with EEXIST if the new name exists. */
static int rename_new(const char *from, const char *to)
{
#ifdef RENAME_NOREPLACE
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
#endif
    /* Not every file system has RENAME_NOREPLACE: reserve the name first. */
    const int fd = open(to, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0)
        return -1;
    close(fd);
    if (rename(from, to) == 0)
        return 0;
    const int reason = errno;
    unlink(to);
    errno = reason;
    return -1;
}

/* Renames the temporary file to the first free name: "NAME.EXT" for number 1, "NAME-2.EXT", ...,
 * each with `word` after NAME. The first number to try is `number`. */
static int take_free_name(OutputFile *file, const char *word, int number)
{
    for (; number <= MAX_NUMBER; number++) {
        char with[32] = "";
        snprintf(with, sizeof(with), number == 1 ? "%s" : "%s-%d", word, number);
        char *name = file_name_with(file->path, with, file->room);
        errno = ENOMEM;
        if (name && rename_new(file->temp.name, name) == 0) {
            file->name = name;
            return 0;
        }
        av_free(name);
        if (errno != EEXIST)
            break;
    }
    return -1;
}

/* With OUTPUT_OWN_NAME, gives the file its own name. Otherwise, or if that fails, a free name. */
static int take_name(OutputFile *file, OutputName kind, MediaError *error)
{
    int named = -1;
    if (!note_is_valid(file->temp.note))
        return media_fail(error, MEDIA_OUTPUT, "cannot rename the temporary file of %s",
                          media_quote(file->path));
    if (kind == OUTPUT_OWN_NAME) {
        named = file->overwrite ? rename(file->temp.name, file->path)
                                : rename_new(file->temp.name, file->path);
        if (named == 0)
            file->name = av_strdup(file->path);
        else if (errno == EEXIST && !file->overwrite)
            media_fail(error, MEDIA_OUTPUT, "%s was created in the meantime and was not replaced",
                       media_quote(file->path));
        else
            media_fail(error, MEDIA_OUTPUT, "cannot rename the temporary file to %s: %s",
                       media_quote(file->path), strerror(errno));
    }
    if (named < 0)
        named = take_free_name(file, kind == OUTPUT_PARTIAL ? ".partial" : "",
                               kind == OUTPUT_OWN_NAME ? 2 : 1);
    if (named < 0)
        media_fail(error, MEDIA_OUTPUT, "cannot rename the temporary file of %s: %s",
                   media_quote(file->path), strerror(errno));
    return named;
}

/* If the file cannot be renamed, makes it read-only, so that no later run removes it as a
 * leftover. */
static int give_name(OutputFile *file, OutputName kind, MediaError *error)
{
    struct stat about;
    if (take_name(file, kind, error) >= 0) {
        sync_folder(file->path);
    } else {
        file->name = note_is_valid(file->temp.note) ? av_strdup(file->temp.name) : NULL;
        if (fstat(file->temp.fd, &about) == 0)
            (void)fchmod(file->temp.fd, about.st_mode & 0555);
    }
    close_temp(&file->temp, false);
    if (error->fault && file->name)
        media_add(error, "; %s %s",
                  kind != OUTPUT_PARTIAL ? "the finished file is" : "the part written so far is in",
                  media_quote(file->name));
    else if (error->fault)
        media_add(error, "; it was moved or deleted while it was written");
    return error->fault;
}

/* FFmpeg does not close a pipe it was given as a descriptor. */
static int close_io(OutputFile *file)
{
    int ret = avio_closep(&file->io);
    if (file->fifo && close(file->fifo) < 0 && ret >= 0)
        ret = AVERROR(errno);
    file->fifo = 0;
    return ret;
}

/* Copies the permissions of the replaced file without set-uid, set-gid and the sticky bit. If owner
 * or group differ, the umask still applies. */
static void copy_mode(const OutputFile *file)
{
    struct stat old, now;
    if (!find_replaced(file, &old) || fstat(file->temp.fd, &now) < 0)
        return;
    const bool is_ours = old.st_uid == now.st_uid && old.st_gid == now.st_gid;
    (void)fchmod(file->temp.fd, old.st_mode & (is_ours ? 0777 : now.st_mode & 0777));
}

int output_file_commit(OutputFile *file, OutputName kind, MediaError *error)
{
    const int ret = output_file_flush(file, error);
    const int closed = close_io(file);
    if (!file->temp.name || (ret < 0 && kind != OUTPUT_PARTIAL))
        return ret >= 0 && closed < 0 ? fail_write(file, closed, error) : ret;
    copy_mode(file);
    int synced = closed;
    if (synced >= 0 && sync_temp(file->temp.fd) < 0)
        synced = AVERROR(errno);
    if (kind == OUTPUT_REPLACE) {
        if (synced < 0 || rename(file->temp.name, file->path) < 0)
            return fail_write(file, synced < 0 ? synced : AVERROR(errno), error);
        sync_folder(file->path);
        close_temp(&file->temp, false);
        return 0;
    }
    if (synced < 0) {
        (void)fail_write(file, synced, error);
        kind = OUTPUT_PARTIAL;
    }
    struct stat about;
    if (kind == OUTPUT_OWN_NAME && file->whole && fstat(file->temp.fd, &about) == 0 &&
        file->whole(file->opaque, &about, error) < 0)
        return error->fault;
    return give_name(file, kind, error);
}

void output_file_close(OutputFile *file)
{
    (void)close_io(file); /* errors were reported, or the file is discarded */
    if (file->temp.name)
        close_temp(&file->temp, true); /* keeps another file that has this name now */
    av_freep(&file->name);
    av_freep(&file->path);
}
