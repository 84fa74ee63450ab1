#include "app/doctor/doctor_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
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

static int answer(void *opaque, int fd)
{
    void (*const *probe)(Section * section) = opaque;
    Section section = {.verdict = SECTION_NONE};
    char *members = NULL;
    size_t size = 0;
    section.first = 1;
    section.members = open_memstream(&members, &size);
    if (!section.members)
        _exit(1);
    be_quiet();
    (*probe)(&section);
    if (fclose(section.members) != 0)
        _exit(1);
    section.members = NULL;
    const int failed =
        write_all(fd, &section, sizeof(section)) < 0 || write_all(fd, members, size) < 0;
    _exit(failed); /* without what a driver does at the end of a process */
}

void doctor_child_start(DoctorChild *child, void (*probe)(Section *section))
{
    const ProcessOptions options = {.body = answer, .opaque = &probe};
    *child = (DoctorChild){0};
    fflush(NULL);
    (void)process_start(&child->process, &options);
}

/* ---- beside it ---- */

static void take_piece(DoctorChild *child)
{
    char *more = realloc(child->answer, child->size + PIECE + 1);
    ssize_t n = 0;
    if (more) {
        child->answer = more;
        n = process_read(&child->process, more + child->size, PIECE, 0);
    }
    if (n < 0)
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
        if (children[i].process.pid && !children[i].over) {
            which[open] = i;
            polls[open++] = (struct pollfd){.fd = children[i].process.output, .events = POLLIN};
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

char *doctor_child_finish(DoctorChild *child, Section *section, double seconds)
{
    char *members = NULL;
    const int started = child->process.pid > 0;
    if (started && !child->over)
        (void)kill(child->process.pid, SIGKILL);
    const int status = started ? process_wait(&child->process, BURIAL_MS) : -1;
    *section = (Section){.verdict = SECTION_NONE};
    if (!started) {
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
    free(child->answer);
    *child = (DoctorChild){0};
    return members;
}
