#include "app/doctor/doctor.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app/doctor/doctor_print.h"
#include "app/doctor/probes.h"
#include "app/run_end.h"
#include "media/process.h"

/* Within which a driver that works has answered, also on a machine that sleeps. */
#define SECONDS 20

#define MOST_ANSWER 65536

/* How long one that was killed may take to go: one that hangs in the kernel never does. */
#define BURIAL_MS 500

typedef struct Probe {
    const char *key, *name; /* in JSON, and for a person */
    void (*run)(Section *section);
    const char *mend; /* where it hangs or crashes */
    int needed;       /* without it lumeq cannot work */
} Probe;

static const Probe probes[] = {
    {"processor", "Processor", probe_processor, "build lumeq on this machine", 1},
    {"gpu", "GPU", probe_gpu, "restart the machine; until then: --backend cpu", 0},
    {"nvdec", "NVDEC", probe_nvdec, "restart the machine, or install another driver", 0},
    {"encoders", "Encoders", probe_encoders, "install FFmpeg's libraries again", 1},
    {"hardware_encoders", "  hardware", probe_hardware_encoders,
     "use those of the CPU: libx264, libx265", 0},
    {"cameras", "Cameras", probe_cameras, "unplug the camera, and plug it in again", 0},
    {"virtual_camera", "  virtual", probe_virtual_camera,
     "sudo modprobe -r v4l2loopback, then sudo modprobe v4l2loopback exclusive_caps=1", 0},
    {"display", "Display", probe_display,
     "install another OpenGL driver; until then: LIBGL_ALWAYS_SOFTWARE=1", 0},
    {"sound", "Sound", probe_sound, "restart the sound server; until then: --no-audio", 0},
    {"versions", "Versions", probe_versions, "install lumeq's libraries again", 1},
};

#define PROBES ((int)(sizeof(probes) / sizeof(probes[0])))

/* LUMEQ_DOCTOR_SECONDS in the environment, for drivers that are slower and tests that are not. */
static double patience(void)
{
    const char *asked = getenv("LUMEQ_DOCTOR_SECONDS");
    const double seconds = asked ? strtod(asked, NULL) : 0;
    return seconds > 0 && seconds < 3600 ? seconds : SECONDS;
}

/* ---- in the process of a probe ---- */

/* Libraries print what they like; a crash that was expected leaves no core. */
static void be_quiet(void)
{
    const struct rlimit none = {0, 0};
    const int null = open("/dev/null", O_RDWR);
    for (int fd = 0; null >= 0 && fd <= 2; fd++)
        (void)dup2(null, fd);
    (void)setrlimit(RLIMIT_CORE, &none);
}

/* Writes the section, then the members of its object. */
static int answer(void *probe, int output)
{
    Section section = {.verdict = SECTION_NONE, .first = 1};
    char *members = NULL;
    size_t size = 0;
    section.members = open_memstream(&members, &size);
    if (!section.members)
        _exit(1);
    be_quiet();
    ((const Probe *)probe)->run(&section);
    if (fclose(section.members) != 0)
        _exit(1);
    section.members = NULL;
    const int failed = write(output, &section, sizeof(section)) != sizeof(section) ||
                       write(output, members, size) != (ssize_t)size;
    _exit(failed); /* without what a driver does at the end of a process */
}

/* ---- beside them ---- */

static int64_t now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Reads until the process has closed its end: 1, or 0: it hangs. */
static int read_answer(Process *process, int64_t end, char bytes[MOST_ANSWER], size_t *size)
{
    for (*size = 0; *size < MOST_ANSWER - 1;) {
        const int64_t left = end - now_ms();
        const ssize_t n =
            process_read(process, bytes + *size, MOST_ANSWER - 1 - *size, left > 0 ? (int)left : 0);
        if (n < 0 && left <= 0)
            return 0;
        if (n == 0)
            break;
        *size += n > 0 ? (size_t)n : 0;
    }
    bytes[*size] = '\0';
    return 1;
}

/* The answer of a probe, or what became of it. Ends it. */
static void finish(DoctorEntry *e, Process *process, int64_t end, double seconds)
{
    char bytes[MOST_ANSWER];
    size_t size = 0;
    Section *section = &e->section;
    if (!process->pid) {
        section_set(section, SECTION_MEND, "unknown", "no process can be started to find out");
        return;
    }
    const int over = read_answer(process, end, bytes, &size);
    if (!over)
        (void)kill(process->pid, SIGKILL);
    const int status = process_wait(process, BURIAL_MS);
    if (!over) {
        section_set(section, SECTION_MEND, "hangs", "no answer within %g s: a driver hangs",
                    seconds);
    } else if (status > 0 || size < sizeof(*section)) {
        const char *name = status > 0 && WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : NULL;
        section_set(section, SECTION_MEND, "crashes", "the probe crashed%s%s%s: a driver is broken",
                    name ? " (" : "", name ? name : "", name ? ")" : "");
    } else {
        memcpy(section, bytes, sizeof(*section));
        e->members = strdup(bytes + sizeof(*section));
    }
}

/* What hangs or crashes in a driver is found in a process of its own. */
static void ask_all(DoctorEntry entries[PROBES])
{
    Process processes[PROBES];
    const double seconds = patience();
    const int64_t end = now_ms() + (int64_t)(seconds * 1e3);
    fflush(NULL);
    for (int i = 0; i < PROBES; i++) {
        const ProcessOptions options = {.body = answer, .opaque = (void *)&probes[i]};
        (void)process_start(&processes[i], &options);
    }
    for (int i = 0; i < PROBES; i++) {
        DoctorEntry *e = &entries[i];
        *e = (DoctorEntry){.key = probes[i].key, .name = probes[i].name};
        e->section.verdict = SECTION_NONE;
        finish(e, &processes[i], end, seconds);
        if (!e->members)
            section_mend(&e->section, "%s", probes[i].mend);
    }
}

/* What is needed answers, and pictures can be equalized and encoded. */
static int works(const DoctorEntry entries[PROBES])
{
    for (int i = 0; i < PROBES; i++) {
        const Section *s = &entries[i].section;
        const int fine = s->verdict == SECTION_FINE || strcmp(s->state, "no-h264") == 0;
        if (probes[i].needed && !fine)
            return 0;
    }
    return 1;
}

int doctor_run(int json, int colors)
{
    DoctorEntry entries[PROBES];
    ask_all(entries);
    const int fine = works(entries);
    if (json)
        doctor_print_json(entries, PROBES, fine);
    else
        doctor_print_text(entries, PROBES, fine, colors);
    for (int i = 0; i < PROBES; i++)
        free(entries[i].members);
    return fine ? EXIT_DONE : EXIT_USAGE;
}
