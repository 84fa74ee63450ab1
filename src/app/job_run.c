#include "app/job_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/headless.h"
#include "app/job_film.h"
#include "app/made.h"
#include "app/sandbox.h"
#include "app/signals.h"
#include "app/terminal.h"
#include "job/film_joiner.h"
#include "job/frame_file.h"
#include "media/activity.h"
#include "media/log.h"
#include "media/process.h"

/* Cores that one run keeps busy at least: measured with ffv1, whose encoder has 4 slices. */
#define CORES_OF_RUN 4

#define MOST_TEXT 64
#define MOST_DEVICES 64
#define MOST_SLOTS 256 /* --jobs */
#define RESUME "; --resume continues"
#define TRIES 2 /* for each part and step */

/* A process that makes a part. */
typedef struct Worker {
    int part, device;
    int64_t frames;
    char last[sizeof(((Process *)0)->line)]; /* its last message */
} Worker;

/* A part of the current step. */
typedef struct Todo {
    int tries;
    int taken; /* a process makes it, or it is done */
} Todo;

typedef struct JobRun {
    const Options *options;
    atomic_int *stop;
    JobFilm film;
    int rows;                                /* of the pictures; 0: unknown */
    int jobs, measures;                      /* parts that are encoded, and measured, at a time */
    char *path;                              /* of the plan */
    const char *step;                        /* the current one: `measure` or `segment` */
    int devices[MOST_DEVICES], device_count; /* GPUs that still work */
    Worker *slots;
    int slot;       /* of the process that is being started */
    Todo *parts;    /* of the step */
    int64_t before; /* frames of parts that are done */
    int said;       /* a message of a part was shown */
    int joined;
} JobRun;

/* A step of the whole film, which a process of its own takes. This process is not in the sandbox,
 * so it opens no media, and checks each number of the answer. */
typedef struct FilmStep {
    JobRun *run;
    int (*take)(struct FilmStep *step, JobFilm *film);
    struct {
        MediaError error;
        int joined, code; /* the output is there, with this exit code */
        int rows;         /* of the pictures; 0: unknown */
        int64_t frame, bytes;
    } told;
} FilmStep;

#define LOOK_MS 100
#define MOST_ROWS 65536

/* Runs in a child process: CUDA does not work after fork() if this process has used it. */
static int count_gpus(void *opaque, int pipe)
{
    char why[128];
    const int count = lumeq_list_gpus(NULL, 0, why, sizeof(why));
    (void)opaque;
    (void)pipe;
    _exit(av_clip(count, 0, MOST_DEVICES)); /* skip exit handlers of drivers */
}

static int all_gpus(void)
{
    static int count = -1; /* also for processes that this one starts */
    const ProcessOptions options = {.body = count_gpus};
    Process process;
    if (count < 0) {
        const int status = process_start(&process, &options) ? -1 : process_wait(&process, -1);
        count = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    }
    return count;
}

/* Lists the GPUs of --devices. Returns 0 without that option. */
static int list_devices(const Options *o, int numbers[MOST_DEVICES])
{
    int count = 0;
    if (!o->devices)
        return 0;
    if (strcmp(o->devices, "all") == 0)
        for (const int all = all_gpus(); count < all; count++)
            numbers[count] = count;
    for (const char *at = o->devices; *at >= '0' && *at <= '9' && count < MOST_DEVICES;) {
        char *end;
        numbers[count++] = (int)strtol(at, &end, 10);
        at = end + (*end == ',');
    }
    return count > MOST_DEVICES ? MOST_DEVICES : count;
}

/* Cores that one encode keeps busy. */
static int cores_of_run(const Options *o, int rows)
{
    if (o->threads > 0)
        return (int)o->threads;
    const AVCodec *codec = options_many(o) ? NULL : engine_find_encoder(o);
    const int cores = codec ? encoder_cores(codec, rows) : 0;
    return cores > CORES_OF_RUN ? cores : CORES_OF_RUN;
}

