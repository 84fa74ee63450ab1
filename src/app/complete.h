/* lumeq --complete and lumeq-bench --complete: candidates for the completions of shells. */
#ifndef LUMEQ_APP_COMPLETE_H
#define LUMEQ_APP_COMPLETE_H

/* Prints the candidates for the last of the words, whatever it begins with. The program's name is
 * not among the words. */
void complete(int count, char **words);

/* Prints a candidate, and after a tab what it is for, if `help` is not NULL. */
void complete_print(const char *candidate, const char *help);

/* Prints the candidates for a value. `choices` as in Option. */
void complete_value(const char *choices);

#endif
