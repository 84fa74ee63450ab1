/*
 * A decoder that hostile media has taken over, preloaded into lumeq: the first thread that
 * libavcodec starts in a process tries what it should not be able to do, and writes a line for each
 * attempt: the process, the attempt and an errno, or 0 for success.
 *   ATTACK_LOG=FILE        takes the lines
 *   ATTACK_OUTSIDE=FOLDER  with the files `secret` and `other`, which no option names
 *   ATTACK_INSIDE=FOLDER   the folder of the output
 *   ATTACK_INPUT=FILE      the input
 *   ATTACK_SOCKET=PATH     a server, SOCK_SEQPACKET
 *   NO_LANDLOCK=1, NO_SECCOMP=1  the kernel seems to lack these
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FIRST_OF_LANDLOCK 444
#define LAST_OF_LANDLOCK 446

static char outside[4096], inside[4096], input[4096]; /* paths, made by in() */

/* The path of a name in a folder of the environment. */
static const char *in(char *path, const char *folder, const char *name)
{
    snprintf(path, sizeof(outside), "%s/%s", getenv(folder), name);
    return path;
}

static const char *out(const char *name)
{
    return in(outside, "ATTACK_OUTSIDE", name);
}

static const char *beside(const char *name)
{
    return in(inside, "ATTACK_INSIDE", name);
}

static int lines = -1; /* the log, which a sandbox may forbid to open */

__attribute__((constructor)) static void open_log(void)
{
    if (getenv("ATTACK_LOG"))
        lines = open(getenv("ATTACK_LOG"), O_WRONLY | O_APPEND | O_CLOEXEC);
}

static void tell(const char *name, long result)
{
    char line[128];
    const int length =
        snprintf(line, sizeof(line), "%d %s %d\n", (int)getpid(), name, result < 0 ? errno : 0);
    (void)!write(lines, line, (size_t)length);
}

static int open_close(const char *path, int flags)
{
    const int fd = open(path, flags | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    return fd;
}

static int list(const char *folder)
{
    DIR *entries = opendir(folder);
    if (entries)
        closedir(entries);
    return entries ? 0 : -1;
}

static void attack_files(void)
{
    snprintf(input, sizeof(input), "%s", getenv("ATTACK_INPUT"));
    tell("read-input", open_close(input, O_RDONLY));
    tell("write-inside", open_close(beside("made"), O_WRONLY | O_CREAT));
    tell("write-input", open_close(input, O_WRONLY));
    tell("read-outside", open_close(out("secret"), O_RDONLY));
    tell("list-outside", list(out("")));
    tell("append-outside", open_close(out("secret"), O_WRONLY | O_APPEND));
    tell("truncate-outside", open_close(out("secret"), O_WRONLY | O_TRUNC));
    tell("create-outside", open_close(out("new"), O_WRONLY | O_CREAT));
    tell("folder-outside", mkdir(out("folder"), 0700));
    tell("rename-out", rename(beside("made"), out("moved")));
    tell("link-in", link(out("secret"), beside("linked")));
    tell("rename-in", rename(out("secret"), beside("stolen")));
    tell("symlink-inside", symlink(out("secret"), beside("symlink")));
    tell("fifo-inside", mkfifo(beside("fifo"), 0600));
    tell("remove-outside", unlink(out("other")));
    tell("write-proc", open_close("/proc/self/oom_score_adj", O_WRONLY));
    snprintf(input, sizeof(input), "/proc/self/task/%d/comm", (int)gettid());
    tell("name-thread", open_close(input, O_WRONLY | O_CREAT | O_TRUNC)); /* as CUDA does */
    tell("write-usr", open_close("/usr/lumeq-attack", O_WRONLY | O_CREAT));
    (void)unlink("/usr/lumeq-attack");
}

/* Returns what happens in a child process: -1 with errno, or 0 if the program started. */
static int start(int (*execute)(void))
{
    int failed[2], reason = 0;
    if (pipe2(failed, O_CLOEXEC) < 0)
        return 0;
    const pid_t child = fork();
    if (child == 0) {
        execute();
        reason = errno;
        (void)!write(failed[1], &reason, sizeof(reason));
        _exit(1);
    }
    close(failed[1]);
    (void)!read(failed[0], &reason, sizeof(reason));
    close(failed[0]);
    (void)waitpid(child, NULL, 0);
    errno = reason;
    return reason ? -1 : 0;
}

static int execute_by_name(void)
{
    char *const argv[] = {(char *)"true", NULL};
    return execv("/bin/true", argv);
}

static int execute_by_descriptor(void)
{
    char *const argv[] = {(char *)"true", NULL};
    return fexecve(open("/bin/true", O_RDONLY), argv, environ);
}

static int unshare_names(void)
{
    if (unshare(CLONE_NEWUTS) == 0)
        _exit(0);
    return -1;
}

/* A child that does nothing until the pipe is closed. */
static pid_t start_victim(int ends[2])
{
    char byte;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    const pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        (void)!read(ends[0], &byte, 1);
        _exit(0);
    }
    close(ends[0]);
    return child;
}

