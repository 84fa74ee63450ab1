/* Profiles: named sets of options, each for a kind of video; the library's profiles as options. */
#ifndef LUMEQ_APP_OPTION_PROFILE_H
#define LUMEQ_APP_OPTION_PROFILE_H

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

/* Prints names, purposes and settings to standard output. */
void profile_print_all(void);

#endif
