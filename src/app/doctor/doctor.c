#include "app/doctor/doctor.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
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
#include "media/camera/camera_output.h"
#include "media/log.h"
#include "media/output/codec_list.h"
#include "media/printable.h"
#include "media/process.h"
#include "panel/text.h"
#include "player/window.h"
#include "run/run.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define MAX_GPUS 16 /* more are not listed */

/* ---- what a probe found ---- */

typedef enum Verdict {
    ABSENT, /* missing, but not a fault */
    WORKS,
    BROKEN, /* a fault that can be fixed */
} Verdict;

typedef struct Section {
    Verdict verdict;
    char state[24];  /* a word such as "no-driver", whose meaning never changes */
    char text[1600]; /* one or more lines for people */
    char hint[512];  /* how to fix it, in one line, or "" */
} Section;

/* Appends a line of text unless the line is empty; escapes control characters. If `state` is not
 * NULL, also sets verdict, state and hint (may be NULL). */
__attribute__((format(printf, 5, 6))) static void
put(Section *s, Verdict verdict, const char *state, const char *hint, const char *format, ...)
{
    char raw[sizeof(s->text)];
    const size_t n = strlen(s->text), at = n + (n > 0);
    va_list args;
    if (state) {
        s->verdict = verdict;
        snprintf(s->state, sizeof(s->state), "%s", state);
        snprintf(s->hint, sizeof(s->hint), "%s", hint ? hint : "");
    }
    va_start(args, format);
    vsnprintf(raw, sizeof(raw), format, args);
    va_end(args);
    if (!*raw || at + 1 >= sizeof(s->text))
        return;
    if (n)
        s->text[n] = '\n';
    printable(s->text + at, sizeof(s->text) - at, raw);
}

#define LINE ABSENT, NULL, NULL /* makes put() only append a line of text */

/* Splits "PROBLEM; HINT" or "PROBLEM: add yourself to ..." into text and hint. */
static void put_sentence(Section *s, Verdict verdict, const char *state, const char *sentence)
{
    const char *hint = strstr(sentence, "; ");
    if (!hint)
        hint = strstr(sentence, ": add yourself");
    put(s, verdict, state, hint ? hint + 2 : NULL, "%.*s",
        hint ? (int)(hint - sentence) : (int)strlen(sentence), sentence);
}

static void add_name(char *list, size_t size, const char *name)
{
    const size_t n = strlen(list);
    snprintf(list + n, size - n, "%s%s", n ? ", " : "", name);
}

/* ---- versions, the processor, the sandbox ---- */

static void probe_versions(Section *s)
{
    char sdl[32], ass[32];
    const int own = lumeq_version();
    desktop_sdl_version(sdl);
    text_library_version(ass);
    put(s, WORKS, "ok", NULL, "lumeq %d.%d.%d, %s, FFmpeg %s, SDL %s, libass %s", own / 1000000,
        own / 1000 % 1000, own % 1000, lumeq_build_info(), media_ffmpeg_version(), sdl, ass);
}

/* Finds the first line that begins with `key`. `value` gets the line's rest, after blanks and a
 * colon; "" if no line begins with `key`. */
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

/* Opens an equalizer and, on the CPU, equalizes a test picture. Returns 0 or an error. `text` gets
 * the place where the equalizer runs, or the error's reason. */
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
    if (ret < 0) {
        put(s, BROKEN, "fails", "raise the memory limit (ulimit -v, or the container's)",
            "cannot equalize: %s", where);
        return;
    }
    put(s, WORKS, "ok", config.cpu_without ? "unset LUMEQ_CPU_MASK" : NULL, "%s%s%s kernels", name,
        *name ? ", " : "", kernels[i]);
    if (config.cpu_without)
        put(s, LINE, "LUMEQ_CPU_MASK disables some instruction sets");
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
    const int ret = sandbox_enter(&options, SANDBOX_RUN, &error);
    const int reads = open("/", O_RDONLY | O_DIRECTORY) >= 0;
    const int connects = socket(AF_INET, SOCK_STREAM, 0) >= 0;
    if (ret < 0 || (version && !lack && reads) || (filters && connects))
        put(s, BROKEN, "fails", "update the kernel, or use --sandbox off",
            "the kernel does not enforce the sandbox");
    else if (lack)
        put(s, ABSENT, version ? "no-seccomp" : "no-landlock", NULL, "%s", lack);
    else
        put(s, WORKS, "ok", NULL, "Landlock %d%s: decoders reach few files%s", version,
            filters ? " and seccomp" : "", filters ? ", no programs and no sockets" : "");
}

