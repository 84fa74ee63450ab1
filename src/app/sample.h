/* --sample: tries pieces of a film to estimate its time and size, and draws a contact sheet. */
#ifndef LUMEQ_APP_SAMPLE_H
#define LUMEQ_APP_SAMPLE_H

#include <stdatomic.h>

#include "app/options/options.h"

/* Runs the sample; `stop` as in headless_run(). Prints messages and returns the exit code. */
int sample_run(const Options *options, atomic_int *stop);

#endif
