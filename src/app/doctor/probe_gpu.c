/* NVIDIA GPUs: whether lumeq runs on them, and what they decode. Queries the driver without CUDA's
 * toolkit, so that builds without CUDA can report it. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/doctor/doctor_section.h"
#include "lumeq/lumeq.h"
#include "media/error.h"
#include "media/input/decoder_trial.h"

#define CUDA "libcuda.so.1"

/* Constants of CUDA's driver API. */
#define NO_DEVICE 100
#define NOT_PERMITTED 800
#define SYSTEM_DRIVER_MISMATCH 803
#define ATTRIBUTE_PROCESSORS 16
#define ATTRIBUTE_MAJOR 75
#define ATTRIBUTE_MINOR 76

typedef enum DriverState {
    DRIVER_FINE,          /* at least one GPU works */
    DRIVER_NO_GPU,        /* none on this machine, or visible in this container */
    DRIVER_NONE,          /* a GPU without an installed driver */
    DRIVER_NOT_LOADED,    /* the library is installed, the kernel module is not loaded */
    DRIVER_NO_PERMISSION, /* `detail`: to open this device file */
    DRIVER_MISMATCH,      /* the driver was updated, but the old one still runs */
    DRIVER_FAILS,         /* `detail`: the driver's message */
} DriverState;

typedef struct Driver {
    DriverState state;
    char version[32]; /* "580.65.06", or "" */
    int cuda;         /* newest supported CUDA, such as 13000; 0: unknown */
    int count;        /* number of GPUs */
    char detail[128];
    void *library; /* stays loaded */
} Driver;

typedef struct Gpu {
    char name[128];
    double memory; /* bytes */
    int major, minor, processors;
} Gpu;

static int is_in_container(void)
{
    return access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0 ||
           access("/run/systemd/container", F_OK) == 0 || getenv("container") ||
           getenv("NVIDIA_VISIBLE_DEVICES");
}

/* ---- what the system shows ---- */

static void read_line(const char *path, char *line, size_t size)
{
    FILE *file = fopen(path, "r");
    if (!file || !fgets(line, (int)size, file))
        *line = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (file)
        fclose(file);
}

/* Vendor 10de is NVIDIA; classes 03 are displays and accelerators. */
static int is_gpu(const char *device)
{
    char path[512], vendor[32], class[32];
    snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/vendor", device);
    read_line(path, vendor, sizeof(vendor));
    snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/class", device);
    read_line(path, class, sizeof(class));
    return strcmp(vendor, "0x10de") == 0 && strncmp(class, "0x03", 4) == 0;
}

static int machine_has_gpu(void)
{
    int found = access("/dev/nvidiactl", F_OK) == 0;
    DIR *folder = opendir("/sys/bus/pci/devices");
    for (const struct dirent *entry; folder && !found && (entry = readdir(folder));)
        found = is_gpu(entry->d_name);
    if (folder)
        closedir(folder);
    return found;
}

/* The first device file without permission, or NULL. */
static const char *denied_node(void)
{
    static const char *const nodes[] = {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia0"};
    for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
        const int fd = open(nodes[i], O_RDWR | O_CLOEXEC);
        if (fd >= 0)
            close(fd);
        else if (errno == EACCES || errno == EPERM)
            return nodes[i];
    }
    return NULL;
}

/* ---- what the library says ---- */

/* Looks up a function. Returns 0 or -1. */
static int find(const Driver *driver, const char *name, void *function)
{
    void *found = dlsym(driver->library, name);
    memcpy(function, &found, sizeof(found));
    return found ? 0 : -1;
}

static int initialize(Driver *driver)
{
    int (*init)(unsigned flags), (*version)(int *version), (*count)(int *count);
    if (find(driver, "cuInit", &init) < 0 || find(driver, "cuDriverGetVersion", &version) < 0 ||
        find(driver, "cuDeviceGetCount", &count) < 0)
        return NO_DEVICE;
    (void)version(&driver->cuda); /* works even if the rest fails */
    const int ret = init(0);
    return ret ? ret : count(&driver->count);
}

static DriverState state_of(Driver *driver, int result)
{
    int (*name)(int result, const char **text);
    const char *text = NULL;
    if (result == 0 && driver->count > 0)
        return DRIVER_FINE;
    if (result == SYSTEM_DRIVER_MISMATCH)
        return DRIVER_MISMATCH;
    const char *node = denied_node();
    snprintf(driver->detail, sizeof(driver->detail), "%s", node ? node : "the GPU");
    if (node || result == NOT_PERMITTED)
        return DRIVER_NO_PERMISSION;
    driver->detail[0] = '\0';
    if (!machine_has_gpu())
        return DRIVER_NO_GPU;
    if (!*driver->version)
        return DRIVER_NOT_LOADED;
    if (find(driver, "cuGetErrorString", &name) == 0)
        (void)name(result, &text);
    snprintf(driver->detail, sizeof(driver->detail), "%s (CUDA's error %d)", text ? text : "no GPU",
             result);
    return DRIVER_FAILS;
}

