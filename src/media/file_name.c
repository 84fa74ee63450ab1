#include "media/file_name.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <libavutil/avstring.h>
#include <libavutil/mem.h>

/* Maximum bytes of an extension with its dot. Longer text after a dot belongs to the name. */
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

char *file_name_with(const char *path, const char *word, size_t room)
{
    const char *base = file_name_base(path), *extension = strrchr(base, '.');
    /* A leading dot marks a hidden file. */
    if (!extension || extension == base || strlen(extension) > MAX_EXTENSION)
        extension = base + strlen(base);
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
