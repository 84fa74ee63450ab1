#include "app/headless_many.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/headless.h"
#include "app/job_run.h"
#include "app/made.h"
#include "app/sandbox.h"
#include "app/setup.h"
#include "app/task_pool.h"
#include "app/terminal.h"
#include "job/folder_walk.h"
#include "media/error.h"
#include "media/file_name.h"
#include "media/output/container.h"
#include "media/text_list.h"

#define LINE_BYTES 4096 /* buffer for a line of messages */
#define SCREENFUL 20    /* files; in a longer list, not every file gets a line */

typedef struct ListedFile {
    char *input, *output;
    char *why;    /* why the input cannot be processed, or NULL */
    int fault;    /* of `why`, as in MediaError */
    int done;     /* nonzero: an earlier run has made the output */
    uint32_t how; /* see made_how() */
    int code;     /* exit code; -1: not started */
    int64_t size; /* of the input in bytes */
} ListedFile;

typedef struct Many {
    const Options *options;
    atomic_int *stop;
    MediaError error; /* a failure to make the list */
    ListedFile *files;
    int count;
    struct stat folder; /* of the outputs; zeros: it does not exist yet */
    int others;         /* number of files in input folders that are not named like a video */
    char *skipped;      /* path of the output folder if it is inside an input folder; or NULL */
    TextList made;      /* folders that were made, in this order */
    int unmarked;       /* not 0: --resume will not recognize some finished file */
    TextList told;      /* notes that were printed, to print each once */
    int next;           /* the next file to start */
    TaskPool pool;
    int64_t frames;
    double seconds; /* of video */
    Progress progress;
    double size, done; /* bytes of the inputs to process, and of those that are done */
} Many;

/* True if a line for each file would be too much to read. */
static bool says_little(const Many *m)
{
    return m->count > SCREENFUL && !m->options->verbose;
}

/* Makes the missing folders of an output and adds them to m->made. The parent folder of OUTPUT must
 * exist. Returns 0, or -1 with the reason. */
static int make_folders(Many *m, const char *output, char *why, size_t size)
{
    char *path = strdup(output);
    int ret = path ? 0 : -1;
    char *end = path ? path + strlen(m->options->output) - 1 : NULL;
    for (; end && ret >= 0; end = strchr(end + 1, '/')) {
        *end = '\0';
        const char *folder = *path ? path : "/";
        if (mkdir(folder, 0777) == 0)
            ret = text_list_add(&m->made, folder);
        else if (errno != EEXIST) /* if a file is in the way, opening the output fails */
            ret = -1;
        if (ret < 0)
            snprintf(why, size, "cannot make the folder %s: %s", media_quote(folder),
                     strerror(errno));
        *end = '/';
    }
    if (!path)
        snprintf(why, size, "out of memory");
    free(path);
    return ret;
}

/* ---- one file ---- */

static void note(Many *m, int number, int code)
{
    ListedFile *file = &m->files[number];
    file->code = code;
    m->progress.files_done += !file->why;
    m->done += (double)file->size;
}

static void add_text(char *text, size_t size, const char *more)
{
    const size_t n = strlen(text);
    snprintf(text + n, size - n, "%s%s", n && *more ? "; " : "", more);
}

static void say_failure(const ListedFile *file, const char *why)
{
    const bool named =
        strstr(why, media_quote(file->input)) || strstr(why, media_quote(file->output));
    const char *what = file->code == EXIT_INTERRUPTED ? "" : "failed: ";
    if (file->code == EXIT_DAMAGED)
        what = "damaged: ";
    say(SAY_ERRORS, "%s%s%s%s", what, named ? "" : media_quote(file->input),
        named || !*why ? "" : ": ", why);
}

static void fail(Many *m, int file, int code, const char *why)
{
    note(m, file, code);
    say_failure(&m->files[file], why);
}

