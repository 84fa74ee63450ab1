/* A run without a window that writes what a camera sends, untouched. */
#ifndef LUMEQ_APP_HEADLESS_RAW_H
#define LUMEQ_APP_HEADLESS_RAW_H

#include <stdatomic.h>

#include "app/options/options.h"

/* As headless_run(). */
int headless_raw_run(const Options *options, atomic_int *stop);

#endif
