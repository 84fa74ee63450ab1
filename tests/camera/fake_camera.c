/*
 * A camera that is not there: in a program that this library is preloaded into, one device file is
 * a camera of V4L2, though nothing lies at its path. It answers the system's calls, so that
 * libavdevice's own code runs, and gives frames of a moving pattern in real time, raw or as JPEGs.
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
 *
 * The words, separated by blanks:
 *   gone          it is unplugged: what is open is lost for good, nothing can be opened
 *   at=PATH       it is at this path, which begins with /dev/video
 *   name=NAME     it is another one, of this name
 *   denied        opening it needs a permission
 *   busy          another program has it
 *   full          its bus has no room for the stream
 *   other         the device captures nothing
 *   stall         no frames come
 *   eio           taking a frame fails
 *   rate=N        it sets this rate whatever is asked for
 *   refuse=CODE   it does not set this format, though it offers it
 *   malformed     what it calls JPEGs is none
 *   cut           its JPEGs end in the middle
 *   flagged       frames are marked as damaged by the driver
 *   clock=wall    their times are of the wall clock; clock=none: there are none
 *
 * Frame n, counted since the program started, shows n as 16 bits in 16 fields of equal width from
 * left to right along the top, an eighth of the height: the highest bit first, white is 1.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "pattern.h"

#define DEFAULT_MODES                                                                              \
    "MJPG 1920x1080@30,15;MJPG 1280x720@30,15;MJPG 640x480@30,15;"                                 \
    "YUYV 1920x1080@5;YUYV 1280x720@10,5;YUYV 640x480@30,15"

#define MAX_MODES 32
#define MAX_RATES 8
#define MAX_HANDLES 16
#define BUFFERS 8

typedef struct Mode {
    uint32_t code;
    unsigned width, height, max_width, max_height, step_width, step_height;
    unsigned rates[MAX_RATES];
    unsigned rate_count;
} Mode;

typedef struct Buffer {
    int64_t time; /* microseconds */
    unsigned number;
} Buffer;

static struct {
    pthread_mutex_t lock;
    char words[512], modes_text[1024];
    Mode modes[MAX_MODES];
    unsigned mode_count;
    struct Handle {
        atomic_int file; /* the descriptor, plus 1; 0: none */
        int flags, dead;
    } handles[MAX_HANDLES];

    /* What is set. */
    const Mode *mode;
    unsigned width, height, rate;

    /* The stream, of the handle that asked for buffers. */
    int owner; /* -1: none */
    int on;
    unsigned char *memory;
    size_t size; /* of a buffer */
    unsigned count, queued[BUFFERS], queued_count;
    Buffer done[BUFFERS];
    unsigned done_index[BUFFERS], done_count;
    int64_t next;    /* when the next frame is there */
    unsigned number; /* its number */
} cam = {.lock = PTHREAD_MUTEX_INITIALIZER, .owner = -1};

/* ---- the real calls ---- */

static int (*real_open)(const char *path, int flags, ...);
static int (*real_close)(int fd);
static int (*real_ioctl)(int fd, unsigned long request, ...);
static int (*real_access)(const char *path, int mode);

static void find_real(void)
{
    *(void **)&real_open = dlsym(RTLD_NEXT, "open64");
    *(void **)&real_close = dlsym(RTLD_NEXT, "close");
    *(void **)&real_ioctl = dlsym(RTLD_NEXT, "ioctl");
    *(void **)&real_access = dlsym(RTLD_NEXT, "access");
}

static void need_real(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_real);
}

