#include "app/sandbox.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "app/engine.h"
#include "app/terminal.h"
#include "media/output/output_file.h"
#include "media/process.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* ---- Landlock ---- */

/* As in linux/landlock.h; older versions of it lack some. */
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

#define LEAST_LANDLOCK 2 /* older ones cannot forbid and allow renames as needed */

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

/* A set of rules that is being made. */
typedef struct Rules {
    uint64_t handled; /* rights that are forbidden without a rule */
    int fd;
    int reason; /* errno of the first failure, or 0 */
} Rules;

int sandbox_landlock(void)
{
    const long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
    return version > 0 ? (int)version : 0;
}

/* Allows rights on a file or on all below a folder. A missing one needs no rule. */
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

static void allow_matches(Rules *r, const char *pattern, uint64_t rights)
{
    glob_t found;
    if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0)
        allow_all(r, (const char *const *)found.gl_pathv, found.gl_pathc, rights);
    globfree(&found);
}

/* Allows the folder of a file. */
static void allow_folder(Rules *r, const char *file, uint64_t rights)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(file, '/');
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash + 1 - file) : 1,
             slash ? file : ".");
    allow(r, folder, rights);
}

/* ---- the system ---- */

/* Libraries that were not found in the system's folders may load others from their own. */
static int allow_library(struct dl_phdr_info *library, size_t size, void *rules)
{
    Rules *r = rules;
    (void)size;
    if (strncmp(library->dlpi_name, "/usr/", 5) != 0 &&
        strncmp(library->dlpi_name, "/lib", 4) != 0 && strchr(library->dlpi_name, '/'))
        allow_folder(r, library->dlpi_name, READ);
    return 0;
}

