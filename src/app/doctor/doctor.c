#include "app/doctor/doctor.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/engine.h"
#include "app/run_end.h"
#include "app/sandbox.h"
#include "app/terminal.h"
#include "lumeq/lumeq.h"
#include "media/camera/camera.h"
#include "media/camera/camera_output.h"
#include "media/log.h"
#include "media/output/codec_list.h"
#include "media/printable.h"
#include "media/process.h"
#include "panel/text.h"
#include "player/desktop_check.h"
#include "run/run.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* ---- the answer of a probe ---- */

typedef enum Verdict {
    NONE, /* absent, which is no fault */
    FINE,
    MEND, /* a fault that can be fixed */
} Verdict;

typedef struct Section {
    Verdict verdict;
    char state[24];  /* "ok", "no-driver"; never changes its meaning */
    char text[1600]; /* lines for people */
    char mend[512];  /* how to fix it, in one line, or "" */

    FILE *members; /* JSON members of the section; open while the probe runs */
    int first;     /* the next member is the first of its list or object */
} Section;

/* Names of devices and drivers are escaped. */
static void print_text(char *to, size_t size, const char *format, va_list args)
{
    char raw[sizeof(((Section *)0)->text)];
    vsnprintf(raw, sizeof(raw), format, args);
    printable(to, size, raw);
}

/* `mend`: NULL if nothing has to be fixed. `text`: a printf format. */
__attribute__((format(printf, 5, 6))) static void
set(Section *s, Verdict verdict, const char *state, const char *mend, const char *text, ...)
{
    va_list args;
    va_start(args, text);
    print_text(s->text, sizeof(s->text), text, args);
    va_end(args);
    s->verdict = verdict;
    snprintf(s->state, sizeof(s->state), "%s", state);
    snprintf(s->mend, sizeof(s->mend), "%s", mend ? mend : "");
}

__attribute__((format(printf, 2, 3))) static void add_line(Section *s, const char *text, ...)
{
    const size_t n = strlen(s->text) + 1;
    va_list args;
    if (n + 1 >= sizeof(s->text))
        return;
    s->text[n - 1] = '\n';
    va_start(args, text);
    print_text(s->text + n, sizeof(s->text) - n, text, args);
    va_end(args);
}

/* Splits a sentence into text and hint: "...; do this" or "...: add yourself to a group". */
static void set_sentence(Section *s, Verdict verdict, const char *state, const char *sentence)
{
    const char *mend = strstr(sentence, "; ");
    if (!mend)
        mend = strstr(sentence, ": add yourself");
    set(s, verdict, state, mend ? mend + 2 : NULL, "%.*s",
        mend ? (int)(mend - sentence) : (int)strlen(sentence), sentence);
}

/* Prints a JSON string. The text has no control characters but line ends. */
static void print_quoted(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++)
        fprintf(to, "%s%c", *text == '"' || *text == '\\' || *text == '\n' ? "\\" : "",
                *text == '\n' ? 'n' : *text);
    fputc('"', to);
}

/* Adds a JSON value, or begins a list or object with a bracket. `key`: NULL in lists. */
__attribute__((format(printf, 3, 4))) static void add(Section *s, const char *key,
                                                      const char *value, ...)
{
    va_list args;
    fprintf(s->members, s->first ? "" : ",");
    if (key)
        fprintf(s->members, "\"%s\":", key);
    va_start(args, value);
    vfprintf(s->members, value, args);
    va_end(args);
    s->first = strchr("[{", *value) != NULL;
}

static void add_end(Section *s, char bracket)
{
    fputc(bracket, s->members);
    s->first = 0;
}

static void add_flag(Section *s, const char *key, int flag)
{
    add(s, key, "%s", flag ? "true" : "false");
}

/* NULL and "" become null. */
static void add_text(Section *s, const char *key, const char *text)
{
    char clean[1024] = "";
    add(s, key, "%s", text && *text ? "" : "null");
    if (!text || !*text)
        return;
    printable(clean, sizeof(clean), text);
    print_quoted(s->members, clean);
}

static void add_name(char *list, size_t size, const char *name)
{
    const size_t n = strlen(list);
    snprintf(list + n, size - n, "%s%s", n ? ", " : "", name);
}

/* ---- versions, the processor, the sandbox ---- */

/* The build's version of CUDA, such as "13.0", or NULL. */
static const char *build_cuda(void)
{
    const char *cuda = strstr(lumeq_build_info(), "and CUDA ");
    return cuda ? cuda + strlen("and CUDA ") : NULL;
}

