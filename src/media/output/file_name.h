/* Names of files that are made beside another one, and how long they may be. */
#ifndef LUMEQ_MEDIA_FILE_NAME_H
#define LUMEQ_MEDIA_FILE_NAME_H

#include <stddef.h>

/* The folder that a path lies in, "." without one; to be freed with av_free(). NULL: out of memory.
 */
char *file_name_folder(const char *path);

/* What follows the folder. */
const char *file_name_base(const char *path);

/* The bytes that a name in this folder may have, its path included. */
size_t file_name_room(const char *folder);

/* The first bytes of a name, at most `most`, that end with a whole UTF-8 character. */
size_t file_name_cut(const char *name, size_t most);

/* "NAME.EXT" with `word` behind NAME, which is shortened where the base would have over `room`
 * bytes; to be freed with av_free(). NULL: out of memory. */
char *file_name_with(const char *path, const char *word, size_t room);

#endif
