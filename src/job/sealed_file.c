#include "job/sealed_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "media/regular_file.h"

/* The first bytes of the file; the last four are the size of the text. */
static const char magic[SEALED_FILE_HEAD] = "lumeqJOB";

#define MOST_TEXT ((int64_t)64 << 10)

int sealed_file_create(AtomicFile *f, const char *path, MediaError *error)
{
    const int ret = atomic_file_open(f, path, error);
    return ret < 0 ? ret : atomic_file_write(f, magic, sizeof(magic), error);
}

int sealed_file_commit(AtomicFile *f, KeyText *text, MediaError *error)
{
    (void)key_text_end(text);
    const uint32_t size = (uint32_t)text->size;
    int ret = text->failed ? media_fail(error, MEDIA_OUTPUT, "out of memory")
                           : atomic_file_write(f, text->text, text->size, error);
    if (ret >= 0)
        ret = atomic_file_write(f, &size, sizeof(size), error);
    key_text_free(text);
    return ret < 0 ? ret : atomic_file_commit(f, error);
}

int sealed_file_fail(const SealedFile *f, const char *why, MediaError *error)
{
    return media_fail(error, MEDIA_INPUT, "%s is not whole: %s", media_quote(f->path), why);
}

int sealed_file_read(const SealedFile *f, void *to, size_t size, int64_t position,
                     MediaError *error)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t n =
            pread(f->fd, (uint8_t *)to + done, size - done, (off_t)(position + (int64_t)done));
        if (n == 0)
            return sealed_file_fail(f, "it is too short", error);
        if (n < 0 && errno != EINTR)
            return media_fail(error, MEDIA_INPUT, "cannot read %s: %s", media_quote(f->path),
                              strerror(errno));
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* `end`: of the file. */
static int read_text(SealedFile *f, int64_t end, MediaError *error)
{
    char head[SEALED_FILE_HEAD];
    uint32_t size, sum;
    if (end < (int64_t)(sizeof(head) + sizeof(size)))
        return sealed_file_fail(f, "it is too short", error);
    if (sealed_file_read(f, head, sizeof(head), 0, error) < 0 ||
        sealed_file_read(f, &size, sizeof(size), end - (int64_t)sizeof(size), error) < 0)
        return error->fault;
    if (memcmp(head, magic, sizeof(head)) != 0)
        return media_fail(error, MEDIA_INPUT, "%s is no part of a film", media_quote(f->path));
    f->size = end - (int64_t)sizeof(size) - size;
    if (size > MOST_TEXT || f->size < SEALED_FILE_HEAD)
        return sealed_file_fail(f, "it was cut off", error);
    f->text = calloc(1, (size_t)size + 1);
    if (!f->text)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    if (sealed_file_read(f, f->text, size, f->size, error) < 0)
        return error->fault;
    return key_text_is_whole(f->text, &sum) && strlen(f->text) == size
               ? 0
               : sealed_file_fail(f, "its checksum is wrong", error);
}

int sealed_file_open(SealedFile *f, char *path, MediaError *error)
{
    struct stat about;
    *f = (SealedFile){.fd = -1, .path = path};
    if (!path)
        return media_fail(error, MEDIA_INPUT, "out of memory");
    f->fd = regular_file_open(path, O_NOFOLLOW);
    if (f->fd < 0 && errno == ENOENT)
        return -ENOENT;
    if (f->fd < 0 || fstat(f->fd, &about) < 0)
        return media_fail(error, MEDIA_INPUT, "cannot read %s: %s", media_quote(path),
                          regular_file_why());
    return read_text(f, about.st_size, error);
}

void sealed_file_release(SealedFile *f)
{
    if (f->path && f->fd >= 0)
        (void)close(f->fd);
    f->fd = -1;
}

void sealed_file_close(SealedFile *f)
{
    sealed_file_release(f);
    free(f->path);
    free(f->text);
    *f = (SealedFile){0};
}
