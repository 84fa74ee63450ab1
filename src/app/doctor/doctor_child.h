/* Probes in processes of their own: what hangs or crashes in a driver is found out there, and is no
 * more than an answer here. For one thread, before others run. */
#ifndef LUMEQ_APP_DOCTOR_CHILD_H
#define LUMEQ_APP_DOCTOR_CHILD_H

#include "app/doctor/doctor_section.h"
#include "media/process.h"

typedef struct DoctorChild {
    Process process;
    char *answer; /* so far: a Section, then the members of its object */
    size_t size;
    int over;
} DoctorChild;

/* Starts the probe; it fills in a section that is SECTION_NONE. */
void doctor_child_start(DoctorChild *child, void (*probe)(Section *section));

/* Waits for all of them, for so many seconds at most. */
void doctor_child_wait(DoctorChild *children, int count, double seconds);

/* What it has answered, or what became of it; and the members, to be freed, or NULL. Ends it. */
char *doctor_child_finish(DoctorChild *child, Section *section, double seconds);

#endif
