/* Named sets of options, each for a kind of video. */
#ifndef LUMEQ_APP_OPTION_PROFILE_H
#define LUMEQ_APP_OPTION_PROFILE_H

#include <stddef.h>

/* An option without dashes, and what it is set to. */
typedef struct ProfileSetting {
    const char *option, *value;
} ProfileSetting;

/* The number of the profile of this name, from 1; PROFILE_HELP for help; 0: there is none. */
int profile_find(const char *name);

const char *profile_name(int number);

int profile_count(void);

/* "fog, medical-gray, ..." */
void profile_names(char *text, size_t size);

/* What it sets: all up to the first one without an option. */
const ProfileSetting *profile_settings(int number);

/* Prints names, purposes and settings to standard output. */
void profile_print_all(void);

#endif
