/* NVIDIA GPUs: whether lumeq runs on them, and what they decode. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/doctor/nvidia_driver.h"
#include "app/doctor/probes.h"
#include "lumeq/lumeq.h"
#include "media/error.h"
#include "media/input/decoder_trial.h"

/* The CUDA version of this build, such as 13000, or 0. */
static int build_cuda(void)
{
    int major, minor;
    const char *cuda = strstr(lumeq_build_info(), "and CUDA ");
    if (!cuda || sscanf(cuda, "and CUDA %d.%d", &major, &minor) != 2)
        return 0;
    return major * 1000 + minor * 10;
}

static const char *hint(const char *on_a_machine)
{
    return nvidia_driver_in_container() ? "start the container with its GPUs (docker run --gpus "
                                          "all; NVIDIA Container Toolkit)"
                                        : on_a_machine;
}

/* Reports a fault of the driver; returns 1 if it has no fault. */
static int say_driver(Section *s, const NvidiaDriver *driver)
{
    switch (driver->state) {
    case NVIDIA_FINE: return 1;
    case NVIDIA_NO_GPU:
        section_set(s, SECTION_NONE, "no-gpu", "no NVIDIA GPU; the CPU gives the same pictures");
        section_mend(s, "%s", hint("an NVIDIA GPU from 2018 or later (Turing) is faster"));
        return 0;
    case NVIDIA_NO_DRIVER:
        section_set(s, SECTION_MEND, "no-driver", "an NVIDIA GPU without a driver");
        section_mend(s, "%s",
                     hint("sudo apt install nvidia-driver (Ubuntu: sudo ubuntu-drivers "
                          "install), then restart"));
        return 0;
    case NVIDIA_NOT_LOADED:
        section_set(s, SECTION_MEND, "not-loaded",
                    "the NVIDIA driver is installed, but not loaded");
        section_mend(s, "%s", hint("sudo modprobe nvidia-uvm, or restart"));
        return 0;
    case NVIDIA_NO_PERMISSION:
        section_set(s, SECTION_MEND, "no-permission", "no permission to use %s",
                    driver->node ? driver->node : "the GPU");
        section_mend(s, "%s", hint("sudo usermod -aG video,render \"$USER\", then log in again"));
        return 0;
    case NVIDIA_MISMATCH:
        section_set(s, SECTION_MEND, "mismatch",
                    "the NVIDIA driver was updated, but the old one still runs");
        section_mend(s, "restart the machine");
        return 0;
    case NVIDIA_FAILS: break;
    }
    section_set(s, SECTION_MEND, "fails", "the NVIDIA driver does not start: %s", driver->why);
    section_mend(s, "restart the machine; then look for NVRM in dmesg");
    return 0;
}

/* True if lumeq can load its code on this GPU. */
static int is_usable(int number, char *why, size_t size)
{
    const LumeqConfig config = {
        .size = sizeof(config), .backend = LUMEQ_BACKEND_CUDA, .device = number};
    LumeqEqualizer *equalizer = NULL;
    const int ret = lumeq_create(&equalizer, &config, why, size);
    lumeq_destroy(&equalizer);
    return ret >= 0;
}

/* Returns true if the GPU is usable. */
static int add_gpu(Section *s, const NvidiaDriver *driver, int number, char *why, size_t size)
{
    NvidiaGpu gpu;
    int usable = 0;
    if (nvidia_driver_gpu(driver, number, &gpu) < 0)
        snprintf(why, size, "GPU %d does not answer", number);
    else
        usable = is_usable(number, why, size);
    section_begin(s, NULL, '{');
    section_number(s, "number", number);
    section_text(s, "name", gpu.name);
    section_number(s, "memory", gpu.memory);
    section_number(s, "multiprocessors", gpu.processors);
    char capability[32];
    snprintf(capability, sizeof(capability), "%d.%d", gpu.major, gpu.minor);
    section_text(s, "compute_capability", capability);
    section_flag(s, "usable", usable);
    section_text(s, "problem", usable ? NULL : why);
    section_end(s, '}');
    section_line(s, "%d: %s, %.0f GiB, compute capability %s%s", number, *gpu.name ? gpu.name : "?",
                 gpu.memory / (1 << 30), capability, usable || !build_cuda() ? "" : ": unusable");
    return usable;
}

