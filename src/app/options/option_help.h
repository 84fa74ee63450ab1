/* Texts that the help and the manual page share. */
#ifndef LUMEQ_APP_OPTION_HELP_H
#define LUMEQ_APP_OPTION_HELP_H

#include <stddef.h>

#include "app/options/option_table.h"

typedef struct HelpPair {
    const char *left, *text;
} HelpPair;

/* Commands with their meaning; topics with their text. Both lists end with a row of zeros. */
extern const HelpPair option_usage[], option_topics[];
extern const char option_summary[];

/* Prints an option with its value into `text`, as "-o, --output OUTPUT", and returns it. */
const char *option_term(const Option *option, char *text, size_t size);

#endif
