/* Processes many files without a window, each in its own process, so that a crash or a lost GPU
 * affects only one file. */
#ifndef LUMEQ_APP_HEADLESS_MANY_H
#define LUMEQ_APP_HEADLESS_MANY_H

#include <stdatomic.h>

#include "app/options/options.h"

/* Like headless_run(), for several files (options_many()). Forks, so no other thread may be
 * running. */
int headless_many_run(const Options *options, atomic_int *stop);

#endif
