#include "app/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "app/setup.h"
#include "app/terminal.h"
#include "media/input/network.h"
#include "media/output/output_file.h"
#include "media/process.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* ---- Landlock ---- */

/* Constants of linux/landlock.h, whose older versions lack some of them. */
#define CREATE_RULESET 444
#define ADD_RULE 445
#define RESTRICT_SELF 446
#define ASK_VERSION 1
#define BENEATH_PATH 1

#define EXECUTE (UINT64_C(1) << 0)
#define WRITE_FILE (UINT64_C(1) << 1)
#define READ_FILE (UINT64_C(1) << 2)
#define READ_FOLDER (UINT64_C(1) << 3)
#define REMOVE_FOLDER (UINT64_C(1) << 4)
#define REMOVE_FILE (UINT64_C(1) << 5)
#define MAKE_FOLDER (UINT64_C(1) << 7)
#define MAKE_FILE (UINT64_C(1) << 8)
#define ALL_OF_1 ((UINT64_C(1) << 13) - 1)
#define REFER (UINT64_C(1) << 13)     /* rename between folders; version 2 */
#define TRUNCATE (UINT64_C(1) << 14)  /* version 3 */
#define IOCTL_DEV (UINT64_C(1) << 15) /* version 5 */
#define ALL_TCP 3                     /* bind and connect; version 4 */
#define ALL_SCOPES 3                  /* abstract sockets and signals; version 6 */

#define MIN_LANDLOCK 2 /* the first with REFER, which limit_files() uses */

#define READ (READ_FILE | READ_FOLDER)
#define USE_DEVICE (READ | WRITE_FILE | IOCTL_DEV)
#define WRITE (READ | WRITE_FILE | TRUNCATE | MAKE_FILE | REMOVE_FILE)
#define OF_FILES (EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV)

typedef struct RulesetAttributes {
    uint64_t files, network, scopes;
} RulesetAttributes;

typedef struct __attribute__((packed)) PathRule {
    uint64_t rights;
    int32_t fd;
} PathRule;

typedef struct Rules {
    uint64_t handled; /* rights that are forbidden unless a rule allows them */
    int fd;
    int reason; /* errno of the first failure, or 0 */
} Rules;

int sandbox_landlock(void)
{
    const long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
    return version > 0 ? (int)version : 0;
}

/* Allows rights on a file, or on everything below a folder. A missing path needs no rule. */
static void allow(Rules *r, const char *path, uint64_t rights)
{
    struct stat there;
    PathRule rule = {.fd = open(path, O_PATH | O_CLOEXEC)};
    if (rule.fd < 0)
        return;
    const int is_folder = fstat(rule.fd, &there) == 0 && S_ISDIR(there.st_mode);
    rule.rights = rights & r->handled & (is_folder ? UINT64_MAX : OF_FILES);
    /* EBADFD: a pipe, which Landlock never restricts. */
    if (rule.rights && syscall(ADD_RULE, r->fd, BENEATH_PATH, &rule, 0) < 0 && errno != EBADFD &&
        !r->reason)
        r->reason = errno;
    close(rule.fd);
}

static void allow_all(Rules *r, const char *const *paths, size_t count, uint64_t rights)
{
    for (size_t i = 0; i < count; i++)
        allow(r, paths[i], rights);
}

static void allow_folder(Rules *r, const char *file, uint64_t rights)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(file, '/');
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash + 1 - file) : 1,
             slash ? file : ".");
    allow(r, folder, rights);
}

/* ---- the system ---- */

/* Allows the folder of a library outside the system folders. It may load more files from there. */
static int allow_library(struct dl_phdr_info *library, size_t size, void *rules)
{
    Rules *r = rules;
    (void)size;
    if (strncmp(library->dlpi_name, "/usr/", 5) != 0 &&
        strncmp(library->dlpi_name, "/lib", 4) != 0 && strchr(library->dlpi_name, '/'))
        allow_folder(r, library->dlpi_name, READ);
    return 0;
}

/* Allows the folders of a list such as LD_LIBRARY_PATH. */
static void allow_listed(Rules *r, const char *variable)
{
    char *list = strdup(getenv(variable) ? getenv(variable) : ""), *rest = list, *path;
    while ((path = rest ? strsep(&rest, ":") : NULL))
        if (*path)
            allow(r, path, READ);
    free(list);
}

