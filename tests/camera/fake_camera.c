/*
 * A fake V4L2 camera: a program that preloads this library sees a camera at a path where no file
 * exists. The library answers system calls like a driver. In real time, it delivers frames of a
 * moving pattern, raw (YUYV, NV12, YU12, gray) or as JPEGs.
 *
 *     LD_PRELOAD=libfake_camera.so lumeq --camera
 *
 * With a sanitizer, set ASAN_OPTIONS=verify_asan_link_order=0.
 *
 * Environment, with defaults in brackets:
 *
 *   FAKE_CAMERA          the camera's path, which begins with /dev/video [/dev/video0]
 *   FAKE_CAMERA_NAME     its name [Fake Webcam]
 *   FAKE_CAMERA_MODES    formats it offers, in order: code, size, rates. If the size is a range
 *                        with steps, the rates are a range. A format may have no rates. Codes
 *                        have four characters, such as "Y12 " or "Y16-" (big endian). Example:
 *                        "MJPG 1280x720@30,15;YUYV 16x16-1920x1080/16x8@1-60;YUYV 8x8"
 *   FAKE_CAMERA_STATE    its state, in the words below []
 *   FAKE_CAMERA_CONTROL  a file with such words, which replaces FAKE_CAMERA_STATE. The file is
 *                        read at every call, so change it by rename().
 *   FAKE_OUTPUT          the path of a virtual camera, which begins with /dev/video. It takes raw
 *                        pictures by write(), like v4l2loopback [no virtual camera]
 *   FAKE_OUTPUT_RECORD   a file that gets every picture written to the virtual camera. FILE.log
 *                        gets a line for each format, rate and picture written, and for each
 *                        frame that the camera delivers.
 *
 * The words, separated by blanks:
 *   gone          it is unplugged: open() fails, and open descriptors stay dead
 *   at=PATH       its path, which begins with /dev/video
 *   name=NAME     its name
 *   bus=NAME      the bus to which it is connected
 *   denied        open() fails, because the user has no permission
 *   busy          another program uses it
 *   full          starting the stream fails, because the bus has no room for it
 *   other         the device is not a camera
 *   nosize        it reports 0 bytes per frame
 *   over          it reports frames larger than their buffers
 *   few           16-bit gray uses few codes, from 7600 on, as in a thermal camera
 *   low           16-bit gray uses the lower 14 bits
 *   wide          gray of more than 8 bits also has bits set above its depth
 *   sensor        its driver reports a sensor, which must be set up before use
 *   unlinked      starting the stream fails, as for a sensor that is not set up
 *   stall         no frames come
 *   eio           taking a frame fails
 *   rate=N        it uses this rate, whatever rate is requested
 *   size=WxH      it uses this size, whatever size is requested
 *   norate        it does not report its rate
 *   refuse=CODE   it refuses this format, although it offers the format
 *   malformed     its JPEGs are garbage
 *   cut           its JPEGs end in the middle
 *   flagged       the driver marks all frames as damaged; flagged=N: every Nth frame
 *   short         all raw frames lack their last row; short=N: every Nth frame
 *   pad=N         rows of raw frames have N bytes of padding
 *   colours=C/E/Q/X  colour space, encoding, quantization and transfer function that the driver
 *                 reports, as V4L2's numbers
 *   lost=N        every Nth frame is lost, but the driver counts the frame
 *   uncounted     the driver does not number its frames
 *   noclock       frames have no timestamps
 *
 * Words about the virtual camera:
 *   out.gone, out.denied, out.busy   as above
 *   out.taken     another program writes to it; it reports that it is a camera
 *   out.captures  it reports that it is a camera
 *   out.both      the same device is also the camera
 *   out.other     its driver is not v4l2loopback
 *   out.takes=CODE,CODE  it takes only these formats
 *   out.size=WxH  it uses this size, whatever size is requested
 *   out.norate    setting a rate fails
 *   out.eio       write() fails
 *
 * The program's first frame has number 0. The top eighth of a frame shows its number as 16 bits, in
 * 16 fields of equal width. The highest bit is at the left, and white is 1.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "fake_device.h"
#include "fake_output.h"
#include "fake_words.h"

#define MAX_HANDLES 16
/* How often poll() checks whether the camera's state has changed. */
#define LONGEST_NAP_US 10000