static void probe_versions(Section *s)
{
    char version[32], sdl[32], ass[32];
    const char *name;
    const int own = lumeq_version();
    snprintf(version, sizeof(version), "%d.%d.%d", own / 1000000, own / 1000 % 1000, own % 1000);
    desktop_sdl_version(sdl);
    text_library_version(ass);
    set(s, FINE, "ok", NULL, "lumeq %s, %s, FFmpeg %s, SDL %s, libass %s", version,
        lumeq_build_info(), media_ffmpeg_version(), sdl, ass);
    add_text(s, "lumeq", version);
    add_text(s, "cuda", build_cuda());
    add_text(s, "ffmpeg", media_ffmpeg_version());
    for (int i = 0; (name = media_library(i, version)); i++)
        add_text(s, name, version);
    add_text(s, "sdl", sdl);
    add_text(s, "libass", ass);
}

/* Reads the first line of a file that begins with the key, without key and colon, or "". */
static void read_value(const char *path, const char *key, char *value, size_t size)
{
    char line[8192];
    FILE *file = fopen(path, "r");
    *value = '\0';
    while (file && !*value && fgets(line, sizeof(line), file))
        if (strncmp(line, key, strlen(key)) == 0) {
            const char *at = line + strlen(key);
            at += strspn(at, " \t:");
            snprintf(value, size, "%.*s", (int)strcspn(at, "\n"), at);
        }
    if (file)
        fclose(file);
}

/* True if the list, with a space before and after each word, has the word. */
static int is_among(const char *list, const char *word)
{
    char text[128];
    snprintf(text, sizeof(text), " %s ", word);
    return strstr(list, text) != NULL;
}