static const char *const gpus[] = {"/dev/nvidia*", "/dev/nvhost*", "/dev/nvmap", "/dev/nvgpu*",
                                   "/dev/dxg"};

/* True if the run may use CUDA, in the equalizer or in an encoder. */
static bool uses_gpu(const Options *o)
{
    const int equalizes = o->backend != LUMEQ_BACKEND_CPU &&
                          strncmp(lumeq_build_info(), "CPU only", strlen("CPU only")) != 0;
    const int encodes = o->vcodec && strstr(o->vcodec, "nvenc");
    int found = 0;
    for (size_t i = 0; i < COUNT(gpus) && (equalizes || encodes); i++) {
        glob_t paths;
        found |= glob(gpus[i], GLOB_NOSORT, NULL, &paths) == 0;
        globfree(&paths);
    }
    return found;
}

static void allow_system(Rules *r, int gpu)
{
    static const char *const read[] = {"/usr",
                                       "/lib",
                                       "/lib32",
                                       "/lib64",
                                       "/libx32",
                                       "/etc",
                                       "/opt",
                                       "/sys",
                                       "/nix/store",
                                       "/gnu/store",
                                       "/run/opengl-driver",
                                       "/var/cache/fontconfig",
                                       "/proc"};
    static const char *const write[] = {"/dev/null", "/dev/zero", "/dev/full"};
    static const char *const random[] = {"/dev/random", "/dev/urandom"};
    static const char *const lists[] = {"LD_LIBRARY_PATH", "FONTCONFIG_PATH", "FONTCONFIG_FILE"};
    static const struct {
        const char *variable, *otherwise; /* environment variable; default below $HOME */
        const char *below;                /* the subfolder to allow */
        uint64_t rights;
    } homes[] = {{"XDG_DATA_HOME", ".local/share", "fonts", READ},
                 {"XDG_CONFIG_HOME", ".config", "fontconfig", READ},
                 {"XDG_CACHE_HOME", ".cache", "fontconfig", READ},
                 {NULL, ".fonts", "", READ},
                 {NULL, ".fonts.conf", "", READ},
                 {"CUDA_CACHE_PATH", ".nv", "", WRITE | MAKE_FOLDER | REMOVE_FOLDER}};
    const char *home = getenv("HOME");
    char path[PATH_MAX];
    allow_all(r, read, COUNT(read), READ);
    allow_all(r, write, COUNT(write), READ | WRITE_FILE | TRUNCATE);
    allow_all(r, random, COUNT(random), READ);
    for (size_t i = 0; i < COUNT(gpus); i++) {
        glob_t found;
        if (glob(gpus[i], GLOB_NOSORT, NULL, &found) == 0)
            allow_all(r, (const char *const *)found.gl_pathv, found.gl_pathc, USE_DEVICE);
        globfree(&found);
    }
    for (size_t i = 0; i < COUNT(lists); i++)
        allow_listed(r, lists[i]);
    for (size_t i = 0; i < COUNT(homes); i++) {
        const char *given = homes[i].variable ? getenv(homes[i].variable) : NULL;
        if (given && *given)
            snprintf(path, sizeof(path), "%s/%s", given, homes[i].below);
        else
            snprintf(path, sizeof(path), "%s/%s/%s", home ? home : "", homes[i].otherwise,
                     homes[i].below);
        if (gpu && homes[i].rights & MAKE_FOLDER)
            (void)mkdir(path, 0700); /* CUDA's cache: only an existing folder can be allowed */
        if (home || (given && *given))
            allow(r, path, homes[i].rights);
    }
    /* CUDA starts only if it can write its threads' names here. */
    allow(r, "/proc/self/task", READ | WRITE_FILE | TRUNCATE);
    (void)dl_iterate_phdr(allow_library, r);
}

/* ---- the files of a run ---- */

/* Allows a folder of pictures, and the files to which its links point. */
static void allow_pictures(Rules *r, const char *folder)
{
    char *path;
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    struct stat there;
    while (entries && (entry = readdir(entries))) {
        if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
            continue;
        if (stat(path, &there) == 0 && S_ISREG(there.st_mode))
            allow(r, path, READ_FILE);
        free(path);
    }
    if (entries)
        closedir(entries);
    allow(r, folder, READ);
}