static void ask_driver(Driver *driver)
{
    *driver = (Driver){.state = DRIVER_NO_GPU};
    read_line("/sys/module/nvidia/version", driver->version, sizeof(driver->version));
    driver->library = dlopen(CUDA, RTLD_NOW | RTLD_LOCAL);
    if (driver->library)
        driver->state = state_of(driver, initialize(driver));
    else if (machine_has_gpu())
        driver->state = DRIVER_NONE;
}

/* Returns 0, or -1 if the GPU does not answer. */
static int ask_gpu(const Driver *driver, int number, Gpu *gpu)
{
    int (*get)(int *device, int number), (*attribute)(int *value, int attribute, int device);
    int (*name)(char *name, int size, int device), (*memory)(size_t * bytes, int device);
    int device;
    size_t bytes = 0;
    *gpu = (Gpu){.name = ""};
    if (find(driver, "cuDeviceGet", &get) < 0 || find(driver, "cuDeviceGetName", &name) < 0 ||
        find(driver, "cuDeviceTotalMem_v2", &memory) < 0 ||
        find(driver, "cuDeviceGetAttribute", &attribute) < 0 || get(&device, number) ||
        name(gpu->name, sizeof(gpu->name), device) || memory(&bytes, device) ||
        attribute(&gpu->major, ATTRIBUTE_MAJOR, device) ||
        attribute(&gpu->minor, ATTRIBUTE_MINOR, device) ||
        attribute(&gpu->processors, ATTRIBUTE_PROCESSORS, device))
        return -1;
    gpu->memory = (double)bytes;
    return 0;
}

/* ---- the answer ---- */

/* The CUDA version of this build, such as 13000, or 0. */
static int build_cuda(void)
{
    int major, minor;
    const char *cuda = strstr(lumeq_build_info(), "and CUDA ");
    if (!cuda || sscanf(cuda, "and CUDA %d.%d", &major, &minor) != 2)
        return 0;
    return major * 1000 + minor * 10;
}

typedef struct Fault {
    SectionVerdict verdict;
    const char *state, *text; /* `text`: before Driver.detail */
    const char *mend;
    int is_for_machines; /* a container needs something else */
} Fault;

static const Fault faults[] = {
    [DRIVER_NO_GPU] = {SECTION_NONE, "no-gpu", "no NVIDIA GPU; the CPU gives the same pictures",
                       "an NVIDIA GPU from 2018 or later (Turing) is faster", 1},
    [DRIVER_NONE] = {SECTION_MEND, "no-driver", "an NVIDIA GPU without a driver",
                     "sudo apt install nvidia-driver (Ubuntu: sudo ubuntu-drivers install), then "
                     "restart",
                     1},
    [DRIVER_NOT_LOADED] = {SECTION_MEND, "not-loaded",
                           "the NVIDIA driver is installed, but not loaded",
                           "sudo modprobe nvidia-uvm, or restart", 1},
    [DRIVER_NO_PERMISSION] = {SECTION_MEND, "no-permission", "no permission to use ",
                              "sudo usermod -aG video,render \"$USER\", then log in again", 1},
    [DRIVER_MISMATCH] = {SECTION_MEND, "mismatch",
                         "the NVIDIA driver was updated, but the old one still runs",
                         "restart the machine", 0},
    [DRIVER_FAILS] = {SECTION_MEND, "fails", "the NVIDIA driver does not start: ",
                      "restart the machine; then look for NVRM in dmesg", 0},
};

/* Reports a fault of the driver; returns 1 if it has no fault. */
static int say_driver(Section *s, const Driver *driver)
{
    const Fault *f = &faults[driver->state];
    if (driver->state == DRIVER_FINE)
        return 1;
    section_set(s, f->verdict, f->state, "%s%s", f->text, driver->detail);
    section_mend(s, "%s",
                 f->is_for_machines && is_in_container()
                     ? "start the container with its GPUs (docker run --gpus all; NVIDIA "
                       "Container Toolkit)"
                     : f->mend);
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
static int add_gpu(Section *s, const Driver *driver, int number, char *why, size_t size)
{
    Gpu gpu;
    int usable = 0;
    if (ask_gpu(driver, number, &gpu) < 0)
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

static void say_gpus(Section *s, const Driver *driver)
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
    Driver driver;
    const int build = build_cuda();
    ask_driver(&driver);
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
    Driver driver;
    MediaError error = {0};
    AVBufferRef *gpu = NULL;
    ask_driver(&driver);
    const int there = driver.state == DRIVER_FINE;
    if (!there) {
        section_set(s, SECTION_NONE, "no-gpu", "needs an NVIDIA GPU; the CPU decodes");
    } else if (!dlopen("libnvcuvid.so.1", RTLD_NOW | RTLD_LOCAL)) {
        section_set(s, SECTION_MEND, "no-library",
                    "the driver's decoder, libnvcuvid.so.1, is not here");
        section_mend(
            s, "%s",
            is_in_container()
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
