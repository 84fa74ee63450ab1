/* Words of the command line that are not options: INPUT, or what was meant instead. */
#ifndef LUMEQ_APP_OPTION_NAMES_H
#define LUMEQ_APP_OPTION_NAMES_H

#include <limits.h>

#include "app/options/option_value.h"

/* {0} is empty. */
typedef struct OptionNames {
    const char **all; /* the caller's array, as long as argv */
    int count;
    const char *last;
    char joined[PATH_MAX]; /* all names, separated by blanks; "" if that is too long */
} OptionNames;

/* Adds a name; the first one is INPUT. Returns 0, or -1 with a sentence. */
int option_names_take(OptionNames *names, Options *options, const char *name,
                      const Refusal *refusal);

/* Refuses several names where one INPUT is taken, and suggests -o or quotes. Call it after all
 * options are parsed. */
int option_names_check(const OptionNames *names, const Options *options, const Refusal *refusal);

/* True if the name may be meant as an OUTPUT: it is no file and no URL. */
int option_names_may_be_new(const char *name);

/* Prints a name as typed in a shell, quoted only if necessary. Returns 0 if it has control
 * characters or is too long. */
int option_names_type(const char *name, char *text, size_t size);

#endif