static void allow_input(Rules *r, const Options *o)
{
    struct stat file;
    char folder[PATH_MAX];
    if (options_is_url(o)) {
        if (realpath("/etc/resolv.conf", folder))
            allow_folder(r, folder, READ);
    } else if (o->allow_playlists) {
        allow(r, "/", READ);
    } else if (options_is_pictures(o, o->input)) {
        const char *slash = strrchr(o->input, '/');
        const int is_folder = stat(o->input, &file) == 0 && S_ISDIR(file.st_mode);
        snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash + 1 - o->input) : 1,
                 slash ? o->input : ".");
        allow_pictures(r, is_folder ? o->input : folder);
    } else if (strcmp(o->input, "-") != 0) {
        allow(r, o->input, READ_FILE | IOCTL_DEV);
    }
}

/* Allows writing to a pipe or device, or in the folder of an output file. */
static void allow_output(Rules *r, const char *path, SandboxKind kind)
{
    char place[PATH_MAX];
    struct stat there;
    if (!path || strcmp(path, "-") == 0 || output_file_place(path, place) < 0)
        return;
    if (stat(place, &there) == 0 && !S_ISDIR(there.st_mode))
        allow(r, place, WRITE_FILE | IOCTL_DEV);
    else
        allow(r, place, kind == SANDBOX_RUN ? WRITE : WRITE | MAKE_FOLDER | REMOVE_FOLDER);
}

/* Returns 0 or an errno. */
static int limit_files(const Options *o, SandboxKind kind, int gpu)
{
    const int version = sandbox_landlock();
    const RulesetAttributes all = {
        .files = ALL_OF_1 | REFER | (version >= 3 ? TRUNCATE : 0) | (version >= 5 ? IOCTL_DEV : 0),
        .network = version >= 4 && !options_is_url(o) ? ALL_TCP : 0,
        .scopes = version >= 6 ? ALL_SCOPES : 0,
    };
    Rules r = {.handled = all.files};
    r.fd = (int)syscall(CREATE_RULESET, &all, sizeof(all), 0);
    if (r.fd < 0)
        return errno;
    allow_system(&r, gpu);
    allow_input(&r, o);
    allow_output(&r, o->output, kind);
    allow_output(&r, o->stats, kind);
    allow_output(&r, o->report, kind);
    if (!r.reason && syscall(RESTRICT_SELF, r.fd, 0) < 0)
        r.reason = errno;
    close(r.fd);
    return r.reason;
}

/* ---- descriptors ---- */

/* True if an option names the file of this inherited descriptor, as in <(command) of a shell. */
static bool is_named(const Options *o, int fd)
{
    const char *const paths[] = {o->input, o->output, o->stats, o->report};
    const int standard[] = {STDIN_FILENO, STDOUT_FILENO, -1, -1}; /* meant by "-" */
    struct stat file, named;
    char number[16];
    snprintf(number, sizeof(number), "/%d", fd);
    for (size_t i = 0; i < COUNT(paths); i++) {
        const char *path = paths[i] ? paths[i] : "", *slash = strrchr(path, '/');
        if (strcmp(path, "-") == 0 && fd == standard[i])
            return 1;
        if (fstat(fd, &file) < 0 || stat(path, &named) < 0 || file.st_dev != named.st_dev ||
            file.st_ino != named.st_ino)
            continue;
        if (!S_ISREG(file.st_mode) || (slash && strcmp(slash, number) == 0))
            return 1;
    }
    return 0;
}

static int replace(int fd, const char *path, int flags)
{
    const int other = open(path, flags | O_NOCTTY | O_CLOEXEC);
    const int ret = other < 0 ? -1 : dup2(other, fd);
    if (other >= 0)
        close(other);
    return ret;
}

/* Closes inherited descriptors that no option names, but replaces standard input by /dev/null.
 * Makes terminals write-only. Returns 0 or an errno. */
