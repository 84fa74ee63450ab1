/* What the help says beside the options, for the manual page as well. */
#ifndef LUMEQ_APP_OPTION_HELP_H
#define LUMEQ_APP_OPTION_HELP_H

typedef struct HelpPair {
    const char *left, *text;
} HelpPair;

/* Each ends with one that has no text on the left: ways to call the program; a topic and what there
 * is to say of it. */
extern const HelpPair option_usage[], option_topics[];
extern const char option_summary[];

#endif