static int run_file(void *many, int number, int slot, ProgressShare *share, TaskAnswer *answer)
{
    const Many *m = many;
    const ListedFile *file = &m->files[number];
    Options one = *m->options;
    RunResult result = {.share = share};
    one.device = job_run_device(m->options, slot);
    one.input = file->input;
    one.output = file->output;
    one.jobs = 0;
    one.progress = PROGRESS_NONE; /* the parent shows one for all */
    if (m->progress.style == PROGRESS_BAR)
        say_over_bottom();
    (void)setvbuf(stderr, NULL, _IOLBF, LINE_BYTES); /* keeps lines whole */
    if (!one.verbose)
        say_collect(answer->notes, sizeof(answer->notes));
    MediaError error = {0};
    int code = -sandbox_enter(&one, SANDBOX_RUN, &error);
    if (code)
        say(SAY_ERRORS, "%s", error.text);
    else
        code = headless_run(&one, m->stop, &result);
    answer->frames = result.frames;
    answer->seconds = result.seconds;
    memcpy(answer->why, result.why, sizeof(answer->why));
    memcpy(answer->summary, result.summary, sizeof(answer->summary));
    return code;
}

static int next_file(void *many)
{
    Many *m = many;
    char why[1024];
    while (m->next < m->count) {
        const int number = m->next++;
        ListedFile *file = &m->files[number];
        if (file->why)
            fail(m, number, -file->fault, file->why);
        else if (file->done)
            say(says_little(m) ? SAY_DETAILS : SAY_NORMAL,
                "%s is done: an earlier run has made it with these settings",
                media_quote(file->output));
        else if (make_folders(m, file->output, why, sizeof(why)) < 0)
            fail(m, number, EXIT_OUTPUT, why);
        else {
            file->how = made_how(m->options, file->input);
            return number;
        }
    }
    return -1;
}

/* Prints a line with the summary and notes of a file. After success, omits notes that were already
 * printed; in a long list, omits a line without notes. */
static void say_file(Many *m, const ListedFile *file, const TaskAnswer *answer)
{
    const bool succeeded = file->code == EXIT_DONE;
    bool has_notes = false;
    char text[LINE_BYTES] = "", notes[sizeof(answer->notes)], *rest = notes;
    memcpy(notes, answer->notes, sizeof(notes));
    add_text(text, sizeof(text), answer->summary);
    for (const char *line; (line = strsep(&rest, "\n"));) {
        bool is_told = false;
        for (int i = 0; i < m->told.count; i++)
            is_told |= strcmp(m->told.all[i], line) == 0;
        if (!*line || (succeeded && is_told))
            continue;
        (void)text_list_add(&m->told, line); /* on failure, the next file repeats it */
        add_text(text, sizeof(text), line);
        has_notes = true;
    }
    if (succeeded && !has_notes && says_little(m))
        return;
    if (succeeded)
        say(SAY_NORMAL, "%s: %s", media_quote(file->output), text);
    else
        say_failure(file, *text ? text : answer->why);
}

static bool end_file(void *many, int number, int code, const TaskAnswer *answer)
{
    Many *m = many;
    ListedFile *file = &m->files[number];
    if (code < 0) {
        fail(m, number, EXIT_INPUT, answer->why);
        return true;
    }
    m->frames += answer->frames;
    m->seconds += answer->seconds;
    note(m, number, code);
    say_file(m, file, answer);
    if (code == EXIT_DONE || code == EXIT_DAMAGED)
        m->unmarked |= made_note(file->output, file->how, code);
    return true;
}

/* Counts the progress in bytes of input, because unopened files have unknown durations. */
static void show_progress(void *many)
{
    Many *m = many;
    Progress *p = &m->progress;
    double done = m->done;
    p->frame = m->frames;
    p->time = m->seconds;
    for (int i = 0; i < m->pool.jobs; i++) {
        const double share = task_pool_progress(&m->pool, i, &p->frame, &p->time);
        if (share >= 0)
            done += (double)m->files[m->pool.slots[i].task].size * share;
    }
    p->finished = m->size > 0 ? done / m->size : 0;
    progress_update(p);
}

/* ---- all files ---- */

