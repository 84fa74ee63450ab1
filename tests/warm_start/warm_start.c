/*
 * A warm start: preloaded into a program, it lets it come as far as main(), and from there runs it
 * once for each request, in a process of its own. To link FFmpeg's two hundred libraries takes ten
 * times as long as most of what the tests ask for.
 *
 *     LD_PRELOAD=libwarm_start.so WARM_START=fd program
 *
 * fd is a socket of whole messages (SOCK_SEQPACKET). A request has the working directory, the
 * number of variables that differ from the start's environment, these (NAME=VALUE, or NAME: it is
 * not there) and the arguments, the program's name first, each ended by a zero; and with it come
 * the three standard files. The answers are two numbers (int): the process, and how it ended, as
 * waitpid() says it. Limits and signals are those of the start. It ends when the socket is closed.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int Main(int argc, char **argv, char **environment);
typedef int Start(Main *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                  void (*end)(void), void *stack);

enum { MOST_BYTES = 1 << 16, MOST_ARGS = 1 << 12 };

static Main *program;
static char request[MOST_BYTES + 1];
static char *args[MOST_ARGS + 1];

static void give_up(const char *why)
{
    perror(why);
    _exit(120);
}

/* Answers how many bytes the request has; none at the end. */
static size_t receive(int from, int files[3])
{
    union {
        char bytes[CMSG_SPACE(3 * sizeof *files)];
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
    if (!more || more->cmsg_len != CMSG_LEN(3 * sizeof *files) || message.msg_flags & MSG_TRUNC)
        give_up("warm start: a request");
    memcpy(files, CMSG_DATA(more), 3 * sizeof *files);
    return (size_t)size;
}

static char *following(char *at)
{
    return at + strlen(at) + 1;
}

/* Answers how many arguments there are. */
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

static void take(const int files[3])
{
    for (int i = 0; i < 3; i++)
        if (dup2(files[i], i) < 0)
            give_up("warm start: a file");
    for (int i = 0; i < 3; i++)
        close(files[i]);
    if (chdir(request))
        give_up(request);
}

static int serve(int argc, char **argv, char **environment)
{
    const char *name = getenv("WARM_START");
    if (!name)
        return program(argc, argv, environment);
    const int client = atoi(name);
    unsetenv("WARM_START");
    unsetenv("LD_PRELOAD");
    int files[3];
    for (size_t size; (size = receive(client, files)) > 0;) {
        const pid_t child = fork();
        if (child == 0) {
            close(client);
            take(files);
            const int count = split(size);
            return program(count, args, environ);
        }
        for (int i = 0; i < 3; i++)
            close(files[i]);
        int status = 0;
        if (child < 0 || send(client, &child, sizeof child, 0) < 0 ||
            waitpid(child, &status, 0) != child || send(client, &status, sizeof status, 0) < 0)
            give_up("warm start");
    }
    _exit(0);
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
