/*
 * A fake NVIDIA driver: preloaded into a program, which then finds it as libcuda.so.1. Built under
 * another name, it imitates a machine with a GPU but without a driver. As an OpenGL driver
 * (SDL_OPENGL_LIBRARY) it can hang or crash while it is loaded.
 *
 * FAKE_DRIVER in the environment has words, separated by blanks:
 *   init=N     cuInit() answers this error
 *   cuda=N     the CUDA version of the driver [13000]
 *   count=N    number of GPUs [1]
 *   node       the GPU's device file exists
 *   none       the machine has no GPU, and no device file
 *   version=V  version of the kernel module; without V, or without the word, there is no module
 *   denied     like node, but without permission to open the device file
 *   hang       cuInit() never returns
 *   crash      cuInit() crashes
 *   no-memory  the equalizer's memory cannot be allocated
 * FAKE_OPENGL is hang or crash.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* The rest of FAKE_DRIVER after the first occurrence of the word; NULL: it has no such word. */
static const char *word(const char *name)
{
    const char *words = getenv("FAKE_DRIVER");
    const char *at = words ? strstr(words, name) : NULL;
    return at ? at + strlen(name) : NULL;
}

static int number(const char *name, int usual)
{
    const char *value = word(name);
    return value ? atoi(value) : usual;
}

static void fail(const char *how)
{
    while (how && strncmp(how, "hang", 4) == 0)
        pause();
    if (how && strncmp(how, "crash", 5) == 0)
        (void)kill(getpid(), SIGKILL); /* sanitizers catch SIGSEGV and abort(), but not this */
}

__attribute__((constructor)) static void load(void)
{
    fail(getenv("FAKE_OPENGL"));
}

/* ---- the system ---- */

/* FAKE_DRIVER describes the kernel's module; a fake machine is no container. */
static const char *const hidden[] = {"/.dockerenv", "/run/.containerenv", "/run/systemd/container"};

static int is_node(const char *path)
{
    return strncmp(path, "/dev/nvidia", 11) == 0;
}

int access(const char *path, int mode)
{
    if (is_node(path) && (word("node") || word("denied")))
        return 0;
    int is_hidden = is_node(path) && word("none");
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
        is_hidden |= strcmp(path, hidden[i]) == 0;
    if (is_hidden) {
        errno = ENOENT;
        return -1;
    }
    return REAL(access)(path, mode);
}

static int refuses(const char *path)
{
    if (!is_node(path) || !(word("denied") || word("none")))
        return 0;
    errno = word("denied") ? EACCES : ENOENT;
    return 1;
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        const int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, int) : 0;                    \
        va_end(args);                                                                              \
        return refuses(path) ? -1 : REAL(name)(path, flags, mode);                                 \
    }

OPEN(open)
OPEN(open64)

#define FOPEN(name)                                                                                \
    FILE *name(const char *path, const char *mode)                                                 \
    {                                                                                              \
        if (strcmp(path, "/sys/module/nvidia/version") != 0)                                       \
            return REAL(name)(path, mode);                                                         \
        const char *version = word("version=");                                                    \
        const size_t n = version ? strcspn(version, " ") : 0;                                      \
        return n ? fmemopen((char *)version, n, "r") : NULL;                                       \
    }

FOPEN(fopen)
FOPEN(fopen64)

DIR *opendir(const char *path)
{
    const int is_hidden = word("none") && strcmp(path, "/sys/bus/pci/devices") == 0;
    errno = is_hidden ? ENOENT : errno;
    return is_hidden ? NULL : REAL(opendir)(path);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return word("no-memory") ? NULL : REAL(aligned_alloc)(alignment, size);
}

/* ---- CUDA's driver API ---- */

int cuInit(unsigned flags)
{
    (void)flags;
    fail(word("hang") ? "hang" : word("crash") ? "crash" : NULL);
    return number("init=", 0);
}

int cuDriverGetVersion(int *version)
{
    *version = number("cuda=", 13000);
    return 0;
}

int cuDeviceGetCount(int *count)
{
    *count = number("count=", 1);
    return 0;
}

int cuDeviceGet(int *device, int index)
{
    *device = index;
    return 0;
}

int cuDeviceGetName(char *name, int size, int device)
{
    (void)snprintf(name, (size_t)size, "Made-up GPU %d", device);
    return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    *bytes = (size_t)8 << 30;
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    *value = attribute == 75 ? 9 : attribute == 76 ? 0 : 132;
    return 0;
}

int cuGetErrorString(int result, const char **text)
{
    (void)result;
    *text = "made-up error";
    return 0;
}
