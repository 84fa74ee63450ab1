/*
 * Preloaded into a program, this library makes calls fail or hang. The environment:
 *   FAULT_READ=NAME:OFFSET  reads of files of this name fail from this offset on
 *   FAULT_ALLOC=BYTES       posix_memalign() and realloc() of at least this size fail
 *   FAULT_HANG=NAME:N       calls of the function NAME hang after the first N calls; NAME must call
 *                           hang_in() below
 *   FAULT_HUNG=FILE         creates this file before a call hangs
 *   FAULT_SLOW=MS           flushing an encoder takes this long per packet
 *   FAULT_THREAD=N          the Nth start of a thread fails; with N+ also all later ones
 *   FAULT_THREAD_OF=NAME    counts only starts by a library or program with NAME in its path
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static size_t memory_limit(void)
{
    const char *limit = getenv("FAULT_ALLOC");
    return limit ? (size_t)strtoull(limit, NULL, 10) : (size_t)-1;
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (size < memory_limit())
        return REAL(posix_memalign)(memory, alignment, size);
    errno = ENOMEM;
    return ENOMEM;
}

void *realloc(void *memory, size_t size)
{
    if (size < memory_limit())
        return REAL(realloc)(memory, size);
    errno = ENOMEM;
    return NULL;
}

static int is_counted(void *caller)
{
    const char *name = getenv("FAULT_THREAD_OF");
    Dl_info object;
    return !name || (dladdr(caller, &object) && strstr(object.dli_fname, name));
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    static atomic_int count;
    static const char text[] = "fault: thread not started\n";
    const char *fault = getenv("FAULT_THREAD");
    char *end = NULL;
    const long n = fault ? strtol(fault, &end, 10) : 0;
    const int counts = fault && is_counted(__builtin_return_address(0));
    const int number = atomic_fetch_add(&count, counts) + 1;
    if (counts && (number == n || (number > n && *end == '+'))) {
        (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
        errno = EAGAIN;
        return EAGAIN;
    }
    return REAL(pthread_create)(thread, attributes, run, argument);
}

static int is_named(int fd, const char *name, size_t length)
{
    char link[64], path[4096];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, sizeof(path));
    return n > (ssize_t)length && memcmp(path + n - length, name, length) == 0 &&
           path[n - (ssize_t)length - 1] == '/';
}

ssize_t read(int fd, void *buffer, size_t size)
{
    const char *fault = getenv("FAULT_READ"), *colon = fault ? strrchr(fault, ':') : NULL;
    if (colon && is_named(fd, fault, (size_t)(colon - fault))) {
        const off_t left = (off_t)strtoll(colon + 1, NULL, 10) - lseek(fd, 0, SEEK_CUR);
        if (left <= 0) {
            errno = EIO;
            return -1;
        }
        if ((off_t)size > left)
            size = (size_t)left;
    }
    return REAL(read)(fd, buffer, size);
}

/* ---- functions of FFmpeg and SDL, declared with void * to need no headers ---- */

static void hang_in(const char *name)
{
    static atomic_int calls;
    const char *fault = getenv("FAULT_HANG"), *hung = getenv("FAULT_HUNG");
    const size_t length = strlen(name);
    if (!fault || strncmp(fault, name, length) != 0 || fault[length] != ':' ||
        atomic_fetch_add(&calls, 1) < atoi(fault + length + 1))
        return;
    if (hung)
        (void)close(open(hung, O_WRONLY | O_CREAT, 0600));
    for (;;)
        (void)pause();
}

int avcodec_receive_frame(void *codec, void *frame);
int avcodec_send_frame(void *codec, const void *frame);
int avcodec_receive_packet(void *codec, void *packet);
void SDL_GL_SwapWindow(void *window);

int avcodec_receive_frame(void *codec, void *frame)
{
    hang_in("avcodec_receive_frame");
    return REAL(avcodec_receive_frame)(codec, frame);
}

static atomic_int draining;

int avcodec_send_frame(void *codec, const void *frame)
{
    if (!frame)
        atomic_store(&draining, 1);
    return REAL(avcodec_send_frame)(codec, frame);
}

int avcodec_receive_packet(void *codec, void *packet)
{
    const char *slow = getenv("FAULT_SLOW");
    hang_in("avcodec_receive_packet");
    if (slow && atomic_load(&draining))
        (void)usleep((useconds_t)atoi(slow) * 1000);
    return REAL(avcodec_receive_packet)(codec, packet);
}

void SDL_GL_SwapWindow(void *window)
{
    hang_in("SDL_GL_SwapWindow");
    REAL(SDL_GL_SwapWindow)(window);
}
