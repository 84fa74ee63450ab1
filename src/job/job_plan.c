#include "job/job_plan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job/key_text.h"
#include "media/output/output_file.h"
#include "media/regular_file.h"

#define MAX_CODE 65535 /* greatest code of 16 bits */
#define DEEPER 10      /* bits of --pix-fmt auto10 */

#define TITLE "lumeq-plan"

JobPath job_path(const char *folder, const char *name, ...)
{
    JobPath path;
    char base[NAME_MAX + 1];
    va_list args;
    va_start(args, name);
    const int n = vsnprintf(base, sizeof(base), name, args);
    va_end(args);
    if (n >= (int)sizeof(base) ||
        snprintf(path.text, sizeof(path.text), "%s/%s", folder, base) >= PATH_MAX)
        path.text[0] = '\0';
    return path;
}

JobPath job_part_path(const char *folder, const char *what, int part, const char *ending)
{
    return job_path(folder, "%s-%05d%s", what, part, ending);
}

JobPath job_folder(const char *output)
{
    JobPath path;
    if (snprintf(path.text, sizeof(path.text), "%s.lumeq", output) >= PATH_MAX)
        path.text[0] = '\0';
    return path;
}

static int64_t modified_ns(const struct stat *file)
{
    return (int64_t)file->st_mtim.tv_sec * 1000000000 + file->st_mtim.tv_nsec;
}

/* Like stat(), for an input: a regular file or a block device. Errors: MEDIA_INPUT. */
static int stat_input(const char *path, struct stat *file, MediaError *error)
{
    if (stat(path, file) < 0)
        return media_fail(error, MEDIA_INPUT, "cannot read %s: %s", media_quote(path),
                          strerror(errno));
    return S_ISREG(file->st_mode) || S_ISBLK(file->st_mode)
               ? 0
               : media_fail(error, MEDIA_INPUT, "%s is not a regular file, but a job needs one",
                            media_quote(path));
}

int job_input_record(JobPlan *plan, MediaError *error)
{
    struct stat file;
    if (stat_input(plan->input, &file, error) < 0)
        return error->fault;
    plan->input_size = file.st_size;
    plan->input_ns = modified_ns(&file);
    return 0;
}

int job_input_check(const JobPlan *plan, MediaError *error)
{
    struct stat file;
    if (stat_input(plan->input, &file, error) < 0)
        return error->fault;
    const bool has_size = file.st_size == plan->input_size;
    return has_size && modified_ns(&file) == plan->input_ns
               ? 0
               : media_fail(error, MEDIA_INPUT,
                            "%s is not the file that was planned: its %s differs; all parts must "
                            "come from one file",
                            media_quote(plan->input), has_size ? "time" : "size");
}

/* ---- the text ---- */

/* Describes a line of the plan. Its value is a text, or `count` numbers in a row. */
typedef struct Field {
    const char *key;
    char **text;   /* freed with free(); if *text is NULL, the plan has no such line */
    void *numbers; /* int or int64_t */
    size_t size;   /* of one number, in bytes */
    int count;
} Field;

#define TEXT(name, variable)                                                                       \
    {                                                                                              \
        .key = (name), .text = &(variable)                                                         \
    }
#define NUMBERS(name, first, number)                                                               \
    {                                                                                              \
        .key = (name), .numbers = &(first), .size = sizeof(first), .count = (number)               \
    }

#define FIELDS 20
#define PART_NUMBERS ((int)(sizeof(JobPart) / sizeof(int64_t)))

