#include <errno.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "fake_device.h"
#include "fake_output.h"
#include "fake_words.h"
#include "pattern.h"

#define DEFAULT_MODES                                                                              \
    "MJPG 1920x1080@30,15;MJPG 1280x720@30,15;MJPG 640x480@30,15;"                                 \
    "YUYV 1920x1080@5;YUYV 1280x720@10,5;YUYV 640x480@30,15"

#define MAX_MODES 32
#define MAX_RATES 8
#define BUFFERS 8
#define JUNK 0xee /* fills a buffer after its frame */

typedef struct Mode {
    uint32_t code;
    unsigned width, height, max_width, max_height, step_width, step_height;
    unsigned rates[MAX_RATES];
    unsigned rate_count;
} Mode;

typedef struct Buffer {
    int64_t time; /* the driver's timestamp, microseconds */
    unsigned number;
} Buffer;

static struct {
    char modes_text[1024];
    Mode modes[MAX_MODES];
    unsigned mode_count;

    /* The current setting. */
    const Mode *mode;
    unsigned width, height, rate;

    /* The stream. */
    int owner; /* the descriptor that requested buffers; -1: none */
    int on;
    unsigned char *memory;
    size_t size; /* of a buffer */
    unsigned count, queued[BUFFERS], queued_count;
    Buffer done[BUFFERS];
    unsigned done_index[BUFFERS], done_count;
    int64_t next;    /* time of the next frame */
    unsigned number; /* of the next frame */
} cam = {.owner = -1};

int fake_fail(int error)
{
    errno = error;
    return -1;
}

int64_t fake_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* ---- modes ---- */

