/* Options as arguments of a command line that says the same: for a plan, which others carry out. */
#ifndef LUMEQ_APP_OPTION_ARGUMENTS_H
#define LUMEQ_APP_OPTION_ARGUMENTS_H

#include "app/options/option_table.h"

/* Hands `take` an argument for each option that is not at its default and matters to the film that
 * is written: not those about where it runs and what is said. Answers what `take` does where that
 * is negative, else 0. */
int option_arguments(const Options *options, int (*take)(void *opaque, const char *argument),
                     void *opaque);

/* The value of an option as it is written on a command line, in `text` or elsewhere; `field` is
 * that of Options. Not of what has none, or is a list. */
const char *option_value_text(const Option *option, const void *field, char *text, size_t size);

/* Whether option_arguments() may give this argument: a plan that was edited may have no others. */
int option_arguments_is_carried(const char *argument);

/* Whether an option may differ from step to step of a job: its name, `n` bytes. */
int option_arguments_may_differ(const char *name, size_t n);

#endif
