#include "job/part_workers.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job/child_process.h"
#include "media/activity.h"

#define TRIES 2

/* How often progress is told while nothing else happens. */
#define LOOK_MS 200

typedef struct Worker {
    ChildProcess process; /* {0}: none */
    int index;            /* of its part */
    int64_t frames;
    char last[CHILD_LINE_BYTES]; /* that says something */
} Worker;

typedef struct Run {
    const PartWorkers *workers;
    Worker *slots;
    int *tries; /* of each part */
    int *again; /* indices of parts that failed once */
    int again_count, next;
    int running;
    int64_t frames; /* of those that are done */
    int stopped, said;
    MediaError *error;
} Run;

static int start(Run *r, int slot, int index)
{
    const PartWorkers *w = r->workers;
    const char *arguments[WORKER_ARGUMENTS] = {NULL};
    char *argv[WORKER_ARGUMENTS + 1] = {(char *)"lumeq"};
    w->arguments(w->opaque, w->parts[index], slot, arguments);
    for (int i = 0; i + 1 < WORKER_ARGUMENTS && arguments[i]; i++)
        argv[i + 1] = (char *)arguments[i];
    Worker *worker = &r->slots[slot];
    *worker = (Worker){.index = index};
    const int ret = child_process_start(&worker->process, argv, 0, r->error);
    if (ret < 0)
        return ret;
    r->tries[index]++;
    r->running++;
    return 0;
}

/* A line of progress, or what it has to say. */
static void take_line(void *opaque, const char *line)
{
    Worker *worker = opaque;
    static const char key[] = "{\"frame\":";
    if (strncmp(line, key, strlen(key)) == 0)
        worker->frames = strtoll(line + strlen(key), NULL, 10);
    else if (*line)
        snprintf(worker->last, sizeof(worker->last), "%s", child_process_words(line));
}

/* What a part that cannot be made means. */
static void fail(Run *r, const Worker *worker, int status)
{
    const int part = r->workers->parts[worker->index];
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    const int known = code >= -MEDIA_USAGE && code <= -MEDIA_OUTPUT;
    if (known && worker->last[0])
        (void)media_fail(r->error, -code, "part %d: %s", part, worker->last);
    else if (WIFSIGNALED(status))
        (void)media_fail(r->error, MEDIA_OUTPUT, "part %d: its process was ended by %s, twice",
                         part, strsignal(WTERMSIG(status)));
    else
        (void)media_fail(r->error, MEDIA_OUTPUT, "part %d: its process failed (%d)", part, code);
}

static void end_worker(Run *r, Worker *worker)
{
    const int status = child_process_end(&worker->process);
    r->running--;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        r->frames += worker->frames;
        if (worker->last[0] && !r->said++)
            r->workers->note(worker->last);
        return;
    }
    const int failed = !r->stopped && !r->error->fault;
    if (failed && WIFEXITED(status) &&
        r->workers->is_forgiven(r->workers->opaque, (int)(worker - r->slots), worker->last))
        r->tries[worker->index]--;
    if (failed && r->tries[worker->index] < TRIES)
        r->again[r->again_count++] = worker->index;
    else if (failed)
        fail(r, worker, status);
}

static void tell_to_end(Run *r)
{
    if (r->stopped)
        return;
    r->stopped = 1;
    for (int i = 0; i < r->workers->jobs; i++)
        if (r->slots[i].process.pid)
            (void)kill(r->slots[i].process.pid, SIGTERM);
}

/* The next part that is to be made: its index, or -1. */
static int take_part(Run *r)
{
    if (r->again_count)
        return r->again[--r->again_count];
    return r->next < r->workers->count ? r->next++ : -1;
}

static void start_some(Run *r)
{
    for (int i = 0; i < r->workers->jobs && !r->error->fault && !r->stopped; i++) {
        const int index = r->slots[i].process.pid ? -1 : take_part(r);
        if (index >= 0)
            (void)start(r, i, index);
    }
}

static void listen(Run *r, struct pollfd *ends)
{
    const PartWorkers *w = r->workers;
    int64_t frames = r->frames;
    for (int i = 0; i < w->jobs; i++) {
        const ChildProcess *process = &r->slots[i].process;
        ends[i] = (struct pollfd){.fd = process->pid ? process->lines : -1, .events = POLLIN};
    }
    (void)poll(ends, (nfds_t)w->jobs, LOOK_MS);
    activity_note(); /* each process has a watchdog of its own */
    for (int i = 0; i < w->jobs; i++)
        if (ends[i].fd >= 0 && ends[i].revents &&
            !child_process_read(&r->slots[i].process, take_line, &r->slots[i]))
            end_worker(r, &r->slots[i]);
    frames = r->frames;
    for (int i = 0; i < w->jobs; i++)
        frames += r->slots[i].process.pid ? r->slots[i].frames : 0;
    w->done(w->opaque, frames);
}

int part_workers_run(const PartWorkers *workers, MediaError *error)
{
    Run r = {.workers = workers, .error = error};
    const size_t jobs = (size_t)workers->jobs, count = (size_t)workers->count;
    struct pollfd *ends = calloc(jobs, sizeof(*ends));
    r.slots = calloc(jobs, sizeof(*r.slots));
    r.tries = calloc(count + 1, sizeof(*r.tries));
    r.again = calloc(count + 1, sizeof(*r.again));
    if (!ends || !r.slots || !r.tries || !r.again)
        (void)media_fail(error, MEDIA_OUTPUT, "out of memory");
    if (!error->fault)
        start_some(&r);
    while (r.running) {
        listen(&r, ends);
        if (atomic_load(workers->stop) || error->fault)
            tell_to_end(&r);
        start_some(&r);
    }
    free(ends);
    free(r.slots);
    free(r.tries);
    free(r.again);
    return error->fault;
}

int part_workers_cores(void)
{
    cpu_set_t set;
    const long all = sysconf(_SC_NPROCESSORS_ONLN);
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        return CPU_COUNT(&set);
    return all > 0 ? (int)all : 1;
}
