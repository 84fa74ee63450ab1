/* Named sets of options, each for a kind of video. */
#ifndef LUMEQ_APP_OPTION_PROFILE_H
#define LUMEQ_APP_OPTION_PROFILE_H

#include <stddef.h>

#include "app/options/options.h"

/* Options.profile when the profiles are to be listed. */
#define PROFILE_HELP (-1)

/* The number of the profile of this name, from 1; PROFILE_HELP for help; 0: there is none. */
int profile_find(const char *name);

const char *profile_name(int number);

/* "film, fog, ..." */
void profile_names(char *text, size_t size);

/* Sets what the profile options->profile says; 0 is none. */
void profile_apply(Options *options);

/* Prints names, purposes and settings to standard output. */
void profile_print_all(void);

#endif