/* ---- GPUs ---- */

static bool is_in_container(void)
{
    return access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0 ||
           access("/run/systemd/container", F_OK) == 0 || getenv("container") ||
           getenv("NVIDIA_VISIBLE_DEVICES");
}

/* NVIDIA is PCI vendor 10de; class 03 has display and 3D controllers. */
static bool machine_has_gpu(void)
{
    char path[512], vendor[32], class[32];
    bool found = access("/dev/nvidiactl", F_OK) == 0;
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

static bool is_denied(const char *node)
{
    const int fd = open(node, O_RDWR | O_CLOEXEC);
    const bool denied = fd < 0 && (errno == EACCES || errno == EPERM);
    if (fd >= 0)
        close(fd);
    return denied;
}

/* Finds out why no GPU is usable. `why`: the library's reason. */
static void put_no_gpu(Section *s, const char *why)
{
    const char *hint = "update the driver, or restart the machine; nvidia-smi shows if it works";
    if (!machine_has_gpu())
        put(s, ABSENT, "no-gpu", "for more speed, add an NVIDIA GPU from 2018 or later (Turing)",
            "no NVIDIA GPU; the CPU computes the same pictures");
    else if (is_denied("/dev/nvidiactl") || is_denied("/dev/nvidia-uvm"))
        put(s, BROKEN, "no-permission",
            "sudo usermod -aG video,render \"$USER\", then log in again",
            "no permission to use the GPU");
    else if (!dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL))
        put(s, BROKEN, "no-driver",
            "sudo apt install nvidia-driver (Ubuntu: sudo ubuntu-drivers install), then restart",
            "the driver of the NVIDIA GPU is not installed");
    else if (!strstr(lumeq_build_info(), "and CUDA "))
        put(s, BROKEN, "no-cuda",
            "install nvcc (CUDA 12 or newer) and rebuild lumeq with -DLUMEQ_CUDA=ON",
            "this build has no CUDA and uses the CPU only");
    else
        put(s, BROKEN, "fails", hint, "%s", why);
    if (is_in_container() && strcmp(s->state, "no-cuda") != 0)
        snprintf(s->hint, sizeof(s->hint),
                 "start the container with docker run --gpus all, which needs the NVIDIA "
                 "Container Toolkit");
}

static void probe_gpu(Section *s)
{
    LumeqGpu gpus[MAX_GPUS] = {{.size = sizeof(gpus[0])}};
    char why[512], version[32];
    const int count = FFMIN(lumeq_list_gpus(gpus, MAX_GPUS, why, sizeof(why)), MAX_GPUS);
    if (count <= 0) {
        put_no_gpu(s, count < 0 ? why : "no GPU");
        return;
    }
    read_value("/sys/module/nvidia/version", "", version, sizeof(version));
    put(s, WORKS, "ok", NULL, "driver %s", *version ? version : "of unknown version");
    for (int i = 0; i < count; i++) {
        const LumeqConfig config = {
            .size = sizeof(config), .backend = LUMEQ_BACKEND_CUDA, .device = i};
        const bool works = try_equalizer(&config, why, sizeof(why)) >= 0;
        put(s, LINE, "%d: %s%s%s", i, gpus[i].name, works ? "" : ": unusable: ", works ? "" : why);
        if (!works)
            put(s, BROKEN, "fails",
                "nvidia-smi shows whether the GPU works; update the driver, or build lumeq for "
                "this GPU (-DCMAKE_CUDA_ARCHITECTURES=native)",
                "%s", "");
    }
}

/* ---- NVDEC ---- */

/* NVIDIA's CUVIDDECODECAPS, whose layout is stable. */
typedef struct DecoderCaps {
    int codec, chroma;
    unsigned depth_minus_8, reserved[3];
    uint8_t supported, more[63];
} DecoderCaps;

