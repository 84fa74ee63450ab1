/* Options as arguments of an equivalent command line, for a plan that other processes execute. */
#ifndef LUMEQ_APP_OPTION_ARGUMENTS_H
#define LUMEQ_APP_OPTION_ARGUMENTS_H

#include <stdbool.h>

#include "app/options/option_table.h"

/* Calls `take` with "--name=value" for each option of a plan that differs from the default, as
 * changed by the profile. Returns 0, a negative value of `take`, or -1: a value is too long. */
int option_arguments(const Options *options, int (*take)(void *opaque, const char *argument),
                     void *opaque);

/* Returns an option's value in the syntax of the command line; it may lie in `text`. `field` points
 * to the option's field. Not for OPTION_HELP and OPTION_LIST. */
const char *option_value_text(const Option *option, const void *field, char *text, size_t size);

/* Prints what set the option with this name: "--mode haze", or "--profile fog" if the profile has
 * this value. */
void option_print_given(const Options *options, const char *name, char *text, size_t size);

/* True if option_arguments() could produce this argument. */
bool option_arguments_is_planned(const char *argument);

/* True if the option with this name of `n` bytes may differ between the steps of a job. */
bool option_arguments_may_differ(const char *name, size_t n);

#endif