static int limit_descriptors(const Options *o)
{
    char path[32];
    const struct dirent *entry;
    DIR *open_files = opendir("/proc/self/fd");
    int reason = open_files ? 0 : errno;
    while (open_files && (entry = readdir(open_files))) {
        const int fd = atoi(entry->d_name), flags = fcntl(fd, F_GETFD);
        /* Descriptors of this program, and of libraries, have FD_CLOEXEC. */
        if (fd > STDERR_FILENO && !(flags & FD_CLOEXEC) && !is_named(o, fd))
            close(fd);
    }
    if (open_files)
        closedir(open_files);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        if (fd == STDIN_FILENO && is_named(o, fd))
            continue;
        if (isatty(fd) && replace(fd, path, O_WRONLY) < 0 && fd != STDIN_FILENO)
            reason = errno; /* another user's terminal cannot be opened, as after su */
        else if (fd == STDIN_FILENO && fcntl(fd, F_GETFD) >= 0 && !isatty(fd))
            (void)replace(fd, "/dev/null", O_RDONLY);
    }
    return reason;
}

/* ---- seccomp ---- */

#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(__ILP32__)
#define KNOWN_CALLS 1
#else
#define KNOWN_CALLS 0
#endif

bool sandbox_can_filter(void)
{
    const uint32_t action = SECCOMP_RET_ERRNO;
    return KNOWN_CALLS && syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

/* Calls that no run, no window and no dialog of a window needs. */
static const char never[] =
    "acct add_key adjtimex bpf clock_adjtime clock_settime delete_module fanotify_init "
    "finit_module init_module io_uring_enter io_uring_register io_uring_setup ioperm iopl "
    "kexec_file_load kexec_load keyctl lookup_dcookie modify_ldt open_by_handle_at "
    "perf_event_open process_madvise process_vm_readv process_vm_writev ptrace quotactl "
    "quotactl_fd reboot request_key settimeofday swapoff swapon syslog userfaultfd vhangup";

/* Further calls that no run needs. They concern processes and signals, attributes of files, names
 * and mounts, and messages and memory that processes share. */
static const char forbidden[] =
    "execve execveat fork get_robust_list ioprio_set kcmp migrate_pages move_pages "
    "pidfd_getfd pidfd_open pidfd_send_signal process_mrelease rt_sigqueueinfo "
    "rt_tgsigqueueinfo setpgid setsid tkill vfork "
    "chmod chown fchmodat fchmodat2 fchown fchownat file_setattr fremovexattr fsetxattr futimesat "
    "lchown lremovexattr lsetxattr removexattr removexattrat setxattr setxattrat truncate utime "
    "utimensat utimes "
    "chroot fsconfig fsmount fsopen fspick mknod mknodat mount mount_setattr move_mount open_tree "
    "personality pivot_root seccomp setdomainname sethostname setns umount2 unshare "
    "mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink msgctl msgget msgrcv "
    "msgsnd semctl semget semop semtimedop shmat shmctl shmdt shmget socketpair";

/* Calls that a run without CUDA may make, besides those that allow_calls() adds. */
static const char allowed[] =
    /* files */
    "access close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2 fadvise64 "
    "fallocate fcntl fdatasync fgetxattr flistxattr flock fstat fstatfs fsync ftruncate getcwd "
    "getdents getdents64 getxattr lgetxattr link linkat listxattr llistxattr lseek lstat mkdir "
    "mkdirat newfstatat open openat pipe pipe2 poll ppoll pread64 preadv preadv2 pselect6 pwrite64 "
    "pwritev pwritev2 read readahead readlink readlinkat readv rename renameat renameat2 rmdir "
    "select sendfile splice stat statfs statx symlink symlinkat sync_file_range tee umask unlink "
    "unlinkat vmsplice write writev "
    /* memory */
    "brk get_mempolicy madvise map_shadow_stack mbind membarrier memfd_create mincore mlock mlock2 "
    "mmap mprotect mremap mseal msync munlock munmap pkey_alloc pkey_free pkey_mprotect "
    "set_mempolicy "
    /* threads, signals and this process */
    "arch_prctl capget clone exit exit_group futex futex_requeue futex_wait futex_waitv futex_wake "
    "get_thread_area getcpu getegid geteuid getgid getgroups getpgid getpgrp getpid getppid "
    "getpriority getresgid getresuid getrlimit getrusage getsid gettid getuid kill pause prctl "
    "prlimit64 restart_syscall rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigreturn "
    "rt_sigsuspend rt_sigtimedwait sched_get_priority_max sched_get_priority_min "
    "sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval "
    "sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield set_robust_list "
    "set_tid_address setpriority sigaltstack tgkill times wait4 waitid "
    /* limited or forbidden by the filter of forbid_calls(), which is loaded later */
    "connect seccomp socket "
    /* time and the machine */
    "alarm clock_getres clock_gettime clock_nanosleep epoll_create epoll_create1 epoll_ctl "
    "epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 getitimer getrandom gettimeofday "
    "nanosleep setitimer sysinfo time timer_create timer_delete timer_getoverrun timer_gettime "
    "timer_settime timerfd_create timerfd_gettime timerfd_settime uname";

static const char internet[] =
    "accept accept4 bind getpeername getsockname getsockopt listen recvfrom recvmmsg recvmsg "
    "sendmmsg sendmsg sendto setsockopt shutdown";

#define REFUSE SCMP_ACT_ERRNO(EPERM)

/* Conditions. IS compares the low 32 bits of an argument, since the kernel ignores the rest of an
 * int. HAS compares the bits of `mask`, IS_NOT all 64 bits. */
#define IS(argument, value)                                                                        \
    {                                                                                              \
        argument, SCMP_CMP_MASKED_EQ, UINT32_MAX, value                                            \
    }
#define HAS(argument, mask, value)                                                                 \
    {                                                                                              \
        argument, SCMP_CMP_MASKED_EQ, mask, value                                                  \
    }
#define IS_NOT(argument, value)                                                                    \
    {                                                                                              \
        argument, SCMP_CMP_NE, value, 0                                                            \
    }

/* Calls that are forbidden under one or two conditions. */
static const struct {
    const char *calls;
    struct scmp_arg_cmp when[2];
    unsigned count;
} conditions[] = {
    {"clone", {HAS(0, CLONE_THREAD, 0)}, 1}, /* a new process, not a thread */
    {"prctl", {IS(0, PR_SET_PDEATHSIG)}, 1}, /* could let a child outlive its parent */
    {"prlimit64 sched_setaffinity sched_setattr sched_setparam sched_setscheduler",
     {IS_NOT(0, 0)},
     1},
    {"prlimit64", {IS_NOT(2, 0)}, 1}, /* setting limits */
    {"setpriority", {IS_NOT(0, PRIO_PROCESS)}, 1},
    {"setpriority", {IS_NOT(1, 0)}, 1},
    /* Before Linux 6.2, Landlock lets these calls truncate a file that must not be written. */
    {"open", {HAS(1, O_TRUNC | O_ACCMODE, O_TRUNC | O_RDONLY)}, 1},
    {"open", {HAS(1, O_TRUNC | O_ACCMODE, O_TRUNC | O_ACCMODE)}, 1},
    {"openat", {HAS(2, O_TRUNC | O_ACCMODE, O_TRUNC | O_RDONLY)}, 1},
    {"openat", {HAS(2, O_TRUNC | O_ACCMODE, O_TRUNC | O_ACCMODE)}, 1},
    /* Requests for signals about a file. */
    {"fcntl", {IS(1, F_SETOWN)}, 1},
    {"fcntl", {IS(1, F_SETOWN_EX)}, 1},
    {"fcntl", {IS(1, F_SETSIG)}, 1},
    {"fcntl", {IS(1, F_SETLEASE)}, 1},
    {"fcntl", {IS(1, F_NOTIFY)}, 1},
    {"fcntl", {IS(1, F_SETFL), HAS(2, O_ASYNC, O_ASYNC)}, 2},
};

/* Requests of ioctl(). A run without CUDA may use only the harmless ones; a run with CUDA may use
 * all except the harmful ones. */
static const unsigned long harmless[] = {FIOCLEX, FIONBIO, FIONCLEX, FIONREAD, TCGETS, TIOCGWINSZ};
static const unsigned long harmful[] = {FIOASYNC,  FIOSETOWN, FS_IOC_FSSETXATTR, FS_IOC_SETFLAGS,
                                        SIOCSPGRP, TCSETS,    TCSETSF,           TCSETSW,
                                        TIOCCONS,  TIOCLINUX, TIOCNOTTY,         TIOCSCTTY,
                                        TIOCSETD,  TIOCSPGRP, TIOCSTI,           TIOCSWINSZ};

/* Adds a rule for each call of a list, unless this processor lacks the call. Returns 0 or a
 * negative errno, like the functions below. */
static int add_rules(scmp_filter_ctx filter, uint32_t action, const char *calls, unsigned count,
                     const struct scmp_arg_cmp *when)
{
    char name[32];
    int length, ret = 0;
    for (; ret >= 0 && sscanf(calls, "%31s%n", name, &length) == 1; calls += length) {
        const int call = seccomp_syscall_resolve_name(name);
        if (call >= 0)
            ret = seccomp_rule_add_array(filter, action, call, count, when);
    }
    return ret;
}

static int add_rule(scmp_filter_ctx filter, uint32_t action, const char *calls,
                    struct scmp_arg_cmp when)
{
    return add_rules(filter, action, calls, 1, &when);
}

/* Limits the kinds of sockets. CUDA starts only if it can listen on a local SOCK_SEQPACKET socket.
 * CUDA also tries to connect to its Multi-Process Service, but works without it. */
static int limit_sockets(scmp_filter_ctx filter, int gpu, int network)
{
    const uint32_t families = (gpu || !network ? 1U << AF_UNIX : 0) |
                              (network ? 1U << AF_INET | 1U << AF_INET6 | 1U << AF_NETLINK : 0);
    int ret =
        add_rule(filter, REFUSE, "socket", (struct scmp_arg_cmp){0, SCMP_CMP_GT, AF_NETLINK, 0});
    for (unsigned i = 0; ret >= 0 && i <= AF_NETLINK; i++)
        if (!(families >> i & 1))
            ret = add_rule(filter, REFUSE, "socket", (struct scmp_arg_cmp)IS(0, i));
    for (unsigned i = 0; ret >= 0 && i <= SOCK_PACKET; i++) {
        const struct scmp_arg_cmp type[] = {IS(0, AF_UNIX), HAS(1, 0xf, i)};
        if (i != SOCK_SEQPACKET)
            ret = add_rules(filter, REFUSE, "socket", 2, type);
    }
    const struct scmp_arg_cmp other[] = {IS(0, AF_NETLINK),
                                         IS_NOT(2, 0)}; /* all but NETLINK_ROUTE */
    if (ret >= 0 && network)
        ret = add_rules(filter, REFUSE, "socket", 2, other);
    if (ret >= 0 && !network)
        ret = add_rule(filter, REFUSE, "sendto", (struct scmp_arg_cmp)IS_NOT(4, 0));
    return ret < 0 || network ? ret : add_rules(filter, SCMP_ACT_ERRNO(ENOENT), "connect", 0, NULL);
}

/* `otherwise`: the action for calls without a rule. Calls of another architecture get ENOSYS. */
static scmp_filter_ctx new_filter(uint32_t otherwise)
{
    scmp_filter_ctx filter = seccomp_init(otherwise);
    if (filter && (seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS)) < 0 ||
                   seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) < 0)) {
        seccomp_release(filter);
        filter = NULL;
    }
    return filter;
}

