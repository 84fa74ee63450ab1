#include "media/output/temp_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libavutil/avstring.h>
#include <libavutil/common.h>
#include <libavutil/crc.h>
#include <libavutil/mem.h>
#include <libavutil/random_seed.h>

#include "media/activity.h"
#include "media/error.h"

#define NAME_TRIES 100
#define MOST_FILES 64
#define SYNC_BYTES (8 << 20) /* a slow USB stick needs 2 seconds for this */

/* ".NAME.lumeq-0123abcd.part"; a NAME that is too long is cut and gets "~" and its checksum. */
#define MARK ".lumeq-"
#define DIGITS 8
#define ENDING ".part"

/* ---- registry of temporary files, for a signal handler ---- */

typedef enum NoteState {
    NOTE_FREE,  /* can be reused */
    NOTE_LIVE,  /* the file exists; its owner or the handler may take the note */
    NOTE_TAKEN, /* owned by one thread, which may change it */
} NoteState;

/* The handler keeps the notes it takes. */
typedef struct TempNote {
    atomic_int state;
    dev_t device;
    ino_t inode;
    char name[PATH_MAX];
    char path[MEDIA_QUOTED]; /* the output path, quoted */
} TempNote;

static TempNote notes[MOST_FILES];

static int take_note(TempNote *note, NoteState from)
{
    int expected = from;
    return atomic_compare_exchange_strong(&note->state, &expected, NOTE_TAKEN);
}

/* NULL: no note is free. */
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

static int note_is_valid(const TempNote *note)
{
    struct stat there;
    return lstat(note->name, &there) == 0 && there.st_dev == note->device &&
           there.st_ino == note->inode;
}

/* Frees the owner's note and removes the file if `removes`. A note taken by the handler stays
 * taken. */
static void release_note(TempNote *note, int removes)
{
    if (!take_note(note, NOTE_LIVE))
        return;
    if (removes && note_is_valid(note))
        (void)unlink(note->name);
    atomic_store(&note->state, NOTE_FREE);
}

void temp_file_remove_all(void (*removed)(const char *path))
{
    for (TempNote *note = notes; note < notes + MOST_FILES; note++)
        if (take_note(note, NOTE_LIVE) && note_is_valid(note) && unlink(note->name) == 0 && removed)
            removed(note->path);
}

/* ---- leftovers ---- */

/* True if the open file has this name; `*file` receives its status. */
static int has_name(int fd, const char *name, struct stat *file)
{
    struct stat there;
    return fstat(fd, file) == 0 && lstat(name, &there) == 0 && file->st_dev == there.st_dev &&
           file->st_ino == there.st_ino;
}

static void remove_leftover(const char *name)
{
    struct stat there;
    if (lstat(name, &there) < 0 || !S_ISREG(there.st_mode))
        return;
    const int fd = open(name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && has_name(fd, name, &there) && S_ISREG(there.st_mode) &&
        there.st_uid == geteuid() && (there.st_mode & S_IWUSR))
        unlink(name);
    close(fd);
}

/* ---- permissions ---- */

static int is_replaced(const char *path, struct stat *old)
{
    return path && stat(path, old) == 0 && S_ISREG(old->st_mode);
}

/* The file's creation mode respects the umask. */
void temp_file_take_mode(int fd, const char *replaces)
{
    struct stat old, file;
    if (!is_replaced(replaces, &old) || fstat(fd, &file) < 0)
        return;
    const int is_ours = old.st_uid == file.st_uid && old.st_gid == file.st_gid;
    (void)fchmod(fd, old.st_mode & (is_ours ? 0777 : file.st_mode & 0777));
}

/* ---- one file ---- */

/* ".NAME.lumeq-" */
static char *prefix_of(const char *base, size_t room)
{
    const size_t fixed = strlen("." MARK ENDING) + DIGITS, length = strlen(base);
    if (room > NAME_MAX) /* the limit may count characters of unknown size */
        room = NAME_MAX;
    if (fixed + length <= room)
        return av_asprintf(".%s" MARK, base);
    const uint32_t sum = av_crc(av_crc_get_table(AV_CRC_32_IEEE), 0, (const uint8_t *)base, length);
    return av_asprintf(".%.*s~%08x" MARK, (int)file_name_cut(base, room - fixed - DIGITS - 1), base,
                       sum);
}