static void say_total(const Many *m)
{
    static const char *const words[] = {"done",   "done before", "done, but damaged",
                                        "failed", "interrupted", "not started"};
    enum { DONE, BEFORE, DAMAGED, FAILED, STOPPED, NOT_BEGUN, KINDS };
    int counts[KINDS] = {0};
    char text[256] = "";
    size_t n = 0;
    for (int i = 0; i < m->count; i++) {
        const ListedFile *file = &m->files[i];
        switch (file->code) {
        case -1: counts[NOT_BEGUN]++; break;
        case EXIT_DAMAGED: counts[DAMAGED]++; break;
        case EXIT_INTERRUPTED: counts[STOPPED]++; break;
        case EXIT_DONE: counts[file->done ? BEFORE : DONE]++; break;
        default: counts[FAILED]++;
        }
    }
    for (int i = 0; i < KINDS; i++)
        if (counts[i])
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%d %s", n ? ", " : "", counts[i],
                                  words[i]);
    say(SAY_NORMAL, "%d file%s: %s; %lld frame%s, %.2f s of video in %.2f s", m->count,
        m->count == 1 ? "" : "s", text, (long long)m->frames, m->frames == 1 ? "" : "s", m->seconds,
        progress_elapsed(&m->progress));
}

/* Returns EXIT_INTERRUPTED if a signal left files undone, else the code of the first failure. */
static int exit_code(const Many *m)
{
    int code = EXIT_DONE;
    for (int i = 0; i < m->count; i++) {
        const int of_file = m->files[i].code;
        if (of_file < 0 || of_file == EXIT_INTERRUPTED)
            return EXIT_INTERRUPTED;
        if (code == EXIT_DONE)
            code = of_file;
    }
    return code;
}

static int finish(Many *m)
{
    int left = 0;
    for (int i = 0; i < m->count; i++)
        left += m->files[i].code < 0;
    if (m->count > 1)
        say_total(m);
    if (left)
        say(SAY_ERRORS, "interrupted: %d of %d file%s %s not started; --resume continues with %s",
            left, m->count, m->count == 1 ? "" : "s", left == 1 ? "was" : "were",
            left == 1 ? "it" : "them");
    if (m->unmarked && (left || m->options->resume))
        say(SAY_WARNINGS,
            "--resume cannot recognize all finished files: the file system of %s has no extended "
            "attributes",
            media_quote(m->options->output));
    return exit_code(m);
}

static int run_files(Many *m)
{
    char why[1024];
    const int jobs = m->options->jobs ? job_run_at_a_time(m->options, 0) : 1;
    for (int i = 0; i < m->count; i++)
        if (!m->files[i].done)
            m->files[i].code = -1;
    if (make_folders(m, m->options->output, why, sizeof(why)) < 0) {
        say(SAY_ERRORS, "%s", why);
        return EXIT_OUTPUT;
    }
    for (int i = 0; i < m->count; i++) {
        ListedFile *file = &m->files[i];
        struct stat there;
        if (file->why || file->done)
            continue;
        m->progress.files++;
        file->size = stat(file->input, &there) == 0 ? there.st_size : 0;
        m->size += (double)file->size;
    }
    progress_start(&m->progress);
    m->pool = (TaskPool){.jobs = FFMIN(jobs, m->count),
                         .next = next_file,
                         .run = run_file,
                         .end = end_file,
                         .look = show_progress,
                         .opaque = m,
                         .stop = m->stop};
    if (task_pool_run(&m->pool) < 0)
        say(SAY_ERRORS, "out of memory");
    for (int i = m->made.count - 1; i >= 0; i--)
        (void)!rmdir(m->made.all[i]); /* fails if it is not empty */
    show_progress(m);
    progress_end(&m->progress, run_end_state(exit_code(m)));
    return finish(m);
}