/* Lists processor features that kernels use. */
static void add_features(Section *s)
{
    static const char *const used =
        " sse4_2 avx2 avx512f avx512bw avx512vl avx512vbmi avx512_bitalg gfni asimd ";
    char flags[8192], *rest;
    read_value("/proc/cpuinfo", "flags", flags, sizeof(flags));
    if (!*flags) /* on ARM */
        read_value("/proc/cpuinfo", "Features", flags, sizeof(flags));
    add(s, "features", "[");
    for (char *word = strtok_r(flags, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        if (is_among(used, word))
            add_text(s, NULL, word);
    add_end(s, ']');
}

/* Opens an equalizer, and equalizes a test picture if it runs on the CPU. Returns 0, or an error
 * with `text`; in `text` is otherwise where it runs. */
static int try_equalizer(const LumeqConfig *config, char *text, size_t size)
{
    static uint8_t in[64 * 64], out[64 * 64];
    const LumeqImage image = {.width = 64, .height = 64, .depth = 8};
    LumeqFrame frame = {.in = image, .out = image};
    LumeqEqualizer *equalizer = NULL;
    frame.in.plane[0] = in;
    frame.out.plane[0] = out;
    frame.in.stride[0] = frame.out.stride[0] = 64;
    for (int i = 0; i < COUNT(in); i++)
        in[i] = (uint8_t)(64 + i % 64);
    int ret = lumeq_create(&equalizer, config, text, size);
    if (ret >= 0 && config->backend == LUMEQ_BACKEND_CPU) {
        ret = lumeq_process(equalizer, &frame, NULL);
        if (ret < 0)
            snprintf(text, size, "%s", lumeq_last_error(equalizer));
    }
    lumeq_destroy(&equalizer);
    return ret;
}

static void probe_processor(Section *s)
{
    static const char *const kernels[] = {"AVX-512", "AVX2", "SSE4.2", "NEON", "plain C"};
    char name[128], where[256];
    const LumeqConfig config = {
        .size = sizeof(config), .backend = LUMEQ_BACKEND_CPU, .cpu_without = engine_cpu_without()};
    const int ret = try_equalizer(&config, where, sizeof(where));
    int i = 0;
    while (i < COUNT(kernels) - 1 && !strstr(where, kernels[i]))
        i++;
    read_value("/proc/cpuinfo", "model name", name, sizeof(name));
    add_text(s, "name", name);
    add_features(s);
    add_text(s, "kernels", ret < 0 ? NULL : kernels[i]);
    if (ret < 0) {
        set(s, MEND, "fails", "allow more memory (ulimit -v, limits of the container)",
            "cannot equalize: %s", where);
        return;
    }
    set(s, FINE, "ok", config.cpu_without ? "unset LUMEQ_CPU_MASK" : NULL, "%s%s%s kernels", name,
        *name ? ", " : "", kernels[i]);
    if (config.cpu_without)
        add_line(s, "LUMEQ_CPU_MASK disables some instruction sets");
}

static void probe_sandbox(Section *s)
{
    Options options = options_default();
    MediaError error = {0};
    const char *lack = sandbox_lack();
    const int version = sandbox_landlock(), filters = sandbox_can_filter();
    options.null_output = 1;
    options.input = "-";
    options.sandbox = OPTIONS_AUTO;
    add(s, "landlock", "%d", version);
    add_flag(s, "seccomp", filters);
    const int ret = sandbox_enter(&options, SANDBOX_RUN, &error);
    const int reads = open("/", O_RDONLY | O_DIRECTORY) >= 0;
    const int connects = socket(AF_INET, SOCK_STREAM, 0) >= 0;
    if (ret < 0 || (version && !lack && reads) || (filters && connects))
        set(s, MEND, "fails", "update the kernel; until then: --sandbox off",
            "the kernel does not limit this process");
    else if (lack)
        set(s, NONE, version ? "no-seccomp" : "no-landlock", NULL, "%s", lack);
    else
        set(s, FINE, "ok", NULL, "Landlock %d%s: decoders reach few files%s", version,
            filters ? " and seccomp" : "", filters ? ", no programs and no sockets" : "");
}

/* ---- GPUs: queries need no CUDA toolkit, as builds without CUDA make them, too ---- */

/* Constants of CUDA's driver API. */
#define NO_DEVICE 100
#define NOT_PERMITTED 800
#define DRIVER_MISMATCH 803
#define ATTRIBUTE_PROCESSORS 16
#define ATTRIBUTE_MAJOR 75
#define ATTRIBUTE_MINOR 76

#define MAX_GPUS 64

typedef struct Driver {
    void *library;    /* stays loaded */
    char version[32]; /* "580.65.06", or "" */
    int cuda, count;  /* newest supported CUDA, such as 13000, 0 if unknown; GPUs */
} Driver;

typedef struct Gpu {
    char name[128], problem[512];
    size_t memory;
    int major, minor, processors, usable;
} Gpu;

static int is_in_container(void)
{
    return access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0 ||
           access("/run/systemd/container", F_OK) == 0 || getenv("container") ||
           getenv("NVIDIA_VISIBLE_DEVICES");
}

/* Returns how to fix a fault; a container gets its GPUs from outside. */
static const char *fix(const char *mend)
{
    return is_in_container() ? "start the container with its GPUs (docker run --gpus all; NVIDIA "
                               "Container Toolkit)"
                             : mend;
}

/* Vendor 10de is NVIDIA; classes 03 are displays and accelerators. */
static int machine_has_gpu(void)
{
    char path[512], vendor[32], class[32];
    int found = access("/dev/nvidiactl", F_OK) == 0;
    DIR *folder = opendir("/sys/bus/pci/devices");
    for (const struct dirent *entry; folder && !found && (entry = readdir(folder));) {
        snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/vendor", entry->d_name);
        read_value(path, "", vendor, sizeof(vendor));
        snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/class", entry->d_name);
        read_value(path, "", class, sizeof(class));
        found = strcmp(vendor, "0x10de") == 0 && strncmp(class, "0x03", 4) == 0;
    }
    if (folder)
        closedir(folder);
    return found;
}

/* The first device file without permission, or NULL. */
static const char *denied_node(void)
{
    static const char *const nodes[] = {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia0"};
    for (int i = 0; i < COUNT(nodes); i++) {
        const int fd = open(nodes[i], O_RDWR | O_CLOEXEC);
        if (fd >= 0)
            close(fd);
        else if (errno == EACCES || errno == EPERM)
            return nodes[i];
    }
    return NULL;
}

/* Looks up a function. Returns true if it is there. */
static int find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof(found));
    return found != NULL;
}

/* Starts the driver. Returns 0, or CUDA's error. */
static int initialize(Driver *d)
{
    int (*init)(unsigned flags), (*version)(int *version), (*count)(int *count);
    if (!find(d->library, "cuInit", &init) || !find(d->library, "cuDriverGetVersion", &version) ||
        !find(d->library, "cuDeviceGetCount", &count))
        return NO_DEVICE;
    (void)version(&d->cuda); /* works even if the rest fails */
    int ret = init(0);
    ret = ret ? ret : count(&d->count);
    return ret == 0 && d->count == 0 ? NO_DEVICE : ret;
}

/* Returns true if a GPU works; else the section says why not. */
static int open_driver(Section *s, Driver *d)
{
    int (*error_name)(int result, const char **text);
    const char *text = NULL, *node;
    *d = (Driver){.library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)};
    read_value("/sys/module/nvidia/version", "", d->version, sizeof(d->version));
    const int result = d->library ? initialize(d) : NO_DEVICE;
    if (result == 0)
        return 1;
    if (result == DRIVER_MISMATCH)
        set(s, MEND, "mismatch", "restart the machine",
            "the NVIDIA driver was updated, but the old one still runs");
    else if (d->library && ((node = denied_node()) || result == NOT_PERMITTED))
        set(s, MEND, "no-permission",
            fix("sudo usermod -aG video,render \"$USER\", then log in again"),
            "no permission to use %s", node ? node : "the GPU");
    else if (!machine_has_gpu())
        set(s, NONE, "no-gpu", fix("an NVIDIA GPU from 2018 or later (Turing) is faster"),
            "no NVIDIA GPU; the CPU gives the same pictures");
    else if (!d->library)
        set(s, MEND, "no-driver",
            fix("sudo apt install nvidia-driver (Ubuntu: sudo ubuntu-drivers install), "
                "then restart"),
            "an NVIDIA GPU without a driver");
    else if (!*d->version)
        set(s, MEND, "not-loaded", fix("sudo modprobe nvidia-uvm, or restart"),
            "the NVIDIA driver is installed, but not loaded");
    else {
        if (find(d->library, "cuGetErrorString", &error_name))
            (void)error_name(result, &text);
        set(s, MEND, "fails", "restart the machine; then look for NVRM in dmesg",
            "the NVIDIA driver does not start: %s (CUDA's error %d)", text ? text : "no GPU",
            result);
    }
    return 0;
}