static uint32_t code_of(const char *text)
{
    if (strncmp(text, "Y16-", 4) == 0)
        return V4L2_PIX_FMT_Y16_BE;
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

void fake_get_ready(void)
{
    const char *text = fake_setting("FAKE_CAMERA_MODES", DEFAULT_MODES);
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

/* ---- frames ---- */

static int64_t interval(void)
{
    return 1000000 / (int64_t)cam.rate;
}

/* True if the word applies to the frame: "WORD" to every frame, "WORD=N" to every Nth frame. */
static int concerns(const char *word, unsigned number)
{
    char with_number[16];
    snprintf(with_number, sizeof(with_number), "%s=", word);
    const char *every = fake_after(with_number);
    return fake_is(word) || (every && number % (unsigned)strtoul(every, NULL, 10) == 0);
}

/* Puts frames that came since the last call into queued buffers, or drops them. */
static void advance(void)
{
    const int64_t now = fake_now();
    while (cam.on && cam.next <= now) {
        if (cam.queued_count && !fake_is("stall") && !concerns("lost", cam.number)) {
            const unsigned index = cam.queued[0];
            memmove(cam.queued, cam.queued + 1, --cam.queued_count * sizeof(*cam.queued));
            cam.done[cam.done_count] =
                (Buffer){.time = fake_is("noclock") ? 0 : cam.next, .number = cam.number};
            cam.done_index[cam.done_count++] = index;
        }
        cam.number++;
        cam.next += interval();
    }
}

/* Bytes from a row of raw pictures to the next; 0 for other pictures. */
static unsigned stride(void)
{
    const char *pad = fake_after("pad=");
    const unsigned row = raw_row(cam.mode->code, cam.width);
    return row && pad ? row + (unsigned)strtoul(pad, NULL, 10) : row;
}

static size_t image_size(void)
{
    const unsigned row = stride();
    return row ? raw_size(cam.mode->code, cam.height, row) : (size_t)cam.width * cam.height * 2;
}

/* Applies the words few, low and wide to 16-bit samples. */
static void change_samples(unsigned char *data)
{
    const size_t count = image_size() / 2;
    for (size_t i = 0; fake_is("few") && i < count; i++) {
        const unsigned sample = 7600 + 3 * data[2 * i + 1];
        data[2 * i] = (unsigned char)sample;
        data[2 * i + 1] = (unsigned char)(sample >> 8);
    }
    for (size_t i = 0; fake_is("low") && i < count; i++) {
        data[2 * i] = (unsigned char)(data[2 * i + 1] << 6);
        data[2 * i + 1] >>= 2;
    }
    for (size_t i = 0; fake_is("wide") && i < count; i++)
        data[2 * i + 1] |= 0xf0;
}

static size_t draw(unsigned char *to, unsigned number)
{
    if (stride()) {
        draw_raw(to, cam.mode->code, cam.width, cam.height, stride(), number);
        change_samples(to);
        return concerns("short", number) ? image_size() - stride() : image_size();
    }
    size_t used = draw_jpeg(to, image_size(), cam.width, cam.height, number);
    if (fake_is("malformed"))
        memset(to + 2, 0x55, used - 2);
    return fake_is("cut") ? used / 2 : used;
}

static int dequeue(struct v4l2_buffer *buffer)
{
    if (fake_is("eio"))
        return fake_fail(EIO);
    if (!cam.on)
        return fake_fail(EINVAL);
    advance();
    if (!cam.done_count)
        return fake_fail(EAGAIN);
    const Buffer frame = cam.done[0];
    const unsigned index = cam.done_index[0];
    cam.done_count--;
    memmove(cam.done, cam.done + 1, cam.done_count * sizeof(*cam.done));
    memmove(cam.done_index, cam.done_index + 1, cam.done_count * sizeof(*cam.done_index));
    buffer->index = index;
    unsigned char *memory = cam.memory + index * cam.size;
    buffer->bytesused = (uint32_t)draw(memory, frame.number);
    memset(memory + buffer->bytesused, JUNK, cam.size - buffer->bytesused);
    if (fake_is("over"))
        buffer->bytesused = UINT32_MAX;
    buffer->flags =
        (fake_is("noclock") ? V4L2_BUF_FLAG_TIMESTAMP_UNKNOWN : V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC) |
        (concerns("flagged", frame.number) ? V4L2_BUF_FLAG_ERROR : 0);
    buffer->field = V4L2_FIELD_NONE;
    buffer->timestamp.tv_sec = frame.time / 1000000;
    buffer->timestamp.tv_usec = frame.time % 1000000;
    buffer->sequence = fake_is("uncounted") ? 0 : frame.number;
    buffer->length = (uint32_t)cam.size;
    fake_output_note_captured(frame.number, frame.time);
    return 0;
}

short fake_events(int64_t *next)
{
    if (fake_is("eio") || !cam.on)
        return POLLERR;
    advance();
    *next = cam.next;
    return cam.done_count ? POLLIN : 0;
}

static int enqueue(struct v4l2_buffer *buffer)
{
    if (buffer->index >= cam.count || cam.queued_count == cam.count)
        return fake_fail(EINVAL);
    advance();
    cam.queued[cam.queued_count++] = buffer->index;
    return 0;
}

static int stream(int on)
{
    if (on && (fake_is("full") || fake_is("unlinked")))
        return fake_fail(fake_is("full") ? ENOSPC : EPIPE);
    cam.on = on;
    cam.next = fake_now() + interval();
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

/* The descriptor is a memory file, so that the program can map the buffers. */
static int request(int fd, struct v4l2_requestbuffers *ask)
{
    if (fake_is("busy") || (cam.owner >= 0 && cam.owner != fd))
        return fake_fail(EBUSY);
    free_buffers();
    if (!ask->count)
        return 0;
    cam.size = (image_size() + 4095) & ~(size_t)4095;
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
        return fake_fail(EINVAL);
    buffer->length = (uint32_t)cam.size;
    buffer->m.offset = (uint32_t)(buffer->index * cam.size);
    buffer->flags = 0;
    return 0;
}

/* ---- formats ---- */

/* Copies `word` up to the first blank, or `otherwise` if `word` is NULL. */
static void take_text(unsigned char *to, size_t size, const char *word, const char *otherwise)
{
    snprintf((char *)to, size, "%.*s", word ? (int)strcspn(word, " \t\n") : 100,
             word ? word : otherwise);
}

static int query_capabilities(struct v4l2_capability *has)
{
    memset(has, 0, sizeof(*has));
    snprintf((char *)has->driver, sizeof(has->driver), "fake");
    const char *name = fake_after("name="), *bus = fake_after("bus=");
    take_text(has->card, sizeof(has->card), name, fake_setting("FAKE_CAMERA_NAME", "Fake Webcam"));
    take_text(has->bus_info, sizeof(has->bus_info), bus, "usb-fake-1");
    has->device_caps = V4L2_CAP_STREAMING |
                       (fake_is("other") ? V4L2_CAP_META_CAPTURE : V4L2_CAP_VIDEO_CAPTURE) |
                       (fake_is("sensor") ? V4L2_CAP_IO_MC : 0);
    has->capabilities = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING | V4L2_CAP_DEVICE_CAPS;
    return 0;
}

/* Returns mode `number` of a format or, if `code` is 0, the first mode of format `number`. */
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
        return fake_fail(EINVAL);
    const int raw = raw_row(mode->code, 2) != 0;
    ask->pixelformat = mode->code;
    ask->flags = raw ? 0 : V4L2_FMT_FLAG_COMPRESSED;
    snprintf((char *)ask->description, sizeof(ask->description), "%s",
             mode->code == V4L2_PIX_FMT_YUYV      ? "YUYV 4:2:2"
             : mode->code == V4L2_PIX_FMT_MJPEG   ? "Motion-JPEG"
             : mode->code == V4L2_PIX_FMT_Y12     ? "12-bit Greyscale"
             : mode->code == V4L2_PIX_FMT_Y16     ? "16-bit Greyscale"
             : mode->code == V4L2_PIX_FMT_Y16_BE  ? "16-bit Greyscale BE"
             : mode->code == V4L2_PIX_FMT_Y10P    ? "10-bit Greyscale (MIPI Packed)"
             : mode->code == V4L2_PIX_FMT_SRGGB8  ? "8-bit Bayer RGRG/GBGB"
             : mode->code == V4L2_PIX_FMT_SGRBG10 ? "10-bit Bayer GRGR/BGBG"
                                                  : "another one");
    return 0;
}

static int enum_size(struct v4l2_frmsizeenum *ask)
{
    const Mode *mode = find_mode(ask->pixel_format, ask->index);
    if (!mode)
        return fake_fail(EINVAL);
    if (mode->max_width && ask->index)
        return fake_fail(EINVAL);
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
            return fake_fail(EINVAL);
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
    return fake_fail(EINVAL);
}

static void fill_format(struct v4l2_format *format)
{
    struct v4l2_pix_format *pix = &format->fmt.pix;
    const char *colours = fake_after("colours=");
    memset(pix, 0, sizeof(*pix));
    pix->width = cam.width;
    pix->height = cam.height;
    pix->pixelformat = cam.mode->code;
    pix->field = V4L2_FIELD_NONE;
    pix->bytesperline = stride();
    pix->sizeimage = fake_is("nosize") ? 0 : (uint32_t)image_size();
    pix->colorspace = V4L2_COLORSPACE_SRGB;
    pix->priv = V4L2_PIX_FMT_PRIV_MAGIC;
    if (colours)
        sscanf(colours, "%u/%u/%u/%u", &pix->colorspace, &pix->ycbcr_enc, &pix->quantization,
               &pix->xfer_func);
}

/* Replaces an unsupported size, as drivers do. */
static int set_format(struct v4l2_format *format, int fd)
{
    const struct v4l2_pix_format wanted = format->fmt.pix;
    const char *refused = fake_after("refuse=");
    if (fake_is("busy") || (cam.owner >= 0 && cam.owner != fd))
        return fake_fail(EBUSY);
    const Mode *best = find_mode(wanted.pixelformat, 0);
    if (!best || (refused && code_of(refused) == wanted.pixelformat))
        return fake_fail(EINVAL);
    for (unsigned i = 0; i < cam.mode_count; i++)
        if (cam.modes[i].code == wanted.pixelformat &&
            has_size(&cam.modes[i], wanted.width, wanted.height))
            best = &cam.modes[i];
    const int fits = has_size(best, wanted.width, wanted.height);
    cam.mode = best;
    cam.width = fits ? wanted.width : best->width;
    cam.height = fits ? wanted.height : best->height;
    if (fake_after("size="))
        sscanf(fake_after("size="), "%ux%u", &cam.width, &cam.height);
    cam.rate = best->rate_count ? best->rates[0] : 30;
    fill_format(format);
    return 0;
}

static void set_rate(const struct v4l2_fract *wanted)
{
    const char *forced = fake_after("rate=");
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
    if (fake_is("norate"))
        return fake_fail(ENOTTY);
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
        return fake_fail(EINVAL);
    memset(input, 0, sizeof(*input));
    input->type = V4L2_INPUT_TYPE_CAMERA;
    snprintf((char *)input->name, sizeof(input->name), "Camera 1");
    return 0;
}

/* The buffer type in a request; 0: the request has no type. */
static uint32_t type_of(uint32_t ask, const void *argument)
{
    switch (ask) {
    case (uint32_t)VIDIOC_ENUM_FMT: return ((const struct v4l2_fmtdesc *)argument)->type;
    case (uint32_t)VIDIOC_G_FMT:
    case (uint32_t)VIDIOC_S_FMT: return ((const struct v4l2_format *)argument)->type;
    case (uint32_t)VIDIOC_G_PARM:
    case (uint32_t)VIDIOC_S_PARM: return ((const struct v4l2_streamparm *)argument)->type;
    case (uint32_t)VIDIOC_REQBUFS: return ((const struct v4l2_requestbuffers *)argument)->type;
    case (uint32_t)VIDIOC_QUERYBUF:
    case (uint32_t)VIDIOC_QBUF:
    case (uint32_t)VIDIOC_DQBUF: return ((const struct v4l2_buffer *)argument)->type;
    case (uint32_t)VIDIOC_STREAMON:
    case (uint32_t)VIDIOC_STREAMOFF: return (uint32_t) * (const int *)argument;
    default: return 0;
    }
}

int fake_answer(int fd, unsigned long ask, void *argument)
{
    const uint32_t type = type_of((uint32_t)ask, argument);
    if (type && type != V4L2_BUF_TYPE_VIDEO_CAPTURE)
        return fake_fail(EINVAL);
    /* A request has 32 bits. The cast removes the sign extension of a caller's int. */
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
    case (uint32_t)VIDIOC_S_INPUT: return *(int *)argument ? fake_fail(EINVAL) : 0;
    case (uint32_t)VIDIOC_ENUMINPUT: return enum_input(argument);
    case (uint32_t)VIDIOC_REQBUFS: return request(fd, argument);
    case (uint32_t)VIDIOC_QUERYBUF: return query_buffer(argument);
    case (uint32_t)VIDIOC_QBUF: return enqueue(argument);
    case (uint32_t)VIDIOC_DQBUF: return dequeue(argument);
    case (uint32_t)VIDIOC_STREAMON: return stream(1);
    case (uint32_t)VIDIOC_STREAMOFF: return stream(0);
    default: return fake_fail(ENOTTY);
    }
}

void fake_closed(int fd)
{
    if (cam.owner == fd)
        free_buffers();
}