/* Measuring needs no encoder, so more parts fit. */
static int measures_at_a_time(const Options *o, int jobs)
{
    const int cores = o->threads > 0 ? (int)o->threads : CORES_OF_RUN;
    const int measures = process_cores() / cores;
    return o->jobs > 0 || measures < jobs ? jobs : measures;
}

int job_run_at_a_time(const Options *o, int rows)
{
    int numbers[MOST_DEVICES];
    const int gpus = list_devices(o, numbers);
    if (o->jobs > 0)
        return (int)o->jobs;
    const int jobs = process_cores() / cores_of_run(o, rows), least = gpus > 1 ? gpus : 1;
    return jobs > least ? jobs : least;
}

int job_run_device(const Options *o, int slot)
{
    int numbers[MOST_DEVICES];
    const int count = list_devices(o, numbers);
    return count ? numbers[slot % count] : (int)o->device;
}

/* ---- the parts ---- */

static const char measure[] = "measure", segment[] = "segment";

/* While another GPU is left, a part must not continue on the CPU when its GPU is lost. */
static const char *backend_of(const JobRun *r)
{
    static const char *const names[] = {"--backend=auto", "--backend=cpu", "--backend=cuda"};
    const int asked = r->options->backend;
    if (asked == LUMEQ_BACKEND_CPU || !r->device_count)
        return names[LUMEQ_BACKEND_CPU];
    return names[r->device_count > 1 ? LUMEQ_BACKEND_CUDA : asked];
}

static int at_a_time(const JobRun *r)
{
    return r->step == segment ? r->jobs : r->measures;
}

static void set_up(JobFilm *f);
static int end_step(JobFilm *f, int ret, int code);

/* Runs in a child process. */
static int make_part(void *run, int pipe)
{
    const JobRun *r = run;
    const Worker *w = &r->slots[r->slot];
    const int share = process_cores() / at_a_time(r), null = open("/dev/null", O_RDWR | O_CLOEXEC);
    JobFilm film = {.stop = r->stop};
    char threads[MOST_TEXT], gpu[MOST_TEXT], timeout[MOST_TEXT];
    char *arguments[] = {(char *)"-q", (char *)"--progress=json", threads, gpu,
                         timeout,      (char *)backend_of(r)};
    snprintf(threads, sizeof(threads), "--threads=%d",
             r->options->threads > 0 ? (int)r->options->threads
             : share < 1             ? 1
                                     : share);
    snprintf(gpu, sizeof(gpu), "--device=%d", w->device);
    snprintf(timeout, sizeof(timeout), "--open-timeout=%g", r->options->open_timeout);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
        dup2(pipe, STDERR_FILENO) < 0)
        return EXIT_OUTPUT;
    say_over_bottom();
    say_set_color(SAY_COLOR_NEVER);
    say_set_verbosity(SAY_ERRORS);
    int ret = sandbox_enter(r->options, SANDBOX_STEP, &film.error);
    if (ret >= 0)
        ret = job_film_read(&film, r->path, (int)(sizeof(arguments) / sizeof(arguments[0])),
                            arguments);
    if (ret >= 0) {
        set_up(&film);
        ret = r->step == segment ? job_step_segment(&film, w->part)
                                 : job_step_measure(&film, w->part);
    }
    return end_step(&film, ret, EXIT_DONE);
}

static int start_part(JobRun *r, int slot, int number, Process *process)
{
    const ProcessOptions options = {.body = make_part, .opaque = r};
    const int device = r->device_count ? r->devices[slot % r->device_count] : 0;
    r->slots[slot] = (Worker){.part = number, .device = device};
    r->slot = slot;
    r->parts[number].tries++;
    r->parts[number].taken = 1;
    const int reason = process_start(process, &options);
    return reason ? media_fail(&r->film.error, MEDIA_OUTPUT, "cannot start a process: %s",
                               strerror(reason))
                  : 1;
}

/* Parts that failed come first. */
static int start_next(void *run, int slot, Process *process)
{
    JobRun *r = run;
    int next = -1;
    for (int i = 0; i < r->film.plan.part_count; i++)
        if (!r->parts[i].taken && (next < 0 || r->parts[i].tries > r->parts[next].tries))
            next = i;
    return next < 0 ? 0 : start_part(r, slot, next, process);
}

