#include "app/headless_many.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app/engine.h"
#include "app/headless.h"
#include "app/job_run.h"
#include "app/terminal.h"
#include "job/many_files.h"
#include "media/activity.h"

/* How long a signal may go unseen that comes just before the wait for a file. */
#define LOOK_MS 100

/* Room for what is said at once. */
#define LINE_BYTES 4096

/* How many files came to what. */
typedef struct Count {
    int done, resumed, damaged, failed, stopped;
} Count;

/* What is told of a file at the end. */
typedef struct Outcome {
    int code; /* -1: it was not begun */
    char *why;
} Outcome;

/* The process of a file. */
typedef struct Child {
    pid_t pid;
    int file, pipe;
    int place; /* among those that run, from 0 on: nobody else has it meanwhile */
    int told;  /* of a signal */
} Child;

typedef struct Many {
    const Options *options;
    atomic_int *stop;
    ManyFiles list;
    Outcome *outcomes; /* by file */
    char **made;       /* folders, in this order */
    int made_count;
    Child *children; /* room for `most` of them */
    struct pollfd *ends;
    int most, running;
    int is_child; /* this is the process of one file, and `code` its exit code */
    int code;
    Count count;
    int64_t frames;
    double seconds; /* of video */
    /* Of several at a time. */
    Progress progress;
    ProgressShare *shares; /* by place, shared with the processes */
    int64_t *sizes;        /* of the inputs, by file; 0: it is not processed */
    double size, done;     /* of all, and of what is done */
} Many;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int is_stopped(const Many *m)
{
    return atomic_load(m->stop) != RUN_ON;
}

/* ---- folders ---- */

/* Made by this run: it goes again where nothing comes into it. */
static int make_folder(Many *m, const char *path)
{
    struct stat there;
    if (mkdir(path, 0777) < 0) {
        const int is_folder = errno == EEXIST && stat(path, &there) == 0 && S_ISDIR(there.st_mode);
        errno = errno == EEXIST ? ENOTDIR : errno;
        return is_folder ? 0 : -1;
    }
    char **made = realloc(m->made, ((size_t)m->made_count + 1) * sizeof(*made));
    if (!made)
        return -1;
    m->made = made;
    m->made[m->made_count] = strdup(path);
    return m->made[m->made_count++] ? 0 : -1;
}

/* Those of an output that are not there yet, from the folder of all outputs on: the one that it
 * lies in has to be there. 0, or -1 with why not. */
static int make_folders(Many *m, const char *output, char *why, size_t size)
{
    char *path = strdup(output);
    char *end = path ? path + strlen(m->options->output) - 1 : NULL;
    int ret = path ? 0 : -1;
    errno = path ? 0 : ENOMEM;
    while (end && ret >= 0) {
        *end = '\0';
        ret = make_folder(m, *path ? path : "/");
        if (ret < 0)
            break;
        *end = '/';
        end = strchr(end + strspn(end, "/"), '/');
    }
    if (ret < 0)
        snprintf(why, size, "cannot make the folder %s: %s", media_quote(path ? path : output),
                 strerror(errno));
    free(path);
    return ret;
}

static void remove_empty_folders(Many *m)
{
    for (int i = m->made_count - 1; i >= 0; i--)
        (void)!rmdir(m->made[i]); /* not where something is in it */
}

/* ---- one file ---- */

static void note(Many *m, int file, int code, const char *why)
{
    Outcome *outcome = &m->outcomes[file];
    outcome->code = code;
    outcome->why = code == EXIT_DONE ? NULL : strdup(why);
    m->progress.files_done += !m->list.files[file].why;
    m->done += (double)m->sizes[file];
    switch (code) {
    case EXIT_DONE: m->count.done++; break;
    case EXIT_DAMAGED: m->count.damaged++; break;
    case EXIT_INTERRUPTED: m->count.stopped++; break;
    default: m->count.failed++;
    }
}

static void fail(Many *m, int file, int code, const char *why)
{
    say(SAY_ERRORS, "%s", why);
    note(m, file, code, why);
}

