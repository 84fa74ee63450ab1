#include "app/job_run.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/headless.h"
#include "app/job_film.h"
#include "app/made.h"
#include "app/sandbox.h"
#include "app/setup.h"
#include "app/signals.h"
#include "app/task_pool.h"
#include "app/terminal.h"
#include "job/film_joiner.h"
#include "job/job_plan.h"
#include "media/log.h"
#include "media/output/output_file.h"
#include "media/process.h"

/* Every run keeps at least this many cores busy. For example, ffv1 encodes 4 slices at once. */
#define CORES_OF_RUN 4

#define MAX_TEXT 64    /* bytes of "part N: " */
#define MAX_DEVICES 64 /* GPUs */
#define MAX_SLOTS 256  /* maximum of --jobs */
#define RESUME "; --resume continues"

enum { PLAN, MEASURE, SEGMENT, JOIN, COMMANDS, FINISH = COMMANDS };

typedef struct JobRun {
    const Options *options;
    atomic_int *stop;
    pid_t pid;
    JobFilm film;
    const char *path; /* of the plan */
    bool is_planned;
    int step;
    int next, count; /* the next part; the number of parts (1 for a step of the whole film) */
    int existing;    /* parts that were written before */
    int64_t done;    /* frames of parts that are done */
    bool has_said;   /* a note about a part was shown; further notes are not */
    int code;        /* exit code of joining, or of the run that made the output */
    TaskPool pool;
} JobRun;

/* Runs in a child process, because CUDA fails in the children of a process that used it. */
static int count_gpus(void *opaque, int pipe)
{
    char why[128];
    const int count = lumeq_list_gpus(NULL, 0, why, sizeof(why));
    (void)opaque;
    (void)pipe;
    _exit(av_clip(count, 0, MAX_DEVICES)); /* skip exit handlers of drivers */
}

/* Lists the GPUs of --devices. Returns their number; 0 without that option. */
static int list_devices(const Options *o, int numbers[MAX_DEVICES])
{
    static int all = -1; /* number of the machine's GPUs; child processes inherit it */
    const ProcessOptions options = {.body = count_gpus};
    Process process;
    int count = 0;
    if (!o->devices)
        return 0;
    if (strcmp(o->devices, "all") == 0) {
        if (all < 0) {
            const int status = process_start(&process, &options) ? -1 : process_wait(&process, -1);
            all = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
        }
        for (; count < all; count++)
            numbers[count] = count;
    }
    for (const char *at = o->devices; *at >= '0' && *at <= '9' && count < MAX_DEVICES;) {
        char *end;
        numbers[count++] = (int)strtol(at, &end, 10);
        at = end + (*end == ',');
    }
    return count;
}

int job_run_at_a_time(const Options *o, int rows)
{
    int numbers[MAX_DEVICES], cores = (int)o->threads; /* kept busy by one encode */
    const int gpus = list_devices(o, numbers);
    if (o->jobs > 0)
        return FFMIN((int)o->jobs, MAX_SLOTS);
    if (cores <= 0) {
        const AVCodec *codec = options_many(o) ? NULL : setup_find_encoder(o);
        cores = FFMAX(codec ? encoder_cores(codec, rows) : 0, CORES_OF_RUN);
    }
    return av_clip(process_cores() / cores, FFMAX(gpus, 1), MAX_SLOTS);
}

int job_run_device(const Options *o, int slot)
{
    int numbers[MAX_DEVICES];
    const int count = list_devices(o, numbers);
    return count ? numbers[slot % count] : (int)o->device;
}

/* ---- processes ---- */

static bool is_of_parts(const JobRun *r)
{
    return r->step == MEASURE || r->step == SEGMENT;
}

static int at_a_time(const JobRun *r)
{
    return is_of_parts(r) ? FFMAX(r->film.plan.jobs, 1) : 1;
}