/* Describes a GPU, and tries whether lumeq can load its code on it. */
static Gpu ask_gpu(const Driver *d, int number)
{
    int (*get)(int *device, int number), (*attribute)(int *value, int attribute, int device);
    int (*name)(char *name, int size, int device), (*memory)(size_t * bytes, int device);
    const LumeqConfig config = {
        .size = sizeof(config), .backend = LUMEQ_BACKEND_CUDA, .device = number};
    int device;
    Gpu gpu = {.name = ""};
    if (!find(d->library, "cuDeviceGet", &get) || !find(d->library, "cuDeviceGetName", &name) ||
        !find(d->library, "cuDeviceTotalMem_v2", &memory) ||
        !find(d->library, "cuDeviceGetAttribute", &attribute) || get(&device, number) ||
        name(gpu.name, sizeof(gpu.name), device) || memory(&gpu.memory, device) ||
        attribute(&gpu.major, ATTRIBUTE_MAJOR, device) ||
        attribute(&gpu.minor, ATTRIBUTE_MINOR, device) ||
        attribute(&gpu.processors, ATTRIBUTE_PROCESSORS, device))
        snprintf(gpu.problem, sizeof(gpu.problem), "GPU %d does not answer", number);
    else
        gpu.usable = try_equalizer(&config, gpu.problem, sizeof(gpu.problem)) >= 0;
    return gpu;
}

static void add_gpu(Section *s, const Gpu *gpu, int number)
{
    add(s, NULL, "{");
    add(s, "number", "%d", number);
    add_text(s, "name", gpu->name);
    add(s, "memory", "%zu", gpu->memory);
    add(s, "multiprocessors", "%d", gpu->processors);
    add(s, "compute_capability", "\"%d.%d\"", gpu->major, gpu->minor);
    add_flag(s, "usable", gpu->usable);
    add_text(s, "problem", gpu->usable ? NULL : gpu->problem);
    add_end(s, '}');
}

static void say_gpus(Section *s, const Driver *d)
{
    Gpu gpus[MAX_GPUS];
    const char *problem = NULL;
    const int count = d->count < MAX_GPUS ? d->count : MAX_GPUS, has_cuda = build_cuda() != NULL;
    for (int i = 0; i < count; i++) {
        gpus[i] = ask_gpu(d, i);
        add_gpu(s, &gpus[i], i);
        if (!gpus[i].usable)
            problem = gpus[i].problem;
    }
    if (has_cuda && problem && strstr(problem, "this build has no code"))
        set(s, MEND, "no-code", "build it with -DCMAKE_CUDA_ARCHITECTURES=native (from 7.5 on)",
            "this build has no code for the GPU");
    else if (has_cuda && problem)
        set(s, MEND, "fails", "nvidia-smi shows whether the GPU works; restart the machine", "%s",
            problem);
    else
        set(s, has_cuda ? FINE : MEND, has_cuda ? "ok" : "no-cuda",
            has_cuda ? NULL
                     : "install nvcc (CUDA 12 or newer) and build it again with -DLUMEQ_CUDA=ON",
            "driver %s, CUDA %d.%d", *d->version ? d->version : "of unknown version",
            d->cuda / 1000, d->cuda % 1000 / 10);
    for (int i = 0; i < count; i++)
        add_line(s, "%d: %s, %.0f GiB, compute capability %d.%d%s", i,
                 *gpus[i].name ? gpus[i].name : "?", (double)gpus[i].memory / (1 << 30),
                 gpus[i].major, gpus[i].minor, gpus[i].usable || !has_cuda ? "" : ": unusable");
    if (!has_cuda)
        add_line(s, "this build has no CUDA and uses the CPU only");
}

static void probe_gpu(Section *s)
{
    Driver d;
    char version[32] = "";
    const int build = build_cuda() ? atoi(build_cuda()) : 0, works = open_driver(s, &d);
    if (d.cuda)
        snprintf(version, sizeof(version), "%d.%d", d.cuda / 1000, d.cuda % 1000 / 10);
    add_text(s, "driver", d.version);
    add_text(s, "driver_cuda", version);
    add(s, "devices", "[");
    if (works && d.cuda / 1000 < build)
        set(s, MEND, "driver-too-old",
            build >= 13 ? "update the driver to 580 or newer" : "update the driver to 525 or newer",
            "the NVIDIA driver%s%s is too old: it knows CUDA %s, this build needs %d",
            *d.version ? " " : "", d.version, version, build);
    else if (works)
        say_gpus(s, &d);
    add_end(s, ']');
}