static void attack_processes(void)
{
    char byte;
    int ends[2];
    const pid_t victim = start_victim(ends);
    const struct iovec near = {&byte, 1}, far = {outside, 1};
    tell("exec", start(execute_by_name));
    tell("fexecve", start(execute_by_descriptor));
    tell("process_vm_readv", process_vm_readv(victim, &near, 1, &far, 1, 0));
    tell("unshare", start(unshare_names));
    tell("kill", kill(victim, SIGURG)); /* which is ignored */
    tell("kill-own", kill(getpid(), 0));
    tell("ptrace", ptrace(PTRACE_SEIZE, victim, NULL, NULL));
    close(ends[1]);
    (void)waitpid(victim, NULL, 0);
}

static int open_socket(int family)
{
    const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0)
        close(fd);
    return fd;
}

/* Connects to a socket that listens. */
static int connect_local(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    snprintf(name.sun_path, sizeof(name.sun_path), "%s", getenv("ATTACK_SOCKET"));
    const int ret = fd < 0 ? fd : connect(fd, (struct sockaddr *)&name, sizeof(name));
    const int reason = errno;
    if (fd >= 0)
        close(fd);
    errno = reason;
    return ret;
}

static void attack_kernel(void)
{
    tell("socket-inet", open_socket(AF_INET));
    tell("socket-unix", open_socket(AF_UNIX));
    tell("socket-packet", open_socket(AF_PACKET));
    tell("connect", connect_local());
    tell("type", ioctl(STDIN_FILENO, TIOCSTI, "x"));
    tell("io_uring", syscall(SYS_io_uring_setup, 1, NULL));
    tell("bpf", syscall(SYS_bpf, 0, NULL, 0));
#ifdef __x86_64__
    tell("x32", syscall(0x40000000 | SYS_getpid));
#endif
}

typedef struct Thread {
    void *(*run)(void *);
    void *argument;
} Thread;

static void *run_thread(void *given)
{
    const Thread thread = *(Thread *)given;
    free(given);
    attack_files();
    attack_processes();
    attack_kernel();
    return thread.run(thread.argument);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    static atomic_int attacker; /* the process that has attacked */
    Dl_info object;
    Thread *own = NULL;
    const int is_codec = dladdr(__builtin_return_address(0), &object) &&
                         strstr(object.dli_fname, "libavcodec") && lines >= 0;
    if (is_codec && atomic_exchange(&attacker, getpid()) != getpid())
        own = malloc(sizeof(*own));
    if (!own)
        return REAL(pthread_create)(thread, attributes, run, argument);
    *own = (Thread){run, argument};
    return REAL(pthread_create)(thread, attributes, run_thread, own);
}

long syscall(long number, ...)
{
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if ((getenv("NO_LANDLOCK") && number >= FIRST_OF_LANDLOCK && number <= LAST_OF_LANDLOCK) ||
        (getenv("NO_SECCOMP") && number == SYS_seccomp)) {
        errno = ENOSYS;
        return -1;
    }
    return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
