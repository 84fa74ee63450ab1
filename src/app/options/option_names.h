/* What stands on the command line and is no option: the name of INPUT, and what else was meant. */
#ifndef LUMEQ_APP_OPTION_NAMES_H
#define LUMEQ_APP_OPTION_NAMES_H

#include <limits.h>

#include "app/options/option_value.h"

/* {0} is none yet. */
typedef struct OptionNames {
    const char **all; /* the caller's array, with room for them */
    int count;
    const char *last;
    char joined[PATH_MAX]; /* all of them, as they were typed; "" where that is too long */
} OptionNames;

/* The first one is INPUT. 0, or -1 with a sentence. */
int option_names_take(OptionNames *names, Options *options, const char *name,
                      const Refusal *refusal);

/* Refuses more than one, once all options are known: was it the output, or a name with spaces? */
int option_names_check(const OptionNames *names, const Options *options, const Refusal *refusal);

/* Not 0: what may be meant as the name of an OUTPUT. */
int option_names_may_be_new(const char *name);

/* A name as it can be typed: in quotes only where a shell wants them. 0: no way that is plain. */
int option_names_type(const char *name, char *text, size_t size);

#endif