static int forbid_calls(const Options *o, int gpu)
{
    const int network = options_is_url(o);
    scmp_filter_ctx filter = new_filter(SCMP_ACT_ALLOW);
    int ret = filter ? 0 : -ENOMEM;
    if (ret >= 0)
        ret = add_rules(filter, REFUSE, never, 0, NULL);
    if (ret >= 0)
        ret = add_rules(filter, REFUSE, forbidden, 0, NULL);
    if (ret >= 0) /* a filter cannot see their flags; the C library falls back to older calls */
        ret = add_rules(filter, SCMP_ACT_ERRNO(ENOSYS), "clone3 openat2", 0, NULL);
    for (size_t i = 0; ret >= 0 && i < COUNT(conditions); i++)
        ret =
            add_rules(filter, REFUSE, conditions[i].calls, conditions[i].count, conditions[i].when);
    for (size_t i = 0; ret >= 0 && i < COUNT(harmful); i++)
        ret = add_rule(filter, REFUSE, "ioctl", (struct scmp_arg_cmp)IS(1, harmful[i]));
    if (ret >= 0)
        ret = limit_sockets(filter, gpu, network);
    /* Refuse signals to other processes. Signal 0 only checks if a process exists. */
    const struct scmp_arg_cmp other[] = {IS_NOT(0, (uint64_t)getpid()), IS_NOT(1, 0)};
    if (ret >= 0)
        ret = add_rules(filter, REFUSE, "kill", 2, other);
    if (ret >= 0)
        ret = add_rule(filter, REFUSE, "tgkill", other[0]);
    if (ret >= 0)
        ret = seccomp_load(filter);
    seccomp_release(filter);
    return ret;
}

