/* Parses values of options. */
#ifndef LUMEQ_APP_OPTION_VALUE_H
#define LUMEQ_APP_OPTION_VALUE_H

#include "app/options/option_table.h"

/* Where to print a sentence about a wrong value. */
typedef struct Refusal {
    char *text;
    size_t size;
    const char *dashes; /* before option names: "--", or "" in a settings file */
} Refusal;

/* Prints the sentence and returns -1. */
int refuse(const Refusal *refusal, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sets the option's field. `value` may be NULL only if option_may_stand_alone(). Strings are not
 * copied. Returns 0, or -1 with a sentence that names the option, the value and what is allowed. */
int option_set(const Option *option, Options *options, const char *value, const Refusal *refusal);

/* Size of the option's field, in bytes. */
size_t option_size(const Option *option);

/* Copies the option's field; strings are shared. */
void option_copy(const Option *option, Options *to, const Options *from);

/* Applies the settings of options->profile, if any. */
void option_set_profile(Options *options);

#endif
