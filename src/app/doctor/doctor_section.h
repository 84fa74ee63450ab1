/* The answer of a probe: a verdict, a state in one word, text, and members of a JSON object. */
#ifndef LUMEQ_APP_DOCTOR_SECTION_H
#define LUMEQ_APP_DOCTOR_SECTION_H

#include <stdio.h>

typedef enum SectionVerdict {
    SECTION_NONE, /* absent, which is no fault */
    SECTION_FINE,
    SECTION_MEND, /* a fault that can be fixed */
} SectionVerdict;

typedef struct Section {
    SectionVerdict verdict;
    char state[24];  /* "ok", "no-driver"; never changes its meaning */
    char text[1600]; /* lines for people */
    char mend[512];  /* how to fix it, in one line, or "" */

    FILE *members; /* JSON members of the section: ,"key":value,...; open while the probe runs */
    int first;     /* the next member is the first of its list or object */
} Section;

/* Set text and hint. `text`: a printf format. */
void section_set(Section *section, SectionVerdict verdict, const char *state, const char *text, ...)
    __attribute__((format(printf, 4, 5)));
void section_mend(Section *section, const char *text, ...) __attribute__((format(printf, 2, 3)));

/* Appends a line to the text. */
void section_line(Section *section, const char *text, ...) __attribute__((format(printf, 2, 3)));

/* Splits a sentence into text and hint: "...; do this" or "...: do that". */
void section_set_sentence(Section *section, SectionVerdict verdict, const char *state,
                          const char *sentence);

/* Add members; `key` is NULL for elements of a list. A NULL or "" text becomes null. */
void section_text(Section *section, const char *key, const char *text);
void section_number(Section *section, const char *key, double number);
void section_flag(Section *section, const char *key, int flag);
void section_begin(Section *section, const char *key, char bracket); /* '[' or '{' */
void section_end(Section *section, char bracket);                    /* ']' or '}' */

/* Prints a JSON string; invalid UTF-8 becomes U+FFFD. */
void section_quote(FILE *to, const char *text);

/* ---- the probes: each runs in a process of its own ---- */

void probe_versions(Section *section);
void probe_processor(Section *section);
void probe_sandbox(Section *section);

void probe_gpu(Section *section);
void probe_nvdec(Section *section);

void probe_encoders(Section *section);
void probe_hardware_encoders(Section *section);

void probe_cameras(Section *section);
void probe_virtual_camera(Section *section);

void probe_display(Section *section);
void probe_sound(Section *section);

#endif