/* ---- the list ---- */

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_ino && a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Adds an input to the list. `below`: the subfolder of its output, ending in a slash, or "". */
static int add(Many *m, const char *below, const char *input)
{
    const Options *o = m->options;
    const char *base = file_name_base(input), *dot = strrchr(base, '.');
    const char *extension = o->format ? container_extension(o->format, base) : NULL;
    const int stem = dot && dot != base && extension ? (int)(dot - base) : (int)strlen(base);
    ListedFile *files = realloc(m->files, ((size_t)m->count + 1) * sizeof(*files));
    if (!files)
        return media_no_memory(&m->error, MEDIA_INPUT);
    m->files = files;
    files[m->count] =
        (ListedFile){.input = strdup(input),
                     .output = text_print("%s%s%.*s%s%s", o->output, below, stem, base,
                                          extension ? "." : "", extension ? extension : "")};
    const ListedFile *file = &files[m->count++];
    return file->input && file->output ? 0 : media_no_memory(&m->error, MEDIA_INPUT);
}

/* Adds an unreadable folder to the list, as an input that fails. */
static int take_unreadable(void *opaque, const char *folder, const char *below, int number)
{
    Many *m = opaque;
    if (add(m, below, folder) < 0)
        return m->error.fault;
    ListedFile *file = &m->files[m->count - 1];
    file->fault = MEDIA_INPUT;
    file->why = text_print("cannot read the folder %s: %s", media_quote(folder), strerror(number));
    return file->why ? 0 : media_no_memory(&m->error, MEDIA_INPUT);
}

/* Returns 1, to skip a folder, if it is the folder of outputs. */
static int is_output_folder(void *opaque, const char *path, const struct stat *there)
{
    Many *m = opaque;
    if (!is_same(there, &m->folder))
        return 0;
    free(m->skipped);
    m->skipped = strdup(path);
    return 1;
}

static int take_file(void *opaque, const char *path, const char *below, const struct stat *there)
{
    Many *m = opaque;
    if (S_ISREG(there->st_mode) && container_promises_video(path))
        return add(m, below, path);
    m->others++;
    return 0;
}

static int add_input(Many *m, const char *input)
{
    const FolderWalk walk = {.recursive = m->options->recursive,
                             .file = take_file,
                             .unreadable = take_unreadable,
                             .skips = is_output_folder,
                             .opaque = m,
                             .error = &m->error};
    struct stat there = {0}, beside = {0};
    const int is_folder = stat(input, &there) == 0 && S_ISDIR(there.st_mode);
    const int n = (int)(file_name_base(input) - input);
    char *folder = is_folder ? strdup(input) : text_print("%.*s", n ? n : 1, n ? input : ".");
    if (!folder)
        return media_no_memory(&m->error, MEDIA_INPUT);
    int ret = 0;
    if (stat(folder, &beside) == 0 && is_same(&beside, &m->folder))
        ret = media_fail(&m->error, MEDIA_USAGE,
                         "%s %s the folder %s, where its output would go: outputs need another "
                         "folder",
                         media_quote(input), is_folder ? "is" : "lies in",
                         media_quote(m->options->output));
    else
        ret = is_folder ? folder_walk(&walk, input) : add(m, "", input);
    free(folder);
    return ret;
}

static int by_output(const void *a, const void *b)
{
    const ListedFile *const *x = a, *const *y = b;
    const int order = strcmp((*x)->output, (*y)->output);
    return order ? order : (*x > *y) - (*x < *y);
}

static int check_names(Many *m)
{
    const ListedFile **sorted = malloc(((size_t)m->count + 1) * sizeof(*sorted));
    if (!sorted)
        return media_no_memory(&m->error, MEDIA_INPUT);
    int count = 0, ret = 0;
    for (int i = 0; i < m->count; i++)
        if (!m->files[i].why)
            sorted[count++] = &m->files[i];
    qsort(sorted, (size_t)count, sizeof(*sorted), by_output);
    for (int i = 1; i < count && ret >= 0; i++) {
        if (strcmp(sorted[i - 1]->output, sorted[i]->output) != 0)
            continue;
        char first[512];
        snprintf(first, sizeof(first), "%s", media_quote(sorted[i - 1]->input));
        ret = media_fail(&m->error, MEDIA_USAGE, "%s and %s would both be written as %s", first,
                         media_quote(sorted[i]->input), media_quote(sorted[i]->output));
    }
    free(sorted);
    return ret;
}

/* Checks an output that exists; `there`: its stat(). `inputs`: stat() of the inputs, by index.
 * Returns 1 if the user must choose -y or --resume, 0 if the run may continue, or a fault. */
