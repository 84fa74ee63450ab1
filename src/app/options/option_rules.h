/* Which options contradict each other, the input or the kind of run. */
#ifndef LUMEQ_APP_OPTION_RULES_H
#define LUMEQ_APP_OPTION_RULES_H

#include "app/options/option_value.h"

/* Words of the command line that are not options; {0} is empty. */
typedef struct OptionNames {
    const char **all; /* the caller's array, as long as argv */
    int count;
    const char *last;
} OptionNames;

/*
 * In all of these, `given` says by index in option_table whether an option is on the command line:
 * a settings file may set options that this run has no use for. Functions that return int return 0,
 * or -1 with one sentence in `refusal`.
 */

/* Adds a name; the first one is INPUT. */
int option_rules_take_name(OptionNames *names, Options *options, const char *name,
                           const Refusal *refusal);

/* Refuses several names if one INPUT is taken, and suggests -o. Call it after all options
 * are parsed. */
int option_rules_check_names(const OptionNames *names, const Options *options,
                             const Refusal *refusal);

/* Refuses pairs of values that contradict each other. `file`: the settings file they are from, or
 * NULL for the command line. */
int option_rules_refuse_rivals(const Options *options, const char *file, const Refusal *refusal);

/* If two values contradict each other, resets the one that is not on the command line. */
void option_rules_let_command_line_win(Options *options, const unsigned char *given);

/* Checks a complete set of options. `is_plan`: for `lumeq plan`. Sets options->lookahead_for. */
int option_rules_check(Options *options, const unsigned char *given, const OptionNames *names,
                       int is_plan, const Refusal *refusal);

/* Checks options that print something instead of a run, such as --doctor. */
int option_rules_check_question(const Options *options, const Refusal *refusal);

#endif