/* All lines except the title, the arguments, the parts and the last line. */
static void list_fields(JobPlan *p, Field fields[FIELDS])
{
    const Field all[FIELDS] = {
        NUMBERS("ready", p->ready, 1),
        TEXT("program", p->program),
        TEXT("input", p->input),
        NUMBERS("identity", p->input_size, 2),
        TEXT("output", p->output),
        TEXT("stats", p->rows),
        TEXT("asked", p->asked),
        NUMBERS("encoder-threads", p->encoder_threads, 1),
        NUMBERS("decoder-threads", p->decoder_threads, 1),
        NUMBERS("depth", p->depth, 1),
        NUMBERS("codes", p->codes[0], 2),
        NUMBERS("zero", p->zero, 1),
        NUMBERS("time-base", p->time_base.num, 2),
        NUMBERS("frames", p->frames, 1),
        NUMBERS("length", p->length_us, 1),
        NUMBERS("film-end", p->film_end, 1),
        TEXT("damage", p->damage),
        TEXT("picture", p->picture),
        NUMBERS("jobs", p->jobs, 1),
        NUMBERS("wanted-parts", p->wanted_parts, 1),
    };
    memcpy(fields, all, sizeof(all));
}

static Field part_field(JobPart *part)
{
    return (Field)NUMBERS("part", part->first, PART_NUMBERS);
}

static void put_field(KeyText *text, const Field *f)
{
    char numbers[512] = "";
    size_t used = 0;
    for (int i = 0; i < f->count && used < sizeof(numbers); i++)
        used += (size_t)snprintf(numbers + used, sizeof(numbers) - used, "%s%" PRId64, i ? " " : "",
                                 f->size == sizeof(int64_t) ? ((const int64_t *)f->numbers)[i]
                                                            : ((const int *)f->numbers)[i]);
    if (!f->text || *f->text)
        key_text_add(text, f->key, "%s", f->text ? *f->text : numbers);
}

int job_plan_write(JobPlan *plan, MediaError *error)
{
    KeyText text = {0};
    Field fields[FIELDS];
    list_fields(plan, fields);
    key_text_add(&text, TITLE, "%d", JOB_PLAN_VERSION);
    for (int i = 0; i < FIELDS; i++)
        put_field(&text, &fields[i]);
    for (int i = 0; i < plan->arguments.count; i++)
        key_text_add(&text, "argument", "%s", plan->arguments.all[i]);
    for (int i = 0; i < plan->part_count; i++) {
        const Field part = part_field(&plan->parts[i]);
        put_field(&text, &part);
    }
    plan->mark = key_text_end(&text);
    const JobPath path = job_path(plan->folder, "plan");
    const int ret = text.failed ? media_no_memory(error, MEDIA_OUTPUT)
                                : output_file_save(path.text, text.text, text.size, error);
    key_text_free(&text);
    return ret;
}

/* ---- reading ---- */

/* Returns the text of a file, which the caller frees. NULL: see regular_file_why(). */
static char *read_text(const char *path)
{
    FILE *file = regular_file_stream(path, O_NOFOLLOW);
    char *text = NULL;
    size_t room = 0;
    if (!file)
        return NULL;
    if (getdelim(&text, &room, '\0', file) < 0) {
        free(text);
        text = feof(file) ? strdup("") : NULL;
    }
    const int reason = errno;
    fclose(file);
    errno = reason;
    return text;
}

JobPart *job_plan_add_part(JobPlan *plan)
{
    const size_t count = (size_t)plan->part_count + 1;
    JobPart *parts = realloc(plan->parts, count * sizeof(*parts));
    if (!parts)
        return NULL;
    plan->parts = parts;
    memset(&parts[count - 1], 0, sizeof(*parts));
    plan->part_count++;
    return &parts[count - 1];
}

/* Returns 0 if the value is valid. */
static int take_value(const Field *f, const char *value)
{
    char *end;
    if (f->text) {
        free(*f->text);
        *f->text = strdup(value);
        return *f->text ? 0 : -1;
    }
    for (int i = 0; i < f->count; i++, value = end) {
        const int64_t number = strtoll(value, &end, 10);
        if (end == value)
            return -1;
        if (f->size == sizeof(int64_t))
            ((int64_t *)f->numbers)[i] = number;
        else
            ((int *)f->numbers)[i] = (int)number;
    }
    return *value ? -1 : 0;
}