static int check_output(Many *m, ListedFile *file, const struct stat *there,
                        const struct stat *inputs)
{
    const Options *o = m->options;
    const struct stat *own = &inputs[file - m->files];
    for (int i = 0; i < m->count; i++)
        if (is_same(&inputs[i], there))
            return media_fail(&m->error, MEDIA_USAGE, "the output %s is the input %s",
                              media_quote(file->output), media_quote(m->files[i].input));
    if (!S_ISREG(there->st_mode) || !own->st_ino)
        return 0; /* no file or no input: processing will fail */
    file->code = o->resume ? made_code(file->output, made_how(o, file->input), NULL) : -1;
    file->done = file->code >= 0;
    if (file->done || o->overwrite)
        return 0;
    if (!o->resume)
        return 1;
    file->fault = MEDIA_USAGE;
    file->why = text_print("the output %s exists, and nothing shows that it was made from this "
                           "input with these settings; -y overwrites it",
                           media_quote(file->output));
    return file->why ? 0 : media_no_memory(&m->error, MEDIA_INPUT);
}

static int check_existing(Many *m)
{
    struct stat there, *inputs = calloc((size_t)m->count + 1, sizeof(*inputs));
    const char *first = NULL;
    int ret = inputs ? 0 : media_no_memory(&m->error, MEDIA_INPUT), unexpected = 0;
    for (int i = 0; i < m->count && ret >= 0; i++)
        if (stat(m->files[i].input, &inputs[i]) < 0)
            inputs[i] = (struct stat){0};
    for (int i = 0; i < m->count && ret >= 0; i++) {
        ListedFile *file = &m->files[i];
        if (file->why || stat(file->output, &there) < 0)
            continue;
        ret = check_output(m, file, &there, inputs);
        if (ret > 0 && !unexpected++)
            first = file->output;
    }
    free(inputs);
    if (ret < 0 || !unexpected)
        return ret < 0 ? ret : 0;
    (void)(unexpected == 1
               ? media_fail(&m->error, MEDIA_USAGE, "the output %s exists", media_quote(first))
               : media_fail(&m->error, MEDIA_USAGE, "%d of %d outputs exist, such as %s",
                            unexpected, m->count, media_quote(first)));
    media_add(&m->error, "; --resume skips finished files, -y overwrites them");
    return MEDIA_USAGE;
}

static int list_files(Many *m)
{
    const Options *o = m->options;
    int ret = 0;
    if (stat(o->output, &m->folder) < 0)
        m->folder = (struct stat){0};
    for (int i = 0; i < o->input_count && ret >= 0; i++)
        ret = add_input(m, o->inputs[i]);
    if (ret >= 0 && m->count == 0)
        ret = media_fail(&m->error, MEDIA_INPUT, "no video found in %s (%d file%s)",
                         o->input_count == 1 ? media_quote(o->inputs[0]) : "these folders",
                         m->others, m->others == 1 ? "" : "s");
    if (ret >= 0)
        ret = check_names(m);
    if (ret >= 0)
        ret = check_existing(m);
    if (ret < 0)
        return ret;
    if (m->others)
        say(SAY_NORMAL, "skipping %d file%s not named like a video", m->others,
            m->others == 1 ? "" : "s");
    if (m->skipped)
        say(SAY_NORMAL, "skipping the output folder %s", media_quote(m->skipped));
    return 0;
}

int headless_many_run(const Options *options, atomic_int *stop)
{
    Many m = {.options = options,
              .stop = stop,
              .progress = {.style = headless_progress(options), .has_share = true}};
    int code = sandbox_say(options, &m.error);
    if (code >= 0)
        code = list_files(&m);
    if (code < 0)
        say(SAY_ERRORS, "%s", m.error.text);
    code = code >= 0 ? run_files(&m) : -code;
    text_list_free(&m.made);
    text_list_free(&m.told);
    for (int i = 0; i < m.count; i++) {
        free(m.files[i].input);
        free(m.files[i].output);
        free(m.files[i].why);
    }
    free(m.files);
    free(m.skipped);
    return code;
}
