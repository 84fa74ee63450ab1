/*
 * Preloaded into a program, this library stops it before main(), and forks a process for each
 * request.
 *
 *     LD_PRELOAD=libwarm_start.so WARM_START=fd program
 *
 * WARM_START_OPENS=library:library opens libraries in advance, if they exist. If WARM_START_TOOL
 * is set, destructors of libraries are skipped.
 *
 * fd is a SOCK_SEQPACKET socket. A request has these strings, each ended by a zero: the working
 * directory, the number of variables that differ from the initial environment, these variables
 * (NAME=VALUE, or NAME if unset), and the arguments with the program's name. The request carries
 * the three standard files and a pipe for two ints: the process id, and the status from waitpid().
 * Limits and signals are those of the first start. The program ends when the socket is closed.
 */
#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int Main(int argc, char **argv, char **environment);
typedef int Start(Main *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                  void (*end)(void), void *stack);

enum { MOST_BYTES = 1 << 16, MOST_ARGS = 1 << 12, MOST_RUNS = 64 };
enum { ANSWERS = 3, FILES }; /* descriptors of a request: three standard files, then the pipe */

typedef struct Run {
    pid_t pid;
    int answers;
} Run;

static Main *program;
static char request[MOST_BYTES + 1];
static char *args[MOST_ARGS + 1];
static Run runs[MOST_RUNS];
static struct pollfd watched[1 + MOST_RUNS]; /* the socket, and each run's process */
static int running;

static void give_up(const char *why)
{
    perror(why);
    _exit(120);
}

/* Returns the size of the request in bytes, or 0 if the socket was closed. */
static size_t receive(int from, int files[FILES])
{
    union {
        char bytes[CMSG_SPACE(FILES * sizeof *files)];
        struct cmsghdr aligned;
    } space;
    struct iovec text = {.iov_base = request, .iov_len = MOST_BYTES};
    struct msghdr message = {.msg_iov = &text,
                             .msg_iovlen = 1,
                             .msg_control = space.bytes,
                             .msg_controllen = sizeof space};
    const ssize_t size = recvmsg(from, &message, 0);
    if (size <= 0)
        return 0;
    const struct cmsghdr *more = CMSG_FIRSTHDR(&message);
    if (!more || more->cmsg_len != CMSG_LEN(FILES * sizeof *files) || message.msg_flags & MSG_TRUNC)
        give_up("warm start: a request");
    memcpy(files, CMSG_DATA(more), FILES * sizeof *files);
    return (size_t)size;
}

static char *following(char *at)
{
    return at + strlen(at) + 1;
}

/* Sets the request's variables, and points `args` to its arguments. Returns their number. */
static int split(size_t size)
{
    char *at = following(request);
    int variables = atoi(at), n = 0;
    for (at = following(at); variables > 0; variables--, at = following(at))
        if (putenv(at))
            give_up(at);
    for (; at < request + size && n < MOST_ARGS; at = following(at))
        args[n++] = at;
    args[n] = NULL;
    return n;
}

/* Prepares a run's process, and closes the files of other runs. */
static void take(const int files[FILES])
{
    for (int i = 0; i < ANSWERS; i++)
        if (dup2(files[i], i) < 0)
            give_up("warm start: a file");
    for (int i = 0; i < FILES; i++)
        close(files[i]);
    for (int i = 0; i <= running; i++)
        close(watched[i].fd);
    for (int i = 0; i < running; i++)
        close(runs[i].answers);
    if (chdir(request))
        give_up(request);
}

static int send_number(int answers, int number)
{
    return write(answers, &number, sizeof number) == sizeof number;
}

static void keep(pid_t pid, const int files[FILES])
{
    for (int i = 0; i < ANSWERS; i++)
        close(files[i]);
    runs[running] = (Run){pid, files[ANSWERS]};
    watched[++running] =
        (struct pollfd){.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    if (pid < 0 || watched[running].fd < 0 || !send_number(files[ANSWERS], pid))
        give_up("warm start");
}

/* Reports a run's status to its client, which may be gone. */
static void end(int n)
{
    int status = 0;
    if (waitpid(runs[n].pid, &status, 0) != runs[n].pid)
        give_up("warm start: a process");
    send_number(runs[n].answers, status);
    close(runs[n].answers);
    close(watched[1 + n].fd);
    runs[n] = runs[--running];
    watched[1 + n] = watched[1 + running];
}

/* Ends a tool without running destructors, which take as long as the rest of a short run. */
static void end_at_once(int code, void *unused)
{
    (void)unused;
    fflush(NULL);
    _exit(code);
}

static void open_libraries(void)
{
    const char *names = getenv("WARM_START_OPENS");
    char *rest = names ? strdup(names) : NULL;
    for (const char *name; rest && (name = strsep(&rest, ":"));)
        (void)dlopen(name, RTLD_LAZY | RTLD_LOCAL);
}

static int serve(int argc, char **argv, char **environment)
{
    const char *name = getenv("WARM_START");
    if (!name)
        return program(argc, argv, environment);
    watched[0] = (struct pollfd){.fd = atoi(name), .events = POLLIN};
    const int is_tool = getenv("WARM_START_TOOL") != NULL;
    unsetenv("WARM_START");
    unsetenv("WARM_START_TOOL");
    unsetenv("LD_PRELOAD");
    open_libraries();
    for (;;) {
        if (poll(watched, 1 + (nfds_t)running, -1) < 0)
            give_up("warm start: poll");
        for (int i = running; i-- > 0;)
            if (watched[1 + i].revents)
                end(i);
        if (!watched[0].revents || running == MOST_RUNS)
            continue;
        int files[FILES];
        const size_t size = receive(watched[0].fd, files);
        if (!size)
            _exit(0);
        const pid_t child = fork();
        if (child == 0) {
            take(files);
            const int count = split(size);
            if (is_tool && on_exit(end_at_once, NULL))
                give_up("warm start: its end");
            return program(count, args, environ);
        }
        keep(child, files);
    }
}

int __libc_start_main(Main *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*end)(void), void *stack);

int __libc_start_main(Main *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*end)(void), void *stack)
{
    Start *next = NULL;
    *(void **)&next = dlsym(RTLD_NEXT, "__libc_start_main");
    program = main;
    return next(serve, argc, argv, init, fini, end, stack);
}
