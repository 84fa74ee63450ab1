/* lumeq --complete and lumeq-bench --complete: candidates for the completions of shells. */
#ifndef LUMEQ_APP_COMPLETE_H
#define LUMEQ_APP_COMPLETE_H

/* Prints candidates for the last word, whatever it begins with. `words` has no program name. */
void complete(int count, char **words);

/* Prints a candidate and, if `help` is not NULL, a tab and a description. */
void complete_print(const char *candidate, const char *help);

/* Prints candidates for a value. `choices`: as in Option. */
void complete_value(const char *choices);

#endif
