/*
 * What was found out about one thing: a verdict, a state in one word, words for a person, and
 * members of a JSON object. Filled by one probe, printed by doctor_print.c.
 */
#ifndef LUMEQ_APP_DOCTOR_SECTION_H
#define LUMEQ_APP_DOCTOR_SECTION_H

#include <stdio.h>

typedef enum SectionVerdict {
    SECTION_NONE, /* it is not there, and nothing is wrong with that */
    SECTION_FINE,
    SECTION_MEND, /* something is wrong that can be mended */
} SectionVerdict;

typedef struct Section {
    SectionVerdict verdict;
    char state[24];  /* "ok", "no-driver": never changes its meaning */
    char text[1600]; /* lines for a person */
    char mend[512];  /* what to do about it, in one line, or "" */

    FILE *members; /* of its object: ,"key":value and so on. While a probe fills it */
    int first;     /* the next one is the first of its list or object */
} Section;

/* `text`: printf's, "" is allowed. They replace what was there. */
void section_set(Section *section, SectionVerdict verdict, const char *state, const char *text, ...)
    __attribute__((format(printf, 4, 5)));
void section_mend(Section *section, const char *text, ...) __attribute__((format(printf, 2, 3)));

/* One more line, below the text. */
void section_line(Section *section, const char *text, ...) __attribute__((format(printf, 2, 3)));

/* A sentence that ends in what to do about it: "...; do this" or "...: do that". */
void section_set_sentence(Section *section, SectionVerdict verdict, const char *state,
                          const char *sentence);

/* Members; `key` NULL: elements of a list. A text that is NULL or "" becomes null. */
void section_text(Section *section, const char *key, const char *text);
void section_number(Section *section, const char *key, double number);
void section_flag(Section *section, const char *key, int flag);
void section_begin(Section *section, const char *key, char bracket); /* '[' or '{' */
void section_end(Section *section, char bracket);                    /* ']' or '}' */

/* A text as JSON has it, in quotes; bytes that are no UTF-8 become U+FFFD. */
void section_quote(FILE *to, const char *text);

#endif