/* Takes a line of progress, or a message. */
static void take_line(void *worker, const char *line)
{
    Worker *w = worker;
    static const char key[] = "{\"frame\":";
    if (strncmp(line, key, strlen(key)) == 0)
        w->frames = av_clip64(strtoll(line + strlen(key), NULL, 10), 0, JOB_MOST_COUNT);
    else if (*line)
        snprintf(w->last, sizeof(w->last), "%s", process_words(line));
}

static int read_part(void *run, int slot, Process *process)
{
    return process_read_lines(process, take_line, &((JobRun *)run)->slots[slot]);
}

/* If the process failed because its GPU is lost or missing, stops using that GPU. Returns 0 for
 * other failures. */
static int is_forgiven(JobRun *r, const Worker *w)
{
    int left = 0;
    if (strncmp(w->last, ENGINE_NO_GPU, strlen(ENGINE_NO_GPU)) != 0)
        return 0;
    for (int i = 0; i < r->device_count; i++)
        if (r->devices[i] != w->device)
            r->devices[left++] = r->devices[i];
    if (left < r->device_count)
        say(SAY_WARNINGS, "GPU %d is no longer used (%s): %s", w->device,
            w->last + strlen(ENGINE_NO_GPU),
            left ? "its part is made on another" : "the CPU goes on");
    r->device_count = left;
    return 1;
}

/* Reports the exit code and the last message of a process that failed for good. */
static int fail_part(JobRun *r, const Worker *w, int status)
{
    const int part = w->part, code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    MediaError *error = &r->film.error;
    if (code >= -MEDIA_USAGE && code <= -MEDIA_OUTPUT && w->last[0])
        return media_fail(error, -code, "part %d: %s", part, w->last);
    if (WIFSIGNALED(status))
        return media_fail(error, MEDIA_OUTPUT, "part %d: its process was ended by %s, twice", part,
                          strsignal(WTERMSIG(status)));
    return media_fail(error, MEDIA_OUTPUT, "part %d: its process failed (%d)", part, code);
}

static int end_part(void *run, int slot, int status)
{
    JobRun *r = run;
    Worker w = r->slots[slot];
    r->slots[slot] = (Worker){0};
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        r->before += w.frames;
        if (w.last[0] && !r->said++)
            say_line(w.last);
        return 0;
    }
    if (atomic_load(r->stop) || r->film.error.fault)
        return 0;
    if (WIFEXITED(status) && is_forgiven(r, &w))
        r->parts[w.part].tries--;
    if (r->parts[w.part].tries >= TRIES)
        return fail_part(r, &w, status);
    r->parts[w.part].taken = 0;
    return 0;
}

static void look_at_parts(void *run)
{
    JobRun *r = run;
    Progress *p = &r->film.progress;
    const JobPlan *plan = &r->film.plan;
    p->frame = r->before;
    for (int i = 0; i < at_a_time(r); i++)
        p->frame += r->slots[i].frames;
    p->time = plan->frames ? p->duration * (double)p->frame / (double)plan->frames : 0;
    progress_update(p);
}

/* Takes a step for all parts that lack it, several at a time. */
static int make_parts(JobRun *r, const char *step)
{
    JobFilm *f = &r->film;
    const int all = f->plan.part_count;
    int done = 0;
    MediaError ignored = {0};
    r->step = step;
    r->before = r->said = 0;
    r->parts = calloc((size_t)all, sizeof(*r->parts));
    r->slots = calloc((size_t)at_a_time(r), sizeof(*r->slots));
    const int has_memory = r->parts && r->slots;
    for (int i = 0; i < all && has_memory; i++) {
        r->parts[i].taken = step == measure ? part_measures_exist(&f->plan, i, &ignored)
                                            : film_joiner_has(&f->plan, i);
        done += r->parts[i].taken;
        if (r->parts[i].taken)
            r->before += f->plan.parts[i].frames;
    }
    if (done)
        say(SAY_NORMAL, "%d of %d parts are %s already", done, all,
            step == measure ? "measured" : "there");
    const ProcessPool pool = {
        .jobs = at_a_time(r),
        .start = start_next,
        .read = read_part,
        .end = end_part,
        .look = look_at_parts,
        .opaque = r,
        .stop = r->stop,
    };
    f->progress.frames = f->plan.frames;
    f->progress.duration = (double)f->plan.length_us / AV_TIME_BASE;
    if (!has_memory || process_pool_run(&pool) < 0)
        (void)media_fail(&f->error, MEDIA_OUTPUT, "out of memory"); /* keeps an earlier error */
    free(r->parts);
    free(r->slots);
    return f->error.fault;
}

