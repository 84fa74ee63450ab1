/*
 * Preloaded into a program, this library makes a single call fail, and prints "fault: NAME N" on
 * standard error. The environment:
 *   FAULT_CALL=NAME:N  the Nth call of this function fails, or with N+ also all later ones. NAME is
 *                      one of `names`; "malloc" means every function that allocates
 *   FAULT_IN=FOLDER    counts calls for files with relative paths or in this folder. If it is not
 *                      set, no call for a file counts
 *   FAULT_COUNTS=1     prints each function's number of calls at the end; needs FAULT_CALL
 * Allocations and threads count only if the program or FFmpeg makes them.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))real(#name))
#define MOST_RANGES 64
#define CALLER __builtin_return_address(0)

typedef enum Call { MALLOC, THREAD, OPEN, WRITE, FSYNC, RENAME, CLOSE, UNLINK, MKDIR, CALLS } Call;

static const char *const names[CALLS] = {
    [MALLOC] = "malloc", [THREAD] = "pthread_create", [OPEN] = "open",
    [WRITE] = "write",   [FSYNC] = "fsync",           [RENAME] = "rename",
    [CLOSE] = "close",   [UNLINK] = "unlink",         [MKDIR] = "mkdir",
};

static atomic_long calls[CALLS];

static void *real(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (!function)
        abort();
    return function;
}

static int fail(int reason)
{
    errno = reason;
    return -1;
}

/* Resets the counts in a forked process. */
static void begin(void)
{
    static atomic_int process;
    const int own = getpid();
    if (atomic_exchange(&process, own) != own)
        for (int i = 0; i < CALLS; i++)
            atomic_store(&calls[i], 0);
}

/* Prints a line to standard error, which stays open in the sandbox. */
static void report(const char *name, long number)
{
    char text[64];
    const int length = snprintf(text, sizeof(text), "fault: %s %ld\n", name, number);
    (void)syscall(SYS_write, STDERR_FILENO, text, length);
}

/* Counts a call. True if the call must fail. */
static int fails(Call call)
{
    const char *fault = getenv("FAULT_CALL");
    const size_t length = strlen(names[call]);
    char *end;
    if (!fault)
        return 0;
    begin();
    const long number = atomic_fetch_add(&calls[call], 1) + 1;
    if (strncmp(fault, names[call], length) != 0 || fault[length] != ':')
        return 0;
    const long wanted = strtol(fault + length + 1, &end, 10);
    if (number != wanted && !(number > wanted && *end == '+'))
        return 0;
    report(names[call], number);
    return 1;
}

__attribute__((destructor)) static void report_counts(void)
{
    for (int i = 0; i < CALLS && getenv("FAULT_COUNTS"); i++)
        report(names[i], calls[i]);
}

/* ---- files ---- */

static int path_fails(Call call, const char *path)
{
    const char *folder = getenv("FAULT_IN");
    return folder && (path[0] != '/' || strncmp(path, folder, strlen(folder)) == 0) && fails(call);
}

static int file_fails(Call call, int fd)
{
    char link[64], path[PATH_MAX];
    const int reason = errno;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    const ssize_t n = getenv("FAULT_IN") ? readlink(link, path, sizeof(path) - 1) : 0;
    path[n > 0 ? n : 0] = '\0';
    errno = reason;
    return path[0] == '/' && path_fails(call, path);
}

#define OPENS(name)                                                                                \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;              \
        va_end(more);                                                                              \
        return path_fails(OPEN, path) ? fail(EMFILE) : REAL(name)(path, flags, mode);              \
    }

OPENS(open)
OPENS(open64)

/* Fortified programs call this for an open64() without a mode. */
int __open64_2(const char *path, int flags);

int __open64_2(const char *path, int flags)
{
    return path_fails(OPEN, path) ? fail(EMFILE) : REAL(__open64_2)(path, flags);
}

FILE *fopen64(const char *path, const char *mode)
{
    return path_fails(OPEN, path) ? (fail(EMFILE), NULL) : REAL(fopen64)(path, mode);
}

