/* The files of a run over many: which they are, and what the output of each is called. */
#ifndef LUMEQ_JOB_MANY_FILES_H
#define LUMEQ_JOB_MANY_FILES_H

#include <stdint.h>

#include "media/error.h"

typedef struct ManyFilesOptions {
    const char *const *inputs; /* files, and folders whose files are meant */
    int input_count;
    const char *folder; /* of the outputs, which need not be there yet; ends in a slash */
    const char *format; /* the container; NULL: by the name of each */
    int recursive;      /* not 0: folders within folders, too */
    int overwrite;      /* not 0: outputs may be there */
    int resume; /* not 0: they may be, and those that are not older than their inputs stay */
    /* Not 0: a file of a folder is taken; less than 0: all of it is given up. */
    int (*wanted)(void *opaque, const char *path);
    void *opaque;
} ManyFilesOptions;

typedef struct ListedFile {
    char *input, *output;
    char *why; /* not NULL: why it cannot be processed, for a person ... */
    int fault; /* ... and whose fault that is, as in MediaError */
    int done;  /* not 0: its output is there */
    /* The caller's. */
    int code;     /* its exit code */
    char *said;   /* why it failed; owned, or NULL */
    int64_t size; /* of the input, if it is processed */
} ListedFile;

/* {0} is empty. */
typedef struct ManyFiles {
    ListedFile *files;
    int count, room;
    int others;       /* files of folders that are not wanted */
    char *left_aside; /* a folder that holds outputs, and was found in an input; or NULL */
} ManyFiles;

/*
 * Names are kept below the folder, those of folders within an input, too; with a format they end as
 * its files do. The files of a folder come in natural order; hidden ones are none, nor
 * are links to folders. Errors, before anything is written: two inputs that would have one output,
 * an output that is one of the inputs, one that is there, an input in the folder of the outputs
 * (MEDIA_USAGE); nothing to do, or given up (MEDIA_INPUT). Any thread.
 */
int many_files_make(ManyFiles *list, const ManyFilesOptions *options, MediaError *error);

void many_files_free(ManyFiles *list);

#endif
