/* Profiles: named sets of options, each for a kind of video. */
#ifndef LUMEQ_APP_OPTION_PROFILE_H
#define LUMEQ_APP_OPTION_PROFILE_H

#include <stddef.h>

/* An option without dashes, and its value. */
typedef struct ProfileSetting {
    const char *option, *value;
} ProfileSetting;

/* Returns the number of the profile from 1, PROFILE_HELP for "help", or 0 if unknown. */
int profile_find(const char *name);

const char *profile_name(int number);

int profile_count(void);

/* Prints "fog, medical-gray, ..." */
void profile_names(char *text, size_t size);

/* The settings of a profile; the last one has no option. */
const ProfileSetting *profile_settings(int number);

/* Prints names, purposes and settings to standard output. */
void profile_print_all(void);

#endif
