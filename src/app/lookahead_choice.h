/* --lookahead and --deflicker: by how much curves look ahead. */
#ifndef LUMEQ_APP_LOOKAHEAD_CHOICE_H
#define LUMEQ_APP_LOOKAHEAD_CHOICE_H

#include "app/options/option_value.h"
#include "app/options/options.h"
#include "media/output/writer.h"

/* Notes which options on the command line need a lookahead, and refuses them for a window. `given`:
 * by the place in option_table. 0, or -1 with a sentence. */
int lookahead_check(Options *options, const unsigned char *given, const Refusal *refusal);

/* For a headless run; writer NULL: nothing is written. Sets the nanoseconds, 0: none, and says why
 * with -v. MEDIA_USAGE where an option needs a lookahead and there can be none. */
int lookahead_choose(const Options *options, const Writer *writer, int64_t *nanoseconds,
                     MediaError *error);

/* Not 0: the input is a pipe, which two decoders have to share. */
int lookahead_of_pipe(const Options *options);

/* The nanoseconds of a film in parts, which always looks ahead. */
int64_t lookahead_of_parts(const Options *options);

#endif
