/* Profiles: named sets of options, each for a kind of video. */
#ifndef LUMEQ_APP_OPTION_PROFILE_H
#define LUMEQ_APP_OPTION_PROFILE_H

#include <stddef.h>

/* An option without dashes, and its value. */
typedef struct ProfileSetting {
    const char *option, *value;
} ProfileSetting;

typedef struct Profile {
    const char *name, *purpose;
    ProfileSetting settings[8]; /* the last one has no option */
} Profile;

/* Profile number 1 is at index 0. */
extern const Profile profiles[];
extern const int profile_count;

/* Returns the number of the profile from 1, PROFILE_HELP for "help", or 0 if unknown. */
int profile_find(const char *name);

/* Prints "fog, medical-gray, ..." */
void profile_names(char *text, size_t size);

/* Prints names, purposes and settings to standard output. */
void profile_print_all(void);

#endif
