/* lumeq --complete: candidates for the completions of shells. */
#ifndef LUMEQ_APP_COMPLETE_H
#define LUMEQ_APP_COMPLETE_H

/* Prints the candidates for the last word, which the shell then filters. `words` has no program
 * name. */
void complete(int count, char **words);

#endif