static struct {
    pthread_mutex_t lock;
    struct Handle {
        atomic_int file; /* the descriptor, plus 1; 0: none */
        int flags, dead, is_output;
    } handles[MAX_HANDLES];
} cam = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the real calls ---- */

static int (*real_open)(const char *path, int flags, ...);
static int (*real_close)(int fd);
static int (*real_ioctl)(int fd, unsigned long request, ...);
static int (*real_access)(const char *path, int mode);
static ssize_t (*real_write)(int fd, const void *data, size_t size);
static int (*real_poll)(struct pollfd *files, nfds_t count, int ms);

static void find_real(void)
{
    *(void **)&real_open = dlsym(RTLD_NEXT, "open64");
    *(void **)&real_close = dlsym(RTLD_NEXT, "close");
    *(void **)&real_ioctl = dlsym(RTLD_NEXT, "ioctl");
    *(void **)&real_access = dlsym(RTLD_NEXT, "access");
    *(void **)&real_write = dlsym(RTLD_NEXT, "write");
    *(void **)&real_poll = dlsym(RTLD_NEXT, "poll");
}

static void need_real(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_real);
}

static int is_path(const char *path)
{
    const char *at = fake_after("at=");
    return at ? fake_word_is(at, path)
              : strcmp(path, fake_setting("FAKE_CAMERA", "/dev/video0")) == 0;
}

static int is_output_path(const char *path)
{
    const char *output = fake_setting("FAKE_OUTPUT", NULL);
    return output && strcmp(path, output) == 0;
}

/* Reads the camera's state. Call with the lock held. */
static void look(void)
{
    need_real();
    fake_get_ready();
    fake_read_words();
    for (int i = 0; fake_is("gone") && i < MAX_HANDLES; i++)
        cam.handles[i].dead = !cam.handles[i].is_output;
}

/* May be called without the lock, because sanitizers open files at any point to report faults. */
static struct Handle *find(int fd)
{
    for (int i = 0; i < MAX_HANDLES; i++)
        if (fd >= 0 && atomic_load(&cam.handles[i].file) == fd + 1)
            return &cam.handles[i];
    return NULL;
}

/* ---- the calls ---- */

/* Returns a descriptor, -1 with errno, or -2 if the path is not that of a fake device. */
static int open_camera(const char *path, int flags)
{
    int fd = -2;
    pthread_mutex_lock(&cam.lock);
    look();
    const int is_output = is_output_path(path);
    if (is_output || is_path(path)) {
        struct Handle *handle = NULL;
        for (int i = 0; i < MAX_HANDLES; i++)
            if (!atomic_load(&cam.handles[i].file))
                handle = &cam.handles[i];
        fd = fake_is(is_output ? "out.gone" : "gone")       ? fake_fail(ENOENT)
             : fake_is(is_output ? "out.denied" : "denied") ? fake_fail(EACCES)
             : !handle                                      ? fake_fail(EMFILE)
                       : memfd_create("fake camera", MFD_CLOEXEC);
        if (fd >= 0) {
            handle->flags = flags;
            handle->dead = 0;
            handle->is_output = is_output;
            atomic_store(&handle->file, fd + 1);
        }
    }
    pthread_mutex_unlock(&cam.lock);
    return fd;
}

static int could_be(const char *path)
{
    need_real();
    return path && strncmp(path, "/dev/video", strlen("/dev/video")) == 0;
}