#define CHROMA_420 1 /* cudaVideoChromaFormat_420 */

static const struct {
    const char *name; /* as in FFmpeg */
    int codec, depth; /* a cudaVideoCodec; the greatest depth to ask for, in bits */
} nvdec_codecs[] = {
    {"h264", 4, 8}, {"hevc", 8, 10}, {"vp8", 9, 8}, {"vp9", 10, 10}, {"av1", 11, 10}};

/* Looks up a function of `library`, which may be NULL. Returns false if the function is missing. */
static bool find(void *library, const char *name, void *function)
{
    void *found = library ? dlsym(library, name) : NULL;
    memcpy(function, &found, sizeof(found));
    return found != NULL;
}

/* Asks the first GPU's NVDEC about each codec and depth. This needs a CUDA context. */
static void probe_nvdec(Section *s)
{
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *cuvid = dlopen("libnvcuvid.so.1", RTLD_NOW | RTLD_LOCAL), *context = NULL;
    int (*init)(unsigned flags), (*get)(int *device, int number), (*use)(void *context);
    int (*retain)(void **context, int device), (*caps)(DecoderCaps * caps), device;
    char works[256] = "", fails[256] = "";
    bool in_ffmpeg = false;
    if (!find(cuda, "cuInit", &init) || init(0) || !find(cuda, "cuDeviceGet", &get) ||
        get(&device, 0)) {
        put(s, ABSENT, "no-gpu", NULL, "needs an NVIDIA GPU; the CPU decodes instead");
        return;
    }
    if (!find(cuvid, "cuvidGetDecoderCaps", &caps)) {
        put(s, BROKEN, "no-library",
            is_in_container()
                ? "start the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility,video"
                : "sudo apt install libnvcuvid1 (Ubuntu: libnvidia-decode-NNN)",
            "the driver's decoder, libnvcuvid.so.1, is missing");
        return;
    }
    const bool is_open = find(cuda, "cuDevicePrimaryCtxRetain", &retain) &&
                         find(cuda, "cuCtxPushCurrent_v2", &use) && !retain(&context, device) &&
                         !use(context);
    for (int i = 0; i < COUNT(nvdec_codecs); i++) {
        const bool known = codec_list_has_nvdec(nvdec_codecs[i].name);
        in_ffmpeg |= known;
        for (int depth = 8; depth <= nvdec_codecs[i].depth; depth += 2) {
            DecoderCaps asked = {.codec = nvdec_codecs[i].codec,
                                 .chroma = CHROMA_420,
                                 .depth_minus_8 = (unsigned)depth - 8};
            char *list = is_open && known && !caps(&asked) && asked.supported ? works : fails;
            add_name(list, sizeof(works), nvdec_codecs[i].name);
            if (depth > 8)
                strcat(list, " 10 bits");
        }
    }
    if (!is_open)
        put(s, BROKEN, "fails", "restart the machine, or update the driver",
            "cannot create a CUDA context");
    else if (!in_ffmpeg)
        put(s, BROKEN, "fails", "install an FFmpeg with ffnvcodec (Debian's has it)",
            "this FFmpeg cannot use the GPU's decoder");
    else if (*works)
        put(s, WORKS, "ok", NULL, "decodes %s%s%s", works, *fails ? "; not " : "", fails);
    else
        put(s, ABSENT, "none", NULL, "the GPU decodes no common codec; the CPU decodes instead");
}

/* ---- encoders ---- */

static void probe_encoders(Section *s)
{
    static const char *const hint =
        "install an FFmpeg with libx264 (Debian, Ubuntu: sudo apt install ffmpeg)";
    void *at = NULL;
    const AVCodec *codec;
    int others = 0, has_h264 = 0;
    while ((codec = codec_list_next(&at, 0))) {
        const int is_h264 = strcmp(codec->name, "libx264") == 0;
        has_h264 |= is_h264;
        others += !is_h264;
    }
    if (has_h264)
        put(s, WORKS, "ok", NULL, "libx264, and %d others (lumeq --vcodec help)", others);
    else if (others)
        put(s, BROKEN, "no-h264", hint,
            "no libx264, the default for mp4 and mkv; there are %d others", others);
    else
        put(s, BROKEN, "none", hint, "this FFmpeg has no video encoder");
}