/* Returns 0 if the line is valid. */
static int take_line(JobPlan *plan, const char *key, const char *value)
{
    Field fields[FIELDS];
    if (strcmp(key, "argument") == 0)
        return text_list_add(&plan->arguments, value);
    if (strcmp(key, "part") == 0) {
        JobPart *part = plan->part_count < JOB_MAX_PARTS ? job_plan_add_part(plan) : NULL;
        if (!part)
            return -1;
        const Field numbers = part_field(part);
        return take_value(&numbers, value);
    }
    list_fields(plan, fields);
    for (int i = 0; i < FIELDS; i++)
        if (strcmp(key, fields[i].key) == 0)
            return take_value(&fields[i], value);
    return strcmp(key, TITLE) == 0 || strcmp(key, "end") == 0 ? 0 : -1;
}

static int not_a_plan(const char *path, const char *why, MediaError *error)
{
    return media_fail(error, MEDIA_INPUT,
                      "%s is not a plan of lumeq: %s; lumeq plan IN -o OUT makes one",
                      media_quote(path), why);
}

static int take_plan(JobPlan *plan, char *text, const char *path, const char *program,
                     MediaError *error)
{
    char *at = text, *key, *value;
    int version = 0, wrong = 0;
    if (sscanf(text, TITLE " %d", &version) != 1)
        return not_a_plan(path, "it does not start with " TITLE "", error);
    if (version != JOB_PLAN_VERSION)
        return media_fail(error, MEDIA_INPUT,
                          "the plan %s has version %d, but this lumeq needs version %d; plan "
                          "again, or use the lumeq that planned it",
                          media_quote(path), version, JOB_PLAN_VERSION);
    if (!key_text_is_whole(text, &plan->mark))
        return not_a_plan(path, "it is damaged", error);
    while (!wrong && key_text_next(&at, &key, &value))
        wrong = take_line(plan, key, value) < 0;
    if (wrong || !plan->program || !plan->input || !plan->output || !plan->part_count ||
        plan->time_base.num <= 0 || plan->time_base.den <= 0 ||
        (plan->depth && plan->depth != DEEPER) || plan->codes[0] < 0 ||
        plan->codes[0] > plan->codes[1] || plan->codes[1] > MAX_CODE)
        return not_a_plan(path, "one of its lines is wrong or missing", error);
    if (strcmp(plan->program, program) != 0)
        return media_fail(error, MEDIA_INPUT,
                          "the plan %s was made by %s, but this is %s: all steps need the same "
                          "program and libraries",
                          media_quote(path), plan->program, program);
    return 0;
}

static int refuse_folder(const char *folder, const char *why, MediaError *error)
{
    return media_fail(error, MEDIA_OUTPUT, "%s cannot be the folder of a job: %s",
                      media_quote(folder), why);
}

/* Returns a descriptor; -ENOENT: the folder does not exist; MEDIA_OUTPUT: it cannot be used. */
static int open_folder(const char *folder, MediaError *error)
{
    struct stat about;
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int reason = errno;
    if (fd < 0 && reason == ENOENT)
        return -ENOENT;
    if (fd < 0 && lstat(folder, &about) == 0 && S_ISLNK(about.st_mode))
        return refuse_folder(folder, "it is a symbolic link", error);
    if (fd < 0 || fstat(fd, &about) < 0)
        return refuse_folder(folder, strerror(fd < 0 ? reason : errno), error);
    if (about.st_uid == geteuid())
        return fd;
    close(fd);
    return refuse_folder(folder, "it belongs to another user", error);
}

/* Checks that the plan is in the folder named after its output, so that an edited plan cannot make
 * lumeq write other files. Sets plan->folder to that name, because "." cannot be removed. */