static int open_any(const char *path, int flags, mode_t mode)
{
    const int fd = could_be(path) ? open_camera(path, flags) : -2;
    return fd == -2 ? real_open(path, flags, mode) : fd;
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    return open_any(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    return open_any(path, flags, mode);
}

/* open() in programs compiled with _FORTIFY_SOURCE. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

int __open_2(const char *path, int flags)
{
    return open_any(path, flags, 0);
}

int __open64_2(const char *path, int flags)
{
    return open_any(path, flags, 0);
}

int access(const char *path, int mode)
{
    if (!could_be(path))
        return real_access(path, mode);
    pthread_mutex_lock(&cam.lock);
    look();
    const int is_output = is_output_path(path), here = is_output || is_path(path);
    const int gone = here && fake_is(is_output ? "out.gone" : "gone");
    pthread_mutex_unlock(&cam.lock);
    return gone ? fake_fail(ENOENT) : here ? 0 : real_access(path, mode);
}

int close(int fd)
{
    need_real();
    struct Handle *handle = find(fd);
    if (!handle)
        return real_close(fd);
    pthread_mutex_lock(&cam.lock);
    atomic_store(&handle->file, 0);
    fake_closed(fd);
    pthread_mutex_unlock(&cam.lock);
    return real_close(fd);
}

static int locked_answer(int fd, unsigned long ask, void *argument, int *ours, int *waits)
{
    const struct Handle *handle = find(fd);
    *ours = handle != NULL;
    if (!handle)
        return -1;
    pthread_mutex_lock(&cam.lock);
    look();
    int ret = handle->dead        ? fake_fail(ENODEV)
              : handle->is_output ? fake_output_answer(ask, argument)
                                  : fake_answer(fd, ask, argument);
    if (ret < 0 && handle->is_output && fake_is("out.both"))
        ret = fake_answer(fd, ask, argument);
    *waits = ret < 0 && errno == EAGAIN && !(handle->flags & O_NONBLOCK);
    pthread_mutex_unlock(&cam.lock);
    return ret;
}

int ioctl(int fd, unsigned long ask, ...)
{
    va_list args;
    va_start(args, ask);
    void *argument = va_arg(args, void *);
    va_end(args);
    need_real();
    int ours, waits = 0, ret;
    while ((ret = locked_answer(fd, ask, argument, &ours, &waits)) < 0 && waits)
        usleep(1000);
    return ours ? ret : real_ioctl(fd, ask, argument);
}

ssize_t write(int fd, const void *data, size_t size)
{
    need_real();
    const struct Handle *handle = find(fd);
    if (!handle || !handle->is_output)
        return real_write(fd, data, size);
    pthread_mutex_lock(&cam.lock);
    look();
    const ssize_t ret = fake_output_write(data, size);
    pthread_mutex_unlock(&cam.lock);
    return ret;
}

/* See fake_events(). */
static short events(int fd, int64_t *next)
{
    short found = 0;
    pthread_mutex_lock(&cam.lock);
    look();
    const struct Handle *handle = find(fd);
    if (handle && handle->dead)
        found = POLLERR | POLLHUP;
    else if (handle)
        found = fake_events(next);
    pthread_mutex_unlock(&cam.lock);
    return found;
}

static int poll_camera(struct pollfd *file, int ms)
{
    const int64_t end = ms < 0 ? INT64_MAX : fake_now() + (int64_t)ms * 1000;
    int64_t next = end;
    while (!(file->revents = events(file->fd, &next))) {
        const int64_t now = fake_now(), until = next < end ? next : end;
        if (now >= end)
            return 0;
        const int64_t nap = until - now < LONGEST_NAP_US ? until - now : LONGEST_NAP_US;
        const struct timespec time = {.tv_nsec = (nap > 0 ? nap : 0) * 1000};
        if (nanosleep(&time, NULL) != 0)
            return -1; /* interrupted by a signal */
    }
    return 1;
}

/* The camera can only be polled alone. */
int poll(struct pollfd *files, nfds_t count, int ms)
{
    need_real();
    return count == 1 && find(files->fd) ? poll_camera(files, ms) : real_poll(files, count, ms);
}