/* Allows a run to make its outputs read-only, or to copy the permissions of replaced files. */
static int allow_modes(scmp_filter_ctx filter, const Options *o)
{
    const char *const paths[] = {o->output, o->stats, o->report};
    const mode_t mask = umask(0);
    struct stat old;
    int ret = add_rule(filter, SCMP_ACT_ALLOW, "fchmod", (struct scmp_arg_cmp)IS(1, 0444 & ~mask));
    (void)umask(mask);
    for (size_t i = 0; i < COUNT(paths); i++) {
        if (!paths[i] || stat(paths[i], &old) < 0)
            continue;
        const mode_t mode = old.st_mode & 0777, modes[] = {mode, mode & ~mask, mode & ~mask & 0555};
        for (size_t k = 0; ret >= 0 && k < COUNT(modes); k++)
            ret = add_rule(filter, SCMP_ACT_ALLOW, "fchmod", (struct scmp_arg_cmp)IS(1, modes[k]));
    }
    return ret;
}

/* Forbids all calls that are not listed. */
static int allow_calls(const Options *o)
{
    scmp_filter_ctx filter = new_filter(SCMP_ACT_ERRNO(ENOSYS));
    int ret = filter ? 0 : -ENOMEM;
    if (ret >= 0)
        ret = add_rules(filter, SCMP_ACT_ALLOW, allowed, 0, NULL);
    if (ret >= 0 && options_is_url(o))
        ret = add_rules(filter, SCMP_ACT_ALLOW, internet, 0, NULL);
    for (size_t i = 0; ret >= 0 && i < COUNT(harmless); i++)
        ret = add_rule(filter, SCMP_ACT_ALLOW, "ioctl", (struct scmp_arg_cmp)IS(1, harmless[i]));
    if (ret >= 0)
        ret = allow_modes(filter, o);
    if (ret >= 0)
        ret = seccomp_load(filter);
    seccomp_release(filter);
    return ret;
}

