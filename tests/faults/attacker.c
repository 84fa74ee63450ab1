/*
 * Preloaded into lumeq, this library acts as a hijacked decoder. The first thread that libavcodec
 * starts in a process tries everything that the sandbox should prevent. Each attempt logs a line:
 * process ID, name, and errno (0: success).
 *   ATTACK_LOG=FILE        the log, an existing file
 *   ATTACK_OUTSIDE=FOLDER  a folder that no option names, with the files `secret`, `other`, `kept`
 *   ATTACK_INSIDE=FOLDER   the folder of the output
 *   ATTACK_INPUT=FILE      the input
 *   ATTACK_SOCKET=PATH     a SOCK_SEQPACKET server; PATH-datagrams is a SOCK_DGRAM server
 *   ATTACK_VICTIM=PID      another process of this user
 *   ATTACK_MESSAGE=CODE    instead of attempts, writes nonsense into all pipes and exits with CODE
 *   NO_LANDLOCK=1, NO_SECCOMP=1  the kernel seems to lack Landlock or seccomp
 *   LANDLOCK_VERSION=N     the kernel seems to support Landlock only up to this version
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
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FIRST_OF_LANDLOCK 444 /* landlock_create_ruleset(); given NULL, returns the version */
#define LAST_OF_LANDLOCK 446  /* landlock_restrict_self() */

static char outside[4096], inside[4096], input[4096]; /* paths */

/* Sets `path` to the file `name` in the folder that the environment variable `folder` holds. */
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

static int lines = -1; /* the log, opened early because the sandbox may forbid it later */

__attribute__((constructor)) static void open_log(void)
{
    if (getenv("ATTACK_LOG"))
        lines = open(getenv("ATTACK_LOG"), O_WRONLY | O_APPEND | O_CLOEXEC);
}

static void report(const char *name, long result)
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
    report("read-input", open_close(input, O_RDONLY));
    report("write-inside", open_close(beside("made"), O_WRONLY | O_CREAT));
    report("write-input", open_close(input, O_WRONLY));
    report("read-outside", open_close(out("secret"), O_RDONLY));
    report("list-outside", list(out("")));
    report("append-outside", open_close(out("secret"), O_WRONLY | O_APPEND));
    report("truncate-outside", open_close(out("secret"), O_WRONLY | O_TRUNC));
    report("create-outside", open_close(out("new"), O_WRONLY | O_CREAT));
    report("folder-outside", mkdir(out("folder"), 0700));
    report("rename-out", rename(beside("made"), out("moved")));
    report("link-in", link(out("secret"), beside("linked")));
    report("rename-in", rename(out("secret"), beside("stolen")));
    report("symlink-inside", symlink(out("secret"), beside("symlink")));
    report("fifo-inside", mkfifo(beside("fifo"), 0600));
    report("remove-outside", unlink(out("other")));
    report("write-proc", open_close("/proc/self/oom_score_adj", O_WRONLY));
    snprintf(input, sizeof(input), "/proc/self/task/%d/comm", (int)gettid());
    report("name-thread", open_close(input, O_WRONLY | O_CREAT | O_TRUNC)); /* as CUDA does */
    report("write-usr", open_close("/usr/lumeq-attack", O_WRONLY | O_CREAT));
    (void)unlink("/usr/lumeq-attack");
}

/* Changes permissions, owners, times and attributes of `kept` outside and of the input. */
static void attack_attributes(void)
{
    const struct timespec times[2] = {{1, 0}, {1, 0}};
    const struct timeval older[2] = {{1, 0}, {1, 0}};
    const struct utimbuf oldest = {1, 1};
    const char *secret = out("kept");
    snprintf(input, sizeof(input), "%s", getenv("ATTACK_INPUT"));
    const int fd = open(input, O_RDONLY | O_CLOEXEC);
    report("chmod", chmod(secret, 0777));
    report("fchmod", fchmod(fd, 0777));
    report("fchmodat", fchmodat(AT_FDCWD, secret, 0777, 0));
    report("fchmodat2", syscall(452, AT_FDCWD, secret, 0777, AT_SYMLINK_NOFOLLOW));
    report("chown", chown(secret, geteuid(), getegid()));
    report("fchown", fchown(fd, geteuid(), getegid()));
    report("lchown", lchown(secret, geteuid(), getegid()));
    report("fchownat", fchownat(AT_FDCWD, secret, geteuid(), getegid(), 0));
    report("utimensat", utimensat(AT_FDCWD, secret, times, 0));
    report("futimens", futimens(fd, times));
    report("utimes", utimes(secret, older));
    report("utime", utime(secret, &oldest));
    report("setxattr", setxattr(secret, "user.lumeq", "x", 1, 0));
    report("fsetxattr", fsetxattr(fd, "user.lumeq", "x", 1, 0));
    report("lsetxattr", lsetxattr(secret, "user.lumeq", "x", 1, 0));
    report("removexattr", removexattr(secret, "user.lumeq"));
    close(fd);
    report("truncate", truncate(secret, 1));
    report("truncate-input", truncate(input, 100));
    report("open-truncate", open_close(input, O_RDONLY | O_TRUNC));
    report("open-truncate-3", open_close(input, O_ACCMODE | O_TRUNC));
    report("openat2", syscall(437, AT_FDCWD, input, (uint64_t[3]){O_RDONLY}, 24));
}