/* Allows the loader, which starting this program needs. */
static int allow_loader(struct dl_phdr_info *library, size_t size, void *rules)
{
    (void)size;
    if (library->dlpi_addr == getauxval(AT_BASE))
        allow(rules, library->dlpi_name, EXECUTE | READ);
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

static int uses_gpu(const Options *o)
{
    int found = 0;
    for (size_t i = 0; i < COUNT(gpus) && o->backend != LUMEQ_BACKEND_CPU; i++) {
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
        const char *variable, *otherwise; /* a folder of the user; the second is below $HOME */
        const char *below;
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
    for (size_t i = 0; i < COUNT(gpus); i++)
        allow_matches(r, gpus[i], USE_DEVICE);
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
            (void)mkdir(path, 0700); /* CUDA's cache, which it makes at its first use */
        if (home || (given && *given))
            allow(r, path, homes[i].rights);
    }
    /* CUDA starts only if it can name its threads, by files there. */
    allow(r, "/proc/self/task", READ | WRITE_FILE | TRUNCATE);
    (void)dl_iterate_phdr(allow_library, r);
}

/* ---- the files of a run ---- */

/* Allows a folder of pictures, and pictures elsewhere that its links name. */
static void allow_pictures(Rules *r, const char *folder)
{
    char *path;
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    while (entries && (entry = readdir(entries))) {
        if (entry->d_type != DT_LNK || asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
            continue;
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

/* Allows the folder of a file to write, or the pipe or device itself. */
static void allow_output(Rules *r, const char *path, SandboxKind kind)
{
    char place[PATH_MAX];
    struct stat there;
    if (!path || strcmp(path, "-") == 0 || output_file_place(path, place) < 0)
        return;
    if (stat(place, &there) == 0 && !S_ISDIR(there.st_mode))
        allow(r, place, WRITE_FILE | READ_FILE | IOCTL_DEV);
    else
        allow(r, place, kind == SANDBOX_RUN ? WRITE : WRITE | MAKE_FOLDER | REMOVE_FOLDER);
}

/* Returns 0 or an errno. */
static int limit_files(const Options *o, SandboxKind kind)
{
    const int version = sandbox_landlock();
    /* The steps of a job inherit its limits, and their threads are not there yet. */
    const uint64_t unlimited = kind == SANDBOX_JOB && uses_gpu(o) ? WRITE_FILE | TRUNCATE : 0;
    const RulesetAttributes all = {
        .files =
            (ALL_OF_1 | REFER | (version >= 3 ? TRUNCATE : 0) | (version >= 5 ? IOCTL_DEV : 0)) &
            ~unlimited,
        .network = version >= 4 && !options_is_url(o) ? ALL_TCP : 0,
        .scopes = version >= 6 ? ALL_SCOPES : 0,
    };
    Rules r = {.handled = all.files};
    r.fd = (int)syscall(CREATE_RULESET, &all, sizeof(all), 0);
    if (r.fd < 0)
        return errno;
    allow_system(&r, uses_gpu(o));
    allow_input(&r, o);
    allow_output(&r, o->output, kind);
    allow_output(&r, o->stats, kind);
    allow_output(&r, o->report, kind);
    if (kind == SANDBOX_JOB) {
        allow(&r, "/proc/self/exe", EXECUTE | READ);
        (void)dl_iterate_phdr(allow_loader, &r);
    }
    if (!r.reason && syscall(RESTRICT_SELF, r.fd, 0) < 0)
        r.reason = errno;
    close(r.fd);
    return r.reason;
}

/* ---- seccomp ---- */

#if defined(__x86_64__) && !defined(__ILP32__)
#define PROCESSOR AUDIT_ARCH_X86_64
#define FIRST_OF_X32 0x40000000
#elif defined(__aarch64__) && !defined(__ILP32__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define PROCESSOR AUDIT_ARCH_AARCH64
#else
#define PROCESSOR 0
#endif

int sandbox_can_filter(void)
{
    const uint32_t action = SECCOMP_RET_ERRNO;
    return PROCESSOR && syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

#if PROCESSOR
#define FORBID (SECCOMP_RET_ERRNO | EPERM)

typedef struct Filter {
    struct sock_filter code[256];
    unsigned short length;
} Filter;

static void add(Filter *f, int code, uint32_t value, int if_true, int if_false)
{
    f->code[f->length++] =
        (struct sock_filter){(uint16_t)code, (uint8_t)if_true, (uint8_t)if_false, value};
}

static void load(Filter *f, size_t offset)
{
    add(f, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* Ends with `action` if a comparison with the loaded value is true. */
static void end_if(Filter *f, int comparison, uint32_t value, uint32_t action)
{
    add(f, BPF_JMP | comparison | BPF_K, value, 0, 1);
    add(f, BPF_RET | BPF_K, action, 0, 0);
}

static void end_unless(Filter *f, uint32_t value, uint32_t action)
{
    add(f, BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
    add(f, BPF_RET | BPF_K, action, 0, 0);
}

/* Loads the low half of an argument, which is all that the kernel uses of an int. */
static void load_argument(Filter *f, int number)
{
    load(f, offsetof(struct seccomp_data, args) + sizeof(uint64_t) * (size_t)number);
}

/* Begins the instructions for one system call, after which the next ones are compared. */
static unsigned short begin_call(Filter *f, long call)
{
    add(f, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 0);
    return f->length;
}

static void end_call(Filter *f, unsigned short first, uint32_t otherwise)
{
    add(f, BPF_RET | BPF_K, otherwise, 0, 0);
    f->code[first - 1].jf = (uint8_t)(f->length - first);
}

/* Programs, other processes, sockets, other ways to do the same, and parts of the kernel that no
 * run needs. */
static const int forbidden[] = {
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    SYS_tkill,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    SYS_pidfd_send_signal,
    SYS_pidfd_open,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_move_mount,
    SYS_open_tree,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_open_by_handle_at,
    SYS_unshare,
    SYS_setns,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_bpf,
    SYS_userfaultfd,
    SYS_perf_event_open,
    SYS_fanotify_init,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_quotactl,
    SYS_acct,
    SYS_syslog,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_personality,
    SYS_vhangup,
    SYS_mknodat,
#ifdef SYS_mknod
    SYS_mknod,
#endif
#ifdef SYS_pidfd_getfd
    SYS_pidfd_getfd,
#endif
#ifdef SYS_process_madvise
    SYS_process_madvise,
#endif
#ifdef SYS_mount_setattr
    SYS_mount_setattr,
#endif
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
#ifdef SYS_iopl
    SYS_iopl,
    SYS_ioperm,
    SYS_modify_ldt,
#endif
};
#define NEW_SPACES                                                                                 \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |  \
     CLONE_NEWNET)

/* CUDA starts only if it can listen at a socket of local packets, by which processes share memory.
 * It looks for its Multi-Process Service with another one, and does without. */
static void limit_sockets(Filter *f, int network)
{
    const unsigned short call = begin_call(f, SYS_socket);
    load_argument(f, 0);
    if (network) {
        end_if(f, BPF_JEQ, AF_INET, SECCOMP_RET_ALLOW);
        end_if(f, BPF_JEQ, AF_INET6, SECCOMP_RET_ALLOW);
        end_if(f, BPF_JEQ, AF_NETLINK, SECCOMP_RET_ALLOW); /* asked for addresses */
    }
    end_unless(f, AF_UNIX, FORBID);
    load_argument(f, 1);
    add(f, BPF_ALU | BPF_AND | BPF_K, ~(uint32_t)(SOCK_CLOEXEC | SOCK_NONBLOCK), 0, 0);
    end_unless(f, SOCK_SEQPACKET, FORBID);
    end_call(f, call, SECCOMP_RET_ALLOW);
    if (!network)
        end_if(f, BPF_JEQ, SYS_connect, SECCOMP_RET_ERRNO | ENOENT);
}

/* Signals to this process, and questions if another one exists. */
static void limit_signals(Filter *f)
{
    static const int calls[] = {SYS_kill, SYS_tgkill};
    for (int i = 0; i < 2; i++) {
        const unsigned short call = begin_call(f, calls[i]);
        load_argument(f, 0);
        end_if(f, BPF_JEQ, (uint32_t)getpid(), SECCOMP_RET_ALLOW);
        load_argument(f, i + 1);
        end_if(f, BPF_JEQ, 0, SECCOMP_RET_ALLOW);
        end_call(f, call, FORBID);
    }
}

static void make_filter(Filter *f, SandboxKind kind, int network)
{
    load(f, offsetof(struct seccomp_data, arch));
    end_unless(f, PROCESSOR, FORBID);
    load(f, offsetof(struct seccomp_data, nr));
#ifdef FIRST_OF_X32
    end_if(f, BPF_JGE, FIRST_OF_X32, FORBID);
#endif
    for (size_t i = 0; i < COUNT(forbidden); i++)
        end_if(f, BPF_JEQ, (uint32_t)forbidden[i], FORBID);
    /* Its flags are in memory; the C library then uses clone(). */
    end_if(f, BPF_JEQ, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
    unsigned short call = begin_call(f, SYS_clone);
    load_argument(f, 0);
    end_if(f, BPF_JSET, NEW_SPACES, FORBID);
    end_call(f, call, SECCOMP_RET_ALLOW);
    call = begin_call(f, SYS_ioctl); /* typing into the terminal */
    load_argument(f, 1);
    end_if(f, BPF_JEQ, TIOCSTI, FORBID);
    end_if(f, BPF_JEQ, TIOCLINUX, FORBID);
    end_call(f, call, SECCOMP_RET_ALLOW);
    limit_sockets(f, network);
    if (kind != SANDBOX_JOB) {
        end_if(f, BPF_JEQ, SYS_execve, FORBID);
        end_if(f, BPF_JEQ, SYS_execveat, FORBID);
        limit_signals(f);
    }
    add(f, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

/* Returns 0 or an errno. */
static int limit_calls(SandboxKind kind, int network)
{
    Filter f = {.length = 0};
    make_filter(&f, kind, network);
    const struct sock_fprog program = {.len = f.length, .filter = f.code};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0 ? errno : 0;
}
#else
static int limit_calls(SandboxKind kind, int network)
{
    (void)kind;
    (void)network;
    return ENOSYS;
}
#endif

/* ---- the decision ---- */

const char *sandbox_lack(void)
{
    if (sandbox_landlock() < LEAST_LANDLOCK)
        return "this kernel lacks Landlock 2, which Linux 5.19 and later have if "
               "/sys/kernel/security/lsm lists landlock";
    if (PROCESSOR && !sandbox_can_filter())
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

/* CUDA's Multi-Process Service is reached by a socket. Files of others are not believed. */
static int has_mps(void)
{
    char path[PATH_MAX];
    struct stat there;
    const char *folder = getenv("CUDA_MPS_PIPE_DIRECTORY");
    snprintf(path, sizeof(path), "%s/control", folder ? folder : "/tmp/nvidia-mps");
    return stat(path, &there) == 0 && (there.st_uid == 0 || there.st_uid == geteuid());
}

/* The service that knows names such as camera.local is reached by a socket. */
static int has_local_name(const char *url)
{
    static const char ending[] = ".local";
    const char *at = strcasestr(url, ending);
    while (at && !strchr(":/?#", at[strlen(ending)])) /* or the end */
        at = strcasestr(at + 1, ending);
    return at != NULL;
}

int sandbox_suits(const Options *o, const char **why)
{
    *why = NULL;
    if (o->sandbox == OPTIONS_OFF)
        *why = "--sandbox off";
    else if (o->camera || o->virtual_camera)
        *why = "cameras need devices and servers";
    if (o->sandbox != OPTIONS_AUTO || *why)
        return !*why;
    const AVCodec *encoder = o->vcodec && o->output ? engine_find_encoder(o) : NULL;
    for (int i = 0; o->encoder_options[i]; i++)
        if (names_file(o->encoder_options[i]))
            *why = "a --vopt may name a file";
    if (encoder && (encoder->capabilities & AV_CODEC_CAP_HARDWARE) && !strstr(o->vcodec, "nvenc"))
        *why = "this encoder needs a device";
    if (options_is_url(o) && has_local_name(o->input))
        *why = "names in .local need the socket of a service";
    if (has_mps())
        *why = "CUDA's Multi-Process Service needs sockets";
    return !*why;
}

/* A program outside has to make the GPU's devices before the first use of CUDA. */
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
    const char *why;
    const int suits = sandbox_suits(o, &why), version = sandbox_landlock();
    if (suits && o->sandbox == OPTIONS_ON && sandbox_lack())
        return media_fail(error, MEDIA_USAGE, "--sandbox on: %s; --sandbox auto runs without it",
                          sandbox_lack());
    if (!suits) {
        say(SAY_DETAILS, "no sandbox: %s", why);
        return 0;
    }
    make_devices();
    tzset(); /* reads the file that TZ names */
    int reason = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? errno : 0;
    const int limits = !reason && version >= LEAST_LANDLOCK, filters = sandbox_can_filter();
    if (limits)
        reason = limit_files(o, kind);
    if (!reason && filters)
        reason = limit_calls(kind, options_is_url(o));
    if (reason && o->sandbox == OPTIONS_ON)
        return media_fail(error, MEDIA_USAGE, "--sandbox on: the kernel refuses it: %s",
                          strerror(reason));
    if (reason)
        say(SAY_DETAILS, "the sandbox is incomplete: the kernel refuses a part: %s",
            strerror(reason));
    else if (limits)
        say(SAY_DETAILS, "sandbox: Landlock %d%s", version, filters ? " and seccomp" : "");
    else
        say(SAY_DETAILS, "%s: %s", filters ? "sandbox: seccomp alone" : "no sandbox",
            sandbox_lack());
    return 0;
}
