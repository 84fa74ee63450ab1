/* The one table that the command line, the configuration file and the help are made from. */
#ifndef LUMEQ_APP_OPTION_TABLE_H
#define LUMEQ_APP_OPTION_TABLE_H

#include <stddef.h>

#include "app/options/options.h"

/* What a value is, and what the field is that takes it. */
typedef enum OptionType {
    OPTION_FLAG,        /* int, 0 or 1 */
    OPTION_HELP,        /* int; the first of choices without a value, counted from 1 */
    OPTION_CHOICE,      /* int or enum, the index in choices */
    OPTION_MODE,        /* LumeqMode, by its name in choices */
    OPTION_PROFILE,     /* int, number of a profile from 1, or PROFILE_HELP */
    OPTION_NUMBER,      /* double within min..max */
    OPTION_AUTO_NUMBER, /* the same, or -1 for auto */
    OPTION_ANY_NUMBER,  /* the same, or 0, or -1 for auto */
    OPTION_OFF_NUMBER,  /* the same, or -1 for auto, or 0 for off */
    OPTION_LOOKAHEAD,   /* the same, or its maximum for on */
    OPTION_TILES,       /* OptionsTiles, each within min..max */
    OPTION_SIZE,        /* OptionsSize, each within min..max */
    OPTION_PART,        /* LumeqRect */
    OPTION_INTEGER,     /* int64_t within min..max */
    OPTION_TRACK,       /* the same, or TRACK_NONE */
    OPTION_MAY_INTEGER, /* the same as OPTION_INTEGER, or -1 without a value */
    OPTION_RATE,        /* int64_t, with K or M */
    OPTION_TIME,        /* int64_t microseconds */
    OPTION_TEXT,        /* const char * */
    OPTION_MAY_TEXT,    /* the same, "" without a value, which follows = only */
    OPTION_LIST,        /* const char *[], key=value each time it is given */
} OptionType;

#define TRACK_NONE (-2)

enum {
    OPTION_COMMON = 1, /* in the short help */
    OPTION_ONCE = 2,   /* about a single run: not in a configuration file */
};

typedef struct Option {
    const char *name; /* without dashes; NULL: a heading, which `help` is */
    char letter;
    OptionType type;
    int flags;
    size_t offset; /* of the field in Options */
    double min, max;
    const char *choices; /* separated by |; what help shows as the argument */
    const char *help;    /* the default in [] */
} Option;

/* Not 0: it may stand without a value. */
int option_may_stand_alone(const Option *option);

extern const Option option_table[];
extern const int option_count;

/* The option of this name (`n` bytes), or NULL. */
const Option *option_find(const char *name, size_t n);

/* `given`: not 0 for each option that stands on the command line; `name` is in the table. */
int option_is_given(const unsigned char *given, const char *name);

/* The option of a name that is nearly this one, or NULL. */
const Option *option_nearest(const char *name, size_t n);

/* Bytes of the option's field. */
size_t option_size(const Option *option);

/* The field of the one becomes that of the other; texts are not copied. */
void option_copy(const Option *option, Options *to, const Options *from);

#endif
