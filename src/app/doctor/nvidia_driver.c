#include "app/doctor/nvidia_driver.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CUDA "libcuda.so.1"

/* Constants of CUDA's driver API. */
#define NO_DEVICE 100
#define NOT_PERMITTED 800
#define SYSTEM_DRIVER_MISMATCH 803
#define ATTRIBUTE_PROCESSORS 16
#define ATTRIBUTE_MAJOR 75
#define ATTRIBUTE_MINOR 76

int nvidia_driver_has(const char *library)
{
    return dlopen(library, RTLD_NOW | RTLD_LOCAL) != NULL;
}

int nvidia_driver_in_container(void)
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
static int find(const NvidiaDriver *driver, const char *name, void *function)
{
    void *found = dlsym(driver->library, name);
    memcpy(function, &found, sizeof(found));
    return found ? 0 : -1;
}

static int initialize(NvidiaDriver *driver)
{
    int (*init)(unsigned flags), (*version)(int *version), (*count)(int *count);
    if (find(driver, "cuInit", &init) < 0 || find(driver, "cuDriverGetVersion", &version) < 0 ||
        find(driver, "cuDeviceGetCount", &count) < 0)
        return NO_DEVICE;
    (void)version(&driver->cuda); /* works even if the rest fails */
    const int ret = init(0);
    return ret ? ret : count(&driver->count);
}

static NvidiaState state_of(NvidiaDriver *driver, int result)
{
    int (*name)(int result, const char **text);
    const char *text = NULL;
    if (result == 0 && driver->count > 0)
        return NVIDIA_FINE;
    if (result == SYSTEM_DRIVER_MISMATCH)
        return NVIDIA_MISMATCH;
    driver->node = denied_node();
    if (driver->node || result == NOT_PERMITTED)
        return NVIDIA_NO_PERMISSION;
    if (!machine_has_gpu())
        return NVIDIA_NO_GPU;
    if (!*driver->version)
        return NVIDIA_NOT_LOADED;
    if (find(driver, "cuGetErrorString", &name) == 0)
        (void)name(result, &text);
    snprintf(driver->why, sizeof(driver->why), "%s (CUDA's error %d)", text ? text : "no GPU",
             result);
    return NVIDIA_FAILS;
}

void nvidia_driver_ask(NvidiaDriver *driver)
{
    *driver = (NvidiaDriver){.state = NVIDIA_NO_GPU};
    read_line("/sys/module/nvidia/version", driver->version, sizeof(driver->version));
    driver->library = dlopen(CUDA, RTLD_NOW | RTLD_LOCAL);
    if (driver->library)
        driver->state = state_of(driver, initialize(driver));
    else if (machine_has_gpu())
        driver->state = NVIDIA_NO_DRIVER;
}

int nvidia_driver_gpu(const NvidiaDriver *driver, int number, NvidiaGpu *gpu)
{
    int (*get)(int *device, int number), (*attribute)(int *value, int attribute, int device);
    int (*name)(char *name, int size, int device), (*memory)(size_t * bytes, int device);
    int device;
    size_t bytes = 0;
    *gpu = (NvidiaGpu){.name = ""};
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
