/* --sample: pieces of a film are tried, for how long all of it will take, how large it will be, and
 * what it will look like. */
#ifndef LUMEQ_APP_SAMPLE_RUN_H
#define LUMEQ_APP_SAMPLE_RUN_H

#include <stdatomic.h>

#include "app/options/options.h"

/* `stop` as of headless_run(). Says what it has to say; answers the exit code. */
int sample_run(const Options *options, atomic_int *stop);

#endif
