/* lumeq --complete: candidates for the completions of shells. */
#ifndef LUMEQ_APP_COMPLETE_H
#define LUMEQ_APP_COMPLETE_H

/* Prints candidates for the last word; the shell filters them. `words` has no program name. */
void complete(int count, char **words);

#endif
