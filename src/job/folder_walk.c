#include "job/folder_walk.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "media/natural_order.h"

/* Folders of jobs end in this: they hold no films. */
#define JOB_FOLDER ".lumeq"

static int walk_folder(const FolderWalk *w, const char *folder, const char *below);

static int is_seen(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int ends_in(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);
    return n > m && strcmp(name + n - m, end) == 0;
}

static int out_of_memory(const FolderWalk *w)
{
    return media_fail(w->error, MEDIA_INPUT, "out of memory");
}

/* Concatenates three texts. NULL: out of memory. */
static char *join(const char *a, const char *b, const char *c)
{
    char *text = NULL;
    return asprintf(&text, "%s%s%s", a, b, c) < 0 ? NULL : text;
}

static int walk_inner(const FolderWalk *w, const char *path, const char *below, const char *name,
                      const struct stat *there)
{
    struct stat link;
    if (!w->recursive || ends_in(name, JOB_FOLDER) || lstat(path, &link) < 0 ||
        S_ISLNK(link.st_mode) || (w->leaves_out && w->leaves_out(w->opaque, path, there)))
        return 0;
    char *deeper = join(below, name, "/");
    const int ret = deeper ? walk_folder(w, path, deeper) : out_of_memory(w);
    free(deeper);
    return ret;
}

static int walk_entry(const FolderWalk *w, const char *path, const char *below, const char *name)
{
    struct stat there;
    if (stat(path, &there) < 0)
        return 0; /* it was removed, or is a dangling link */
    if (S_ISDIR(there.st_mode))
        return walk_inner(w, path, below, name, &there);
    return w->file(w->opaque, path, below, &there);
}

static int walk_folder(const FolderWalk *w, const char *folder, const char *below)
{
    struct dirent **names;
    int ret = 0;
    const int count = scandir(folder, &names, is_seen, natural_order_entries);
    if (count < 0)
        return w->unreadable(w->opaque, folder, below, errno);
    const char *slash = ends_in(folder, "/") || strcmp(folder, "/") == 0 ? "" : "/";
    for (int i = 0; i < count; i++) {
        char *path = ret < 0 ? NULL : join(folder, slash, names[i]->d_name);
        if (ret >= 0)
            ret = path ? walk_entry(w, path, below, names[i]->d_name) : out_of_memory(w);
        free(path);
        free(names[i]);
    }
    free(names);
    return ret;
}

int folder_walk(const FolderWalk *walk, const char *folder)
{
    return walk_folder(walk, folder, "");
}