void temp_file_remove_leftovers(const char *path, size_t room)
{
    char *folder = file_name_folder(path), *prefix = prefix_of(file_name_base(path), room);
    DIR *entries = folder && prefix ? opendir(folder) : NULL;
    const struct dirent *entry;
    while (entries && (entry = readdir(entries))) {
        const char *rest = entry->d_name;
        const int is_leftover = av_strstart(rest, prefix, &rest) &&
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

/* Locks a new file, if its file system can. Returns 0 if another run has removed it as a leftover.
 */
static int lock(int fd, const char *name)
{
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return errno != EWOULDBLOCK; /* other errors mean that locks are not supported */
    struct stat file;
    return has_name(fd, name, &file);
}

/* Returns 1 on success, 0 to try another name, -1 with errno. */
static int create(TempFile *temp, const char *name, const char *path, const char *replaces)
{
    struct stat old;
    /* The owner needs both bits because the muxer opens the file again by name. */
    const mode_t mode =
        is_replaced(replaces, &old) ? (old.st_mode & 0777) | S_IRUSR | S_IWUSR : 0666;
    const int fd = open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode);
    if (fd < 0)
        return errno == EEXIST ? 0 : -1;
    TempNote *note = register_file(fd, name, path);
    if (note && lock(fd, name)) {
        *temp = (TempFile){.name = note->name, .fd = fd, .note = note};
        return 1;
    }
    if (!note)
        unlink(name);
    else
        release_note(note, 0);
    close(fd);
    errno = ENOMEM;
    return note ? 0 : -1;
}

int temp_file_create(TempFile *temp, const char *path, const char *replaces, size_t room)
{
    char *folder = file_name_folder(path);
    char *prefix = prefix_of(file_name_base(path), room);
    int ret = folder && prefix ? 0 : -1;
    errno = ENOMEM;
    for (int i = 0; ret == 0 && i < NAME_TRIES; i++) {
        char *name = av_asprintf("%s/%s%08x" ENDING, folder, prefix, av_get_random_seed());
        ret = name ? create(temp, name, path, replaces) : -1;
        av_free(name);
    }
    const int reason = ret == 0 ? EEXIST : errno;
    av_free(prefix);
    av_free(folder);
    errno = reason;
    return ret > 0 ? 0 : -1;
}

int temp_file_has_name(const TempFile *temp)
{
    return note_is_valid(temp->note);
}

char *temp_file_where(const TempFile *temp)
{
    struct stat file;
    char link[32], name[PATH_MAX];
    if (temp_file_has_name(temp))
        return av_strdup(temp->name);
    if (fstat(temp->fd, &file) < 0 || file.st_nlink == 0)
        return NULL;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", temp->fd);
    const ssize_t n = readlink(link, name, sizeof(name));
    return n > 0 ? av_strndup(name, (size_t)n) : NULL;
}

void temp_file_keep(TempFile *temp, int own)
{
    struct stat file;
    release_note(temp->note, 0);
    if (own && fstat(temp->fd, &file) == 0)
        (void)fchmod(temp->fd, file.st_mode & 0555);
    close(temp->fd);
    *temp = (TempFile){0};
}

void temp_file_remove(TempFile *temp)
{
    if (!temp->name)
        return;
    release_note(temp->note, 1);
    close(temp->fd);
    *temp = (TempFile){0};
}

int temp_file_sync(int fd)
{
    struct stat file;
    const off_t size = fstat(fd, &file) == 0 ? file.st_size : 0;
    const unsigned how = SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    for (off_t at = 0; at < size && sync_file_range(fd, at, SYNC_BYTES, how) == 0; at += SYNC_BYTES)
        activity_note();
    return fsync(fd);
}

void temp_file_sync_folder(const char *path)
{
    char *folder = file_name_folder(path);
    const int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    av_free(folder);
    if (fd < 0)
        return;
    (void)fsync(fd); /* not supported everywhere; the file itself is safe */
    close(fd);
}

/* ---- file name ---- */

/* Longer extensions are parts of a name with a dot. */
#define MAX_EXTENSION 32

char *file_name_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return av_strdup(".");
    return slash == path ? av_strdup("/") : av_strndup(path, (size_t)(slash - path));
}

const char *file_name_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

size_t file_name_room(const char *folder)
{
    const size_t before = strlen(folder) + 1; /* including the slash */
    const long most = pathconf(folder, _PC_NAME_MAX);
    const size_t name = most > 0 ? (size_t)most : NAME_MAX;
    const size_t left = before < PATH_MAX - 1 ? PATH_MAX - 1 - before : 0;
    return name < left ? name : left;
}

size_t file_name_cut(const char *name, size_t most)
{
    size_t end = strlen(name);
    if (end <= most)
        return end;
    end = most;
    for (int i = 0; i < 3 && end > 0 && ((unsigned char)name[end] & 0xc0) == 0x80; i++)
        end--;
    return end;
}

/* Returns the extension, or the end of the name. A leading dot marks a hidden file. */
static const char *extension_of(const char *base)
{
    const char *dot = strrchr(base, '.');
    return dot && dot != base && strlen(dot) <= MAX_EXTENSION ? dot : base + strlen(base);
}

char *file_name_with(const char *path, const char *word, size_t room)
{
    const char *base = file_name_base(path), *extension = extension_of(base);
    const size_t added = strlen(word) + strlen(extension);
    char *stem = av_strndup(base, (size_t)(extension - base));
    if (!stem)
        return NULL;
    const size_t length = file_name_cut(stem, room > added ? room - added : 0);
    char *name =
        av_asprintf("%.*s%.*s%s%s", (int)(base - path), path, (int)length, stem, word, extension);
    av_free(stem);
    return name;
}
