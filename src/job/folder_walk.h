/* Visits the files of a folder and its subfolders. */
#ifndef LUMEQ_JOB_FOLDER_WALK_H
#define LUMEQ_JOB_FOLDER_WALK_H

#include <sys/stat.h>

#include "media/error.h"

/* `below`: the path of the subfolder, ending in a slash, or "". A callback that returns less than 0
 * ends the walk. */
typedef struct FolderWalk {
    int recursive; /* nonzero: includes subfolders */
    /* Called for everything that is not a folder. */
    int (*file)(void *opaque, const char *path, const char *below, const struct stat *there);
    /* Called for a folder that cannot be read; `number`: the errno. May be NULL. */
    int (*unreadable)(void *opaque, const char *folder, const char *below, int number);
    /* Returns nonzero for a subfolder to skip. May be NULL. */
    int (*skips)(void *opaque, const char *path, const struct stat *there);
    void *opaque;
    MediaError *error;
} FolderWalk;

/* Visits the folder in natural order, without hidden files, links to folders, and folders of jobs.
 * Returns 0, the result of a callback if that is less than 0, or MEDIA_INPUT. */
int folder_walk(const FolderWalk *walk, const char *folder);

#endif