static int take_step(JobFilm *f, int step, int part, int *code)
{
    int ret;
    progress_start(&f->progress);
    switch (step) {
    case PLAN: ret = job_step_plan(f); break;
    case MEASURE: ret = job_step_measure(f, part); break;
    case SEGMENT: ret = job_step_segment(f, part); break;
    case JOIN: ret = job_step_join(f, code); break;
    default: ret = job_step_finish(f);
    }
    progress_end(&f->progress, run_end_state(ret < 0 ? -ret : *code));
    return ret;
}

/* Sets up the film of a step: the options of this run, with a share of the cores and GPUs. */
static int read_film(const JobRun *r, int slot, JobFilm *f)
{
    const Options *o = r->options;
    char program[400];
    f->options = *o;
    /* The caller owns these members: they must not be freed with the copy. */
    f->options.config_path = f->options.config_text = NULL;
    f->options.inputs = NULL;
    f->options.output_folder = NULL;
    f->options.device = job_run_device(o, slot);
    if (r->step == PLAN) {
        MediaError ignored = {0};
        Source *source = NULL;
        if (o->jobs <= 0) /* if the source cannot be opened, the step reports it */
            (void)setup_source_again(&source, o, NULL, NULL, f->stop, &ignored);
        f->plan.jobs = job_run_at_a_time(o, source ? source->video->codecpar->height : 0);
        f->options.no_measure = 1;
        f->made = r->film.made;
        source_close(&source);
        return 0;
    }
    if (o->threads <= 0)
        f->options.threads = FFMAX(process_cores() / at_a_time(r), 1);
    if (!is_of_parts(r))
        f->options.backend = LUMEQ_BACKEND_CPU;
    job_program(program, sizeof(program));
    const int ret = job_plan_read(&f->plan, r->path, program, &f->error);
    return ret < 0 ? ret : job_input_check(&f->plan, &f->error);
}

static void end_at_once(int number)
{
    (void)number;
    output_file_remove_all(NULL);
    _exit(EXIT_INTERRUPTED);
}

static int run_step_of(void *run, int part, int slot, ProgressShare *share, TaskAnswer *answer)
{
    const JobRun *r = run;
    JobFilm film = {
        .stop = r->stop,
        .local = true,
        .progress = {.style = PROGRESS_NONE, .share = share, .started = r->film.progress.started}};
    int code = EXIT_DONE;
    /* If the parent is killed, end at once, because the next run may use the same files. */
    (void)signal(SIGUSR1, end_at_once);
    (void)prctl(PR_SET_PDEATHSIG, SIGUSR1);
    if (getppid() != r->pid)
        _exit(EXIT_INTERRUPTED);
    if (r->film.progress.style == PROGRESS_BAR)
        say_over_bottom();
    if (is_of_parts(r)) {
        say_set_verbosity(SAY_ERRORS);
        say_collect(answer->notes, sizeof(answer->notes));
    }
    if (sandbox_enter(r->options, SANDBOX_STEP, &film.error) < 0 || read_film(r, slot, &film) < 0 ||
        take_step(&film, r->step, part, &code) < 0)
        code = -film.error.fault;
    answer->frames = film.progress.frame;
    memcpy(answer->why, film.error.text, sizeof(answer->why));
    job_film_close(&film);
    return code;
}

static int next_part(void *run)
{
    JobRun *r = run;
    while (r->next < r->count) {
        const int part = r->next++;
        if (r->step != SEGMENT || !film_joiner_has(&r->film.plan, part))
            return part;
        r->existing++;
        r->done += r->film.plan.parts[part].frames;
    }
    return -1;
}

