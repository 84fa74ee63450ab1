/*
 * Preloaded into a program, this simulates a machine with an NVIDIA GPU, outside of a container.
 * The driver's library is media/fake_nvidia.c, which is preloaded as well. The environment variable
 * FAKE_DRIVER holds words, separated by blanks:
 *   node       the GPU's device file exists
 *   none       the machine has no GPU, and no device file
 *   version=V  version of the kernel module; without this word there is no module
 *   denied     like node, but without permission to open the device file
 *   no-memory  the equalizer's memory cannot be allocated
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Returns the text after this word in FAKE_DRIVER, or NULL. */
static const char *word(const char *name)
{
    const char *words = getenv("FAKE_DRIVER"), *at = words ? strstr(words, name) : NULL;
    return at ? at + strlen(name) : NULL;
}

static int is_node(const char *path)
{
    return strncmp(path, "/dev/nvidia", 11) == 0;
}

static int marks_container(const char *path)
{
    return !strcmp(path, "/.dockerenv") || !strcmp(path, "/run/.containerenv") ||
           !strcmp(path, "/run/systemd/container");
}

int access(const char *path, int mode)
{
    if (is_node(path) && (word("node") || word("denied")))
        return 0;
    if (!marks_container(path) && !(is_node(path) && word("none")))
        return REAL(access)(path, mode);
    errno = ENOENT;
    return -1;
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, int) : 0;
    va_end(args);
    if (!is_node(path) || !(word("denied") || word("none")))
        return REAL(open)(path, flags, mode);
    errno = word("denied") ? EACCES : ENOENT;
    return -1;
}

FILE *fopen(const char *path, const char *mode)
{
    if (strcmp(path, "/sys/module/nvidia/version") != 0)
        return REAL(fopen)(path, mode);
    const char *version = word("version=");
    const size_t n = version ? strcspn(version, " ") : 0;
    return n ? fmemopen((char *)version, n, "r") : NULL;
}

DIR *opendir(const char *path)
{
    if (!word("none") || strcmp(path, "/sys/bus/pci/devices") != 0)
        return REAL(opendir)(path);
    errno = ENOENT;
    return NULL;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return word("no-memory") ? NULL : REAL(aligned_alloc)(alignment, size);
}