ssize_t write(int fd, const void *data, size_t size)
{
    return file_fails(WRITE, fd) ? fail(ENOSPC) : REAL(write)(fd, data, size);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t position)
{
    return file_fails(WRITE, fd) ? fail(ENOSPC) : REAL(pwrite64)(fd, data, size, position);
}

int fsync(int fd)
{
    return file_fails(FSYNC, fd) ? fail(EIO) : REAL(fsync)(fd);
}

int close(int fd)
{
    const int failing = file_fails(CLOSE, fd), ret = REAL(close)(fd);
    return failing ? fail(EIO) : ret;
}

int rename(const char *from, const char *to)
{
    return path_fails(RENAME, from) ? fail(EIO) : REAL(rename)(from, to);
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    return path_fails(RENAME, from) ? fail(EIO) : REAL(renameat2)(from_fd, from, to_fd, to, flags);
}

int link(const char *from, const char *to)
{
    return path_fails(RENAME, from) ? fail(EIO) : REAL(link)(from, to);
}

int unlink(const char *path)
{
    return path_fails(UNLINK, path) ? fail(EIO) : REAL(unlink)(path);
}

int unlinkat(int folder, const char *path, int flags)
{
    return path_fails(UNLINK, path) ? fail(EIO) : REAL(unlinkat)(folder, path, flags);
}

int mkdir(const char *path, mode_t mode)
{
    return path_fails(MKDIR, path) ? fail(ENOSPC) : REAL(mkdir)(path, mode);
}

/* ---- threads and memory ---- */

/* Code addresses of the program and FFmpeg. */
static struct {
    uintptr_t begin, end;
} ranges[MOST_RANGES];
static atomic_int range_count = -1;

static int note_ranges(struct dl_phdr_info *object, size_t size, void *count)
{
    int *n = count;
    (void)size;
    const char *name = object->dlpi_name;
    if (*name && !strstr(name, "lumeq") && !strstr(name, "/libav") && !strstr(name, "/libsw"))
        return 0;
    for (int i = 0; i < object->dlpi_phnum && *n < MOST_RANGES; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
            ranges[*n].begin = object->dlpi_addr + part->p_vaddr;
            ranges[(*n)++].end = object->dlpi_addr + part->p_vaddr + part->p_memsz;
        }
    }
    return 0;
}

static int caller_fails(Call call, const void *caller)
{
    if (!getenv("FAULT_CALL"))
        return 0;
    if (atomic_load(&range_count) < 0) {
        int n = 0;
        dl_iterate_phdr(note_ranges, &n);
        atomic_store(&range_count, n);
    }
    for (int i = 0; i < range_count; i++)
        if ((uintptr_t)caller >= ranges[i].begin && (uintptr_t)caller < ranges[i].end)
            return fails(call);
    return 0;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    return caller_fails(THREAD, CALLER) ? EAGAIN
                                        : REAL(pthread_create)(thread, attributes, run, argument);
}

void *malloc(size_t size)
{
    static __typeof__(&malloc) function;
    function = function ? function : REAL(malloc);
    return caller_fails(MALLOC, CALLER) ? (fail(ENOMEM), NULL) : function(size);
}

void *calloc(size_t count, size_t size)
{
    static __typeof__(&calloc) function;
    function = function ? function : REAL(calloc);
    return caller_fails(MALLOC, CALLER) ? (fail(ENOMEM), NULL) : function(count, size);
}

void *realloc(void *memory, size_t size)
{
    static __typeof__(&realloc) function;
    function = function ? function : REAL(realloc);
    return size && caller_fails(MALLOC, CALLER) ? (fail(ENOMEM), NULL) : function(memory, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    static __typeof__(&posix_memalign) function;
    function = function ? function : REAL(posix_memalign);
    return caller_fails(MALLOC, CALLER) ? (fail(ENOMEM), ENOMEM)
                                        : function(memory, alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    static __typeof__(&aligned_alloc) function;
    function = function ? function : REAL(aligned_alloc);
    return caller_fails(MALLOC, CALLER) ? (fail(ENOMEM), NULL) : function(alignment, size);
}

char *strdup(const char *text)
{
    static __typeof__(&strdup) function;
    function = function ? function : REAL(strdup);
    return caller_fails(MALLOC, CALLER) ? (fail(ENOMEM), NULL) : function(text);
}