static bool end_step_of(void *run, int part, int code, const TaskAnswer *answer)
{
    JobRun *r = run;
    char name[MAX_TEXT] = "";
    if (code == EXIT_DONE ||
        (r->step == JOIN && !answer->why[0] && (code == EXIT_DAMAGED || code == EXIT_OUTPUT))) {
        r->code = r->step == JOIN ? code : r->code;
        r->done += answer->frames;
        if (answer->notes[0] && !r->has_said) {
            char line[sizeof(answer->notes)];
            snprintf(line, sizeof(line), "%.*s", (int)strcspn(answer->notes, "\n"), answer->notes);
            say_line(line);
            r->has_said = true;
        }
        return true;
    }
    if (is_of_parts(r))
        snprintf(name, sizeof(name), "part %d: ", part);
    const int fault = code < 0 ? MEDIA_OUTPUT : av_clip(-code, MEDIA_OUTPUT, MEDIA_USAGE);
    if (!atomic_load(r->stop))
        (void)media_fail(&r->film.error, fault, "%s%s", name, answer->why);
    return false;
}

static void look_at_tasks(void *run)
{
    JobRun *r = run;
    Progress *p = &r->film.progress;
    if (r->step == JOIN || r->step == FINISH)
        return;
    int64_t frames = r->done;
    double seconds = 0;
    for (int i = 0; i < r->pool.jobs; i++)
        (void)task_pool_progress(&r->pool, i, &frames, &seconds);
    const double share = p->frames ? FFMIN((double)frames / (double)p->frames, 1) : 0;
    p->finished = (share + (r->step == SEGMENT)) / 2; /* measuring is half of the work */
    if (r->step == SEGMENT) {
        p->frame = frames;
        p->time = p->duration * share;
    }
    progress_update(p);
}

/* Runs a step in child processes: one for each part that needs it, or one for the whole film.
 * Returns 1 on success, 0 if the run was stopped, or a fault. */
static int run_step(JobRun *r, int step)
{
    JobFilm *f = &r->film;
    r->step = step;
    r->done = 0;
    r->has_said = false;
    r->next = 0;
    r->count = is_of_parts(r) ? f->plan.part_count : 1;
    r->pool = (TaskPool){.jobs = at_a_time(r),
                         .next = next_part,
                         .run = run_step_of,
                         .end = end_step_of,
                         .look = look_at_tasks,
                         .opaque = r,
                         .stop = r->stop};
    f->progress.frames = f->plan.frames;
    f->progress.duration = (double)f->plan.length_us / AV_TIME_BASE;
    if (task_pool_run(&r->pool) < 0)
        (void)media_no_memory(&f->error, MEDIA_OUTPUT);
    return f->error.fault ? f->error.fault : atomic_load(r->stop) == RUN_ON;
}

static int read_plan(JobRun *r)
{
    JobFilm *f = &r->film;
    char program[400];
    r->is_planned = true;
    job_program(program, sizeof(program));
    job_plan_free(&f->plan);
    return job_plan_read(&f->plan, r->path, program, &f->error);
}

/* Returns 1 if the film is joined, 0 if the run was stopped, or a fault. */
static int run_all(JobRun *r)
{
    int ret = run_step(r, PLAN);
    if (ret > 0 && read_plan(r) < 0)
        return r->film.error.fault;
    if (ret > 0 && r->film.made) { /* a run was killed before it could remove the folder */
        say(SAY_NORMAL, "%s is already complete", media_quote(r->options->output));
        return 1;
    }
    if (ret > 0 && !r->film.plan.ready) {
        ret = run_step(r, MEASURE); /* does nothing for measured parts */
        if (ret > 0)
            ret = run_step(r, FINISH);
        if (ret > 0 && read_plan(r) < 0)
            return r->film.error.fault;
    }
    if (ret > 0)
        ret = run_step(r, SEGMENT);
    if (r->existing)
        say(SAY_NORMAL, "%d of %d parts already existed", r->existing, r->count);
    if (ret > 0)
        ret = run_step(r, JOIN);
    return r->step == JOIN && r->done
               ? 1
               : ret; /* the film is joined, even if a signal came meanwhile */
}

