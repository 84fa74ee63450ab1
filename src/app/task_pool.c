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

#define LOOK_MS 100 /* at most this many milliseconds between calls of look() */

/* Limits of the numbers that a process reports. */
#define MAX_FRAMES (INT64_C(1) << 40)
#define MAX_SECONDS 1e9

_Static_assert(sizeof(TaskAnswer) <= PIPE_BUF, "the write of an answer is atomic");

/* Runs in the child process. */
static int run_task(void *pool, int pipe)
{
    const TaskPool *p = pool;
    TaskAnswer answer = {0};
    const int code = p->run(p->opaque, p->slots[p->starting].task, p->starting,
                            &p->shares[p->starting], &answer);
    (void)!write(pipe, &answer, sizeof(answer));
    return code;
}

static bool end_task(const TaskPool *p, TaskSlot *slot, int status)
{
    TaskAnswer *a = &slot->answer;
    const int task = slot->task;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    a->why[sizeof(a->why) - 1] = a->summary[sizeof(a->summary) - 1] = '\0';
    a->notes[sizeof(a->notes) - 1] = '\0';
    a->frames = av_clip64(a->frames, 0, MAX_FRAMES);
    a->seconds = a->seconds > 0 ? FFMIN(a->seconds, MAX_SECONDS) : 0; /* 0 for NAN, too */
    if (code > EXIT_DAMAGED)
        snprintf(a->why, sizeof(a->why), "its process ended with exit code %d", code);
    else if (code < 0)
        snprintf(a->why, sizeof(a->why), "its process was killed by signal %d (%s)",
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    slot->task = -1;
    return p->end(p->opaque, task, code > EXIT_DAMAGED ? -1 : code, a);
}

/* Starts processes in the free slots. Returns false if end() did. */
static bool start_some(TaskPool *p, int *running)
{
    const ProcessOptions options = {.body = run_task, .opaque = p};
    for (int i = 0; i < p->jobs && !atomic_load(p->stop); i++) {
        TaskSlot *slot = &p->slots[i];
        while (slot->task < 0 && (slot->task = p->next(p->opaque)) >= 0) {
            const int task = slot->task;
            slot->answer = (TaskAnswer){0};
            p->shares[i] = (ProgressShare){0};
            p->starting = i;
            const int reason = process_start(&slot->process, &options);
            *running += !reason;
            if (!reason)
                break;
            slot->task = -1;
            snprintf(slot->answer.why, sizeof(slot->answer.why), "cannot start a process: %s",
                     strerror(reason));
            if (!p->end(p->opaque, task, -1, &slot->answer))
                return false;
        }
    }
    return true;
}

static bool listen_to_all(TaskPool *p, struct pollfd *ends, int *running)
{
    bool goes_on = true;
    for (int i = 0; i < p->jobs; i++)
        ends[i] =
            (struct pollfd){p->slots[i].task < 0 ? -1 : p->slots[i].process.output, POLLIN, 0};
    const int some = poll(ends, (nfds_t)p->jobs, LOOK_MS);
    activity_note(); /* waiting counts as activity, since each process has a watchdog */
    for (int i = 0; i < p->jobs && some > 0; i++) {
        TaskSlot *slot = &p->slots[i];
        if (ends[i].fd < 0 || !ends[i].revents ||
            process_read(&slot->process, &slot->answer, sizeof(slot->answer), 0) != 0)
            continue;
        --*running;
        goes_on &= end_task(p, slot, process_wait(&slot->process, -1));
    }
    p->look(p->opaque);
    return goes_on;
}

int task_pool_run(TaskPool *p)
{
    const size_t jobs = (size_t)p->jobs;
    struct pollfd *ends = calloc(jobs, sizeof(*ends));
    int running = 0;
    p->slots = calloc(jobs, sizeof(*p->slots));
    p->shares = mmap(NULL, jobs * sizeof(*p->shares), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const bool has_memory = ends && p->slots && p->shares != MAP_FAILED;
    for (size_t i = 0; has_memory && i < jobs; i++)
        p->slots[i].task = -1;
    bool goes_on = has_memory && start_some(p, &running), told = false;
    while (running) {
        goes_on &= listen_to_all(p, ends, &running);
        goes_on = goes_on && start_some(p, &running);
        if (told || (goes_on && !atomic_load(p->stop)))
            continue;
        told = true;
        for (size_t i = 0; i < jobs; i++)
            if (p->slots[i].task >= 0)
                (void)kill(p->slots[i].process.pid, SIGTERM);
    }
    if (p->shares != MAP_FAILED)
        (void)munmap(p->shares, jobs * sizeof(*p->shares));
    free(p->slots);
    free(ends);
    p->slots = NULL;
    return has_memory ? 0 : -1;
}

double task_pool_progress(const TaskPool *p, int slot, int64_t *frames, double *seconds)
{
    if (!p->slots || p->slots[slot].task < 0)
        return -1;
    const ProgressShare *share = &p->shares[slot];
    *frames += av_clip64(atomic_load(&share->frames), 0, MAX_FRAMES);
    *seconds += (double)atomic_load(&share->time_us) / AV_TIME_BASE;
    return (double)av_clip(atomic_load(&share->done), 0, PROGRESS_WHOLE) / PROGRESS_WHOLE;
}
