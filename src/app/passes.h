/* --two-pass and --deflicker: whether the input is read twice. */
#ifndef LUMEQ_APP_PASSES_H
#define LUMEQ_APP_PASSES_H

#include "app/options/option_value.h"
#include "app/options/options.h"
#include "media/output/writer.h"

/* Notes what is asked for on the command line, and refuses what a run without an output of its own
 * cannot do. `given`: by the place in option_table. 0, or -1 with a sentence. */
int passes_check(Options *options, const unsigned char *given, const Refusal *refusal);

/* Of a headless run; writer NULL: nothing is written. Answers 1 or 2, and says why with -v;
 * MEDIA_USAGE where what is asked for cannot be. */
int passes_choose(const Options *options, const Writer *writer, MediaError *error);

#endif
