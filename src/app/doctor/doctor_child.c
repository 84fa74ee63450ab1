#include "app/doctor/doctor_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PIECE 4096
#define MOST_CHILDREN 16

/* How long one that was killed may take to go: one that hangs in the kernel never does. */
#define BURIAL_MS 500

static int64_t now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* ---- in the child ---- */

/* Libraries print what they like; a crash that was expected leaves no core. */
static void be_quiet(void)
{
    const struct rlimit none = {0, 0};
    const int null = open("/dev/null", O_RDWR);
    for (int fd = 0; null >= 0 && fd <= 2; fd++)
        (void)dup2(null, fd);
    (void)setrlimit(RLIMIT_CORE, &none);
}

static int write_all(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        const ssize_t n = write(fd, at, size);
        if (n < 0 && errno != EINTR)
            return -1;
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static void answer(int fd, void (*probe)(Section *section))
{
    Section section = {.verdict = SECTION_NONE};
    char *members = NULL;
    size_t size = 0;
    section.first = 1;
    section.members = open_memstream(&members, &size);
    if (!section.members)
        _exit(1);
    be_quiet();
    probe(&section);
    if (fclose(section.members) != 0)
        _exit(1);
    section.members = NULL;
    const int failed =
        write_all(fd, &section, sizeof(section)) < 0 || write_all(fd, members, size) < 0;
    _exit(failed);
}

void doctor_child_start(DoctorChild *child, void (*probe)(Section *section))
{
    int ends[2];
    const pid_t parent = getpid();
    *child = (DoctorChild){.process = -1, .pipe = -1};
    fflush(NULL);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return;
    child->process = fork();
    if (child->process == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        close(ends[0]);
        answer(ends[1], probe);
    }
    close(ends[1]);
    child->pipe = ends[0];
}

/* ---- beside it ---- */

static void take_piece(DoctorChild *child)
{
    char *more = realloc(child->answer, child->size + PIECE + 1);
    ssize_t n = 0;
    if (more) {
        child->answer = more;
        n = read(child->pipe, more + child->size, PIECE);
    }
    if (n < 0 && errno == EINTR)
        return;
    child->over = n <= 0;
    child->size += n > 0 ? (size_t)n : 0;
    if (more)
        more[child->size] = '\0';
}

static int list_open(const DoctorChild *children, int count, struct pollfd *polls, int *which)
{
    int open = 0;
    for (int i = 0; i < count && i < MOST_CHILDREN; i++)
        if (children[i].pipe >= 0 && !children[i].over) {
            which[open] = i;
            polls[open++] = (struct pollfd){.fd = children[i].pipe, .events = POLLIN};
        }
    return open;
}

void doctor_child_wait(DoctorChild *children, int count, double seconds)
{
    const int64_t end = now_ms() + (int64_t)(seconds * 1e3);
    struct pollfd polls[MOST_CHILDREN];
    int which[MOST_CHILDREN], open;
    while ((open = list_open(children, count, polls, which)) > 0) {
        const int64_t left = end - now_ms();
        if (left <= 0 || (poll(polls, (nfds_t)open, (int)left) < 0 && errno != EINTR))
            return;
        for (int i = 0; i < open; i++)
            if (polls[i].revents)
                take_piece(&children[which[i]]);
    }
}

/* Its exit status; -1: it is there still, or nobody knows, as where SIGCHLD is ignored. */
static int bury(const DoctorChild *child)
{
    const int64_t end = now_ms() + BURIAL_MS;
    const struct timespec nap = {.tv_nsec = 2000000};
    int status;
    pid_t gone;
    if (!child->over)
        (void)kill(child->process, SIGKILL);
    while ((gone = waitpid(child->process, &status, WNOHANG)) == 0 && now_ms() < end)
        (void)nanosleep(&nap, NULL);
    return gone == child->process ? status : -1;
}

char *doctor_child_finish(DoctorChild *child, Section *section, double seconds)
{
    char *members = NULL;
    const int status = child->process > 0 ? bury(child) : -1;
    *section = (Section){.verdict = SECTION_NONE};
    if (child->process < 0) {
        section_set(section, SECTION_MEND, "unknown", "no process can be started to find out");
    } else if (!child->over) {
        section_set(section, SECTION_MEND, "hangs", "no answer within %g s: a driver hangs",
                    seconds);
    } else if (status > 0 || child->size < sizeof(*section)) {
        const char *name = status > 0 && WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : NULL;
        section_set(section, SECTION_MEND, "crashes", "the probe crashed%s%s%s: a driver is broken",
                    name ? " (" : "", name ? name : "", name ? ")" : "");
    } else {
        memcpy(section, child->answer, sizeof(*section));
        members = strdup(child->answer + sizeof(*section));
    }
    if (child->pipe >= 0)
        close(child->pipe);
    free(child->answer);
    *child = (DoctorChild){.process = -1, .pipe = -1};
    return members;
}
