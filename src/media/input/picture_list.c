#include "media/input/picture_list.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <libavcodec/avcodec.h>
#include <libavutil/avstring.h>
#include <libavutil/mem.h>

#include "media/picture_pattern.h"
#include "media/regular_file.h"

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

/* Adds a file if it matches the pattern; fails if its number does not follow *last. */
static int add_numbered(PictureList *list, const char *pattern, const char *name, int64_t *last,
                        MediaError *error)
{
    const int64_t number = picture_pattern_number(pattern, name);
    if (number < 0)
        return 0;
    if (list->count && number != *last + 1)
        return media_fail(error, MEDIA_INPUT,
                          "pictures %s: number %lld is missing; the next one is %lld",
                          media_quote(pattern), (long long)*last + 1, (long long)number);
    *last = number;
    return add(list, picture_pattern_name(pattern, number)) < 0
               ? media_no_memory(error, MEDIA_INPUT)
               : 0;
}

/* Adds a picture, which must have the first one's codec. Skips hidden files and non-pictures. */
static int add_entry(PictureList *list, const char *folder, const char *name, MediaError *error)
{
    const size_t length = strlen(folder);
    const char *slash = length && folder[length - 1] == '/' ? "" : "/";
    struct stat there;
    if (name[0] == '.' || picture_codec(name) == AV_CODEC_ID_NONE)
        return 0;
    char *path = av_asprintf("%s%s%s", folder, slash, name);
    if (path && (stat(path, &there) < 0 || !S_ISREG(there.st_mode))) {
        av_free(path);
        return 0;
    }
    if (add(list, path) < 0)
        return media_no_memory(error, MEDIA_INPUT);
    const char *first = list->paths[0], *last = list->paths[list->count - 1];
    if (picture_codec(first) == picture_codec(last))
        return 0;
    return media_fail(error, MEDIA_INPUT,
                      "%s and %s have different formats: all pictures of a video need the same one",
                      media_quote(first), media_quote(last));
}

/* `pattern`: NULL for all pictures of the folder. */
static int add_folder(PictureList *list, const char *folder, const char *pattern, MediaError *error)
{
    struct dirent **names;
    int64_t last = 0;
    int ret = 0;
    const int count = scandir(folder, &names, NULL, versionsort);
    if (count < 0)
        return media_fail(error, MEDIA_INPUT, "cannot read the folder %s%s: %s",
                          pattern ? "of " : "", media_quote(pattern ? pattern : folder),
                          strerror(errno));
    for (int i = 0; i < count; i++) {
        if (ret >= 0)
            ret = pattern ? add_numbered(list, pattern, names[i]->d_name, &last, error)
                          : add_entry(list, folder, names[i]->d_name, error);
        free(names[i]);
    }
    free(names);
    if (ret < 0 || list->count)
        return ret;
    return pattern ? media_fail(error, MEDIA_INPUT, "no picture matches %s", media_quote(pattern))
                   : media_fail(error, MEDIA_INPUT, "the folder %s contains no pictures",
                                media_quote(folder));
}

int picture_list_make(PictureList *list, const char *path, MediaError *error)
{
    struct stat there;
    *list = (PictureList){0};
    if (stat(path, &there) == 0 && S_ISDIR(there.st_mode))
        return add_folder(list, path, NULL, error);
    const char *slash = strrchr(path, '/');
    char *folder = slash ? av_strndup(path, (size_t)(slash - path) + 1) : av_strdup(".");
    const int ret =
        folder ? add_folder(list, folder, path, error) : media_no_memory(error, MEDIA_INPUT);
    av_free(folder);
    return ret;
}

int picture_list_read(const PictureList *list, int number, AVPacket *packet)
{
    struct stat there;
    FILE *file = regular_file_stream(list->paths[number], 0);
    int ret = file && fstat(fileno(file), &there) == 0 ? 0 : AVERROR(errno);
    if (!file)
        return ret ? ret : AVERROR_INVALIDDATA;
    if (ret >= 0 && (there.st_size == 0 || there.st_size > INT_MAX - AV_INPUT_BUFFER_PADDING_SIZE))
        ret = AVERROR_INVALIDDATA;
    if (ret >= 0)
        ret = av_new_packet(packet, (int)there.st_size);
    if (ret >= 0 && fread(packet->data, (size_t)there.st_size, 1, file) != 1)
        ret = AVERROR(EIO); /* unreadable, or truncated since fstat() */
    (void)fclose(file);
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
