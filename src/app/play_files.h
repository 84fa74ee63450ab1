/* Which files a window plays. */
#ifndef LUMEQ_APP_PLAY_FILES_H
#define LUMEQ_APP_PLAY_FILES_H

#include "app/options/options.h"
#include "media/error.h"
#include "player/file_list.h"

/* Adds a file, or the videos of a folder and, with --recursive, of those within it. What they are
 * is told by their names: opening each would keep the first one waiting. A folder without videos is
 * added itself: it may hold pictures. In natural order, or --shuffle. 0, or -1 without memory. */
int play_files_add(FileList *files, const Options *options, const char *path);

/* All INPUTs. MEDIA_INPUT. */
int play_files_make(FileList *files, const Options *options, MediaError *error);

#endif