/* ---- steps of the whole film ---- */

/* The height of the pictures; 0: the film cannot be opened, which is reported later. */
static int find_rows(const JobRun *r)
{
    MediaError ignored = {0};
    Source *source = NULL;
    const Options *o = r->options;
    const int ret = engine_open_again(&source, o, o->input, r->stop, &ignored);
    const int rows = ret < 0 ? 0 : source->video->codecpar->height;
    source_close(&source);
    return rows;
}

static void choose_jobs(JobRun *r, int rows)
{
    r->jobs = FFMIN(job_run_at_a_time(r->options, rows), MOST_SLOTS);
    r->measures = FFMIN(measures_at_a_time(r->options, r->jobs), MOST_SLOTS);
}

static int plan(FilmStep *s, JobFilm *f)
{
    JobRun *r = s->run;
    s->told.rows = r->options->jobs > 0 ? 0 : find_rows(r);
    choose_jobs(r, s->told.rows);
    f->options = *r->options;
    f->options.config_path = f->options.config_text = NULL; /* the caller's, as is the next */
    f->options.inputs = NULL;
    f->options.device = job_run_device(r->options, 0);
    f->resume = r->options->resume;
    f->at_a_time = r->jobs;
    f->measures = r->measures;
    const int ret = job_step_plan(f);
    if (ret < 0 && f->plan.mark && atomic_load(r->stop) == RUN_ON)
        s->told.joined = job_is_joined_since(f, f->plan.damage, &s->told.code);
    return ret;
}

/* Reads the plan for a step that needs no GPU. */
static int read_film(const FilmStep *s, JobFilm *f)
{
    const JobRun *r = s->run;
    char timeout[MOST_TEXT];
    char *arguments[] = {(char *)"--backend=cpu", timeout, (char *)"-y"};
    snprintf(timeout, sizeof(timeout), "--open-timeout=%g", r->options->open_timeout);
    return job_film_read(f, r->path, r->options->overwrite ? 3 : 2, arguments);
}

static int finish(FilmStep *s, JobFilm *f)
{
    const int ret = read_film(s, f);
    return ret < 0 ? ret : job_step_finish(f);
}

static int join(FilmStep *s, JobFilm *f)
{
    int ret = read_film(s, f);
    f->progress.style = PROGRESS_NONE; /* the parent shows it */
    if (ret >= 0)
        ret = job_step_join(f, &s->told.code);
    s->told.joined = ret >= 0;
    return ret;
}

/* Runs in a child process. */
static int run_film_step(void *step, int pipe)
{
    FilmStep *s = step;
    JobFilm film = {.stop = s->run->stop, .within = 1, .seen = s->run->film.seen};
    film.progress = s->run->film.progress;
    int ret = sandbox_enter(s->run->options, SANDBOX_STEP, &film.error);
    if (ret >= 0)
        ret = s->take(s, &film);
    if (ret < 0)
        s->told.error = film.error;
    s->told.frame = film.progress.frame;
    s->told.bytes = film.progress.bytes;
    job_film_close(&film);
    (void)!write(pipe, &s->told, sizeof(s->told)); /* short enough to be atomic */
    return -ret;
}

/* Returns 0, a fault, or -ECHILD: the process ended early. *code: the exit code, if the film is
 * joined. */
