/* What --doctor has found, as text and as JSON, on standard output. */
#ifndef LUMEQ_APP_DOCTOR_PRINT_H
#define LUMEQ_APP_DOCTOR_PRINT_H

#include "app/doctor/doctor_section.h"

typedef struct DoctorEntry {
    const char *key, *name;
    Section section;
    char *members; /* of its object, or NULL: it did not answer */
} DoctorEntry;

/* `works`: lumeq does; `colors`: not 0: also where that is no terminal. */
void doctor_print_text(const DoctorEntry *entries, int count, int works, int colors);
void doctor_print_json(const DoctorEntry *entries, int count, int works);

#endif
