#include "media/output/kept_pieces.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libavutil/avstring.h>
#include <libavutil/mem.h>

#include "media/checksum.h"
#include "media/output/file_name.h"
#include "media/regular_file.h"

/* The list has the bytes and time of each piece, then a slash, the name, and a NUL, since names may
 * have any other character. */
#define LINE "%" PRId64 " %" PRId64 "/"
#define LINE_SCAN "%" SCNd64 " %" SCNd64 "/%n"

typedef struct Piece {
    char *path;
    int64_t bytes, written_ns;
} Piece;

struct KeptPieces {
    char *folder, *list; /* `folder`: "", or it ends in a slash; `list`: path of the list on disk */
    Piece *pieces;       /* oldest first */
    int count;
    int64_t limit, deleted;
    void (*note)(const char *line); /* or NULL */
    int has_complained;
};

static int64_t time_of(const struct stat *file)
{
    return (int64_t)file->st_mtim.tv_sec * 1000000000 + file->st_mtim.tv_nsec;
}

/* True if the file is there, and nobody has changed or replaced it. */
static int is_ours(const Piece *piece)
{
    struct stat file;
    return lstat(piece->path, &file) == 0 && S_ISREG(file.st_mode) &&
           file.st_size == piece->bytes && time_of(&file) == piece->written_ns;
}

/* Returns 0 or an errno. */
static int append(KeptPieces *k, const char *name, int64_t bytes, int64_t written_ns)
{
    char *path = av_asprintf("%s%s", k->folder, name);
    Piece *more = path ? av_realloc_array(k->pieces, (size_t)k->count + 1, sizeof(*more)) : NULL;
    if (!more) {
        av_free(path);
        return ENOMEM;
    }
    k->pieces = more;
    more[k->count++] = (Piece){path, bytes, written_ns};
    return 0;
}

static void forget(KeptPieces *k, int at)
{
    av_free(k->pieces[at].path);
    k->count--;
    memmove(k->pieces + at, k->pieces + at + 1, (size_t)(k->count - at) * sizeof(*k->pieces));
}

/* Reads the list, which may be missing. Returns 0 or an errno. */
static int read_list(KeptPieces *k)
{
    FILE *list = regular_file_stream(k->list, O_NOFOLLOW);
    int ret = list || errno == ENOENT ? 0 : errno ? errno : EINVAL;
    char *line = NULL;
    size_t room = 0;
    while (list && !ret && getdelim(&line, &room, '\0', list) > 0) {
        int64_t bytes, written_ns;
        int length = 0;
        if (sscanf(line, LINE_SCAN, &bytes, &written_ns, &length) < 2 || !length ||
            strchr(line + length, '/'))
            continue;
        ret = append(k, line + length, bytes, written_ns);
        if (!ret && !is_ours(&k->pieces[k->count - 1]))
            forget(k, k->count - 1);
    }
    free(line);
    if (list)
        (void)fclose(list);
    return ret;
}

int kept_pieces_open(KeptPieces **kept, const char *pattern, int64_t limit,
                     void (*note)(const char *line), MediaError *error)
{
    KeptPieces *k = *kept = av_mallocz(sizeof(*k));
    const char *base = file_name_base(pattern);
    if (!k)
        return media_no_memory(error, MEDIA_OUTPUT);
    k->limit = limit;
    k->note = note;
    k->folder = av_strndup(pattern, (size_t)(base - pattern));
    if (k->folder)
        k->list = av_asprintf("%s.lumeq-pieces-%08x", k->folder, checksum(0, base, strlen(base)));
    const int ret = k->list ? read_list(k) : ENOMEM;
    return !ret ? 0
                : media_fail(error, MEDIA_OUTPUT, "--keep cannot read %s, its list of pieces: %s",
                             media_quote(k->list ? k->list : pattern), strerror(ret));
}

/* Reports the first problem only. */
static void complain(KeptPieces *k, const char *what, const char *path, int reason)
{
    char line[512];
    snprintf(line, sizeof(line), "--keep cannot %s %s: %s", what, media_quote(path),
             strerror(reason));
    if (k->note && !k->has_complained++)
        k->note(line);
}

/* Appends a piece to the list on disk. Returns 0 or an errno. */
static int write_line(const KeptPieces *k, const char *name, const struct stat *file)
{
    const int flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    const int fd = open(k->list, flags, 0666);
    const int failed =
        fd < 0 || dprintf(fd, LINE "%s%c", (int64_t)file->st_size, time_of(file), name, '\0') < 0 ||
        fdatasync(fd) < 0;
    const int reason = failed ? errno : 0;
    if (fd >= 0)
        (void)close(fd);
    return reason;
}

/* Deletes the oldest pieces, but never the newest one. Appends their names to `names`. */
static void delete_oldest(KeptPieces *k, char *names, size_t size)
{
    int64_t bytes = 0;
    for (int i = 0; i < k->count; i++)
        bytes += k->pieces[i].bytes;
    for (int i = 0; i < k->count - 1 && bytes > k->limit;) {
        const Piece *old = &k->pieces[i];
        const int deletes = is_ours(old);
        if (deletes && unlink(old->path) < 0) {
            complain(k, "delete", old->path, errno);
            i++;
            continue;
        }
        if (deletes)
            av_strlcatf(names, size, "%s%s", *names ? ", " : "", media_quote(old->path));
        k->deleted += deletes;
        bytes -= old->bytes;
        forget(k, i);
    }
}

void kept_pieces_add(KeptPieces *k, const char *path)
{
    const char *name = file_name_base(path);
    const int is_first = !k->deleted;
    char names[1024] = "", line[1200];
    struct stat file;
    for (int i = k->count - 1; i >= 0; i--)
        if (strcmp(file_name_base(k->pieces[i].path), name) == 0)
            forget(k, i); /* it was replaced */
    int ret = lstat(path, &file) < 0 ? errno : append(k, name, file.st_size, time_of(&file));
    ret = ret ? ret : write_line(k, name, &file);
    if (ret)
        complain(k, "list", path, ret);
    delete_oldest(k, names, sizeof(names));
    snprintf(line, sizeof(line), "--keep deletes the oldest pieces of this recording, first %s",
             names);
    if (is_first && *names && k->note)
        k->note(line);
}

int64_t kept_pieces_deleted(const KeptPieces *k)
{
    return k ? k->deleted : 0;
}

void kept_pieces_close(KeptPieces **kept)
{
    KeptPieces *k = *kept;
    if (!k)
        return;
    while (k->count)
        forget(k, k->count - 1);
    av_free(k->pieces);
    av_free(k->folder);
    av_free(k->list);
    av_freep(kept);
}
