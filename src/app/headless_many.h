/* Processes many files without a window, each in a process of its own: a crash or a lost GPU
 * affects one file only. */
#ifndef LUMEQ_APP_HEADLESS_MANY_H
#define LUMEQ_APP_HEADLESS_MANY_H

#include <stdatomic.h>

#include "app/options/options.h"

/* As headless_run(), for options_many(). No other thread may be running, since this forks. The
 * function also returns in each child process, with the exit code of its file. */
int headless_many_run(const Options *options, atomic_int *stop);

#endif