static int run_file(const Many *m, const ListedFile *file, int place, int pipe)
{
    Options one = *m->options;
    RunResult result = {0};
    one.device = job_run_device(m->options, place);
    one.input = file->input;
    one.output = file->output;
    one.jobs = 0;
    if (m->most > 1) {
        one.progress = PROGRESS_NONE; /* there is one for all */
        result.share = &m->shares[place];
        if (m->progress.style == PROGRESS_BAR)
            say_over_bottom();
        (void)setvbuf(stderr, NULL, _IOLBF, LINE_BYTES); /* what is said comes in whole lines */
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM); /* nobody would tell it of a signal any more */
    const int code = headless_run(&one, m->stop, &result);
    (void)!write(pipe, &result, sizeof(result)); /* it is short: all of it, or none */
    return code;
}

/* Takes what a process came to, which has ended or does so now. */
static void take(Many *m, const Child *child)
{
    RunResult result;
    int status = 0;
    if (read(child->pipe, &result, sizeof(result)) != sizeof(result))
        result = (RunResult){0};
    close(child->pipe);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        ;
    m->frames += result.frames;
    m->seconds += result.seconds;
    if (WIFEXITED(status)) {
        note(m, child->file, WEXITSTATUS(status), result.why);
        return;
    }
    char why[600];
    snprintf(why, sizeof(why), "%s could not be processed: that ended by signal %d (%s)",
             media_quote(m->list.files[child->file].input), WTERMSIG(status),
             strsignal(WTERMSIG(status)));
    fail(m, child->file, EXIT_INPUT, why);
}

/* A signal to this process alone is for all of them. */
static void pass_on_signal(Many *m)
{
    for (int i = 0; i < m->running && is_stopped(m); i++)
        if (!m->children[i].told)
            m->children[i].told = kill(m->children[i].pid, SIGTERM) == 0;
}

/* ---- how far they are ---- */

/* By the sizes of the files: how long they are is not known before they are opened. */
static void begin_progress(Many *m)
{
    for (int i = 0; i < m->list.count; i++) {
        const ListedFile *file = &m->list.files[i];
        struct stat there;
        if (file->why || file->done)
            continue;
        m->progress.files++;
        m->sizes[i] = stat(file->input, &there) == 0 ? there.st_size : 0;
        m->size += (double)m->sizes[i];
    }
    m->progress.style = m->most > 1 ? headless_progress(m->options) : PROGRESS_NONE;
    progress_start(&m->progress);
}

static void show_progress(Many *m)
{
    Progress *p = &m->progress;
    double done = m->done;
    p->frame = m->frames;
    p->time = m->seconds;
    for (int i = 0; i < m->running; i++) {
        const Child *child = &m->children[i];
        const ProgressShare *share = &m->shares[child->place];
        p->frame += atomic_load(&share->frames);
        p->time += (double)atomic_load(&share->time_us) / 1e6;
        done += (double)m->sizes[child->file] * atomic_load(&share->done) / PROGRESS_WHOLE;
    }
    p->files_share = m->size > 0 ? done / m->size : 0;
    progress_update(p);
}

/* ---- */

/* Waits until fewer processes run than `enough`. */
static void wait_for(Many *m, int enough)
{
    while (m->running >= enough) {
        for (int i = 0; i < m->running; i++)
            m->ends[i] = (struct pollfd){.fd = m->children[i].pipe, .events = POLLIN};
        const int some = poll(m->ends, (nfds_t)m->running, LOOK_MS);
        activity_note(); /* each process has a watchdog of its own */
        for (int i = m->running - 1; i >= 0 && some > 0; i--) {
            if (!m->ends[i].revents)
                continue;
            take(m, &m->children[i]);
            m->children[i] = m->children[--m->running];
        }
        pass_on_signal(m);
        show_progress(m);
    }
}

static int find_place(const Many *m)
{
    int place = 0;
    for (int i = 0; i < m->running; i++)
        if (m->children[i].place == place) {
            place++;
            i = -1;
        }
    return place;
}