static int try_step(JobRun *r, int (*take)(FilmStep *step, JobFilm *film), int *code)
{
    FilmStep s = {.run = r, .take = take};
    const ProcessOptions options = {.body = run_film_step, .opaque = &s};
    JobFilm *f = &r->film;
    Process process;
    size_t size = 0;
    ssize_t n;
    const int reason = process_start(&process, &options);
    if (reason)
        return media_fail(&f->error, MEDIA_OUTPUT, "cannot start a process: %s", strerror(reason));
    for (int ended = 0; (n = process_read(&process, (char *)&s.told + size, sizeof(s.told) - size,
                                          LOOK_MS)) != 0;) {
        size += n > 0 ? (size_t)n : 0;
        activity_note(); /* the process has a watchdog of its own */
        if (atomic_load(r->stop) != RUN_ON && !ended++)
            (void)kill(process.pid, SIGTERM);
    }
    const int status = process_wait(&process, -1), fault = s.told.error.fault;
    if (size < sizeof(s.told) || !WIFEXITED(status) || fault != -WEXITSTATUS(status)) {
        *code = status;
        return -ECHILD;
    }
    s.told.error.text[sizeof(s.told.error.text) - 1] = '\0';
    if (!r->path)
        f->progress.frame = av_clip64(s.told.frame, 0, JOB_MOST_COUNT);
    f->progress.bytes = av_clip64(s.told.bytes, -1, JOB_MOST_COUNT);
    r->rows = av_clip(s.told.rows, 0, MOST_ROWS);
    r->joined = s.told.joined == 1;
    *code = s.told.code == EXIT_DAMAGED || s.told.code == EXIT_OUTPUT ? s.told.code : EXIT_DONE;
    return fault ? media_fail(&f->error, av_clip(fault, MEDIA_OUTPUT, MEDIA_USAGE), "%s",
                              s.told.error.text)
                 : 0;
}

/* The same, but tries again after a process that ended early. Returns 0 or a fault. */
static int take_step(JobRun *r, int (*take)(FilmStep *step, JobFilm *film), int *code)
{
    int ret = -ECHILD;
    for (int i = 0; i < TRIES && ret == -ECHILD && (!i || atomic_load(r->stop) == RUN_ON); i++)
        ret = try_step(r, take, code);
    return ret == -ECHILD
               ? media_fail(&r->film.error, MEDIA_OUTPUT, "its process was ended by %s, twice",
                            WIFSIGNALED(*code) ? strsignal(WTERMSIG(*code)) : "itself")
               : ret;
}

/* Reads the plan that a process has written. */
static int read_plan(JobRun *r)
{
    JobFilm *f = &r->film;
    char program[400];
    char *folder = job_folder(r->options->output);
    if (!r->path)
        r->path = folder ? job_path(folder, "plan") : NULL;
    free(folder);
    if (!r->path)
        return media_fail(&f->error, MEDIA_OUTPUT, "out of memory");
    job_program(program, sizeof(program));
    job_plan_free(&f->plan);
    const int ret = job_plan_read(&f->plan, r->path, program, &f->error);
    return ret == -ENOENT
               ? media_fail(&f->error, MEDIA_INPUT, "the plan %s was removed", media_quote(r->path))
               : ret;
}

static int do_parts(JobRun *r)
{
    int code;
    if (!r->film.plan.ready && (make_parts(r, measure) < 0 || atomic_load(r->stop) != RUN_ON ||
                                take_step(r, finish, &code) < 0 || read_plan(r) < 0))
        return r->film.error.fault;
    if (atomic_load(r->stop) != RUN_ON)
        return 0;
    progress_second_pass(&r->film.progress);
    return make_parts(r, segment);
}