static void probe_hardware_encoders(Section *s)
{
    char works[512] = "";
    void *at = NULL;
    const AVCodec *codec;
    int all = 0;
    for (; (codec = codec_list_next(&at, 1)); all++) {
        MediaError error = {0};
        if (codec_list_try(codec, &error) >= 0)
            add_name(works, sizeof(works), codec->name);
    }
    if (*works)
        put(s, WORKS, "ok", NULL, "%s", works);
    else
        put(s, ABSENT, "none", "to encode on a GPU, add one with NVENC, Quick Sync or similar",
            "all %d are unusable here; the CPU encodes instead", all);
}

/* ---- cameras ---- */

static void probe_cameras(Section *s)
{
    MediaError error = {0};
    CameraDevice *devices = NULL;
    const char *problem = NULL;
    const int count = camera_list_devices(&devices, &error);
    for (int i = 0; i < count && !problem; i++)
        problem = *devices[i].problem ? devices[i].problem : NULL;
    if (count < 0)
        put(s, BROKEN, "fails", NULL, "%s", error.text);
    else if (count == 0)
        put(s, ABSENT, "none", "connect one; a container needs --device /dev/video0",
            "none connected");
    else if (problem)
        put_sentence(s, BROKEN, strstr(problem, "permission") ? "no-permission" : "unusable",
                     problem);
    else
        put(s, WORKS, "ok", NULL, "%s: %s", devices[0].path, devices[0].name);
    for (int i = problem ? 0 : 1; i < count; i++)
        if (!*devices[i].problem)
            put(s, LINE, "%s: %s", devices[i].path, devices[i].name);
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
    if (ret >= 0)
        put(s, WORKS, "ok", NULL, "%s%s", path ? path : "by PipeWire",
            path ? ", by v4l2loopback" : "");
    else if (ret == MEDIA_USAGE)
        put_sentence(s, ABSENT, "none", error.text);
    else if (denied && !loaded)
        put(s, ABSENT, "none", load, "PipeWire is not running, and v4l2loopback is not loaded");
    else
        put_sentence(s, BROKEN, denied ? "no-permission" : "busy", error.text);
    if (!*s->hint && ret < 0)
        snprintf(s->hint, sizeof(s->hint), "%s", load);
    camera_output_close(&output);
}

/* ---- the window's display and sound ---- */

static void probe_display(Section *s)
{
    const char *x11 = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    const char *given = wayland && *wayland ? wayland : x11;
    DesktopDisplay display;
    desktop_check_display(&display);
    if (display.state == DESKTOP_NO_OPENGL) {
        put(s, BROKEN, "no-opengl",
            "sudo apt install libgl1-mesa-dri, or install the GPU vendor's driver", "%s",
            display.why);
    } else if (display.state == DESKTOP_NO_DISPLAY && given && *given) {
        put(s, BROKEN, "no-display", "start this display server, or get access (xhost, XAUTHORITY)",
            "cannot connect to %s=%s", given == x11 ? "DISPLAY" : "WAYLAND_DISPLAY", given);
    } else if (display.state == DESKTOP_NO_DISPLAY) {
        put(s, ABSENT, "no-display", "start lumeq in a desktop session, or over ssh -X",
            "there is no display for the window; writing files needs none");
    } else {
        put(s, WORKS, "ok",
            display.software
                ? "the CPU renders, fast enough for 1080p; for more, install the GPU's driver"
                : NULL,
            "OpenGL %s on %s", display.version, display.driver);
        put(s, LINE, "%s, %s", display.renderer, display.vendor);
    }
}

static void probe_sound(Section *s)
{
    DesktopSound sound;
    desktop_check_sound(&sound);
    const int is_dummy = strcmp(sound.driver, "dummy") == 0 || strcmp(sound.driver, "disk") == 0;
    const int named = sound.count < DESKTOP_SOUNDS ? sound.count : DESKTOP_SOUNDS;
    const int count = is_dummy ? 0 : named;
    if (!count)
        put(s, ABSENT, "none",
            "start PipeWire or PulseAudio, or connect a sound device; a container "
            "needs --device /dev/snd",
            "no sound device found; the window plays without sound");
    else
        put(s, WORKS, "ok", NULL, "%s, by %s", sound.names[0], sound.driver);
    for (int i = 1; i < count; i++)
        put(s, LINE, "%s", sound.names[i]);
}

