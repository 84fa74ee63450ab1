/*
 * A camera that is not there: in a program that this library is preloaded into, one device file is
 * a camera of V4L2, though nothing lies at its path. It answers the system's calls as a driver does
 * and gives frames of a moving pattern in real time, raw (YUYV, NV12, YU12) or as JPEGs.
 *
 *     LD_PRELOAD=libfake_camera.so lumeq --camera
 *
 * With a sanitizer its run-time comes first, and ASAN_OPTIONS=verify_asan_link_order=0 allows that.
 *
 * The environment says what it is:
 *   FAKE_CAMERA          its path, which begins with /dev/video; /dev/video0
 *   FAKE_CAMERA_NAME     its name; "Fake Webcam"
 *   FAKE_CAMERA_MODES    what it offers, formats in this order, by code, size and rates; a size may
 *                        be a range with steps, then rates are two ends; without rates, it does not
 *                        say them: "MJPG 1280x720@30,15;YUYV 16x16-1920x1080/16x8@1-60;YUYV 8x8"
 *   FAKE_CAMERA_STATE    what is wrong with it, in words; nothing
 *   FAKE_CAMERA_CONTROL  a file with such words, which is read anew at every call: to be replaced
 * by rename(). Without it, FAKE_CAMERA_STATE holds.
 *   FAKE_OUTPUT          the path of a virtual camera, as of v4l2loopback, that takes YUYV, NV12
 * and YU12 by write(); it begins with /dev/video, too; none
 *   FAKE_OUTPUT_RECORD   a file that every picture which is written to it is added to; FILE.log has
 * a line for each format, rate, picture, and frame that the camera has handed out, with the times
 *
 * The words, separated by blanks:
 *   gone          it is unplugged: what is open is lost for good, nothing can be opened
 *   at=PATH       it is at this path, which begins with /dev/video
 *   name=NAME     it is another one, of this name
 *   bus=NAME      it is plugged in there
 *   denied        opening it needs a permission
 *   busy          another program has it
 *   full          its bus has no room for the stream
 *   other         the device captures nothing
 *   planar        it has the multi-planar interface only
 *   stall         no frames come
 *   eio           taking a frame fails
 *   rate=N        it sets this rate whatever is asked for
 *   norate        it does not say which rate is set
 *   refuse=CODE   it does not set this format, though it offers it
 *   malformed     what it calls JPEGs is none
 *   cut           its JPEGs end in the middle
 *   flagged       frames are marked as damaged by the driver; flagged=N: every Nth one
 *   short         raw frames end before their last row does; short=N: every Nth one
 *   pad=N         the rows of raw frames are so many bytes apart from each other
 *   colours=C/E/Q/X  what the driver says of these: colour space, encoding, quantization, transfer,
 *                 by their numbers in V4L2
 *   lost=N        every Nth frame is lost on its way to the driver, which counts it
 *   uncounted     the driver does not number its frames
 *   clock=wall    their times are of the wall clock; clock=none: there are none
 *   wall=N        the wall clock was set ahead by so many seconds, or back
 *
 * Words about the virtual camera:
 *   out.gone, out.denied, out.busy   as above
 *   out.taken     another program writes to it: it calls itself a camera
 *   out.captures  the same, also of a device that is none of v4l2loopback
 *   out.both      it is the camera, too, whose path it has
 *   out.other     it is none of v4l2loopback
 *   out.takes=CODE,CODE  it takes these formats only
 *   out.size=WxH  it has this size, whatever is asked for
 *   out.pad=N     its rows are so many bytes apart from each other
 *   out.norate    it keeps no rate
 *   out.eio       writing to it fails
 *
 * Frame n, counted since the program started, shows n as 16 bits in 16 fields of equal width from
 * left to right along the top, an eighth of the height: the highest bit first, white is 1.
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
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "fake_device.h"
#include "fake_output.h"
#include "fake_words.h"

#define MAX_HANDLES 16
/* In poll(), until it is seen that something has become wrong with the camera. */
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
static int (*real_gettimeofday)(struct timeval *time, void *zone);

static void find_real(void)
{
    *(void **)&real_open = dlsym(RTLD_NEXT, "open64");
    *(void **)&real_close = dlsym(RTLD_NEXT, "close");
    *(void **)&real_ioctl = dlsym(RTLD_NEXT, "ioctl");
    *(void **)&real_access = dlsym(RTLD_NEXT, "access");
    *(void **)&real_write = dlsym(RTLD_NEXT, "write");
    *(void **)&real_poll = dlsym(RTLD_NEXT, "poll");
    *(void **)&real_gettimeofday = dlsym(RTLD_NEXT, "gettimeofday");
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

/* With the lock held. */
static void look(void)
{
    need_real();
    fake_get_ready();
    fake_read_words();
    for (int i = 0; fake_is("gone") && i < MAX_HANDLES; i++)
        cam.handles[i].dead = !cam.handles[i].is_output;
}

/* Also without the lock, which the camera's owner alone needs: sanitizers open files, too, when
 * they have something to report, from wherever they are. */
static struct Handle *find(int fd)
{
    for (int i = 0; i < MAX_HANDLES; i++)
        if (fd >= 0 && atomic_load(&cam.handles[i].file) == fd + 1)
            return &cam.handles[i];
    return NULL;
}

/* ---- the calls ---- */

/* A descriptor, -1 with errno, or -2: the path is another one. */
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

/* What open() is in programs that are compiled with _FORTIFY_SOURCE. */
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
        usleep(1000); /* the program did not ask for answers at once */
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

/* What has happened to the camera, in poll()'s words; else 0, and when to look again. */
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
            return -1; /* by a signal */
    }
    return 1;
}

/* The camera is waited for alone. */
int poll(struct pollfd *files, nfds_t count, int ms)
{
    need_real();
    return count == 1 && find(files->fd) ? poll_camera(files, ms) : real_poll(files, count, ms);
}

/* Which is where libavutil has the wall clock's time from. */
int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    need_real();
    const int ret = real_gettimeofday(time, zone);
    if (ret == 0)
        time->tv_sec += fake_wall_ahead() / 1000000;
    return ret;
}