static void start(Many *m, int file)
{
    char why[1024];
    int ends[2];
    if (make_folders(m, m->list.files[file].output, why, sizeof(why)) < 0) {
        fail(m, file, EXIT_OUTPUT, why);
        return;
    }
    const int place = find_place(m);
    m->shares[place] = (ProgressShare){0};
    const int piped = pipe(ends) == 0;
    const pid_t child = piped ? fork() : -1;
    if (child == 0) {
        close(ends[0]);
        m->is_child = 1;
        m->code = run_file(m, &m->list.files[file], place, ends[1]);
        close(ends[1]);
        return;
    }
    if (child < 0) {
        snprintf(why, sizeof(why), "no process can be started for %s: %s",
                 media_quote(m->list.files[file].input), strerror(errno));
        fail(m, file, EXIT_OUTPUT, why);
    } else {
        m->children[m->running++] =
            (Child){.pid = child, .file = file, .pipe = ends[0], .place = place};
    }
    if (piped)
        close(ends[1]);
    if (piped && child < 0)
        close(ends[0]);
}

static void run_or_skip(Many *m, int number)
{
    const ListedFile *file = &m->list.files[number];
    if (file->why) {
        fail(m, number, -file->fault, file->why);
    } else if (file->done) {
        say(SAY_NORMAL, "%s is done: it is there, and not older than its input",
            media_quote(file->output));
        m->outcomes[number].code = EXIT_DONE;
        m->count.resumed++;
    } else {
        start(m, number);
    }
}

/* ---- all of them ---- */

static void add_count(char *text, size_t size, int count, const char *what)
{
    const size_t n = strlen(text);
    if (count)
        snprintf(text + n, size - n, "%s%d %s", n ? ", " : "", count, what);
}

static void say_total(const Many *m, double took)
{
    const Count *c = &m->count;
    char text[256] = "";
    add_count(text, sizeof(text), c->done, "done");
    add_count(text, sizeof(text), c->resumed, "done before");
    add_count(text, sizeof(text), c->damaged, "done, but damaged");
    add_count(text, sizeof(text), c->failed, "failed");
    add_count(text, sizeof(text), c->stopped, "interrupted");
    add_count(text, sizeof(text),
              m->list.count - c->done - c->resumed - c->damaged - c->failed - c->stopped,
              "not begun");
    say(SAY_NORMAL, "%d file%s: %s; %lld frame%s, %.2f s of video in %.2f s", m->list.count,
        m->list.count == 1 ? "" : "s", text, (long long)m->frames, m->frames == 1 ? "" : "s",
        m->seconds, took);
}

/* Each was said when it came, among lines about others. */
static void say_failed(const Many *m)
{
    for (int i = 0; i < m->list.count && !m->options->quiet; i++) {
        const Outcome *o = &m->outcomes[i];
        const ListedFile *file = &m->list.files[i];
        if (o->code <= EXIT_DONE || o->code == EXIT_INTERRUPTED)
            continue;
        const char *why = o->why ? o->why : "";
        const int named = strstr(why, media_quote(file->input)) != NULL ||
                          strstr(why, media_quote(file->output)) != NULL;
        say(SAY_ERRORS, "%s: %s%s%s", o->code == EXIT_DAMAGED ? "damaged" : "failed",
            named ? "" : media_quote(file->input), named || !*why ? "" : ": ", why);
    }
}

/* Of the first file that failed; a signal is about all of them. */
static int exit_code(const Many *m)
{
    if (is_stopped(m))
        return EXIT_INTERRUPTED;
    for (int i = 0; i < m->list.count; i++)
        if (m->outcomes[i].code > EXIT_DONE)
            return m->outcomes[i].code;
    return EXIT_DONE;
}

static const char *state_of(const Many *m)
{
    const int code = exit_code(m);
    if (code == EXIT_INTERRUPTED)
        return "interrupted";
    return code == EXIT_DONE || code == EXIT_DAMAGED ? "done" : "failed";
}

