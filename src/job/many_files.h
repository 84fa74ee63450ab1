/* Lists many files to process, and the name of each output. */
#ifndef LUMEQ_JOB_MANY_FILES_H
#define LUMEQ_JOB_MANY_FILES_H

#include <stdint.h>

#include "media/error.h"

typedef struct ListedFile {
    char *input, *output;
    char *why; /* not NULL: why it cannot be processed */
    int fault; /* with it, as in MediaError */
    int done;  /* nonzero: an earlier run has made its output */
    /* The caller's. */
    uint32_t how; /* its output is made */
    int code;     /* its exit code */
    int64_t size; /* of the input in bytes */
} ListedFile;

typedef struct ManyFilesOptions {
    const char *const *inputs; /* files and folders */
    int input_count;
    const char *folder; /* of the outputs; ends in a slash; it need not exist yet */
    const char *format; /* the container; NULL: that of each input's name */
    int recursive;      /* nonzero: includes subfolders */
    int overwrite;      /* nonzero: outputs may exist */
    int resume;         /* nonzero: those that `take_finished` accepts may exist */
    /* Returns 1 for a file in a folder that should be processed, 0 for others; less than 0 ends the
     * listing. */
    int (*wanted)(void *opaque, const char *path);
    /* Returns true, with the code in the file, if an earlier run has made its output, which
     * exists, in the same way. */
    int (*take_finished)(void *opaque, ListedFile *file);
    void *opaque;
} ManyFilesOptions;

/* {0} is empty. */
typedef struct ManyFiles {
    ListedFile *files;
    int count;
    int others;       /* number of files in folders that are not wanted */
    char *left_aside; /* the folder of outputs, if it was found in an input; or NULL */
} ManyFiles;

/*
 * Makes the list; writes nothing. Outputs keep the names of inputs, and of subfolders; `format`
 * changes the ending. The files of a folder come in natural order, without hidden files and links
 * to folders. MEDIA_USAGE: two inputs would have the same output, an output is an input or exists,
 * or an input is in the folder of outputs. MEDIA_INPUT: there is nothing to do, or `wanted` ended
 * it. Free the list in any case. Any thread.
 */
int many_files_make(ManyFiles *list, const ManyFilesOptions *options, MediaError *error);

void many_files_free(ManyFiles *list);

#endif
