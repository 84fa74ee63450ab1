/* The one table that defines the command line, the settings file and the help. */
#ifndef LUMEQ_APP_OPTION_TABLE_H
#define LUMEQ_APP_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "app/options/options.h"

/* The type of an option's value and of its field in Options. */
typedef enum OptionType {
    OPTION_FLAG,        /* int, 0 or 1 */
    OPTION_HELP,        /* int, the index in choices plus 1; no value means the first choice */
    OPTION_CHOICE,      /* int or enum, the index in choices */
    OPTION_PROFILE,     /* int, number of a profile from 1, or PROFILE_HELP */
    OPTION_NUMBER,      /* double within min..max */
    OPTION_AUTO_NUMBER, /* like OPTION_NUMBER, or -1 for auto */
    OPTION_ANY_NUMBER,  /* like OPTION_NUMBER, or 0, or -1 for auto */
    OPTION_OFF_NUMBER,  /* like OPTION_NUMBER, or 0 for off, or -1 for auto */
    OPTION_LOOKAHEAD,   /* like OPTION_OFF_NUMBER, or the maximum for on */
    OPTION_TILES,       /* OptionsTiles, each within min..max */
    OPTION_SIZE,        /* OptionsSize, each within min..max */
    OPTION_PART,        /* LumeqRect */
    OPTION_INTEGER,     /* int64_t within min..max */
    OPTION_TRACK,       /* like OPTION_INTEGER, or TRACK_NONE */
    OPTION_MAY_INTEGER, /* like OPTION_INTEGER, or -1 without a value */
    OPTION_RATE,        /* int64_t bits per second within min..max, such as 800K or 4M */
    OPTION_BYTES,       /* int64_t bytes within min..max, such as 500M or 50G */
    OPTION_TIME,        /* int64_t microseconds */
    OPTION_TEXT,        /* const char * */
    OPTION_MAY_TEXT,    /* like OPTION_TEXT, or "" without a value; a value must follow = */
    OPTION_LIST,        /* const char *[], one key=value per use */
} OptionType;

#define TRACK_NONE (-2)

enum {
    OPTION_COMMON = 1,    /* is in the short help */
    OPTION_ONCE = 2,      /* describes a single run: refused in a settings file */
    OPTION_WINDOW = 4,    /* is for the window: refused for a film in parts */
    OPTION_UNPLANNED = 8, /* is not in a job's plan; nor are OPTION_WINDOW and OPTION_MACHINE */
    OPTION_MACHINE = 16,  /* is about the machine or messages; may differ between steps of a job */
};

typedef struct Option {
    const char *name; /* without dashes; NULL for a heading, whose text is `help` */
    char letter;
    OptionType type;
    int flags;
    size_t offset; /* of the field in Options */
    double min, max;
    const char *choices; /* separated by |; the help shows it as the argument */
    const char *help;    /* with the default in [] */
} Option;

/* True if the option can be used without a value. */
int option_may_stand_alone(const Option *option);

extern const Option option_table[];
extern const int option_count;

/* Finds the option with this name of `n` bytes; NULL if unknown. */
const Option *option_find(const char *name, size_t n);

/* Finds the option with this letter; NULL if unknown. */
const Option *option_find_letter(char letter);

/* True if the option is on the command line. `given`: Options.given. */
bool option_is_given(const unsigned char *given, const char *name);

/* Finds the option with this name or the most similar name; NULL if no name is similar. */
const Option *option_nearest(const char *name, size_t n);

/* Returns the number of wrong letters in `typed` (`n` bytes), or NOT_SIMILAR if it is no typo or
 * abbreviation of `name` (`length` bytes). */
int name_distance(const char *typed, size_t n, const char *name, size_t length);

#define NOT_SIMILAR 1000 /* above all distances */

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
