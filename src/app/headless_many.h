/* Many files, each of which is a run without a window, by a process of its own: what one of them
 * breaks, as a crash or a GPU that is lost, is not the others'. */
#ifndef LUMEQ_APP_HEADLESS_MANY_H
#define LUMEQ_APP_HEADLESS_MANY_H

#include <stdatomic.h>

#include "app/options/options.h"

/* As headless_run(), with options_many(). While no other thread runs. The processes return from it,
 * too, each with the exit code of its file. */
int headless_many_run(const Options *options, atomic_int *stop);

#endif