/* ---- the decision ---- */

static int is_limited; /* Landlock limits which files this process opens */

const char *sandbox_hint(const Options *o)
{
    return is_limited && o->encoder_options[0] ? "; if a --vopt names a file, use --sandbox off"
                                               : NULL;
}

const char *sandbox_lack(void)
{
    if (sandbox_landlock() < MIN_LANDLOCK)
        return "this kernel lacks Landlock 2, which Linux 5.19 and later have if "
               "/sys/kernel/security/lsm lists landlock";
    if (KNOWN_CALLS && !sandbox_can_filter())
        return "this kernel lacks seccomp, which filters system calls";
    return NULL;
}

/* True if a value of --vopt looks like the name of a file: "stats=/tmp/x.log", "qpfile=qp.txt". */
static int names_file(const char *value)
{
    const char *dot = strchr(value, '.');
    while (dot && (dot[1] < 'A' || dot == value))
        dot = strchr(dot + 1, '.');
    return dot || strchr(value, '/');
}

/* True if a run with these options has a sandbox. If not, *why is the reason. */
static bool suits_sandbox(const Options *o, const char **why)
{
    *why = NULL;
    if (o->sandbox == OPTIONS_OFF)
        *why = "--sandbox off";
    else if (o->camera || o->virtual_camera)
        *why = "cameras need devices and servers";
    if (o->sandbox != OPTIONS_AUTO || *why)
        return !*why;
    const AVCodec *encoder = o->vcodec && o->output ? setup_find_encoder(o) : NULL;
    for (int i = 0; o->encoder_options[i]; i++)
        if (names_file(o->encoder_options[i]))
            *why = "a --vopt may name a file";
    if (encoder && (encoder->capabilities & AV_CODEC_CAP_HARDWARE) && !strstr(o->vcodec, "nvenc"))
        *why = "this encoder needs a device";
    if (options_is_url(o) && network_is_local(o->input))
        *why = "names in .local need the socket of a service";
    /* Ignores the default folder of CUDA's service, since anybody may create it in /tmp. */
    if (uses_gpu(o) && getenv("CUDA_MPS_PIPE_DIRECTORY"))
        *why = "CUDA_MPS_PIPE_DIRECTORY names a service that needs sockets";
    return !*why;
}