/* ---- processes: drivers may hang or crash, so each probe has one ---- */

/* A working driver answers within this time, even if it has to wake its device. */
#define SECONDS 20

/* How long to wait for a killed probe, which may hang in the kernel forever. */
#define KILL_WAIT_MS 500

typedef struct Probe {
    const char *key, *name; /* in JSON, and in text */
    void (*run)(Section *section);
    const char *hint; /* what to do if the probe hangs or crashes */
    int needed;       /* lumeq does not work without it */
} Probe;

static const Probe probes[] = {
    {"processor", "Processor", probe_processor, "build lumeq on this machine", 1},
    {"sandbox", "Sandbox", probe_sandbox, "update the kernel, or use --sandbox off", 0},
    {"gpu", "GPU", probe_gpu, "restart the machine, or use --backend cpu", 0},
    {"nvdec", "NVDEC", probe_nvdec, "restart the machine, or install another driver", 0},
    {"encoders", "Encoders", probe_encoders, "reinstall FFmpeg's libraries", 1},
    {"hardware_encoders", "  hardware", probe_hardware_encoders,
     "use an encoder on the CPU: libx264, libx265", 0},
    {"cameras", "Cameras", probe_cameras, "unplug the camera, and plug it in again", 0},
    {"virtual_camera", "  virtual", probe_virtual_camera,
     "sudo modprobe -r v4l2loopback, then sudo modprobe v4l2loopback exclusive_caps=1", 0},
    {"display", "Display", probe_display,
     "install another OpenGL driver, or set LIBGL_ALWAYS_SOFTWARE=1", 0},
    {"sound", "Sound", probe_sound, "restart the sound server, or use --no-audio", 0},
    {"versions", "Versions", probe_versions, "reinstall FFmpeg, SDL and libass", 1},
};

#define PROBES COUNT(probes)

/* In the child: runs the probe and writes its section to `output`. */
static int answer(void *probe, int output)
{
    Section section = {.verdict = ABSENT};
    const struct rlimit none = {0, 0};
    const int null = open("/dev/null", O_RDWR);
    for (int fd = 0; null >= 0 && fd <= 2; fd++)
        (void)dup2(null, fd); /* hide the messages of libraries */
    (void)setrlimit(RLIMIT_CORE, &none);
    ((const Probe *)probe)->run(&section);
    /* Skip exit handlers of drivers, which may crash. */
    _exit(write(output, &section, sizeof(section)) != sizeof(section));
}

static void run_probes(Section sections[PROBES])
{
    Process processes[PROBES];
    const char *given = getenv("LUMEQ_DOCTOR_SECONDS"); /* for slow drivers and fast tests */
    double seconds = given ? strtod(given, NULL) : 0;
    seconds = seconds > 0 && seconds < 3600 ? seconds : SECONDS;
    const double end_us = run_now_us() + seconds * 1e6;
    fflush(NULL);
    for (int i = 0; i < PROBES; i++) {
        const ProcessOptions options = {.body = answer, .opaque = (void *)&probes[i]};
        (void)process_start(&processes[i], &options);
    }
    for (int i = 0; i < PROBES; i++) {
        const Probe *probe = &probes[i];
        Section *s = &sections[i], found;
        size_t size = 0;
        *s = (Section){0};
        if (!processes[i].pid) {
            put(s, BROKEN, "unknown", probe->hint, "cannot start a process for this check");
            continue;
        }
        const int left = (int)((end_us - run_now_us()) * 1e-3);
        const int ended = process_read_all(&processes[i], &found, sizeof(found), &size, left);
        const int status = process_wait(&processes[i], KILL_WAIT_MS);
        if (ended && status <= 0 && size == sizeof(found)) /* -1 if SIGCHLD is ignored */
            *s = found;
        else if (!ended)
            put(s, BROKEN, "hangs", probe->hint, "no answer within %g s: a driver hangs", seconds);
        else
            put(s, BROKEN, "crashes", probe->hint, "the probe crashed (%s): a driver is broken",
                status > 0 && WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "unknown signal");
    }
}

