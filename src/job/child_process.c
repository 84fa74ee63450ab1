#include "job/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ASIDE 10 /* as nice(1) does it */

static void become(char *const argv[], int lines, pid_t parent, int aside)
{
    const int nothing = open("/dev/null", O_RDWR);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent || nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
        dup2(nothing, STDOUT_FILENO) < 0 || dup2(lines, STDERR_FILENO) < 0)
        _exit(127);
    if (aside) {
        (void)setpgid(0, 0);
        (void)!nice(ASIDE);
    }
    execv("/proc/self/exe", argv);
    _exit(127);
}

static int refuse_start(int reason, MediaError *error)
{
    return media_fail(error, MEDIA_OUTPUT, "no process can be started: %s", strerror(reason));
}

int child_process_start(ChildProcess *child, char *const argv[], int aside, MediaError *error)
{
    int ends[2];
    *child = (ChildProcess){0};
    if (pipe2(ends, O_CLOEXEC) < 0)
        return refuse_start(errno, error);
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    const pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        become(argv, ends[1], parent, aside);
    const int reason = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return refuse_start(reason, error);
    }
    child->pid = pid;
    child->lines = ends[0];
    return 0;
}

int child_process_read(ChildProcess *child, void (*take)(void *opaque, const char *line),
                       void *opaque)
{
    char bytes[4096];
    const ssize_t n = read(child->lines, bytes, sizeof(bytes));
    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    for (ssize_t i = 0; i < n; i++) {
        if (bytes[i] != '\n' && child->used + 1 < sizeof(child->line)) {
            child->line[child->used++] = bytes[i];
            continue;
        }
        child->line[child->used] = '\0';
        child->used = 0;
        if (bytes[i] == '\n')
            take(opaque, child->line);
    }
    return n > 0;
}

const char *child_process_words(const char *line)
{
    static const char name[] = "lumeq: ";
    const size_t length = sizeof(name) - 1;
    return strncmp(line, name, length) == 0 ? line + length : line;
}

int child_process_end(ChildProcess *child)
{
    int status = 0;
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR) {
    }
    close(child->lines);
    child->pid = 0;
    return status;
}