static int64_t clock_us(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* ---- what it is ---- */

static const char *setting(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

static void read_words(void)
{
    const char *control = getenv("FAKE_CAMERA_CONTROL");
    const int fd = control ? real_open(control, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = -1;
    if (fd >= 0) {
        n = read(fd, cam.words, sizeof(cam.words) - 1);
        real_close(fd);
    }
    if (n >= 0)
        cam.words[n] = '\0';
    else
        snprintf(cam.words, sizeof(cam.words), "%s", setting("FAKE_CAMERA_STATE", ""));
}

/* What follows the word, up to the next blank, or NULL where it is not there. */
static const char *after(const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = cam.words; (at = strstr(at, word)); at++)
        if ((at == cam.words || at[-1] <= ' ') && (word[length - 1] == '=' || at[length] <= ' '))
            return at + length;
    return NULL;
}

static int is(const char *word)
{
    return after(word) != NULL;
}

static int starts_with_word(const char *text, const char *word)
{
    const size_t length = strcspn(text, " \t\n");
    return strlen(word) == length && strncmp(text, word, length) == 0;
}

static uint32_t code_of(const char *text)
{
    return v4l2_fourcc((uint32_t)text[0], (uint32_t)text[1], (uint32_t)text[2], (uint32_t)text[3]);
}

static void parse_mode(Mode *mode, const char *text)
{
    int used = 0;
    mode->code = code_of(text);
    if (sscanf(text + 5, "%ux%u-%ux%u/%ux%u%n", &mode->width, &mode->height, &mode->max_width,
               &mode->max_height, &mode->step_width, &mode->step_height, &used) != 6) {
        mode->max_width = mode->max_height = 0;
        sscanf(text + 5, "%ux%u%n", &mode->width, &mode->height, &used);
    }
    text += 5 + used;
    while ((*text == '@' || *text == ',' || *text == '-') && mode->rate_count < MAX_RATES)
        mode->rates[mode->rate_count++] = (unsigned)strtoul(text + 1, (char **)&text, 10);
}

/* Anew where a test has set others. */
static void get_ready(void)
{
    const char *text = setting("FAKE_CAMERA_MODES", DEFAULT_MODES);
    if (strcmp(text, cam.modes_text) == 0)
        return;
    snprintf(cam.modes_text, sizeof(cam.modes_text), "%s", text);
    memset(cam.modes, 0, sizeof(cam.modes));
    cam.mode_count = 0;
    for (; text && *text && cam.mode_count < MAX_MODES; text = strchr(text, ';')) {
        text += strspn(text, "; ");
        if (strlen(text) > 5)
            parse_mode(&cam.modes[cam.mode_count++], text);
    }
    cam.mode = &cam.modes[0];
    cam.width = cam.mode->width;
    cam.height = cam.mode->height;
    cam.rate = cam.mode->rate_count ? cam.mode->rates[0] : 30;
}

static int is_path(const char *path)
{
    const char *at = after("at=");
    return at ? starts_with_word(at, path)
              : strcmp(path, setting("FAKE_CAMERA", "/dev/video0")) == 0;
}

/* With the lock held. */
static void look(void)
{
    need_real();
    get_ready();
    read_words();
    for (int i = 0; is("gone") && i < MAX_HANDLES; i++)
        cam.handles[i].dead = 1;
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

static int fail(int error)
{
    errno = error;
    return -1;
}

/* ---- frames ---- */

static int64_t interval(void)
{
    return 1000000 / (int64_t)cam.rate;
}

/* What has come since the last call goes to the buffers that were there for it, or is lost. */
static void advance(void)
{
    const int64_t now = clock_us(CLOCK_MONOTONIC);
    while (cam.on && cam.next <= now) {
        if (cam.queued_count && !is("stall")) {
            const unsigned index = cam.queued[0];
            memmove(cam.queued, cam.queued + 1, --cam.queued_count * sizeof(*cam.queued));
            cam.done[cam.done_count] = (Buffer){.time = cam.next, .number = cam.number};
            cam.done_index[cam.done_count++] = index;
        }
        cam.number++;
        cam.next += interval();
    }
}

static size_t draw(unsigned char *to, unsigned number)
{
    const size_t raw = (size_t)cam.width * cam.height * 2;
    if (cam.mode->code == V4L2_PIX_FMT_YUYV) {
        draw_yuyv(to, cam.width, cam.height, number);
        return raw;
    }
    size_t used = draw_jpeg(to, raw, cam.width, cam.height, number);
    if (is("malformed"))
        memset(to + 2, 0x55, used - 2);
    return is("cut") ? used / 2 : used;
}

static int64_t time_of(const Buffer *frame)
{
    const char *clock = after("clock=");
    if (!clock)
        return frame->time;
    if (starts_with_word(clock, "none"))
        return 0;
    return frame->time - clock_us(CLOCK_MONOTONIC) + clock_us(CLOCK_REALTIME);
}

static int dequeue(struct v4l2_buffer *buffer)
{
    if (is("eio"))
        return fail(EIO);
    if (!cam.on)
        return fail(EINVAL);
    advance();
    if (!cam.done_count)
        return fail(EAGAIN);
    const Buffer frame = cam.done[0];
    const unsigned index = cam.done_index[0];
    cam.done_count--;
    memmove(cam.done, cam.done + 1, cam.done_count * sizeof(*cam.done));
    memmove(cam.done_index, cam.done_index + 1, cam.done_count * sizeof(*cam.done_index));
    const int64_t time = time_of(&frame);
    buffer->index = index;
    buffer->bytesused = (uint32_t)draw(cam.memory + index * cam.size, frame.number);
    buffer->flags = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC | (is("flagged") ? V4L2_BUF_FLAG_ERROR : 0);
    buffer->field = V4L2_FIELD_NONE;
    buffer->timestamp.tv_sec = time / 1000000;
    buffer->timestamp.tv_usec = time % 1000000;
    buffer->sequence = frame.number;
    buffer->length = (uint32_t)cam.size;
    return 0;
}

static int enqueue(const struct v4l2_buffer *buffer)
{
    if (buffer->index >= cam.count || cam.queued_count == cam.count)
        return fail(EINVAL);
    advance();
    cam.queued[cam.queued_count++] = buffer->index;
    return 0;
}

static int stream(int on)
{
    if (on && is("full"))
        return fail(ENOSPC);
    cam.on = on;
    cam.next = clock_us(CLOCK_MONOTONIC) + interval();
    cam.done_count = 0;
    if (!on)
        cam.queued_count = 0;
    return 0;
}

static void free_buffers(void)
{
    stream(0);
    if (cam.memory)
        munmap(cam.memory, cam.size * cam.count);
    cam.memory = NULL;
    cam.count = 0;
    cam.owner = -1;
}

/* The handle is a file in memory: the program maps the buffers of it by itself. */
static int request(int fd, struct v4l2_requestbuffers *ask)
{
    if (is("busy") || (cam.owner >= 0 && cam.owner != fd))
        return fail(EBUSY);
    free_buffers();
    if (!ask->count)
        return 0;
    cam.size = ((size_t)cam.width * cam.height * 2 + 4095) & ~(size_t)4095;
    cam.count = ask->count = ask->count < BUFFERS ? ask->count : BUFFERS;
    if (ftruncate(fd, (off_t)(cam.size * cam.count)) < 0)
        return -1;
    void *memory = mmap(NULL, cam.size * cam.count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return -1;
    cam.memory = memory;
    cam.owner = fd;
    return 0;
}

static int query_buffer(struct v4l2_buffer *buffer)
{
    if (buffer->index >= cam.count)
        return fail(EINVAL);
    buffer->length = (uint32_t)cam.size;
    buffer->m.offset = (uint32_t)(buffer->index * cam.size);
    buffer->flags = 0;
    return 0;
}

/* ---- formats ---- */

static int query_capabilities(struct v4l2_capability *has)
{
    memset(has, 0, sizeof(*has));
    snprintf((char *)has->driver, sizeof(has->driver), "fake");
    const char *name = after("name=");
    if (name)
        snprintf((char *)has->card, sizeof(has->card), "%.*s", (int)strcspn(name, " \t\n"), name);
    else
        snprintf((char *)has->card, sizeof(has->card), "%s",
                 setting("FAKE_CAMERA_NAME", "Fake Webcam"));
    snprintf((char *)has->bus_info, sizeof(has->bus_info), "usb-fake-1");
    has->device_caps = is("other") ? V4L2_CAP_META_CAPTURE | V4L2_CAP_STREAMING
                                   : V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
    has->capabilities = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING | V4L2_CAP_DEVICE_CAPS;
    return 0;
}

/* The number'th mode of a format, or the number'th format where code is 0. */
static const Mode *find_mode(uint32_t code, unsigned number)
{
    for (unsigned i = 0; i < cam.mode_count; i++) {
        int known = 0;
        for (unsigned j = 0; !code && j < i; j++)
            known |= cam.modes[j].code == cam.modes[i].code;
        if ((code ? cam.modes[i].code == code : !known) && number-- == 0)
            return &cam.modes[i];
    }
    return NULL;
}

static int enum_format(struct v4l2_fmtdesc *ask)
{
    const Mode *mode = find_mode(0, ask->index);
    if (!mode)
        return fail(EINVAL);
    const int raw = mode->code == V4L2_PIX_FMT_YUYV;
    ask->pixelformat = mode->code;
    ask->flags = raw ? 0 : V4L2_FMT_FLAG_COMPRESSED;
    snprintf((char *)ask->description, sizeof(ask->description), "%s",
             raw                                ? "YUYV 4:2:2"
             : mode->code == V4L2_PIX_FMT_MJPEG ? "Motion-JPEG"
                                                : "another one");
    return 0;
}

static int enum_size(struct v4l2_frmsizeenum *ask)
{
    const Mode *mode = find_mode(ask->pixel_format, ask->index);
    if (!mode)
        return fail(EINVAL);
    if (mode->max_width && ask->index)
        return fail(EINVAL);
    ask->type = mode->max_width ? V4L2_FRMSIZE_TYPE_STEPWISE : V4L2_FRMSIZE_TYPE_DISCRETE;
    if (mode->max_width)
        ask->stepwise =
            (struct v4l2_frmsize_stepwise){mode->width,  mode->max_width,  mode->step_width,
                                           mode->height, mode->max_height, mode->step_height};
    else
        ask->discrete = (struct v4l2_frmsize_discrete){mode->width, mode->height};
    return 0;
}

static int has_size(const Mode *mode, unsigned width, unsigned height)
{
    if (!mode->max_width)
        return mode->width == width && mode->height == height;
    return width >= mode->width && width <= mode->max_width && height >= mode->height &&
           height <= mode->max_height;
}

static int enum_interval(struct v4l2_frmivalenum *ask)
{
    for (unsigned i = 0; i < cam.mode_count; i++) {
        const Mode *mode = &cam.modes[i];
        if (mode->code != ask->pixel_format || !has_size(mode, ask->width, ask->height))
            continue;
        if (ask->index >= (mode->max_width ? mode->rate_count / 2 : mode->rate_count))
            return fail(EINVAL);
        ask->type = mode->max_width ? V4L2_FRMIVAL_TYPE_STEPWISE : V4L2_FRMIVAL_TYPE_DISCRETE;
        if (mode->max_width) {
            ask->stepwise.min = (struct v4l2_fract){1, mode->rates[1]};
            ask->stepwise.max = (struct v4l2_fract){1, mode->rates[0]};
            ask->stepwise.step = (struct v4l2_fract){1, 1000};
        } else {
            ask->discrete = (struct v4l2_fract){1, mode->rates[ask->index]};
        }
        return 0;
    }
    return fail(EINVAL);
}

static void fill_format(struct v4l2_format *format)
{
    format->fmt.pix.width = cam.width;
    format->fmt.pix.height = cam.height;
    format->fmt.pix.pixelformat = cam.mode->code;
    format->fmt.pix.field = V4L2_FIELD_NONE;
    format->fmt.pix.bytesperline = cam.mode->code == V4L2_PIX_FMT_YUYV ? cam.width * 2 : 0;
    format->fmt.pix.sizeimage = cam.width * cam.height * 2;
    format->fmt.pix.colorspace = V4L2_COLORSPACE_SRGB;
}

/* Like drivers do, it takes the next best of what it does not have. */
static int set_format(struct v4l2_format *format, int fd)
{
    const struct v4l2_pix_format *wanted = &format->fmt.pix;
    const char *refused = after("refuse=");
    if (is("busy") || (cam.owner >= 0 && cam.owner != fd))
        return fail(EBUSY);
    const Mode *best = find_mode(wanted->pixelformat, 0);
    if (!best || (refused && code_of(refused) == wanted->pixelformat))
        return fail(EINVAL);
    for (unsigned i = 0; i < cam.mode_count; i++)
        if (cam.modes[i].code == wanted->pixelformat &&
            has_size(&cam.modes[i], wanted->width, wanted->height))
            best = &cam.modes[i];
    const int fits = has_size(best, wanted->width, wanted->height);
    cam.mode = best;
    cam.width = fits ? wanted->width : best->width;
    cam.height = fits ? wanted->height : best->height;
    cam.rate = best->rate_count ? best->rates[0] : 30;
    fill_format(format);
    return 0;
}

static void set_rate(const struct v4l2_fract *wanted)
{
    const char *forced = after("rate=");
    const unsigned rate = wanted->numerator ? wanted->denominator / wanted->numerator : 0;
    if (forced)
        cam.rate = (unsigned)strtoul(forced, NULL, 10);
    for (unsigned i = 0; !forced && i < cam.mode->rate_count; i++)
        if (cam.mode->rates[i] == rate || cam.mode->max_width)
            cam.rate = rate;
    if (!forced && !cam.mode->rate_count && rate)
        cam.rate = rate;
}

static int parameters(struct v4l2_streamparm *parm, int set)
{
    struct v4l2_captureparm *capture = &parm->parm.capture;
    if (set)
        set_rate(&capture->timeperframe);
    memset(capture, 0, sizeof(*capture));
    capture->capability = V4L2_CAP_TIMEPERFRAME;
    capture->timeperframe = (struct v4l2_fract){1, cam.rate};
    return 0;
}

static int enum_input(struct v4l2_input *input)
{
    if (input->index)
        return fail(EINVAL);
    memset(input, 0, sizeof(*input));
    input->type = V4L2_INPUT_TYPE_CAMERA;
    snprintf((char *)input->name, sizeof(input->name), "Camera 1");
    return 0;
}

static int answer(int fd, unsigned long ask, void *argument)
{
    /* A request is 32 bits; what a caller passes as int is extended by its sign. */
    switch ((uint32_t)ask) {
    case (uint32_t)VIDIOC_QUERYCAP: return query_capabilities(argument);
    case (uint32_t)VIDIOC_ENUM_FMT: return enum_format(argument);
    case (uint32_t)VIDIOC_ENUM_FRAMESIZES: return enum_size(argument);
    case (uint32_t)VIDIOC_ENUM_FRAMEINTERVALS: return enum_interval(argument);
    case (uint32_t)VIDIOC_G_FMT: fill_format(argument); return 0;
    case (uint32_t)VIDIOC_S_FMT: return set_format(argument, fd);
    case (uint32_t)VIDIOC_G_PARM: return parameters(argument, 0);
    case (uint32_t)VIDIOC_S_PARM: return parameters(argument, 1);
    case (uint32_t)VIDIOC_G_INPUT: *(int *)argument = 0; return 0;
    case (uint32_t)VIDIOC_S_INPUT: return *(int *)argument ? fail(EINVAL) : 0;
    case (uint32_t)VIDIOC_ENUMINPUT: return enum_input(argument);
    case (uint32_t)VIDIOC_REQBUFS: return request(fd, argument);
    case (uint32_t)VIDIOC_QUERYBUF: return query_buffer(argument);
    case (uint32_t)VIDIOC_QBUF: return enqueue(argument);
    case (uint32_t)VIDIOC_DQBUF: return dequeue(argument);
    case (uint32_t)VIDIOC_STREAMON: return stream(1);
    case (uint32_t)VIDIOC_STREAMOFF: return stream(0);
    default: return fail(ENOTTY);
    }
}

/* ---- the calls ---- */

/* A descriptor, -1 with errno, or -2: the path is another one. */
static int open_camera(const char *path, int flags)
{
    int fd = -2;
    pthread_mutex_lock(&cam.lock);
    look();
    if (is_path(path)) {
        struct Handle *handle = NULL;
        for (int i = 0; i < MAX_HANDLES; i++)
            if (!atomic_load(&cam.handles[i].file))
                handle = &cam.handles[i];
        fd = is("gone")     ? fail(ENOENT)
             : is("denied") ? fail(EACCES)
             : !handle      ? fail(EMFILE)
                            : memfd_create("fake camera", MFD_CLOEXEC);
        if (fd >= 0) {
            handle->flags = flags;
            handle->dead = 0;
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
    const int here = is_path(path);
    const int gone = here && is("gone");
    pthread_mutex_unlock(&cam.lock);
    return gone ? fail(ENOENT) : here ? 0 : real_access(path, mode);
}

int close(int fd)
{
    need_real();
    struct Handle *handle = find(fd);
    if (!handle)
        return real_close(fd);
    pthread_mutex_lock(&cam.lock);
    atomic_store(&handle->file, 0);
    if (cam.owner == fd)
        free_buffers();
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
    const int ret = handle->dead ? fail(ENODEV) : answer(fd, ask, argument);
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
