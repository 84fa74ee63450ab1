#include "media/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <libavutil/cpu.h>
#include <libavutil/time.h>

#define MOST_CHILDREN 300
#define NAP_MS 2 /* interval at which process_wait() checks the child */

/* Running children, for process_signal_all(). */
static struct {
    atomic_int pid; /* 0: none; -1: not started yet */
    int output;
} children[MOST_CHILDREN];

/* Reserves a free entry and returns its index; MOST_CHILDREN if all are in use. */
static int add_child(void)
{
    int i = 0, none = 0;
    while (i < MOST_CHILDREN && !atomic_compare_exchange_strong(&children[i].pid, &none, -1)) {
        none = 0;
        i++;
    }
    return i;
}

void process_signal_all(int number)
{
    const int before = errno;
    for (int i = 0; i < MOST_CHILDREN; i++) {
        const pid_t pid = atomic_load(&children[i].pid);
        if (pid > 0)
            (void)kill(-pid, number);
    }
    errno = before;
}

/* Returns only if the program cannot be started, with an errno. */
static int execute(const ProcessOptions *o, int output)
{
    const int nothing = open("/dev/null", O_RDWR);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (nothing < 0 || dup2(fd == o->stream ? output : nothing, fd) < 0)
            return errno;
    if (strcmp(o->argv[0], PROCESS_SELF) == 0)
        execv("/proc/self/exe", o->argv);
    else
        execvp(o->argv[0], o->argv);
    return errno;
}

/* Runs in the child and never returns. Writes an errno to `failed` if the program cannot start. */
static void become(const ProcessOptions *o, pid_t parent, int output, int failed)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
    (void)setpgid(0, 0);            /* the parent forwards the terminal's signals to this group */
    (void)signal(SIGTTOU, SIG_IGN); /* the group may write to the terminal */
    /* Forget the parent's other children: only the parent reads their output and signals them. */
    for (int i = 0; i < MOST_CHILDREN; i++)
        if (atomic_exchange(&children[i].pid, 0) > 0)
            close(children[i].output);
    if (!o->argv) {
        close(failed);
        exit(o->body(o->opaque, output));
    }
    const int reason = execute(o, output);
    (void)!write(failed, &reason, sizeof(reason));
    _exit(1);
}

int process_start(Process *p, const ProcessOptions *o)
{
    int ends[2], failed[2], reason = 0;
    *p = (Process){0};
    if (pipe2(ends, O_CLOEXEC) < 0)
        return errno;
    if (pipe2(failed, O_CLOEXEC) < 0) {
        reason = errno;
        close(ends[0]);
        close(ends[1]);
        return reason;
    }
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    const int number = add_child();
    const pid_t parent = getpid(), pid = number < MOST_CHILDREN ? fork() : -1;
    if (pid == 0)
        become(o, parent, ends[1], failed[1]);
    if (pid < 0)
        reason = number == MOST_CHILDREN ? EAGAIN : errno;
    if (pid > 0)
        (void)setpgid(pid, pid); /* also in the parent, because either process may run first */
    if (number < MOST_CHILDREN) {
        children[number].output = ends[0];
        atomic_store(&children[number].pid, pid > 0 ? pid : 0);
    }
    close(ends[1]);
    close(failed[1]);
    *p = (Process){.pid = pid, .output = ends[0]};
    if (pid > 0 && read(failed[0], &reason, sizeof(reason)) > 0)
        (void)process_wait(p, -1);
    else if (pid < 0)
        close(ends[0]);
    close(failed[0]);
    if (reason)
        *p = (Process){0};
    return reason;
}

ssize_t process_read(Process *p, void *bytes, size_t size, int ms)
{
    struct pollfd end = {.fd = p->output, .events = POLLIN};
    while (ms && poll(&end, 1, ms) < 0 && errno == EINTR) {
    }
    const ssize_t n = read(p->output, bytes, size);
    return n < 0 && errno != EINTR && errno != EAGAIN ? 0 : n;
}

int process_read_all(Process *p, void *bytes, size_t size, size_t *used, int ms)
{
    const int64_t end = av_gettime_relative() + ms * (int64_t)1000;
    ssize_t n = -1;
    for (*used = 0; *used < size && n != 0; *used += n > 0 ? (size_t)n : 0) {
        const int64_t left = (end - av_gettime_relative()) / 1000;
        n = process_read(p, (char *)bytes + *used, size - *used, left > 0 ? (int)left : 0);
        if (n < 0 && left <= 0) {
            (void)kill(p->pid, SIGKILL);
            return 0;
        }
    }
    return 1;
}

int process_read_lines(Process *p, void (*take)(void *opaque, const char *line), void *opaque)
{
    char bytes[4096];
    const ssize_t n = process_read(p, bytes, sizeof(bytes), 0);
    for (ssize_t i = 0; i < n; i++) {
        if (bytes[i] != '\n' && p->used + 1 < sizeof(p->line))
            p->line[p->used++] = bytes[i];
        if (bytes[i] != '\n')
            continue;
        p->line[p->used] = '\0';
        p->used = 0;
        take(opaque, p->line);
    }
    return n != 0;
}

const char *process_words(const char *line)
{
    static const char name[] = "lumeq: ";
    const size_t length = sizeof(name) - 1;
    return strncmp(line, name, length) == 0 ? line + length : line;
}

int process_wait(Process *p, int ms)
{
    const struct timespec nap = {.tv_nsec = NAP_MS * 1000000};
    int status = -1;
    pid_t gone;
    do {
        gone = waitpid(p->pid, &status, ms < 0 ? 0 : WNOHANG);
        if (gone == 0)
            (void)nanosleep(&nap, NULL);
        ms -= ms < 0 ? 0 : NAP_MS;
    } while ((gone == 0 && ms > 0) || (gone < 0 && errno == EINTR));
    for (int i = 0; i < MOST_CHILDREN; i++)
        if (atomic_load(&children[i].pid) == p->pid)
            atomic_store(&children[i].pid, 0);
    close(p->output);
    status = gone == p->pid ? status : -1;
    *p = (Process){0};
    return status;
}

int process_cores(void)
{
    return av_cpu_count();
}