int job_run(const Options *options, atomic_int *stop)
{
    JobRun r = {.options = options, .stop = stop, .pid = getpid()};
    JobFilm *f = &r.film;
    const char *output = options->output;
    const uint32_t how = made_how(options, options->input);
    const JobPath folder = job_folder(output), path = job_path(folder.text, "plan");
    const JobPath joining = job_path(folder.text, JOB_JOINING);
    r.path = path.text;
    r.code = options->resume ? made_code(output, how, joining.text) : -1;
    f->made = r.code >= 0;
    if (f->made && access(r.path, F_OK) < 0 &&
        (!options->stats || access(options->stats, F_OK) == 0)) {
        say(SAY_NORMAL,
            "%s is done: an earlier run has made it with these settings; to make it again, use -y "
            "without --resume",
            media_quote(output));
        job_folder_clear(folder.text); /* a killed run may not have cleared it */
        return r.code;
    }
    if (setup_check_parts(options, &f->error) < 0 || sandbox_say(options, &f->error) < 0) {
        say(SAY_ERRORS, "%s", f->error.text);
        return -f->error.fault;
    }
    f->progress.style = headless_progress(options);
    f->progress.has_share = true;
    progress_start(&f->progress);
    const int ret = run_all(&r);
    const int failed = ret < 0 ? -ret : EXIT_INTERRUPTED, code = ret > 0 ? r.code : failed;
    struct stat whole;
    f->progress.bytes = ret > 0 && stat(output, &whole) == 0 ? whole.st_size : -1;
    if (r.is_planned || f->progress.frame)
        progress_end(&f->progress, run_end_state(code));
    if (code == EXIT_DONE || code == EXIT_DAMAGED)
        (void)made_note(output, how, code);
    else if (code == EXIT_INTERRUPTED)
        say(SAY_ERRORS, "interrupted%s",
            access(r.path, F_OK) == 0 ? RESUME : "; nothing was written");
    else if (ret < 0)
        say(SAY_ERRORS, "%s%s", f->error.text, r.is_planned ? RESUME : "");
    if (ret > 0)
        job_folder_clear(folder.text);
    else
        (void)rmdir(folder.text); /* if it is empty */
    job_film_close(f);
    return code;
}

/* ---- the commands of the steps ---- */

/* Environment variables with a scheduler's task number, and the number of its first task. */
static const struct {
    const char *name;
    int first;
} numbers[] = {{"SLURM_ARRAY_TASK_ID", 0}, {"JOB_COMPLETION_INDEX", 0}, {"PARALLEL_SEQ", 1}};

const char *const job_commands[] = {
    [PLAN] = "plan", [MEASURE] = "measure", [SEGMENT] = "segment",
    [JOIN] = "join", [COMMANDS] = NULL,
};

static int find_command(const char *name)
{
    int i = 0;
    while (i < COMMANDS && strcmp(job_commands[i], name) != 0)
        i++;
    return i;
}

bool job_is_command(int argc, char **argv)
{
    return argc > 1 && find_command(argv[1]) < COMMANDS;
}

/* Parses a number without sign; -1: the text is something else. */
static long read_number(const char *text)
{
    char *end;
    errno = 0;
    const long number = strtol(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno ? number : -1;
}

/* Reads the part's number from the first argument (*used is then 1) or from the environment. */
static int find_part(JobFilm *f, int command, int argc, char **argv, int *used, long *part)
{
    *used = 0;
    if (argc > 0 && argv[0][0] != '-') {
        *part = read_number(argv[0]);
        *used = 1;
        return *part >= 0 ? 0
                          : media_fail(&f->error, MEDIA_USAGE,
                                       "%s is not a part number; parts count from 0",
                                       media_quote(argv[0]));
    }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        const char *text = getenv(numbers[i].name);
        if (!text)
            continue;
        const long number = read_number(text);
        *part = number - numbers[i].first;
        return number >= 0 && *part >= 0
                   ? 0
                   : media_fail(&f->error, MEDIA_USAGE, "%s=%s is not a part number",
                                numbers[i].name, media_quote(text));
    }
    return media_fail(&f->error, MEDIA_USAGE,
                      "lumeq %s PLAN K needs the number of a part, K, as an argument, or in "
                      "SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX or PARALLEL_SEQ",
                      job_commands[command]);
}

