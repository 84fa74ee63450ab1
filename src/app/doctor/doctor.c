#include "app/doctor/doctor.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/doctor/doctor_section.h"
#include "app/run_end.h"
#include "app/terminal.h"
#include "lumeq/lumeq.h"
#include "media/process.h"
#include "run/run.h"

/* A working driver answers within this time, even if the machine sleeps. */
#define SECONDS 20

#define MAX_ANSWER 65536

/* How long to wait for a killed probe, which may hang in the kernel forever. */
#define KILL_WAIT_MS 500

typedef struct DoctorEntry {
    const char *key, *name;
    Section section;
    char *members; /* of the section's JSON object; NULL: the probe did not answer */
} DoctorEntry;

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

#define PROBES ((int)(sizeof(probes) / sizeof(probes[0])))

/* ---- in the process of a probe ---- */

/* Writes the section, then the members of its object. */
static int answer(void *probe, int output)
{
    Section section = {.verdict = SECTION_NONE, .first = 1};
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
    if (fclose(section.members) != 0)
        _exit(1);
    section.members = NULL;
    const int failed = write(output, &section, sizeof(section)) != sizeof(section) ||
                       write(output, members, size) != (ssize_t)size;
    _exit(failed); /* skip exit handlers of drivers */
}

/* ---- in the main process ---- */

/* Reads until the process closes its end. Returns 0 on timeout. */
static int read_answer(Process *process, double end_us, char bytes[MAX_ANSWER], size_t *size)
{
    for (*size = 0; *size < MAX_ANSWER - 1;) {
        const int left = (int)((end_us - run_now_us()) * 1e-3);
        const ssize_t n =
            process_read(process, bytes + *size, MAX_ANSWER - 1 - *size, left > 0 ? left : 0);
        if (n < 0 && left <= 0)
            return 0;
        if (n == 0)
            break;
        *size += n > 0 ? (size_t)n : 0;
    }
    bytes[*size] = '\0';
    return 1;
}

/* Takes the answer of a probe, or reports that it hangs or crashed, and ends it. */
static void finish(DoctorEntry *e, Process *process, double end_us, double seconds)
{
    char bytes[MAX_ANSWER];
    size_t size = 0;
    Section *section = &e->section;
    if (!process->pid) {
        section_set(section, SECTION_MEND, "unknown", "cannot start a process to find out");
        return;
    }
    const int over = read_answer(process, end_us, bytes, &size);
    if (!over)
        (void)kill(process->pid, SIGKILL);
    const int status = process_wait(process, KILL_WAIT_MS);
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

/* Runs all probes at once, in processes, since drivers may hang or crash. */
static void run_probes(DoctorEntry entries[PROBES])
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
    for (int i = 0; i < PROBES; i++) {
        DoctorEntry *e = &entries[i];
        *e = (DoctorEntry){.key = probes[i].key, .name = probes[i].name};
        e->section.verdict = SECTION_NONE;
        finish(e, &processes[i], end_us, seconds);
        if (!e->members)
            section_mend(&e->section, "%s", probes[i].mend);
    }
}

/* True if lumeq can equalize and encode. */
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

/* ---- output ---- */

#define MIN_WIDTH 44
#define MAX_WIDTH 100 /* longer lines are hard to read */
#define INDENT 22     /* column of the findings */

static int colored;

static const char *paint(SayPaint color)
{
    return colored ? say_paint(color) : "";
}

static void print_finding(const Section *s, int width)
{
    char text[sizeof(s->text)], *rest = text, *line;
    memcpy(text, s->text, sizeof(text));
    for (int i = 0; (line = strsep(&rest, "\n")) && (*line || rest); i++) {
        if (i)
            printf("%*s", INDENT, "");
        say_wrapped(line, INDENT, INDENT, width);
    }
    if (!*s->mend)
        return;
    printf("%*s%s", INDENT, "", paint(s->verdict == SECTION_MEND ? PAINT_BAR : PAINT_FAINT));
    fputs("> ", stdout);
    say_wrapped(s->mend, INDENT + 2, INDENT + 2, width);
    fputs(paint(PAINT_OFF), stdout);
}

static void print_entry(const DoctorEntry *entry, int width)
{
    static const struct {
        const char *word;
        SayPaint paint;
    } verdicts[] = {[SECTION_NONE] = {"--", PAINT_FAINT},
                    [SECTION_FINE] = {"ok", PAINT_GOOD},
                    [SECTION_MEND] = {"!!", PAINT_WARNING}};
    const SectionVerdict v = entry->section.verdict;
    printf("  %s%s%s  %-14s  ", paint(verdicts[v].paint), verdicts[v].word, paint(PAINT_OFF),
           entry->name);
    print_finding(&entry->section, width);
}

static void print_as_text(const DoctorEntry *entries, int count, int works, int colors)
{
    int width = say_columns(STDOUT_FILENO), wrong = 0;
    width = width < MIN_WIDTH ? MIN_WIDTH : width > MAX_WIDTH ? MAX_WIDTH : width;
    colored = colors || isatty(STDOUT_FILENO);
    putchar('\n');
    for (int i = 0; i < count; i++) {
        print_entry(&entries[i], width);
        wrong += entries[i].section.verdict == SECTION_MEND;
    }
    printf("\n  %slumeq %s here%s", paint(works ? PAINT_GOOD : PAINT_ERROR),
           works ? "works" : "does not work", paint(PAINT_OFF));
    if (wrong)
        printf("; %d thing%s can be fixed, see !! above", wrong, wrong == 1 ? "" : "s");
    puts(".\n");
}

static void print_json_entry(const DoctorEntry *entry)
{
    static const char *const verdicts[] = {
        [SECTION_NONE] = "none", [SECTION_FINE] = "ok", [SECTION_MEND] = "mend"};
    const Section *s = &entry->section;
    printf(",\n\"%s\":{\"verdict\":\"%s\",\"state\":\"%s\",\"text\":", entry->key,
           verdicts[s->verdict], s->state);
    section_quote(stdout, s->text);
    fputs(",\"mend\":", stdout);
    if (*s->mend)
        section_quote(stdout, s->mend);
    else
        fputs("null", stdout);
    if (entry->members && *entry->members)
        printf(",%s", entry->members);
    putchar('}');
}

int doctor_run(int json, int colors)
{
    DoctorEntry entries[PROBES];
    run_probes(entries);
    const int fine = works(entries);
    if (json) {
        printf("{\"works\":%s", fine ? "true" : "false");
        for (int i = 0; i < PROBES; i++)
            print_json_entry(&entries[i]);
        puts("}");
    } else {
        print_as_text(entries, PROBES, fine, colors);
    }
    for (int i = 0; i < PROBES; i++)
        free(entries[i].members);
    return fine ? EXIT_DONE : EXIT_USAGE;
}
