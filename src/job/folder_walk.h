/* The files of a folder, and of folders within it. */
#ifndef LUMEQ_JOB_FOLDER_WALK_H
#define LUMEQ_JOB_FOLDER_WALK_H

#include <sys/stat.h>

#include "media/error.h"

/* `below`: the folders within the first one that something lies in, ending in a slash, or "". Who
 * answers less than 0 ends the walk. */
typedef struct FolderWalk {
    int recursive; /* not 0: folders within folders, too */
    /* Anything that is no folder. */
    int (*file)(void *opaque, const char *path, const char *below, const struct stat *there);
    /* A folder cannot be read, by this errno. */
    int (*unreadable)(void *opaque, const char *folder, const char *below, int number);
    /* Not 0: this inner folder is left out. Or NULL. */
    int (*leaves_out)(void *opaque, const char *path, const struct stat *there);
    void *opaque;
    MediaError *error;
} FolderWalk;

/* In natural order. Hidden files are left out, and so are links to folders and the folders of jobs.
 * 0, less than 0 as a callback, or MEDIA_INPUT. */
int folder_walk(const FolderWalk *walk, const char *folder);

#endif