int sandbox_say(const Options *o, MediaError *error)
{
    static int is_said; /* child processes inherit it, and do not repeat the message */
    const char *why;
    const int suits = suits_sandbox(o, &why), filters = sandbox_can_filter();
    const char *lack = suits ? sandbox_lack() : why;
    const int is_usual = o->sandbox == OPTIONS_OFF || o->camera || o->virtual_camera;
    if (lack && suits && o->sandbox == OPTIONS_ON)
        return media_fail(error, MEDIA_USAGE, "--sandbox on: %s; --sandbox auto runs without it",
                          lack);
    if (lack && !is_said)
        say(is_usual ? SAY_DETAILS : SAY_NORMAL, "%s: %s",
            suits && filters ? "sandbox: seccomp alone" : "no sandbox", lack);
    is_said |= lack != NULL;
    return suits;
}

/* Makes missing device files of the GPU with nvidia-modprobe. CUDA would start this program itself,
 * but the sandbox forbids starting programs. */
static void make_devices(void)
{
    static const char program[] = "/usr/bin/nvidia-modprobe";
    char *const argv[] = {(char *)program, (char *)"-c=0", (char *)"-u", NULL};
    const ProcessOptions options = {.argv = argv, .stream = STDERR_FILENO};
    Process process;
    if (access("/dev/nvidia-uvm", F_OK) < 0 && access(program, X_OK) == 0 &&
        process_start(&process, &options) == 0)
        (void)process_wait(&process, -1);
}

int sandbox_enter(const Options *o, SandboxKind kind, MediaError *error)
{
    const int suits = sandbox_say(o, error);
    if (suits <= 0)
        return suits;
    make_devices();
    tzset(); /* reads the file that TZ names */
    const int version = sandbox_landlock(), filters = sandbox_can_filter();
    const int gpu = uses_gpu(o); /* reads /dev, which is forbidden below */
    const int terminal = limit_descriptors(o);
    int reason = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? errno : 0;
    if (!reason && version >= MIN_LANDLOCK)
        reason = limit_files(o, kind, gpu);
    is_limited = !reason && version >= MIN_LANDLOCK;
    if (!reason && filters && !gpu) /* the calls of CUDA's driver cannot be listed */
        reason = -allow_calls(o);
    if (!reason && filters)
        reason = -forbid_calls(o, gpu);
    if (reason && o->sandbox == OPTIONS_ON)
        return media_fail(error, MEDIA_USAGE, "--sandbox on: the kernel refuses it: %s",
                          strerror(reason));
    if (reason)
        say(SAY_NORMAL, "the sandbox is incomplete: the kernel refused a part of it: %s",
            strerror(reason));
    else if (is_limited)
        say(SAY_DETAILS, "sandbox: Landlock %d%s", version, filters ? " and seccomp" : "");
    if (terminal)
        say(SAY_DETAILS, "the sandbox can still read the terminal: %s", strerror(terminal));
    return 0;
}

void sandbox_enter_window(const Options *o)
{
    if (o->sandbox == OPTIONS_OFF || !sandbox_can_filter())
        return;
    make_devices();
    scmp_filter_ctx filter = new_filter(SCMP_ACT_ALLOW);
    const int ret = filter ? add_rules(filter, REFUSE, never, 0, NULL) : -ENOMEM;
    if (ret < 0 || seccomp_load(filter) < 0)
        say(SAY_DETAILS, "the window's system calls are not limited");
    seccomp_release(filter);
}
