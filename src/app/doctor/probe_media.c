/* Encoders, cameras, and the virtual camera. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/doctor/doctor_section.h"
#include "media/camera/camera.h"
#include "media/camera/camera_output.h"
#include "media/error.h"
#include "media/output/codec_list.h"

#define MAX_ENCODERS 512

/* Exists while the module is loaded. */
#define LOOPBACK_MODULE "/sys/module/v4l2loopback"

/* ---- encoders ---- */

/* The common encoders; a missing first one is a fault. */
static const char *const usual[] = {"libx264",    "libx265", "libsvtav1", "libaom-av1",
                                    "libvpx-vp9", "ffv1",    "prores_ks", "mpeg4"};

static void add_name(char *list, size_t size, const char *name)
{
    const size_t n = strlen(list);
    snprintf(list + n, size - n, "%s%s", n ? ", " : "", name);
}

/* Lists the common encoders among `names`, and returns their number. */
static int list_usual(const char *const *names, int count, char *list, size_t size)
{
    int found = 0;
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
        for (int k = 0; k < count; k++)
            if (strcmp(usual[i], names[k]) == 0) {
                add_name(list, size, usual[i]);
                found++;
            }
    return found;
}

void probe_encoders(Section *s)
{
    char list[512] = "";
    const char *names[MAX_ENCODERS];
    void *at = NULL;
    const AVCodec *codec;
    int all = 0;
    section_begin(s, "names", '[');
    while (all < MAX_ENCODERS && (codec = codec_list_next(&at, 0))) {
        names[all++] = codec->name;
        section_text(s, NULL, codec->name);
    }
    section_end(s, ']');
    const int others = all - list_usual(names, all, list, sizeof(list));
    if (!all)
        section_set(s, SECTION_MEND, "none", "FFmpeg has no video encoder here");
    else if (strncmp(list, usual[0], strlen(usual[0])) == 0)
        section_set(s, SECTION_FINE, "ok", "%s, and %d others", list, others);
    else
        section_set(s, SECTION_MEND, "no-h264",
                    "no libx264, the default for mp4 and mkv; available: %s, and %d others", list,
                    others);
    if (s->verdict == SECTION_MEND)
        section_mend(s, "install an FFmpeg with libx264 (Debian, Ubuntu: sudo apt install ffmpeg)");
}

void probe_hardware_encoders(Section *s)
{
    char works[512] = "";
    void *at = NULL;
    const AVCodec *codec;
    int all = 0;
    section_begin(s, "encoders", '[');
    for (; (codec = codec_list_next(&at, 1)); all++) {
        MediaError error = {0};
        const int fine = codec_list_try(codec, &error) >= 0;
        section_begin(s, NULL, '{');
        section_text(s, "name", codec->name);
        section_flag(s, "usable", fine);
        section_text(s, "problem", fine ? NULL : error.text);
        section_end(s, '}');
        if (fine)
            add_name(works, sizeof(works), codec->name);
    }
    section_end(s, ']');
    if (*works) {
        section_set(s, SECTION_FINE, "ok", "%s", works);
        return;
    }
    section_set(s, SECTION_NONE, "none", "no usable one among %d; the CPU encodes", all);
    section_mend(s, "a GPU with NVENC, Quick Sync or the like, and its driver");
}

/* ---- cameras ---- */

/* Puts the first problem first, and working cameras below. */
static void say_cameras(Section *s, const CameraDevice *devices, int count)
{
    const char *problem = NULL;
    for (int i = 0; i < count; i++)
        if (*devices[i].problem && !problem)
            problem = devices[i].problem;
    if (problem)
        section_set_sentence(s, SECTION_MEND,
                             strstr(problem, "permission") ? "no-permission" : "unusable", problem);
    else
        section_set(s, SECTION_FINE, "ok", "%d", count);
    int lines = problem ? 1 : 0;
    for (int i = 0; i < count; i++)
        if (!*devices[i].problem && !lines++)
            section_set(s, SECTION_FINE, "ok", "%s: %s", devices[i].path, devices[i].name);
        else if (!*devices[i].problem)
            section_line(s, "%s: %s", devices[i].path, devices[i].name);
}

void probe_cameras(Section *s)
{
    MediaError error = {0};
    CameraDevice *devices = NULL;
    const int count = camera_list_devices(&devices, &error);
    section_begin(s, "devices", '[');
    for (int i = 0; i < count; i++) {
        section_begin(s, NULL, '{');
        section_text(s, "path", devices[i].path);
        section_text(s, "name", devices[i].name);
        section_text(s, "bus", devices[i].bus);
        section_flag(s, "usable", !*devices[i].problem);
        section_text(s, "problem", devices[i].problem);
        section_end(s, '}');
    }
    section_end(s, ']');
    if (count < 0) {
        section_set(s, SECTION_MEND, "fails", "%s", error.text);
    } else if (count == 0) {
        section_set(s, SECTION_NONE, "none", "none connected");
        section_mend(s, "plug one in; start a container with --device /dev/video0");
    } else {
        say_cameras(s, devices, count);
    }
    camera_free(&devices);
}

void probe_virtual_camera(Section *s)
{
    MediaError error = {0};
    CameraOutput *output = NULL;
    const int ret = camera_output_open(&output, NULL, &error);
    const int denied = ret < 0 && strstr(error.text, "permission") != NULL;
    const char *path = ret < 0 ? NULL : camera_output_path(output);
    section_text(s, "path", path);
    section_flag(s, "pipewire", ret >= 0 && !path);
    section_flag(s, "v4l2loopback", access(LOOPBACK_MODULE, F_OK) == 0);
    if (path)
        section_set(s, SECTION_FINE, "ok", "%s, by v4l2loopback", path);
    else if (ret >= 0)
        section_set(s, SECTION_FINE, "ok", "by PipeWire");
    else if (ret == MEDIA_USAGE)
        section_set_sentence(s, SECTION_NONE, "none", error.text);
    else if (denied && access(LOOPBACK_MODULE, F_OK) != 0)
        section_set(s, SECTION_NONE, "none",
                    "PipeWire does not run, and v4l2loopback is not loaded");
    else
        section_set_sentence(s, SECTION_MEND, denied ? "no-permission" : "busy", error.text);
    if (!*s->mend && ret < 0)
        section_mend(s, "sudo modprobe v4l2loopback exclusive_caps=1");
    camera_output_close(&output);
}
