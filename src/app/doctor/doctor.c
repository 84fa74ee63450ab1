#include "app/doctor/doctor.h"

#include <stdlib.h>
#include <string.h>

#include "app/doctor/doctor_child.h"
#include "app/doctor/doctor_print.h"
#include "app/doctor/probes.h"
#include "app/run_end.h"

/* Within which a driver that works has answered, also on a machine that sleeps. */
#define SECONDS 20

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

static void ask_all(DoctorEntry entries[PROBES])
{
    DoctorChild children[PROBES];
    const double seconds = patience();
    for (int i = 0; i < PROBES; i++)
        doctor_child_start(&children[i], probes[i].run);
    doctor_child_wait(children, PROBES, seconds);
    for (int i = 0; i < PROBES; i++) {
        DoctorEntry *e = &entries[i];
        *e = (DoctorEntry){.key = probes[i].key, .name = probes[i].name};
        e->members = doctor_child_finish(&children[i], &e->section, seconds);
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
