/* Visits the files of a folder and its subfolders. */
#ifndef LUMEQ_JOB_FOLDER_WALK_H
#define LUMEQ_JOB_FOLDER_WALK_H

#include <sys/stat.h>

#include "media/error.h"

/* `below`: path of the file's folder, or of the unreadable folder, relative to the visited folder.
 * It is "" or ends in a slash. If `file` or `unreadable` returns less than 0, the walk ends. */
typedef struct FolderWalk {
    int recursive; /* nonzero: includes subfolders */
    /* Called for everything that is neither a folder nor a broken link. */
    int (*file)(void *opaque, const char *path, const char *below, const struct stat *there);
    /* Called for a folder that cannot be read; `number`: an errno. May be NULL. */
    int (*unreadable)(void *opaque, const char *folder, const char *below, int number);
    /* Returns nonzero for a subfolder to skip. May be NULL. */
    int (*skips)(void *opaque, const char *path, const struct stat *there);
    void *opaque;
    MediaError *error;
} FolderWalk;

/* Visits the folder in natural order, without hidden entries, links to folders, and job folders.
 * Returns 0, the result of a callback if that is less than 0, or MEDIA_INPUT. */
int folder_walk(const FolderWalk *walk, const char *folder);

#endif