/* Executes /bin/true in a child process. If fork() fails, executes a missing program. */
static int start(int (*execute)(const char *program))
{
    int failed[2], reason = 0;
    if (pipe2(failed, O_CLOEXEC) < 0)
        return 0;
    const pid_t child = fork();
    if (child < 0) {
        close(failed[0]);
        close(failed[1]);
        return execute("/none");
    }
    if (child == 0) {
        execute("/bin/true");
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

static int execute_by_name(const char *program)
{
    char *const argv[] = {(char *)"true", NULL};
    return execv(program, argv);
}

static int execute_by_descriptor(const char *program)
{
    char *const argv[] = {(char *)"true", NULL};
    const int fd = open(program, O_RDONLY);
    return fexecve(fd < 0 ? lines : fd, argv, environ); /* the log is not executable */
}

/* Starts a process that exits at once. Returns its number, or -1. */
static long start_process(long number, long flags)
{
    const long child = number == SYS_clone ? syscall(number, flags, 0, 0, 0, 0) : syscall(number);
    if (child == 0)
        _exit(0);
    if (child > 0)
        (void)waitpid((pid_t)child, NULL, __WALL);
    return child;
}

static void attack_processes(void)
{
    const pid_t victim = (pid_t)atoi(getenv("ATTACK_VICTIM"));
    const struct sched_param normal = {0};
    const struct rlimit most = {RLIM_INFINITY, RLIM_INFINITY};
    struct rlimit limit;
    cpu_set_t cores;
    char byte;
    const struct iovec near = {&byte, 1}, far = {outside, 1};
    report("exec", start(execute_by_name));
    report("fexecve", start(execute_by_descriptor));
#ifdef SYS_fork
    report("fork", start_process(SYS_fork, 0));
#endif
    report("clone", start_process(SYS_clone, SIGCHLD));
    report("clone-no-signal", start_process(SYS_clone, 0));
    report("clone3", syscall(SYS_clone3, NULL, 0));
    report("setsid", setsid());
    report("setpgid", setpgid(0, 0));
    report("death-signal", prctl(PR_SET_PDEATHSIG, 0));
    report("unshare", unshare(CLONE_NEWUTS));
    report("kill", kill(victim, SIGURG)); /* ignored by default */
    report("tgkill", syscall(SYS_tgkill, victim, victim, SIGURG));
    report("tkill", syscall(SYS_tkill, victim, SIGURG));
    report("kill-own", kill(getpid(), 0));
    report("pidfd_open", syscall(SYS_pidfd_open, victim, 0));
    report("process_vm_readv", process_vm_readv(victim, &near, 1, &far, 1, 0));
    report("prlimit", prlimit(victim, RLIMIT_CORE, &most, NULL));
    report("prlimit-own", prlimit(0, RLIMIT_CORE, &most, NULL));
    report("prlimit-read", prlimit(0, RLIMIT_CORE, NULL, &limit));
    (void)sched_getaffinity(0, sizeof(cores), &cores);
    report("affinity", sched_setaffinity(victim, sizeof(cores), &cores));
    report("affinity-own", sched_setaffinity(0, sizeof(cores), &cores));
    report("scheduler", sched_setscheduler(victim, SCHED_OTHER, &normal));
    report("scheduler-own", sched_setscheduler(0, SCHED_OTHER, &normal));
    report("parameters", sched_setparam(victim, &normal));
    report("priority", setpriority(PRIO_PROCESS, (id_t)victim, 0));
    report("priority-group", setpriority(PRIO_PGRP, 0, 0));
    report("priority-user", setpriority(PRIO_USER, 0, 0));
    report("priority-own", setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0)));
    report("ioprio", syscall(SYS_ioprio_set, 1, victim, 2 << 13 | 4));
    report("ptrace", ptrace(PTRACE_SEIZE, victim, NULL, NULL));
    (void)ptrace(PTRACE_DETACH, victim, NULL, NULL);
}

static void attack_ipc(void)
{
    const int memory = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    report("shmget", memory);
    (void)shmctl(memory, IPC_RMID, NULL);
    const int semaphore = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
    report("semget", semaphore);
    (void)semctl(semaphore, 0, IPC_RMID);
    const int messages = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
    report("msgget", messages);
    (void)msgctl(messages, IPC_RMID, NULL);
    report("mq_open", syscall(SYS_mq_open, "lumeq-attack", O_CREAT | O_RDWR, 0600, NULL));
    (void)syscall(SYS_mq_unlink, "lumeq-attack");
}

