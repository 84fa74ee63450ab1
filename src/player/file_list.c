#include "player/file_list.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

void file_list_clear(FileList *list)
{
    for (int i = 0; i < list->count; i++)
        free(list->entries[i].path);
    free(list->entries);
    *list = (FileList){.at = -1, .round = list->round};
}

static int grow(FileList *list)
{
    const int room = list->room ? list->room * 2 : 16;
    FileListEntry *entries = realloc(list->entries, (size_t)room * sizeof(*entries));
    if (!entries)
        return -1;
    list->entries = entries;
    list->room = room;
    return 0;
}

/* Returns a random index below `count`; the last one if no random numbers are available. */
static int pick(int count)
{
    unsigned number = (unsigned)count - 1;
    (void)!getrandom(&number, sizeof(number), GRND_NONBLOCK);
    return (int)(number % (unsigned)count);
}

int file_list_add(FileList *list, const char *path, int shuffled)
{
    char *copy = strdup(path);
    if (!copy || (list->count == list->room && grow(list) < 0)) {
        free(copy);
        return -1;
    }
    list->entries[list->count++] = (FileListEntry){copy, 0};
    const int first = list->at + 1, last = list->count - 1;
    if (shuffled) {
        const int place = first + pick(list->count - first);
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