int job_run(const Options *options, atomic_int *stop)
{
    JobRun r = {.options = options, .stop = stop};
    JobFilm *f = &r.film;
    int code = EXIT_DONE;
    const uint32_t how = made_how(options, options->input);
    f->seen = job_file_look(options->output);
    if (options->resume &&
        (job_is_joined(options->output, options->stats, options->report, &code) ||
         job_is_done(options, how, &code)))
        return code;
    if (job_begin(options, options->resume, &f->error) < 0 ||
        engine_check_parts(options, &f->error) < 0 || sandbox_say(options, &f->error) < 0) {
        say(SAY_ERRORS, "%s", f->error.text);
        return -f->error.fault;
    }
    r.device_count = list_devices(options, r.devices);
    if (!r.device_count && !options->devices) {
        r.devices[0] = (int)options->device;
        r.device_count = 1;
    }
    f->progress.style = headless_progress(options);
    f->progress.passes = 2;
    progress_start(&f->progress);
    int ret = take_step(&r, plan, &code);
    if (f->progress.style == PROGRESS_BAR)
        say_over_bottom();
    if (ret >= 0)
        ret = read_plan(&r);
    choose_jobs(&r, r.rows);
    if (ret >= 0 && atomic_load(stop) == RUN_ON)
        ret = do_parts(&r);
    if (ret >= 0 && atomic_load(stop) == RUN_ON)
        ret = take_step(&r, join, &code);
    if (ret < 0 && !r.joined && f->plan.mark && atomic_load(stop) == RUN_ON)
        r.joined = job_is_joined_since(f, f->plan.damage, &code);
    if (!r.joined && atomic_load(stop) == RUN_INTERRUPTED)
        code = EXIT_INTERRUPTED;
    else if (!r.joined && ret < 0)
        code = -f->error.fault;
    if (r.path || f->progress.frame)
        progress_end(&f->progress, run_end_state(code));
    if (r.joined && (code == EXIT_DONE || code == EXIT_DAMAGED))
        (void)made_note(options->output, how, code);
    if (!r.joined && code == EXIT_INTERRUPTED)
        say(SAY_ERRORS, "interrupted%s", r.path ? RESUME : "; nothing was written");
    else if (!r.joined)
        say(SAY_ERRORS, "%s%s", f->error.text, r.path ? RESUME : "");
    free(r.path);
    job_film_close(f);
    return code;
}

/* ---- the commands of the steps ---- */

/* Variables in which schedulers pass the number of the part, and the number of their first one. */
static const struct {
    const char *name;
    int first;
} numbers[] = {{"SLURM_ARRAY_TASK_ID", 0}, {"JOB_COMPLETION_INDEX", 0}, {"PARALLEL_SEQ", 1}};

enum { PLAN, MEASURE, SEGMENT, JOIN, COMMANDS };
const char *const job_words[] = {
    [PLAN] = "plan", [MEASURE] = "measure", [SEGMENT] = "segment",
    [JOIN] = "join", [COMMANDS] = NULL,
};

static int find_word(const char *name)
{
    int i = 0;
    while (i < COMMANDS && strcmp(job_words[i], name) != 0)
        i++;
    return i;
}

int job_is_command(int argc, char **argv)
{
    return argc > 1 && find_word(argv[1]) < COMMANDS;
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
                      job_words[command]);
}

static void set_up(JobFilm *f)
{
    const Options *o = &f->options;
    say_set_color((SayColor)o->color);
    say_set_verbosity(o->quiet ? SAY_ERRORS : o->verbose ? SAY_DETAILS : SAY_NORMAL);
    media_log_install(o->verbose, say_detail, say_error);
    f->progress.style = headless_progress(o);
}

/* Prints the error of a step. Returns the exit code. */
static int end_step(JobFilm *f, int ret, int code)
{
    if (ret < 0) {
        code = atomic_load(f->stop) == RUN_INTERRUPTED ? EXIT_INTERRUPTED : -f->error.fault;
        say(SAY_ERRORS, "%s",
            code == EXIT_INTERRUPTED ? "interrupted; finished parts stay" : f->error.text);
    }
    job_film_close(f);
    return code;
}

/* Looks for an earlier join of a plan that no longer exists. Returns 1 if its folder says that the
 * output is its film; 0: the plan exists; or a fault. */
static int look_at_output(JobFilm *f, const char *plan, int *code)
{
    static const char ending[] = ".lumeq/plan";
    const size_t length = strlen(plan), n = strlen(ending);
    char *output =
        length > n && strcmp(plan + length - n, ending) == 0 ? strndup(plan, length - n) : NULL;
    int ret = 0;
    if (!output)
        return 0;
    if (access(plan, F_OK) < 0 && job_is_joined(output, NULL, NULL, code))
        ret = 1;
    else if (access(plan, F_OK) < 0 && access(output, F_OK) == 0)
        ret = media_fail(
            &f->error, MEDIA_INPUT,
            "there is no plan %s; %s exists and is left alone: if a job made it, nothing "
            "is left to do",
            media_quote(plan), media_quote(output));
    free(output);
    return ret;
}