/* ---- NVDEC ---- */

/* CUVIDDECODECAPS, whose layout never changes. */
typedef struct DecoderCaps {
    int codec, chroma;
    unsigned depth_minus_8, reserved[3];
    uint8_t supported, more[63];
} DecoderCaps;

#define CHROMA_420 1

static const struct {
    const char *name, *decoder; /* in FFmpeg */
    int codec;                  /* cudaVideoCodec */
    unsigned depth;
} nvdec_codecs[] = {
    {"h264", "h264", 4, 8}, {"hevc", "hevc", 8, 8},         {"hevc 10 bits", "hevc", 8, 10},
    {"vp8", "vp8", 9, 8},   {"vp9", "vp9", 10, 8},          {"vp9 10 bits", "vp9", 10, 10},
    {"av1", "av1", 11, 8},  {"av1 10 bits", "av1", 11, 10},
};

/* Gives this thread a context on the first GPU, and asks for each codec. */
static void ask_nvdec(Section *s, void *cuda, void *cuvid)
{
    int (*get)(int *device, int number), (*retain)(void **context, int device);
    int (*use)(void *context), (*caps)(DecoderCaps * caps);
    char works[256] = "", fails[256] = "";
    void *context = NULL;
    int device, in_ffmpeg = 0;
    if (!find(cuda, "cuDeviceGet", &get) || !find(cuda, "cuDevicePrimaryCtxRetain", &retain) ||
        !find(cuda, "cuCtxPushCurrent_v2", &use) || !find(cuvid, "cuvidGetDecoderCaps", &caps) ||
        get(&device, 0) || retain(&context, device) || use(context)) {
        set(s, MEND, "fails", "restart the machine, or update the driver",
            "the driver's decoder cannot open the GPU");
        return;
    }
    for (int i = 0; i < COUNT(nvdec_codecs); i++) {
        DecoderCaps asked = {.codec = nvdec_codecs[i].codec,
                             .chroma = CHROMA_420,
                             .depth_minus_8 = nvdec_codecs[i].depth - 8};
        const int known = codec_list_has_nvdec(nvdec_codecs[i].decoder);
        const int fine = known && caps(&asked) == 0 && asked.supported;
        in_ffmpeg |= known;
        add_name(fine ? works : fails, sizeof(works), nvdec_codecs[i].name);
        add_flag(s, nvdec_codecs[i].name, fine);
    }
    if (!in_ffmpeg)
        set(s, MEND, "fails", "install an FFmpeg with ffnvcodec (Debian's has it)",
            "this FFmpeg cannot use the GPU's decoder");
    else if (*works)
        set(s, FINE, "ok", NULL, "decodes %s%s%s", works, *fails ? "; not " : "", fails);
    else
        set(s, NONE, "none", NULL, "decodes no usual codec");
}

static void probe_nvdec(Section *s)
{
    Driver d;
    const int works = open_driver(s, &d);
    void *cuvid = works ? dlopen("libnvcuvid.so.1", RTLD_NOW | RTLD_LOCAL) : NULL;
    add(s, "codecs", "{");
    if (!works)
        set(s, NONE, "no-gpu", NULL, "needs an NVIDIA GPU; the CPU decodes");
    else if (!cuvid)
        set(s, MEND, "no-library",
            is_in_container()
                ? "start the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility,video"
                : "sudo apt install libnvcuvid1 (Ubuntu: libnvidia-decode-NNN)",
            "the driver's decoder, libnvcuvid.so.1, is not here");
    else
        ask_nvdec(s, d.library, cuvid);
    add_end(s, '}');
}

/* ---- encoders ---- */

static void probe_encoders(Section *s)
{
    static const char *const usual =
        " libx264 libx265 libsvtav1 libaom-av1 libvpx-vp9 ffv1 prores_ks mpeg4 ";
    static const char *const mend =
        "install an FFmpeg with libx264 (Debian, Ubuntu: sudo apt install ffmpeg)";
    char list[512] = "";
    void *at = NULL;
    const AVCodec *codec;
    int others = 0, has_h264 = 0;
    add(s, "names", "[");
    while ((codec = codec_list_next(&at, 0))) {
        add_text(s, NULL, codec->name);
        if (is_among(usual, codec->name))
            add_name(list, sizeof(list), codec->name);
        else
            others++;
        has_h264 |= strcmp(codec->name, "libx264") == 0;
    }
    add_end(s, ']');
    if (!*list && !others)
        set(s, MEND, "none", mend, "FFmpeg has no video encoder here");
    else if (has_h264)
        set(s, FINE, "ok", NULL, "%s, and %d others", list, others);
    else
        set(s, MEND, "no-h264", mend,
            "no libx264, the default for mp4 and mkv; available: %s, and %d others", list, others);
}

