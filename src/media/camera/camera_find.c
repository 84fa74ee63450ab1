#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libavutil/avstring.h>
#include <libavutil/mem.h>

#include "media/camera/camera_find.h"
#include "media/camera/v4l2_device.h"

#define MAX_NODES 64 /* device files to examine, from /dev/video0 on */

int camera_device_fail(MediaError *error, int fault, const char *path, const char *what,
                       int system_error)
{
    struct stat is;
    switch (system_error) {
    case ENOENT:
    case ENXIO:
    case ENODEV: return media_fail(error, fault, "%s does not exist", what);
    case EACCES:
    case EPERM:
        if (stat(path, &is) == 0 && !S_ISCHR(is.st_mode))
            return media_fail(error, fault, "%s is not a camera: it is not a device",
                              media_quote(path));
        return media_fail(error, fault,
                          "no permission to use %s: add yourself to the group 'video' "
                          "(sudo usermod -aG video \"$USER\") and log in again",
                          what);
    case EBUSY:
        return media_fail(error, fault, "%s is in use by another program; close that first", what);
    default: return media_fail(error, fault, "cannot use %s: %s", what, strerror(system_error));
    }
}

const char *camera_device_text(const char *path, const char *name, char text[400])
{
    snprintf(text, 400, name[0] ? "%s (%s)" : "%s", media_quote(path), name);
    return text;
}

int camera_fail(MediaError *error, const char *path, const char *name, int system_error)
{
    char device[400], what[420];
    snprintf(what, sizeof(what), "the camera %s", camera_device_text(path, name, device));
    if (system_error == ENOSPC)
        return media_fail(error, MEDIA_INPUT,
                          "%s has no room on its USB bus: use another port, a smaller "
                          "--video-size or --input-format mjpeg",
                          what);
    if (system_error == EPIPE || system_error == ENOLINK)
        return media_fail(error, MEDIA_INPUT,
                          "the sensor of %s must be set up first: use media-ctl, or libcamera, as "
                          "in 'rpicam-vid -t 0 -o - | lumeq --low-latency -'",
                          what);
    return camera_device_fail(error, MEDIA_INPUT, path, what, system_error);
}