/* Takes a step of an existing plan, whose path is argv[0]. */
static int run_step(JobFilm *f, int command, int argc, char **argv, int *code)
{
    long part = 0;
    int used = 0, ret = 0;
    const int has_part = command == MEASURE || command == SEGMENT;
    if (command == PLAN && argc < 1)
        return media_fail(&f->error, MEDIA_USAGE,
                          "lumeq plan needs a film and its name, IN -o OUT, or a plan to finish, "
                          "OUT.lumeq/plan; a file called plan is ./plan");
    if (argc < 1 || argv[0][0] == '-')
        return media_fail(&f->error, MEDIA_USAGE,
                          "lumeq %s needs a plan, OUT.lumeq/plan; a file called %s is ./%s",
                          job_words[command], job_words[command], job_words[command]);
    if (has_part)
        ret = find_part(f, command, argc - 1, argv + 1, &used, &part);
    if (ret >= 0 && command == JOIN)
        ret = look_at_output(f, argv[0], code);
    if (ret > 0)
        return 0;
    if (ret >= 0)
        ret = job_film_read(f, argv[0], argc - 1 - used, argv + 1 + used);
    if (ret < 0)
        return ret;
    const int count = f->plan.part_count;
    if (has_part && part >= (f->plan.ready ? FFMAX(count, f->plan.wanted_parts) : count))
        return media_fail(&f->error, MEDIA_USAGE,
                          "there is no part %ld: the plan has %d parts, 0 to %d", part, count,
                          count - 1);
    set_up(f);
    if (engine_check_parts(&f->options, &f->error) < 0 ||
        sandbox_enter(&f->options, SANDBOX_STEP, &f->error) < 0)
        return f->error.fault;
    switch (command) {
    case MEASURE: return job_step_measure(f, (int)part);
    case SEGMENT: return job_step_segment(f, (int)part);
    case JOIN: return job_step_join(f, code);
    default: return job_step_finish(f);
    }
}

/* lumeq plan IN -o OUT */
static int plan_new(JobFilm *f, int argc, char **argv)
{
    char text[1400];
    if (options_parse_plan(&f->options, argc, argv, text, sizeof(text)) < 0)
        return media_fail(&f->error, MEDIA_USAGE, "%s", text);
    if (f->options.help) {
        options_print_help(OPTIONS_HELP_FULL);
        return 0;
    }
    if (options_ask(&f->options))
        return media_fail(
            &f->error, MEDIA_USAGE,
            "lumeq plan plans a film; use this option without it, as in lumeq --version");
    set_up(f);
    if (!f->options.output)
        return media_fail(&f->error, MEDIA_USAGE,
                          "lumeq plan IN -o OUT needs the name of the film to write: -o OUT");
    if (engine_check_parts(&f->options, &f->error) < 0 ||
        sandbox_enter(&f->options, SANDBOX_STEP, &f->error) < 0)
        return f->error.fault;
    return job_step_plan(f);
}

/* True for `lumeq plan IN -o OUT` and for help; otherwise `lumeq plan PLAN` is meant. */
static int names_output(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "-o") == 0 || strncmp(argv[i], "--output", 8) == 0 ||
            strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0 ||
            strncmp(argv[i], "--help=", 7) == 0)
            return 1;
    return 0;
}

int job_command(int argc, char **argv, atomic_int *stop)
{
    JobFilm film = {.stop = stop, .options = options_default()};
    const int command = find_word(argv[1]);
    int code = EXIT_DONE, ret;
    signals_install(stop);
    if (command == PLAN && names_output(argc - 1, argv + 1))
        ret = plan_new(&film, argc - 1, argv + 1);
    else
        ret = run_step(&film, command, argc - 2, argv + 2, &code);
    return end_step(&film, ret, code);
}