static void probe_hardware_encoders(Section *s)
{
    char works[512] = "";
    void *at = NULL;
    const AVCodec *codec;
    int all = 0;
    add(s, "encoders", "[");
    for (; (codec = codec_list_next(&at, 1)); all++) {
        MediaError error = {0};
        const int fine = codec_list_try(codec, &error) >= 0;
        add(s, NULL, "{");
        add_text(s, "name", codec->name);
        add_flag(s, "usable", fine);
        add_text(s, "problem", fine ? NULL : error.text);
        add_end(s, '}');
        if (fine)
            add_name(works, sizeof(works), codec->name);
    }
    add_end(s, ']');
    if (*works)
        set(s, FINE, "ok", NULL, "%s", works);
    else
        set(s, NONE, "none", "a GPU with NVENC, Quick Sync or the like, and its driver",
            "no usable one among %d; the CPU encodes", all);
}

/* ---- cameras ---- */

static void probe_cameras(Section *s)
{
    MediaError error = {0};
    CameraDevice *devices = NULL;
    const char *problem = NULL;
    const int count = camera_list_devices(&devices, &error);
    add(s, "devices", "[");
    for (int i = 0; i < count; i++) {
        const CameraDevice *d = &devices[i];
        add(s, NULL, "{");
        add_text(s, "path", d->path);
        add_text(s, "name", d->name);
        add_text(s, "bus", d->bus);
        add_flag(s, "usable", !*d->problem);
        add_text(s, "problem", d->problem);
        add_end(s, '}');
        problem = *d->problem && !problem ? d->problem : problem;
    }
    add_end(s, ']');
    if (count < 0)
        set(s, MEND, "fails", NULL, "%s", error.text);
    else if (count == 0)
        set(s, NONE, "none", "plug one in; start a container with --device /dev/video0",
            "none connected");
    else if (problem)
        set_sentence(s, MEND, strstr(problem, "permission") ? "no-permission" : "unusable",
                     problem);
    else
        set(s, FINE, "ok", NULL, "%s: %s", devices[0].path, devices[0].name);
    for (int i = problem ? 0 : 1; i < count; i++)
        if (!*devices[i].problem)
            add_line(s, "%s: %s", devices[i].path, devices[i].name);
    camera_free(&devices);
}

static void probe_virtual_camera(Section *s)
{
    static const char *const load = "sudo modprobe v4l2loopback exclusive_caps=1";
    MediaError error = {0};
    CameraOutput *output = NULL;
    const int ret = camera_output_open(&output, NULL, &error);
    const int denied = ret < 0 && strstr(error.text, "permission");
    const int loaded = access("/sys/module/v4l2loopback", F_OK) == 0;
    const char *path = ret < 0 ? NULL : camera_output_path(output);
    add_text(s, "path", path);
    add_flag(s, "pipewire", ret >= 0 && !path);
    add_flag(s, "v4l2loopback", loaded);
    if (ret >= 0)
        set(s, FINE, "ok", NULL, "%s%s", path ? path : "by PipeWire",
            path ? ", by v4l2loopback" : "");
    else if (ret == MEDIA_USAGE)
        set_sentence(s, NONE, "none", error.text);
    else if (denied && !loaded)
        set(s, NONE, "none", load, "PipeWire does not run, and v4l2loopback is not loaded");
    else
        set_sentence(s, MEND, denied ? "no-permission" : "busy", error.text);
    if (!*s->mend && ret < 0)
        snprintf(s->mend, sizeof(s->mend), "%s", load);
    camera_output_close(&output);
}

/* ---- the window's display and sound ---- */

static void probe_display(Section *s)
{
    const char *x11 = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    const char *given = wayland && *wayland ? wayland : x11;
    DesktopDisplay display;
    desktop_check_display(&display);
    add_text(s, "driver", display.driver);
    add_text(s, "vendor", display.vendor);
    add_text(s, "renderer", display.renderer);
    add_text(s, "version", display.version);
    add_flag(s, "software", display.software);
    if (display.state == DESKTOP_NO_OPENGL) {
        set(s, MEND, "no-opengl",
            "sudo apt install libgl1-mesa-dri, or the driver of the GPU's maker", "%s",
            display.why);
    } else if (display.state == DESKTOP_NO_DISPLAY && given && *given) {
        set(s, MEND, "no-display", "is it running, and may you use it (xhost, XAUTHORITY)?",
            "%s: %s cannot be opened", given == x11 ? "DISPLAY" : "WAYLAND_DISPLAY", given);
    } else if (display.state == DESKTOP_NO_DISPLAY) {
        set(s, NONE, "no-display", "start it in a desktop session, or by ssh -X",
            "there is no display; files are written without one");
    } else {
        set(s, FINE, "ok",
            display.software
                ? "the CPU draws, which is enough for 1080p: install the GPU's driver for more"
                : NULL,
            "OpenGL %s on %s", display.version, display.driver);
        add_line(s, "%s, %s", display.renderer, display.vendor);
    }
}

