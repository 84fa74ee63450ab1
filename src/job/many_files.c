#include "job/many_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "job/folder_walk.h"
#include "media/output/container.h"
#include "media/output/file_name.h"
#include "media/text_list.h"

typedef struct Listing {
    ManyFiles *list;
    const ManyFilesOptions *options;
    struct stat folder; /* of the outputs; zeros: it does not exist yet */
    MediaError *error;
} Listing;

static int is_same(const struct stat *a, const struct stat *b)
{
    return a->st_ino && a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* ---- the names ---- */

/* `below`: the subfolder, ending in a slash, or "". */
static char *output_name(const ManyFilesOptions *o, const char *below, const char *input)
{
    const char *base = file_name_base(input), *dot = strrchr(base, '.');
    const char *extension = o->format ? container_extension(o->format, base) : NULL;
    if (!extension)
        return text_print("%s%s%s", o->folder, below, base);
    const size_t stem = dot && dot != base ? (size_t)(dot - base) : strlen(base);
    return text_print("%s%s%.*s.%s", o->folder, below, (int)stem, base, extension);
}

/* Adds a zeroed entry. NULL: out of memory. */
static ListedFile *grow(ManyFiles *list)
{
    ListedFile *files = realloc(list->files, ((size_t)list->count + 1) * sizeof(*files));
    if (!files)
        return NULL;
    list->files = files;
    files[list->count] = (ListedFile){0};
    return &files[list->count++];
}

static int add(const Listing *l, const char *below, const char *input)
{
    ListedFile *file = grow(l->list);
    if (!file)
        return media_no_memory(l->error, MEDIA_INPUT);
    file->input = strdup(input);
    file->output = output_name(l->options, below, input);
    return file->input && file->output ? 0 : media_no_memory(l->error, MEDIA_INPUT);
}

/* ---- folders ---- */

/* Adds an unreadable folder to the list, as an input that fails. */
static int take_unreadable(void *opaque, const char *folder, const char *below, int number)
{
    const Listing *l = opaque;
    if (add(l, below, folder) < 0)
        return l->error->fault;
    ListedFile *file = &l->list->files[l->list->count - 1];
    file->fault = MEDIA_INPUT;
    file->why = text_print("cannot read the folder %s: %s", media_quote(folder), strerror(number));
    return file->why ? 0 : media_no_memory(l->error, MEDIA_INPUT);
}

/* Returns 1 for the folder of outputs, which is skipped and noted in left_aside; else 0. */
static int is_output_folder(void *opaque, const char *path, const struct stat *there)
{
    const Listing *l = opaque;
    if (!is_same(there, &l->folder))
        return 0;
    free(l->list->left_aside);
    l->list->left_aside = strdup(path);
    return 1;
}

static int take_file(void *opaque, const char *path, const char *below, const struct stat *there)
{
    const Listing *l = opaque;
    const int wanted = S_ISREG(there->st_mode) ? l->options->wanted(l->options->opaque, path) : 0;
    if (wanted < 0)
        return media_fail(l->error, MEDIA_INPUT, "given up");
    if (wanted)
        return add(l, below, path);
    l->list->others++;
    return 0;
}

static int add_input(Listing *l, const char *input)
{
    const FolderWalk walk = {.recursive = l->options->recursive,
                             .file = take_file,
                             .unreadable = take_unreadable,
                             .leaves_out = is_output_folder,
                             .opaque = l,
                             .error = l->error};
    struct stat there = {0}, beside = {0};
    const int is_folder = stat(input, &there) == 0 && S_ISDIR(there.st_mode);
    const int n = (int)(file_name_base(input) - input);
    char *folder = is_folder ? strdup(input) : n ? text_print("%.*s", n, input) : strdup(".");
    if (!folder)
        return media_no_memory(l->error, MEDIA_INPUT);
    int ret = 0;
    if (stat(folder, &beside) == 0 && is_same(&beside, &l->folder))
        ret = media_fail(l->error, MEDIA_USAGE,
                         "%s %s the folder %s, where its output would go: outputs need another "
                         "folder",
                         media_quote(input), is_folder ? "is" : "lies in",
                         media_quote(l->options->folder));
    else
        ret = is_folder ? folder_walk(&walk, input) : add(l, "", input);
    free(folder);
    return ret;
}

/* ---- existing files ---- */

static int by_output(const void *a, const void *b)
{
    const ListedFile *const *x = a, *const *y = b;
    const int order = strcmp((*x)->output, (*y)->output);
    return order ? order : (*x > *y) - (*x < *y);
}

static int check_names(const ManyFiles *list, MediaError *error)
{
    const ListedFile **sorted = malloc(((size_t)list->count + 1) * sizeof(*sorted));
    if (!sorted)
        return media_no_memory(error, MEDIA_INPUT);
    int count = 0, ret = 0;
    for (int i = 0; i < list->count; i++)
        if (!list->files[i].why)
            sorted[count++] = &list->files[i];
    qsort(sorted, (size_t)count, sizeof(*sorted), by_output);
    for (int i = 1; i < count && ret >= 0; i++) {
        if (strcmp(sorted[i - 1]->output, sorted[i]->output) != 0)
            continue;
        char first[512];
        snprintf(first, sizeof(first), "%s", media_quote(sorted[i - 1]->input));
        ret = media_fail(error, MEDIA_USAGE, "%s and %s would both be written as %s", first,
                         media_quote(sorted[i]->input), media_quote(sorted[i]->output));
    }
    free(sorted);
    return ret;
}

/* Checks an output that exists; `there`: its stat(). `inputs`: stat() of the inputs, by index.
 * Returns 1 if the user must choose -y or --resume, 0 if the run may continue, or a fault. */
static int check_output(const ManyFiles *list, ListedFile *file, const struct stat *there,
                        const struct stat *inputs, const ManyFilesOptions *o, MediaError *error)
{
    const struct stat *own = &inputs[file - list->files];
    for (int i = 0; i < list->count; i++)
        if (is_same(&inputs[i], there))
            return media_fail(error, MEDIA_USAGE, "the output %s is the input %s",
                              media_quote(file->output), media_quote(list->files[i].input));
    if (!S_ISREG(there->st_mode) || !own->st_ino)
        return 0; /* it will fail when it is processed */
    file->done = o->resume && o->take_finished(o->opaque, file);
    if (file->done || o->overwrite)
        return 0;
    if (!o->resume)
        return 1;
    file->fault = MEDIA_USAGE;
    file->why = text_print("the output %s exists, and nothing shows that it was made from this "
                           "input with these settings; -y overwrites it",
                           media_quote(file->output));
    return file->why ? 0 : media_no_memory(error, MEDIA_INPUT);
}

static int check_existing(ManyFiles *list, const ManyFilesOptions *o, MediaError *error)
{
    struct stat there, *inputs = calloc((size_t)list->count + 1, sizeof(*inputs));
    const char *first = NULL;
    int ret = inputs ? 0 : media_no_memory(error, MEDIA_INPUT), unexpected = 0;
    for (int i = 0; i < list->count && ret >= 0; i++)
        if (stat(list->files[i].input, &inputs[i]) < 0)
            inputs[i] = (struct stat){0};
    for (int i = 0; i < list->count && ret >= 0; i++) {
        ListedFile *file = &list->files[i];
        if (file->why || stat(file->output, &there) < 0)
            continue;
        ret = check_output(list, file, &there, inputs, o, error);
        if (ret > 0 && !unexpected++)
            first = file->output;
    }
    free(inputs);
    if (ret >= 0 && unexpected)
        ret = media_fail(error, MEDIA_USAGE,
                         "%d of %d outputs exist%s, %s first; --resume skips finished files, "
                         "-y overwrites them",
                         unexpected, list->count, unexpected == 1 ? "s" : "", media_quote(first));
    return ret < 0 ? ret : 0;
}

int many_files_make(ManyFiles *list, const ManyFilesOptions *options, MediaError *error)
{
    Listing l = {list, options, .error = error};
    int ret = 0;
    if (stat(options->folder, &l.folder) < 0)
        l.folder = (struct stat){0};
    for (int i = 0; i < options->input_count && ret >= 0; i++)
        ret = add_input(&l, options->inputs[i]);
    if (ret >= 0 && list->count == 0)
        ret = media_fail(error, MEDIA_INPUT, "none of %d file%s in %s is a video", list->others,
                         list->others == 1 ? "" : "s",
                         options->input_count == 1 ? media_quote(options->inputs[0])
                                                   : "these folders");
    if (ret >= 0)
        ret = check_names(list, error);
    return ret < 0 ? ret : check_existing(list, options, error);
}

void many_files_free(ManyFiles *list)
{
    for (int i = 0; i < list->count; i++) {
        free(list->files[i].input);
        free(list->files[i].output);
        free(list->files[i].why);
    }
    free(list->files);
    free(list->left_aside);
    *list = (ManyFiles){0};
}