static void take_text(char *to, size_t size, const uint8_t *from, size_t room)
{
    const size_t n = strnlen((const char *)from, room);
    snprintf(to, size, "%.*s", (int)n, (const char *)from);
    for (char *c = to; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
}

uint32_t camera_ask_device(int fd, CameraDevice *device)
{
    struct v4l2_capability has = {0};
    if (v4l2_device_ioctl(fd, VIDIOC_QUERYCAP, &has) < 0)
        return 0;
    take_text(device->name, sizeof(device->name), has.card, sizeof(has.card));
    take_text(device->bus, sizeof(device->bus), has.bus_info, sizeof(has.bus_info));
    take_text(device->driver, sizeof(device->driver), has.driver, sizeof(has.driver));
    return has.capabilities & V4L2_CAP_DEVICE_CAPS ? has.device_caps : has.capabilities;
}

typedef enum NodeKind {
    NODE_CAMERA,
    NODE_SENSOR, /* a camera that works only after other programs have set up its sensor */
    NODE_OTHER,
} NodeKind;

/* Opens and describes a device. Returns a descriptor or MEDIA_INPUT. */
static int open_node(const char *path, CameraDevice *device, NodeKind *kind, MediaError *error)
{
    *device = (CameraDevice){.name = ""};
    *kind = NODE_CAMERA;
    av_strlcpy(device->path, path, sizeof(device->path));
    const int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return camera_fail(error, path, "", errno);
    if (camera_ask_device(fd, device) & V4L2_CAP_IO_MC)
        *kind = NODE_SENSOR;
    if (v4l2_device_captures(fd))
        return fd;
    close(fd);
    *kind = NODE_OTHER;
    char text[400];
    return media_fail(error, MEDIA_INPUT, "%s is not a camera: it cannot capture video",
                      camera_device_text(path, device->name, text));
}

int camera_next_device(int *next, char path[32])
{
    while (*next < MAX_NODES) {
        snprintf(path, 32, "/dev/video%d", (*next)++);
        if (access(path, F_OK) == 0)
            return 1;
    }
    return 0;
}

/* Opens the first device of this kind, or returns -1. Sets `*first` to the first error of a
 * possible camera. */
static int find_kind(NodeKind wanted, CameraDevice *device, MediaError *first)
{
    char path[32];
    int next = 0;
    while (camera_next_device(&next, path)) {
        NodeKind kind;
        MediaError why = {0};
        const int fd = open_node(path, device, &kind, &why);
        if (fd >= 0 && kind == wanted)
            return fd;
        if (fd >= 0)
            close(fd);
        else if (kind != NODE_OTHER)
            media_fail(first, why.fault, "%s", why.text);
    }
    return -1;
}

/* Prefers webcams, because laptops may list dozens of sensor devices before them. */
static int find_first(CameraDevice *device, MediaError *error)
{
    MediaError first = {0};
    int fd = find_kind(NODE_CAMERA, device, &first);
    if (fd < 0)
        fd = find_kind(NODE_SENSOR, device, &first);
    if (fd >= 0)
        return fd;
    if (first.fault)
        return media_fail(error, first.fault, "%s", first.text);
    return media_fail(error, MEDIA_INPUT,
                      "no camera was found: no /dev/video device captures video");
}

int camera_device_path(const char *wanted, char path[256])
{
    char *end;
    const unsigned long number = strtoul(wanted, &end, 10);
    const bool is_number = wanted[0] >= '0' && wanted[0] <= '9' && !*end;
    if (is_number)
        snprintf(path, 256, "/dev/video%lu", number);
    else
        av_strlcpy(path, wanted, 256);
    return is_number;
}

static int open_named(const char *wanted, CameraDevice *device, MediaError *error)
{
    char path[256];
    NodeKind kind;
    const bool is_number = camera_device_path(wanted, path);
    av_strlcpy(device->path, path, sizeof(device->path));
    if (!is_number && !strchr(wanted, '/') && access(wanted, F_OK) != 0)
        return media_fail(
            error, MEDIA_INPUT,
            "there is no camera %s: give the number N of /dev/videoN, or the path of its device",
            media_quote(wanted));
    return open_node(is_number ? path : wanted, device, &kind, error);
}

int camera_find(const char *wanted, CameraDevice *device, MediaError *error)
{
    MediaError why = {0};
    if (!wanted || !*wanted)
        return find_first(device, error);
    const int fd = open_named(wanted, device, &why);
    if (fd >= 0)
        return fd;
    const bool is_missing = access(device->path, F_OK) != 0 && errno == ENOENT;
    return media_fail(error, why.fault, "%s%s", why.text,
                      is_missing ? "; --list-devices lists all cameras" : "");
}

/* Like camera_find_again(), for one path. */
static int is_back(const char *path, const CameraDevice *before, CameraDevice *now)
{
    const int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == ENXIO || errno == ENODEV ? 0 : AVERROR(errno);
    *now = (CameraDevice){.name = ""};
    av_strlcpy(now->path, path, sizeof(now->path));
    camera_ask_device(fd, now);
    const bool camera = v4l2_device_captures(fd);
    close(fd);
    return camera && strcmp(now->name, before->name) == 0 &&
           (strcmp(path, before->path) == 0 || strcmp(now->bus, before->bus) == 0);
}

int camera_find_again(const CameraDevice *before, int everywhere, CameraDevice *now)
{
    char path[32];
    int next = 0;
    const int there = is_back(before->path, before, now);
    while (there <= 0 && everywhere && camera_next_device(&next, path))
        if (is_back(path, before, now) > 0)
            return 1;
    return there;
}

int camera_list_devices(CameraDevice **devices, MediaError *error)
{
    char path[32];
    int next = 0, count = 0;
    *devices = NULL;
    while (camera_next_device(&next, path)) {
        CameraDevice device;
        NodeKind kind;
        MediaError why = {0};
        const int fd = open_node(path, &device, &kind, &why);
        if (fd >= 0)
            close(fd);
        if (kind == NODE_OTHER)
            continue;
        av_strlcpy(device.problem, why.text, sizeof(device.problem));
        if (!av_dynarray2_add((void **)devices, &count, sizeof(device), (const uint8_t *)&device))
            return media_no_memory(error, MEDIA_INPUT);
    }
    return count;
}

void camera_free(void *list)
{
    av_freep(list);
}
