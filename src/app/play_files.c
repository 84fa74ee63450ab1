#include "app/play_files.h"

#include <string.h>
#include <sys/stat.h>

#include "job/folder_walk.h"
#include "media/output/container.h"
#include "media/picture_pattern.h"

typedef struct Adding {
    FileList *files;
    const Options *options;
} Adding;

static int take_file(void *opaque, const char *path, const char *below, const struct stat *there)
{
    const Adding *a = opaque;
    (void)below;
    if (!S_ISREG(there->st_mode) || !container_promises_video(path) ||
        picture_codec(path) != AV_CODEC_ID_NONE)
        return 0;
    return file_list_add(a->files, path, a->options->shuffle);
}

/* An inner one is passed over; the first one fails when it is opened. */
static int pass_over(void *opaque, const char *folder, const char *below, int number)
{
    (void)opaque;
    (void)folder;
    (void)below;
    (void)number;
    return 0;
}

int play_files_add(FileList *files, const Options *options, const char *path)
{
    struct stat there;
    MediaError error = {0};
    Adding adding = {files, options};
    const int count = files->count;
    const FolderWalk walk = {.recursive = options->recursive,
                             .file = take_file,
                             .unreadable = pass_over,
                             .opaque = &adding,
                             .error = &error};
    if (strcmp(path, "-") != 0 && stat(path, &there) == 0 && S_ISDIR(there.st_mode) &&
        folder_walk(&walk, path) < 0)
        return -1;
    return files->count > count ? 0 : file_list_add(files, path, options->shuffle);
}

int play_files_make(FileList *files, const Options *options, MediaError *error)
{
    for (int i = 0; i < options->input_count; i++)
        if (play_files_add(files, options, options->inputs[i]) < 0)
            return media_fail(error, MEDIA_INPUT, "out of memory");
    return 0;
}
