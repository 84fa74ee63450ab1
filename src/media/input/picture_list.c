#include "media/input/picture_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libavcodec/avcodec.h>
#include <libavutil/avstring.h>
#include <libavutil/mem.h>

#include "media/natural_order.h"
#include "media/picture_pattern.h"

/* Takes ownership of the path. */
static int add(PictureList *list, char *path)
{
    char **paths = path ? av_dynarray2_add((void **)&list->paths, &list->count,
                                           sizeof(*list->paths), (const uint8_t *)&path)
                        : NULL;
    if (!paths)
        av_free(path);
    return paths ? 0 : -1;
}

/* ---- by a pattern ---- */

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Lists the numbers of matching names in a folder, sorted; free with av_free(). */
static int64_t *find_numbers(DIR *folder, const char *pattern, int *count)
{
    int64_t *numbers = NULL;
    const struct dirent *entry;
    *count = 0;
    while ((entry = readdir(folder))) {
        const int64_t number = picture_pattern_number(pattern, entry->d_name);
        if (number >= 0 &&
            !av_dynarray2_add((void **)&numbers, count, sizeof(*numbers), (const uint8_t *)&number))
            return NULL;
    }
    if (numbers)
        qsort(numbers, (size_t)*count, sizeof(*numbers), by_value);
    return numbers;
}

static int add_numbers(PictureList *list, const char *pattern, const int64_t *numbers, int count,
                       MediaError *error)
{
    for (int i = 0; i < count; i++) {
        if (i && numbers[i] != numbers[i - 1] + 1)
            return media_fail(
                error, MEDIA_INPUT, "the pictures %s have no number %lld: the next one is %lld",
                media_quote(pattern), (long long)numbers[i - 1] + 1, (long long)numbers[i]);
        if (add(list, picture_pattern_name(pattern, numbers[i])) < 0)
            return media_no_memory(error, MEDIA_INPUT);
    }
    return 0;
}

static int add_numbered(PictureList *list, const char *pattern, MediaError *error)
{
    const char *slash = strrchr(pattern, '/');
    char *path = slash ? av_strndup(pattern, (size_t)(slash - pattern) + 1) : av_strdup(".");
    DIR *folder = path ? opendir(path) : NULL;
    if (!folder) {
        media_fail(error, MEDIA_INPUT, "cannot read the folder of %s: %s", media_quote(pattern),
                   strerror(path ? errno : ENOMEM));
        av_free(path);
        return error->fault;
    }
    int count;
    int64_t *numbers = find_numbers(folder, pattern, &count);
    int ret = add_numbers(list, pattern, numbers, numbers ? count : 0, error);
    if (ret >= 0 && !list->count)
        ret = media_fail(error, MEDIA_INPUT, "there is no picture %s with any number",
                         media_quote(pattern));
    closedir(folder);
    av_free(numbers);
    av_free(path);
    return ret;
}

/* ---- of a folder ---- */

static int is_seen(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && picture_codec(entry->d_name) != AV_CODEC_ID_NONE;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return natural_order((*a)->d_name, (*b)->d_name);
}

static int add_entry(PictureList *list, const char *folder, const char *name, MediaError *error)
{
    const size_t length = strlen(folder);
    const char *slash = length && folder[length - 1] == '/' ? "" : "/";
    char *path = av_asprintf("%s%s%s", folder, slash, name);
    struct stat there;
    if (path && (stat(path, &there) < 0 || !S_ISREG(there.st_mode))) {
        av_free(path);
        return 0;
    }
    if (add(list, path) < 0)
        return media_no_memory(error, MEDIA_INPUT);
    /* All pictures must have one codec. */
    const char *first = list->paths[0], *last = list->paths[list->count - 1];
    if (picture_codec(first) == picture_codec(last))
        return 0;
    return media_fail(error, MEDIA_INPUT,
                      "%s and %s have different formats: all pictures of a video need the same one",
                      media_quote(first), media_quote(last));
}

static int add_folder(PictureList *list, const char *folder, MediaError *error)
{
    struct dirent **names;
    int ret = 0;
    const int count = scandir(folder, &names, is_seen, by_name);
    if (count < 0)
        return media_fail(error, MEDIA_INPUT, "cannot read the folder %s: %s", media_quote(folder),
                          strerror(errno));
    for (int i = 0; i < count; i++) {
        if (ret >= 0)
            ret = add_entry(list, folder, names[i]->d_name, error);
        free(names[i]);
    }
    free(names);
    if (ret >= 0 && !list->count)
        ret =
            media_fail(error, MEDIA_INPUT, "the folder %s has no pictures that can become a video",
                       media_quote(folder));
    return ret;
}

int picture_list_make(PictureList *list, const char *path, MediaError *error)
{
    struct stat there;
    *list = (PictureList){0};
    return stat(path, &there) == 0 && S_ISDIR(there.st_mode) ? add_folder(list, path, error)
                                                             : add_numbered(list, path, error);
}

/* ---- reading ---- */

static int read_all(int fd, uint8_t *to, size_t size)
{
    while (size) {
        const ssize_t got = read(fd, to, size);
        if (got == 0)
            return AVERROR(EIO); /* it was truncated */
        if (got < 0 && errno != EINTR)
            return AVERROR(errno);
        to += got > 0 ? got : 0;
        size -= got > 0 ? (size_t)got : 0;
    }
    return 0;
}

int picture_list_read(const PictureList *list, int number, AVPacket *packet)
{
    const int fd = open(list->paths[number], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return AVERROR(errno);
    struct stat there;
    int ret = fstat(fd, &there) < 0 ? AVERROR(errno) : 0;
    if (ret >= 0 && (!S_ISREG(there.st_mode) || there.st_size == 0 ||
                     there.st_size > INT_MAX - AV_INPUT_BUFFER_PADDING_SIZE))
        ret = AVERROR_INVALIDDATA;
    if (ret >= 0)
        ret = av_new_packet(packet, (int)there.st_size);
    if (ret >= 0)
        ret = read_all(fd, packet->data, (size_t)there.st_size);
    close(fd);
    if (ret < 0)
        av_packet_unref(packet);
    return ret;
}

void picture_list_free(PictureList *list)
{
    for (int i = 0; i < list->count; i++)
        av_free(list->paths[i]);
    av_free(list->paths);
    *list = (PictureList){0};
}