static void probe_sound(Section *s)
{
    DesktopSound sound;
    desktop_check_sound(&sound);
    const int made_up = strcmp(sound.driver, "dummy") == 0 || strcmp(sound.driver, "disk") == 0;
    const int named = sound.count < DESKTOP_SOUNDS ? sound.count : DESKTOP_SOUNDS;
    const int count = made_up ? 0 : named;
    add_text(s, "driver", sound.driver);
    add(s, "devices", "[");
    for (int i = 0; i < count; i++)
        add_text(s, NULL, sound.names[i]);
    add_end(s, ']');
    if (!count)
        set(s, NONE, "none",
            "start PipeWire or PulseAudio, or plug in a sound device; a container is given it "
            "with --device /dev/snd",
            "no sound device is here; the window plays without");
    else
        set(s, FINE, "ok", NULL, "%s, by %s", sound.names[0], sound.driver);
    for (int i = 1; i < count; i++)
        add_line(s, "%s", sound.names[i]);
}

/* ---- processes: drivers may hang or crash, so each probe has one ---- */

/* A working driver answers within this time, even if the machine sleeps. */
#define SECONDS 20

#define MAX_ANSWER 65536

/* How long to wait for a killed probe, which may hang in the kernel forever. */
#define KILL_WAIT_MS 500

typedef struct Probe {
    const char *key, *name; /* in JSON, and in text */
    void (*run)(Section *section);
    const char *mend; /* if it hangs or crashes */
    int needed;       /* lumeq does not work without it */
} Probe;

static const Probe probes[] = {
    {"processor", "Processor", probe_processor, "build lumeq on this machine", 1},
    {"sandbox", "Sandbox", probe_sandbox, "until then: --sandbox off", 0},
    {"gpu", "GPU", probe_gpu, "restart the machine; until then: --backend cpu", 0},
    {"nvdec", "NVDEC", probe_nvdec, "restart the machine, or install another driver", 0},
    {"encoders", "Encoders", probe_encoders, "install FFmpeg's libraries again", 1},
    {"hardware_encoders", "  hardware", probe_hardware_encoders, "use the CPU: libx264, libx265",
     0},
    {"cameras", "Cameras", probe_cameras, "unplug the camera, and plug it in again", 0},
    {"virtual_camera", "  virtual", probe_virtual_camera,
     "sudo modprobe -r v4l2loopback, then sudo modprobe v4l2loopback exclusive_caps=1", 0},
    {"display", "Display", probe_display,
     "install another OpenGL driver; until then: LIBGL_ALWAYS_SOFTWARE=1", 0},
    {"sound", "Sound", probe_sound, "restart the sound server; until then: --no-audio", 0},
    {"versions", "Versions", probe_versions, "install lumeq's libraries again", 1},
};

#define PROBES COUNT(probes)

typedef struct Answer {
    Section section;
    char members[MAX_ANSWER]; /* of the section's JSON object */
} Answer;

/* In the child: writes the section, then the members of its object. */
static int answer(void *probe, int output)
{
    Section section = {.verdict = NONE, .first = 1};
    const struct rlimit none = {0, 0};
    const int null = open("/dev/null", O_RDWR);
    char *members = NULL;
    size_t size = 0;
    section.members = open_memstream(&members, &size);
    if (!section.members)
        _exit(1);
    for (int fd = 0; null >= 0 && fd <= 2; fd++)
        (void)dup2(null, fd); /* libraries print messages */
    (void)setrlimit(RLIMIT_CORE, &none);
    ((const Probe *)probe)->run(&section);
    const int failed = fclose(section.members) != 0 ||
                       write(output, &section, sizeof(section)) != sizeof(section) ||
                       write(output, members, size) != (ssize_t)size;
    _exit(failed); /* skip exit handlers of drivers */
}

/* Takes the answer of a probe, or reports that it hangs or crashed. */
static void finish(Answer *a, const Probe *probe, Process *process, double seconds, double end_us)
{
    size_t size = 0;
    Section *s = &a->section;
    if (!process->pid) {
        set(s, MEND, "unknown", probe->mend, "cannot start a process to find out");
        return;
    }
    const int left = (int)((end_us - run_now_us()) * 1e-3);
    const int ended = process_read_all(process, a, sizeof(*a) - 1, &size, left);
    const int status = process_wait(process, KILL_WAIT_MS);
    if (ended && status <= 0 && size >= sizeof(*s)) /* -1: SIGCHLD is ignored */
        return;
    *a->members = '\0';
    if (!ended)
        set(s, MEND, "hangs", probe->mend, "no answer within %g s: a driver hangs", seconds);
    else if (status > 0 && WIFSIGNALED(status))
        set(s, MEND, "crashes", probe->mend, "the probe crashed (%s): a driver is broken",
            strsignal(WTERMSIG(status)));
    else
        set(s, MEND, "crashes", probe->mend, "the probe crashed: a driver is broken");
}