static int check_place(JobPlan *plan, const char *path, MediaError *error)
{
    struct stat here, named;
    const int fd = open_folder(plan->folder, error);
    const JobPath folder = job_folder(plan->output);
    const int is_here = fd >= 0 && fstat(fd, &here) == 0 && lstat(folder.text, &named) == 0 &&
                        here.st_dev == named.st_dev && here.st_ino == named.st_ino;
    if (fd >= 0)
        close(fd);
    if (is_here) {
        free(plan->folder);
        plan->folder = strdup(folder.text);
    }
    if (is_here && !plan->folder)
        return media_no_memory(error, MEDIA_INPUT);
    return is_here || error->fault
               ? error->fault
               : media_fail(error, MEDIA_INPUT,
                            "the plan %s is for the output %s, but is not in that output's .lumeq "
                            "folder: it was moved, copied or edited",
                            media_quote(path), media_quote(plan->output));
}

int job_plan_read(JobPlan *plan, const char *path, const char *program, MediaError *error)
{
    char *copy = strdup(path);
    plan->folder = copy ? strdup(dirname(copy)) : NULL;
    free(copy);
    if (!plan->folder)
        return media_no_memory(error, MEDIA_INPUT);
    char *text = read_text(path);
    if (!text && errno == ENOENT)
        return media_fail(error, MEDIA_INPUT,
                          "there is no plan %s; lumeq plan IN -o OUT makes OUT.lumeq/plan",
                          media_quote(path));
    if (!text)
        return media_fail(error, MEDIA_INPUT, "cannot read the plan %s: %s", media_quote(path),
                          regular_file_why());
    const int ret = take_plan(plan, text, path, program, error);
    free(text);
    return ret < 0 ? ret : check_place(plan, path, error);
}

void job_plan_free(JobPlan *plan)
{
    text_list_free(&plan->arguments);
    free(plan->folder);
    free(plan->program);
    free(plan->input);
    free(plan->output);
    free(plan->rows);
    free(plan->asked);
    free(plan->damage);
    free(plan->picture);
    free(plan->parts);
    *plan = (JobPlan){0};
}

/* ---- job folder ---- */

int job_folder_check(const char *folder, MediaError *error)
{
    const int fd = open_folder(folder, error);
    if (fd >= 0)
        close(fd);
    return error->fault;
}

int job_folder_make(const char *folder, MediaError *error)
{
    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        return media_fail(error, MEDIA_OUTPUT, "cannot make the folder %s: %s", media_quote(folder),
                          strerror(errno));
    return job_folder_check(folder, error);
}

#define DIGIT "[0-9]"
#define PART DIGIT DIGIT DIGIT DIGIT DIGIT
#define HEX "[0-9a-f]"
#define MARK HEX HEX HEX HEX HEX HEX HEX HEX

#define NAMES "@(plan|joining|@(curves|part|measured)-" PART "|rows-" PART ".@(csv|jsonl))"

static void remove_one(int fd, const char *name)
{
    struct stat about;
    if (fstatat(fd, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(about.st_mode))
        (void)unlinkat(fd, name, 0);
}

void job_folder_clear(const char *folder)
{
    MediaError ignored = {0};
    const struct dirent *entry;
    const int fd = open_folder(folder, &ignored);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    if (!entries) {
        if (fd >= 0)
            close(fd);
        return;
    }
    while ((entry = readdir(entries)))
        if ((fnmatch(NAMES, entry->d_name, FNM_EXTMATCH) == 0 ||
             fnmatch("." NAMES ".lumeq-" MARK ".part", entry->d_name, FNM_EXTMATCH) == 0) &&
            strcmp(entry->d_name, "plan") != 0 && strcmp(entry->d_name, JOB_JOINING) != 0)
            remove_one(fd, entry->d_name);
    remove_one(fd, "plan");
    remove_one(fd, JOB_JOINING);
    closedir(entries);
    (void)rmdir(folder);
}
