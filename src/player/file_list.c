#include "player/file_list.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "media/input/url.h"

void file_list_clear(FileList *list)
{
    for (int i = 0; i < list->count; i++) {
        free(list->entries[i].path);
        free(list->entries[i].name);
    }
    free(list->entries);
    *list = (FileList){.at = -1, .round = list->round};
}

static char *name_of(const char *path)
{
    struct stat file;
    char name[NAME_MAX];
    if (!url_scheme_length(path) || stat(path, &file) == 0)
        return strdup(path);
    url_file_name(path, name, sizeof(name));
    return strdup(name);
}

int file_list_add(FileList *list, const char *path, int shuffled)
{
    char *copy = strdup(path), *name = name_of(path);
    if (copy && name && list->count == list->room) {
        const int room = list->room ? list->room * 2 : 16;
        FileListEntry *entries = realloc(list->entries, (size_t)room * sizeof(*entries));
        if (entries) {
            list->entries = entries;
            list->room = room;
        }
    }
    if (!copy || !name || list->count == list->room) {
        free(copy);
        free(name);
        return -1;
    }
    list->entries[list->count++] = (FileListEntry){copy, name, 0};
    const int first = list->at + 1, last = list->count - 1;
    if (shuffled) {
        unsigned number = (unsigned)(last - first); /* kept if getrandom() fails */
        (void)!getrandom(&number, sizeof(number), GRND_NONBLOCK);
        const int place = first + (int)(number % (unsigned)(list->count - first));
        const FileListEntry other = list->entries[place];
        list->entries[place] = list->entries[last];
        list->entries[last] = other;
    }
    return 0;
}

int file_list_find(const FileList *list, int at, int step)
{
    for (int looked = 0; looked < list->count; looked++) {
        at += step;
        if (list->round && (at < 0 || at >= list->count))
            at = step > 0 ? 0 : list->count - 1;
        if (at < 0 || at >= list->count)
            return -1;
        if (!list->entries[at].failed)
            return at;
    }
    return -1;
}