/* Runs all probes at once. */
static void run_probes(Answer answers[PROBES])
{
    Process processes[PROBES];
    /* For slow drivers and fast tests. */
    const char *given = getenv("LUMEQ_DOCTOR_SECONDS");
    double seconds = given ? strtod(given, NULL) : 0;
    seconds = seconds > 0 && seconds < 3600 ? seconds : SECONDS;
    const double end_us = run_now_us() + seconds * 1e6;
    fflush(NULL);
    for (int i = 0; i < PROBES; i++) {
        const ProcessOptions options = {.body = answer, .opaque = (void *)&probes[i]};
        (void)process_start(&processes[i], &options);
    }
    for (int i = 0; i < PROBES; i++)
        finish(&answers[i], &probes[i], &processes[i], seconds, end_us);
}

/* ---- output ---- */

#define MIN_WIDTH 44
#define MAX_WIDTH 100 /* longer lines are hard to read */
#define INDENT 22     /* column of the findings */

/* True if lumeq can equalize and encode. */
static int works(const Answer answers[PROBES])
{
    for (int i = 0; i < PROBES; i++) {
        const Section *s = &answers[i].section;
        if (probes[i].needed && s->verdict != FINE && strcmp(s->state, "no-h264") != 0)
            return 0;
    }
    return 1;
}

static const char *paint(int colors, SayPaint color)
{
    return colors ? say_paint(color) : "";
}

static void print_section(const char *name, const Section *s, int width, int colors)
{
    static const char *const words[] = {[NONE] = "--", [FINE] = "ok", [MEND] = "!!"};
    static const SayPaint paints[] = {
        [NONE] = PAINT_FAINT, [FINE] = PAINT_GOOD, [MEND] = PAINT_WARNING};
    char text[sizeof(s->text)], *rest = text, *line;
    memcpy(text, s->text, sizeof(text));
    printf("  %s%s%s  %-14s  ", paint(colors, paints[s->verdict]), words[s->verdict],
           paint(colors, PAINT_OFF), name);
    for (int i = 0; (line = strsep(&rest, "\n")) && (*line || rest); i++) {
        printf("%*s", i ? INDENT : 0, "");
        say_wrapped(line, INDENT, INDENT, width);
    }
    if (!*s->mend)
        return;
    printf("%*s%s> ", INDENT, "", paint(colors, s->verdict == MEND ? PAINT_BAR : PAINT_FAINT));
    say_wrapped(s->mend, INDENT + 2, INDENT + 2, width);
    fputs(paint(colors, PAINT_OFF), stdout);
}

static void print_as_text(const Answer answers[PROBES], int fine, int colors)
{
    int width = say_columns(STDOUT_FILENO), wrong = 0;
    width = width < MIN_WIDTH ? MIN_WIDTH : width;
    width = width > MAX_WIDTH ? MAX_WIDTH : width;
    putchar('\n');
    for (int i = 0; i < PROBES; i++) {
        print_section(probes[i].name, &answers[i].section, width, colors);
        wrong += answers[i].section.verdict == MEND;
    }
    printf("\n  %slumeq %s here%s", paint(colors, fine ? PAINT_GOOD : PAINT_ERROR),
           fine ? "works" : "does not work", paint(colors, PAINT_OFF));
    if (wrong)
        printf("; %d thing%s can be fixed, see !! above", wrong, wrong == 1 ? "" : "s");
    puts(".\n");
}

static void print_as_json(const Answer answers[PROBES], int fine)
{
    static const char *const verdicts[] = {[NONE] = "none", [FINE] = "ok", [MEND] = "mend"};
    printf("{\"works\":%s", fine ? "true" : "false");
    for (int i = 0; i < PROBES; i++) {
        const Section *s = &answers[i].section;
        printf(",\n\"%s\":{\"verdict\":\"%s\",\"state\":\"%s\",\"text\":", probes[i].key,
               verdicts[s->verdict], s->state);
        print_quoted(stdout, s->text);
        fputs(",\"mend\":", stdout);
        if (*s->mend)
            print_quoted(stdout, s->mend);
        else
            fputs("null", stdout);
        printf("%s%s}", *answers[i].members ? "," : "", answers[i].members);
    }
    puts("}");
}

int doctor_run(int json, int colors)
{
    Answer *answers = calloc(PROBES, sizeof(*answers));
    if (!answers)
        return EXIT_USAGE;
    run_probes(answers);
    const int fine = works(answers);
    if (json)
        print_as_json(answers, fine);
    else
        print_as_text(answers, fine, colors || isatty(STDOUT_FILENO));
    free(answers);
    return fine ? EXIT_DONE : EXIT_USAGE;
}
