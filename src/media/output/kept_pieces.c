#include "media/output/kept_pieces.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <libavutil/avstring.h>
#include <libavutil/mem.h>

#include "media/output/file_name.h"

typedef struct Piece {
    char *path;
    int64_t bytes;
    struct timespec written;
} Piece;

struct KeptPieces {
    Piece *pieces; /* oldest first */
    int count;
    int64_t bytes, limit; /* of all pieces */
    int64_t deleted;
};

/* True for a name that the pattern gives for some time, or that name with a number, as in
 * NAME-2.EXT. */
static int is_piece_name(const char *pattern, const char *name)
{
    char plain[NAME_MAX + 1], again[NAME_MAX + 1];
    const char *dot = strrchr(name, '.'), *end = dot ? dot : name + strlen(name), *digits = end;
    for (int has_number = 0; has_number < 2; has_number++) {
        struct tm time = {.tm_mday = 1};
        const int length = (int)((has_number ? digits - 1 : end) - name);
        if (snprintf(plain, sizeof(plain), "%.*s%s", length, name, end) < (int)sizeof(plain)) {
            const char *rest = strptime(plain, pattern, &time);
            if (rest && !*rest && strftime(again, sizeof(again), pattern, &time) > 0 &&
                strcmp(again, plain) == 0)
                return 1;
        }
        while (digits > name && av_isdigit(digits[-1]))
            digits--;
        if (digits == end || digits == name || digits[-1] != '-')
            return 0;
    }
    return 0;
}

/* Takes ownership of the path, which may be NULL. */
static int append(KeptPieces *k, char *path, int64_t bytes, struct timespec written)
{
    Piece *more = path ? av_realloc_array(k->pieces, (size_t)k->count + 1, sizeof(*more)) : NULL;
    if (!more) {
        av_free(path);
        return ENOMEM;
    }
    k->pieces = more;
    more[k->count++] = (Piece){path, bytes, written};
    k->bytes += bytes;
    return 0;
}

static void forget(KeptPieces *k, int at)
{
    k->bytes -= k->pieces[at].bytes;
    av_free(k->pieces[at].path);
    k->count--;
    memmove(k->pieces + at, k->pieces + at + 1, (size_t)(k->count - at) * sizeof(*k->pieces));
}

static int compare_age(const void *a, const void *b)
{
    const Piece *one = a, *other = b;
    const struct timespec x = one->written, y = other->written;
    return x.tv_sec != y.tv_sec     ? (x.tv_sec > y.tv_sec ? 1 : -1)
           : x.tv_nsec != y.tv_nsec ? (x.tv_nsec > y.tv_nsec ? 1 : -1)
                                    : strcmp(one->path, other->path);
}

/* Returns 0 or an errno. */
static int list(KeptPieces *k, const char *path, const char *pattern)
{
    int ret = 0;
    DIR *folder = opendir(path);
    if (!folder)
        return errno;
    for (struct dirent *entry; !ret && (entry = readdir(folder));) {
        struct stat file;
        if (is_piece_name(pattern, entry->d_name) &&
            fstatat(dirfd(folder), entry->d_name, &file, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(file.st_mode))
            ret = append(k, av_asprintf("%s/%s", path, entry->d_name), file.st_size, file.st_mtim);
    }
    closedir(folder);
    if (k->count)
        qsort(k->pieces, (size_t)k->count, sizeof(*k->pieces), compare_age);
    return ret;
}

int kept_pieces_open(KeptPieces **kept, const char *pattern, int64_t limit, MediaError *error)
{
    KeptPieces *k = *kept = av_mallocz(sizeof(*k));
    char *folder = file_name_folder(pattern);
    int ret = k && folder ? list(k, folder, file_name_base(pattern)) : ENOMEM;
    if (ret)
        media_fail(error, MEDIA_OUTPUT, "--keep cannot list the folder of %s: %s",
                   media_quote(pattern), strerror(ret));
    else
        k->limit = limit;
    av_free(folder);
    return ret ? error->fault : 0;
}

int kept_pieces_add(KeptPieces *k, const char *path, int64_t bytes, const char **failed)
{
    for (int i = 0; i < k->count; i++)
        if (strcmp(file_name_base(k->pieces[i].path), file_name_base(path)) == 0)
            forget(k, i); /* it was replaced */
    int ret = append(k, av_strdup(path), bytes, (struct timespec){0});
    *failed = path;
    for (int i = 0; i < k->count - 1 && k->bytes > k->limit;) {
        const int gone = unlink(k->pieces[i].path) == 0;
        k->deleted += gone;
        if (gone || errno == ENOENT) {
            forget(k, i);
            continue;
        }
        *failed = ret ? *failed : k->pieces[i].path;
        ret = ret ? ret : errno;
        i++;
    }
    return ret;
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
    av_freep(kept);
}
