#include "app/task_pool.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/run_end.h"
#include "media/activity.h"
#include "media/error.h"

#define LOOK_MS 100

/* Limits of what a process reports. */
#define MOST_FRAMES (INT64_C(1) << 40)
#define MOST_SECONDS 1e9

_Static_assert(sizeof(WorkerAnswer) <= PIPE_BUF, "an answer arrives whole");

/* Runs in the child process. */
static int run_task(void *workers, int pipe)
{
    const Workers *w = workers;
    WorkerAnswer answer = {0};
    const int code = w->run(w->opaque, w->slots[w->starting].task, w->starting,
                            &w->shares[w->starting], &answer);
    (void)!write(pipe, &answer, sizeof(answer)); /* short enough to be atomic */
    return code;
}

static bool end_task(Workers *w, int slot, int status)
{
    Worker *worker = &w->slots[slot];
    WorkerAnswer *a = &worker->answer;
    const int task = worker->task;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    a->why[sizeof(a->why) - 1] = a->summary[sizeof(a->summary) - 1] = '\0';
    a->notes[sizeof(a->notes) - 1] = '\0';
    a->frames = av_clip64(a->frames, 0, MOST_FRAMES);
    a->seconds = a->seconds > 0 ? FFMIN(a->seconds, MOST_SECONDS) : 0; /* or no number */
    if (code > EXIT_DAMAGED)
        snprintf(a->why, sizeof(a->why), "its process ended with %d", code);
    else if (code < 0)
        snprintf(a->why, sizeof(a->why), "its process was killed by signal %d (%s)",
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    worker->task = -1;
    return w->end(w->opaque, task, code > EXIT_DAMAGED ? -1 : code, a);
}

/* Starts processes in the free slots. False: end() has returned false. */
static bool start_some(Workers *w, int *running)
{
    const ProcessOptions options = {.body = run_task, .opaque = w};
    for (int i = 0; i < w->jobs && !atomic_load(w->stop); i++) {
        Worker *worker = &w->slots[i];
        while (worker->task < 0 && (worker->task = w->next(w->opaque)) >= 0) {
            const int task = worker->task;
            worker->answer = (WorkerAnswer){0};
            w->shares[i] = (ProgressShare){0};
            w->starting = i;
            const int reason = process_start(&worker->process, &options);
            *running += !reason;
            if (!reason)
                break;
            worker->task = -1;
            snprintf(worker->answer.why, sizeof(worker->answer.why), "cannot start a process: %s",
                     strerror(reason));
            if (!w->end(w->opaque, task, -1, &worker->answer))
                return false;
        }
    }
    return true;
}

static bool listen_to_all(Workers *w, struct pollfd *ends, int *running)
{
    bool goes_on = true;
    for (int i = 0; i < w->jobs; i++)
        ends[i] =
            (struct pollfd){w->slots[i].task < 0 ? -1 : w->slots[i].process.output, POLLIN, 0};
    const int some = poll(ends, (nfds_t)w->jobs, LOOK_MS);
    activity_note(); /* each process has a watchdog of its own */
    for (int i = 0; i < w->jobs && some > 0; i++) {
        Worker *worker = &w->slots[i];
        if (ends[i].fd < 0 || !ends[i].revents ||
            process_read(&worker->process, &worker->answer, sizeof(worker->answer), 0) != 0)
            continue;
        --*running;
        goes_on &= end_task(w, i, process_wait(&worker->process, -1));
    }
    w->look(w->opaque);
    return goes_on;
}

int workers_run(Workers *w)
{
    const size_t jobs = (size_t)w->jobs;
    struct pollfd *ends = calloc(jobs, sizeof(*ends));
    int running = 0;
    w->slots = calloc(jobs, sizeof(*w->slots));
    w->shares = mmap(NULL, jobs * sizeof(*w->shares), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const bool has_memory = ends && w->slots && w->shares != MAP_FAILED;
    for (size_t i = 0; has_memory && i < jobs; i++)
        w->slots[i].task = -1;
    bool goes_on = has_memory && start_some(w, &running), told = false;
    while (running) {
        goes_on &= listen_to_all(w, ends, &running);
        goes_on = goes_on && start_some(w, &running);
        if (told || (goes_on && !atomic_load(w->stop)))
            continue;
        told = true;
        for (size_t i = 0; i < jobs; i++)
            if (w->slots[i].task >= 0)
                (void)kill(w->slots[i].process.pid, SIGTERM);
    }
    if (w->shares != MAP_FAILED)
        (void)munmap(w->shares, jobs * sizeof(*w->shares));
    free(w->slots);
    free(ends);
    w->slots = NULL;
    return has_memory ? 0 : -1;
}

double workers_progress(const Workers *w, int slot, int64_t *frames, double *seconds)
{
    if (!w->slots || w->slots[slot].task < 0)
        return -1;
    const ProgressShare *share = &w->shares[slot];
    *frames += av_clip64(atomic_load(&share->frames), 0, MOST_FRAMES);
    *seconds += (double)atomic_load(&share->time_us) / AV_TIME_BASE;
    return (double)av_clip(atomic_load(&share->done), 0, PROGRESS_WHOLE) / PROGRESS_WHOLE;
}
