#include "media/output/picture_sequence.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libavutil/avstring.h>
#include <libavutil/mem.h>

#include "media/output/atomic_file.h"
#include "media/output/file_name.h"
#include "media/output/temp_file.h"
#include "media/picture_pattern.h"

static int check_folder(const char *pattern, const char *path, int overwrite, MediaError *error)
{
    DIR *folder = access(path, W_OK | X_OK) < 0 ? NULL : opendir(path);
    if (!folder)
        return media_fail(error, MEDIA_OUTPUT, "cannot write %s: %s", media_quote(pattern),
                          strerror(errno));
    const char *name = NULL;
    for (const struct dirent *entry; !overwrite && !name && (entry = readdir(folder));)
        if (picture_pattern_number(pattern, entry->d_name) >= 0)
            name = entry->d_name;
    if (name)
        (void)media_fail(error, MEDIA_USAGE, "pictures %s exist, such as %s; -y overwrites them",
                         media_quote(pattern), media_quote(name));
    closedir(folder);
    return error->fault;
}

int picture_sequence_check(const char *pattern, int overwrite, MediaError *error)
{
    const char *dot = strrchr(pattern, '.');
    /* FFmpeg's WebP encoder would make one animation of all frames. */
    if (picture_codec(pattern) == AV_CODEC_ID_NONE || (dot && av_strcasecmp(dot, ".webp") == 0))
        return media_fail(
            error, MEDIA_USAGE,
            "--sequence writes pictures, but %s is not the name of one; end it in .png, "
            ".jpg or .tif",
            media_quote(pattern));
    char *path = file_name_folder(pattern);
    const int ret =
        path ? check_folder(pattern, path, overwrite, error) : media_no_memory(error, MEDIA_OUTPUT);
    av_free(path);
    return ret;
}

static int is_same_folder(const char *a, const char *b)
{
    struct stat x, y;
    char *first = file_name_folder(a), *second = file_name_folder(b);
    const int same = first && second && stat(first, &x) == 0 && stat(second, &y) == 0 &&
                     x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    av_free(first);
    av_free(second);
    return same;
}

int picture_sequence_check_inputs(const char *pattern, const PictureList *inputs, MediaError *error)
{
    if (!inputs->count || !is_same_folder(pattern, inputs->paths[0]))
        return 0;
    for (int i = 0; i < inputs->count; i++) {
        if (picture_pattern_number(pattern, file_name_base(inputs->paths[i])) < 0)
            continue;
        return media_fail(error, MEDIA_USAGE, "the output %s would overwrite the input %s",
                          media_quote(pattern), media_quote(inputs->paths[i]));
    }
    return 0;
}

/* Removes unfinished pictures of a killed run. */
static void remove_leftovers(const char *pattern)
{
    char base[NAME_MAX + 1];
    char *path = file_name_folder(pattern);
    DIR *folder = path ? opendir(path) : NULL;
    const struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        char *name = atomic_file_is_leftover(entry->d_name, base) &&
                             picture_pattern_number(pattern, base) >= 0
                         ? av_asprintf("%s/%s", path, entry->d_name)
                         : NULL;
        if (name)
            temp_file_remove_leftover(name);
        av_free(name);
    }
    if (folder)
        closedir(folder);
    av_free(path);
}

int picture_sequence_write(PictureSequence *s, const AVPacket *packet, MediaError *error)
{
    if (!s->count)
        remove_leftovers(s->pattern);
    char *path = picture_pattern_name(s->pattern, s->count + 1);
    const int ret = path ? atomic_file_save(path, packet->data, (size_t)packet->size, error)
                         : media_no_memory(error, MEDIA_OUTPUT);
    av_free(path);
    if (ret < 0)
        return ret;
    s->count++;
    s->bytes += packet->size;
    return 0;
}