static void say_unusable(Section *s, const char *why)
{
    char lines[sizeof(s->text)];
    const int no_code = strstr(why, "this build has no code") != NULL;
    snprintf(lines, sizeof(lines), "%s", strchr(s->text, '\n') ? strchr(s->text, '\n') + 1 : "");
    section_set(s, SECTION_MEND, no_code ? "no-code" : "fails", "%s",
                no_code ? "this build has no code for the GPU" : why);
    const size_t n = strlen(s->text);
    snprintf(s->text + n, sizeof(s->text) - n, "\n%s", lines);
    section_mend(s, "%s",
                 no_code ? "build it with -DCMAKE_CUDA_ARCHITECTURES=native (from 7.5 on)"
                         : "nvidia-smi shows whether the GPU works; restart the machine");
}

static void say_gpus(Section *s, const NvidiaDriver *driver)
{
    char why[512] = "";
    int usable = 0;
    const int build = build_cuda();
    section_set(s, SECTION_FINE, "ok", "driver %s, CUDA %d.%d",
                *driver->version ? driver->version : "of unknown version", driver->cuda / 1000,
                driver->cuda % 1000 / 10);
    section_begin(s, "devices", '[');
    for (int i = 0; i < driver->count; i++)
        usable += add_gpu(s, driver, i, why, sizeof(why));
    section_end(s, ']');
    if (!build) {
        section_line(s, "this build has no CUDA and uses the CPU only");
        section_mend(s, "install nvcc (CUDA 12 or newer) and build it again with -DLUMEQ_CUDA=ON");
        s->verdict = SECTION_MEND;
        snprintf(s->state, sizeof(s->state), "no-cuda");
    } else if (usable < driver->count) {
        say_unusable(s, why);
    }
}

void probe_gpu(Section *s)
{
    NvidiaDriver driver;
    const int build = build_cuda();
    nvidia_driver_ask(&driver);
    section_text(s, "driver", driver.version);
    char version[32] = "";
    if (driver.cuda)
        snprintf(version, sizeof(version), "%d.%d", driver.cuda / 1000, driver.cuda % 1000 / 10);
    section_text(s, "driver_cuda", version);
    if (!say_driver(s, &driver)) {
        section_begin(s, "devices", '[');
        section_end(s, ']');
    } else if (build && driver.cuda / 1000 < build / 1000) {
        section_begin(s, "devices", '[');
        section_end(s, ']');
        section_set(s, SECTION_MEND, "driver-too-old",
                    "the NVIDIA driver%s%s is too old: it knows CUDA %s, this build needs %d",
                    *driver.version ? " " : "", driver.version, version, build / 1000);
        section_mend(s, "update the driver to %s or newer", build >= 13000 ? "580" : "525");
    } else {
        say_gpus(s, &driver);
    }
}

/* ---- NVDEC ---- */

static void try_codecs(Section *s, AVBufferRef *gpu)
{
    char works[256] = "", fails[256] = "";
    section_begin(s, "codecs", '{');
    for (int i = 0; i < DECODER_TRIALS; i++) {
        MediaError error = {0};
        const int fine = decoder_trial_run(i, gpu, &error) >= 0;
        char *list = fine ? works : fails;
        const size_t n = strlen(list);
        snprintf(list + n, sizeof(works) - n, "%s%s", n ? ", " : "", decoder_trial_name(i));
        section_flag(s, decoder_trial_name(i), fine);
    }
    section_end(s, '}');
    if (*works)
        section_set(s, SECTION_FINE, "ok", "decodes %s%s%s", works, *fails ? "; not " : "", fails);
    else
        section_set(s, SECTION_NONE, "none", "decodes no codec that was tried");
}

void probe_nvdec(Section *s)
{
    NvidiaDriver driver;
    MediaError error = {0};
    AVBufferRef *gpu = NULL;
    nvidia_driver_ask(&driver);
    const int there = driver.state == NVIDIA_FINE;
    if (!there) {
        section_set(s, SECTION_NONE, "no-gpu", "needs an NVIDIA GPU; the CPU decodes");
    } else if (!nvidia_driver_has("libnvcuvid.so.1")) {
        section_set(s, SECTION_MEND, "no-library",
                    "the driver's decoder, libnvcuvid.so.1, is not here");
        section_mend(
            s, "%s",
            nvidia_driver_in_container()
                ? "start the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility,video"
                : "sudo apt install libnvcuvid1 (Ubuntu: libnvidia-decode-NNN)");
    } else if (decoder_trial_open(&gpu, 0, &error) < 0) {
        section_set(s, SECTION_MEND, "fails", "FFmpeg cannot open the GPU: %s", error.text);
        section_mend(s, "install an FFmpeg with ffnvcodec (Debian's has it)");
    } else {
        try_codecs(s, gpu);
        decoder_trial_close(&gpu);
        return;
    }
    section_begin(s, "codecs", '{');
    section_end(s, '}');
}