/* Reads an existing plan, whose path is argv[0], and the part's number if the command needs one.
 * Returns 1 or a fault. */
static int read_command(JobFilm *f, int command, int argc, char **argv, long *part)
{
    int used = 0, ret = 0;
    const int has_part = command == MEASURE || command == SEGMENT;
    if (argc < 1 || argv[0][0] == '-')
        return media_fail(&f->error, MEDIA_USAGE,
                          "lumeq %s needs %sOUT.lumeq/plan; for a file named %s, write ./%s",
                          job_commands[command], command == PLAN ? "IN -o OUT, or " : "",
                          job_commands[command], job_commands[command]);
    if (has_part)
        ret = find_part(f, command, argc - 1, argv + 1, &used, part);
    if (ret >= 0)
        ret = job_film_read(f, argv[0], argc - 1 - used, argv + 1 + used);
    if (ret < 0)
        return ret;
    const int count = f->plan.part_count;
    if (has_part && *part >= (f->plan.ready ? FFMAX(count, f->plan.wanted_parts) : count))
        return media_fail(&f->error, MEDIA_USAGE,
                          "there is no part %ld: the plan has %d parts, 0 to %d", *part, count,
                          count - 1);
    return 1;
}

/* Parses `lumeq plan IN -o OUT`. Returns 1, 0 if nothing is left to do, or a fault. */
static int read_film_options(JobFilm *f, int argc, char **argv)
{
    char text[1400];
    if (options_parse_plan(&f->options, argc, argv, text, sizeof(text)) < 0)
        return media_fail(&f->error, MEDIA_USAGE, "%s", text);
    if (f->options.help) {
        options_print_help(OPTIONS_HELP_FULL);
        return 0;
    }
    if (options_is_query(&f->options))
        return media_fail(
            &f->error, MEDIA_USAGE,
            "this option cannot be used with lumeq plan; use it alone, as in lumeq --version");
    return f->options.output
               ? 1
               : media_fail(&f->error, MEDIA_USAGE,
                            "lumeq plan IN -o OUT needs the name of the film to write: -o OUT");
}

int job_command(int argc, char **argv, atomic_int *stop)
{
    JobFilm film = {.stop = stop, .options = options_default()};
    const Options *o = &film.options;
    const int command = find_command(argv[1]);
    /* True for `lumeq plan IN -o OUT`, false for `lumeq plan PLAN`. */
    bool is_new = false;
    for (int i = 2; i < argc && command == PLAN; i++)
        is_new |= strcmp(argv[i], "-o") == 0 || strncmp(argv[i], "--output", 8) == 0 ||
                  strcmp(argv[i], "-h") == 0 || strncmp(argv[i], "--help", 6) == 0;
    int code = EXIT_DONE;
    long part = 0;
    signals_install(stop);
    int ret = is_new ? read_film_options(&film, argc - 1, argv + 1)
                     : read_command(&film, command, argc - 2, argv + 2, &part);
    if (ret > 0) {
        say_set_color((SayColor)o->color);
        say_set_verbosity(options_verbosity(o));
        media_log_install(o->verbose, say_detail, say_error);
        film.progress.style = headless_progress(o);
        ret = setup_check_parts(o, &film.error);
        if (ret >= 0)
            ret = sandbox_enter(o, SANDBOX_STEP, &film.error);
        if (ret >= 0)
            ret = take_step(&film, command == PLAN && !is_new ? FINISH : command, (int)part, &code);
    }
    if (ret < 0) {
        code = atomic_load(stop) == RUN_INTERRUPTED ? EXIT_INTERRUPTED : -film.error.fault;
        say(SAY_ERRORS, "%s",
            code == EXIT_INTERRUPTED ? "interrupted; finished parts are kept" : film.error.text);
    }
    job_film_close(&film);
    return code;
}
