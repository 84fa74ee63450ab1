/* Parts of file names. */
#ifndef LUMEQ_MEDIA_FILE_NAME_H
#define LUMEQ_MEDIA_FILE_NAME_H

#include <stddef.h>

/* The folder of a path; "." for a bare file name. Free with av_free(). NULL: out of memory. */
char *file_name_folder(const char *path);

/* The file name without the folder. */
const char *file_name_base(const char *path);

/* Maximum length in bytes of a file name in this folder; the file system and PATH_MAX limit it. */
size_t file_name_room(const char *folder);

/* Returns how many bytes of a name, up to `most`, can be kept without splitting a UTF-8
 * character. */
size_t file_name_cut(const char *name, size_t most);

/* Makes "NAMEword.EXT" from "NAME.EXT"; shortens NAME if the file name would exceed `room` bytes.
 * Free with av_free(). NULL: out of memory. */
char *file_name_with(const char *path, const char *word, size_t room);

#endif