/* Tries to make a pipe send signals to another process. */
static void attack_by_files(void)
{
    int ends[2], victim = atoi(getenv("ATTACK_VICTIM"));
    const struct f_owner_ex owner = {F_OWNER_PID, victim};
    if (pipe2(ends, O_CLOEXEC) < 0)
        return;
    report("F_SETOWN", fcntl(ends[0], F_SETOWN, victim));
    report("F_SETOWN_EX", fcntl(ends[0], F_SETOWN_EX, &owner));
    report("F_SETSIG", fcntl(ends[0], F_SETSIG, SIGURG));
    report("O_ASYNC", fcntl(ends[0], F_SETFL, O_ASYNC));
    report("O_NONBLOCK", fcntl(ends[0], F_SETFL, O_NONBLOCK));
    report("FIOSETOWN", ioctl(ends[0], FIOSETOWN, &victim));
    report("SIOCSPGRP", ioctl(ends[0], SIOCSPGRP, &victim));
    report("F_NOTIFY", fcntl(ends[0], F_NOTIFY, 0));
    close(ends[0]);
    close(ends[1]);
}

/* Reports open descriptors, and reads from terminals. */
static void attack_descriptors(void)
{
    char name[32];
    for (int fd = 0; fd < 64; fd++) {
        struct stat file;
        if (fd != lines && fstat(fd, &file) == 0 && (S_ISCHR(file.st_mode) || fd > 2)) {
            snprintf(name, sizeof(name), "descriptor-%d", fd);
            report(name, 0);
        }
        if (fd <= 2 && isatty(fd)) {
            snprintf(name, sizeof(name), "read-terminal-%d", fd);
            report(name, fcntl(fd, F_SETFL, O_NONBLOCK) < 0 || read(fd, name, 0) < 0 ? -1 : 0);
        }
    }
}

/* Writes nonsense into all pipes, as a result that the parent must not accept. */
static void send_nonsense(int code)
{
    char nonsense[8192];
    struct stat file;
    memset(nonsense, 'x', sizeof(nonsense));
    for (int fd = 3; fd < 64; fd++)
        if (fstat(fd, &file) == 0 && S_ISFIFO(file.st_mode) && fcntl(fd, F_GETFL) & O_WRONLY)
            (void)!write(fd, nonsense, sizeof(nonsense));
    _exit(code);
}

static int open_socket(int family)
{
    const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0)
        close(fd);
    return fd;
}

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

/* Sends a datagram without connect(), from a socket pair. */
static int send_datagram(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int ends[2], ret = socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
    snprintf(name.sun_path, sizeof(name.sun_path), "%s-datagrams", getenv("ATTACK_SOCKET"));
    if (ret == 0)
        ret = sendto(ends[0], "x", 1, 0, (struct sockaddr *)&name, sizeof(name)) < 0 ? -1 : 0;
    return ret;
}

static void attack_kernel(void)
{
    report("datagram", send_datagram());
    report("unknown-call", syscall(1000));
    report("keyctl", syscall(SYS_keyctl, 0, -1, 0));
    report("userfaultfd", syscall(SYS_userfaultfd, 0));
    report("socket-inet", open_socket(AF_INET));
    report("socket-unix", open_socket(AF_UNIX));
    report("socket-packet", open_socket(AF_PACKET));
    report("connect", connect_local());
    report("type", ioctl(STDIN_FILENO, TIOCSTI, "x"));
    report("io_uring", syscall(SYS_io_uring_setup, 1, NULL));
    report("bpf", syscall(SYS_bpf, 0, NULL, 0));
#ifdef __x86_64__
    report("x32", syscall(0x40000000 | SYS_getpid));
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
    if (getenv("ATTACK_MESSAGE"))
        send_nonsense(atoi(getenv("ATTACK_MESSAGE")));
    attack_descriptors();
    attack_files();
    attack_attributes();
    attack_processes();
    attack_ipc();
    attack_by_files();
    attack_kernel();
    return thread.run(thread.argument);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    static atomic_int attacker; /* ID of the last process that attacked */
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

/* Returns the errno with which this version of Landlock refuses these attributes, or 0. */
static int refuse_newer(const uint64_t *attributes, long size, int version)
{
    const uint64_t files = (UINT64_C(1) << (version < 2   ? 13
                                            : version < 3 ? 14
                                            : version < 5 ? 15
                                                          : 16)) -
                           1;
    if (size > 8 && version < 4 && attributes[1])
        return E2BIG;
    if (size > 16 && version < 6 && attributes[2])
        return E2BIG;
    return attributes[0] & ~files ? EINVAL : 0;
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
    const char *version = getenv("LANDLOCK_VERSION");
    if (version && number == FIRST_OF_LANDLOCK && !a[0])
        return atoi(version);
    if (version && number == FIRST_OF_LANDLOCK &&
        (errno = refuse_newer((const uint64_t *)a[0], a[1], atoi(version))) != 0)
        return -1;
    return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