/* ---- output ---- */

#define MIN_WIDTH 44  /* columns; narrower terminals wrap by themselves */
#define MAX_WIDTH 100 /* longer lines are hard to read */
#define INDENT 22     /* column of the findings */

static void print_section(const char *name, const Section *s, int width, bool paints)
{
    static const char *const words[] = {[ABSENT] = "--", [WORKS] = "ok", [BROKEN] = "!!"};
    static const SayPaint paint_of[] = {
        [ABSENT] = PAINT_FAINT, [WORKS] = PAINT_GOOD, [BROKEN] = PAINT_WARNING};
    char text[sizeof(s->text)], *rest = text, *line;
    memcpy(text, s->text, sizeof(text));
    const char *on = paints ? say_paint(paint_of[s->verdict]) : "";
    const char *off = paints ? say_paint(PAINT_OFF) : "";
    printf("  %s%s%s  %-14s  ", on, words[s->verdict], off, name);
    for (int i = 0; (line = strsep(&rest, "\n")) && (*line || rest); i++) {
        printf("%*s", i ? INDENT : 0, "");
        say_wrapped(line, INDENT, INDENT, width);
    }
    if (!*s->hint)
        return;
    on = paints ? say_paint(s->verdict == BROKEN ? PAINT_BAR : PAINT_FAINT) : "";
    printf("%*s%s> ", INDENT, "", on);
    say_wrapped(s->hint, INDENT + 2, INDENT + 2, width);
    fputs(off, stdout);
}

static void print_as_text(const Section sections[PROBES], bool works, bool paints)
{
    const int width = av_clip(say_columns(STDOUT_FILENO), MIN_WIDTH, MAX_WIDTH);
    int wrong = 0;
    putchar('\n');
    for (int i = 0; i < PROBES; i++) {
        print_section(probes[i].name, &sections[i], width, paints);
        wrong += sections[i].verdict == BROKEN;
    }
    printf("\n  %slumeq %s here%s", paints ? say_paint(works ? PAINT_GOOD : PAINT_ERROR) : "",
           works ? "works" : "does not work", paints ? say_paint(PAINT_OFF) : "");
    if (wrong)
        printf("; %d problem%s can be fixed, see !! above", wrong, wrong == 1 ? "" : "s");
    puts(".\n");
}

/* Prints a JSON string. The text has no control characters except line ends. */
static void print_quoted(const char *text)
{
    putchar('"');
    for (; *text; text++)
        printf("%s%c", *text == '"' || *text == '\\' || *text == '\n' ? "\\" : "",
               *text == '\n' ? 'n' : *text);
    putchar('"');
}

static void print_as_json(const Section sections[PROBES], bool works)
{
    static const char *const verdicts[] = {[ABSENT] = "none", [WORKS] = "ok", [BROKEN] = "mend"};
    printf("{\"works\":%s", works ? "true" : "false");
    for (int i = 0; i < PROBES; i++) {
        const Section *s = &sections[i];
        printf(",\n\"%s\":{\"verdict\":\"%s\",\"state\":\"%s\",\"text\":", probes[i].key,
               verdicts[s->verdict], s->state);
        print_quoted(s->text);
        printf(",\"mend\":");
        if (*s->hint)
            print_quoted(s->hint);
        else
            printf("null");
        putchar('}');
    }
    puts("}");
}

int doctor_run(int json, int colors)
{
    Section sections[PROBES];
    bool works = true; /* lumeq can equalize and encode */
    run_probes(sections);
    for (int i = 0; i < PROBES; i++)
        works &= !probes[i].needed || sections[i].verdict == WORKS ||
                 strcmp(sections[i].state, "no-h264") == 0;
    if (json)
        print_as_json(sections, works);
    else
        print_as_text(sections, works, colors || isatty(STDOUT_FILENO));
    return works ? EXIT_DONE : EXIT_USAGE;
}