static int finish(Many *m, double began)
{
    int left = 0;
    for (int i = 0; i < m->list.count; i++)
        left += m->outcomes[i].code < 0;
    if (m->list.count > 1) {
        say_total(m, now() - began);
        say_failed(m);
    }
    if (left)
        say(SAY_ERRORS, "interrupted: %d of %d file%s %s not begun; --resume goes on with %s", left,
            m->list.count, m->list.count == 1 ? "" : "s", left == 1 ? "was" : "were",
            left == 1 ? "it" : "them");
    return exit_code(m);
}

/* One after the other, without --jobs. */
static int choose_most(const Many *m)
{
    const int most = m->options->jobs != 0 ? job_run_at_a_time(m->options, 0) : 1;
    return most < m->list.count ? most : m->list.count;
}

static int run_files(Many *m)
{
    const double began = now();
    char why[1024];
    m->most = choose_most(m);
    m->outcomes = malloc((size_t)m->list.count * sizeof(*m->outcomes));
    m->children = malloc((size_t)m->most * sizeof(*m->children));
    m->ends = malloc((size_t)m->most * sizeof(*m->ends));
    m->sizes = calloc((size_t)m->list.count, sizeof(*m->sizes));
    m->shares = mmap(NULL, (size_t)m->most * sizeof(*m->shares), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (m->shares == MAP_FAILED)
        m->shares = NULL;
    if (!m->outcomes || !m->children || !m->ends || !m->sizes || !m->shares) {
        say(SAY_ERRORS, "out of memory");
        return EXIT_INPUT;
    }
    for (int i = 0; i < m->list.count; i++)
        m->outcomes[i] = (Outcome){-1, NULL};
    if (make_folders(m, m->options->output, why, sizeof(why)) < 0) {
        say(SAY_ERRORS, "%s", why);
        return EXIT_OUTPUT;
    }
    begin_progress(m);
    for (int i = 0; i < m->list.count && !is_stopped(m); i++) {
        run_or_skip(m, i);
        if (m->is_child)
            return m->code;
        wait_for(m, m->most);
    }
    wait_for(m, 1);
    remove_empty_folders(m);
    show_progress(m);
    progress_end(&m->progress, state_of(m));
    return finish(m, began);
}

static int wants(void *opaque, const char *path)
{
    const Many *m = opaque;
    return engine_wants(m->options, path, m->stop);
}

static int list_files(Many *m, MediaError *error)
{
    const Options *o = m->options;
    const ManyFilesOptions wanted = {
        .inputs = o->inputs,
        .input_count = o->input_count,
        .folder = o->output,
        .format = o->format,
        .recursive = o->recursive,
        .overwrite = o->overwrite,
        .resume = o->resume,
        .wanted = wants,
        .opaque = m,
    };
    const int ret = many_files_make(&m->list, &wanted, error);
    if (ret < 0)
        return ret;
    if (m->list.others)
        say(SAY_NORMAL, "%d file%s without video %s left alone", m->list.others,
            m->list.others == 1 ? "" : "s", m->list.others == 1 ? "is" : "are");
    if (m->list.left_aside)
        say(SAY_NORMAL, "the folder %s is for outputs, and not looked into",
            media_quote(m->list.left_aside));
    return 0;
}

int headless_many_run(const Options *options, atomic_int *stop)
{
    Many m = {.options = options, .stop = stop};
    MediaError error = {0};
    int code = list_files(&m, &error);
    if (code < 0 && is_stopped(&m))
        say(SAY_ERRORS, "interrupted before the first file was begun");
    else if (code < 0)
        say(SAY_ERRORS, "%s", error.text);
    code = code >= 0 ? run_files(&m) : is_stopped(&m) ? EXIT_INTERRUPTED : -code;
    for (int i = 0; i < m.list.count && m.outcomes; i++)
        free(m.outcomes[i].why);
    for (int i = 0; i < m.made_count; i++)
        free(m.made[i]);
    free(m.made);
    free(m.outcomes);
    free(m.children);
    free(m.ends);
    free(m.sizes);
    if (m.shares)
        (void)munmap(m.shares, (size_t)m.most * sizeof(*m.shares));
    many_files_free(&m.list);
    return code;
}
