/* Values of options, from text. */
#ifndef LUMEQ_APP_OPTION_VALUE_H
#define LUMEQ_APP_OPTION_VALUE_H

#include "app/options/option_table.h"

/* Where a sentence about what is wrong goes. */
typedef struct Refusal {
    char *text;
    size_t size;
    const char *dashes; /* before the names of options: "--", or "" for those of a file */
} Refusal;

/* Answers -1. */
int refuse(const Refusal *refusal, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sets the option's field. Flags take yes or no; NULL, which only flags and the help take, is yes.
 * Texts are not copied. 0, or -1 with a sentence that names the option, the value and what is
 * allowed. */
int option_set(const Option *option, Options *options, const char *value, const Refusal *refusal);

/* Sets what the profile options->profile says; 0 is none. */
void option_set_profile(Options *options);

#endif
