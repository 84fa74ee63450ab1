/* --lookahead: how far curves look ahead. */
#ifndef LUMEQ_APP_LOOKAHEAD_CHOICE_H
#define LUMEQ_APP_LOOKAHEAD_CHOICE_H

#include "app/options/options.h"
#include "media/output/writer.h"

/* Sets the lookahead of a headless run in nanoseconds (0: none), and logs the reason with -v.
 * `writer` is NULL if nothing is written. Returns MEDIA_USAGE if an option on the command line
 * needs a lookahead and the input cannot have one. */
int lookahead_choose(const Options *options, const Writer *writer, int64_t *nanoseconds,
                     MediaError *error);

/* True if the input is a pipe, which both decoders must share. */
int lookahead_of_pipe(const Options *options);

/* The lookahead of a film in parts, in nanoseconds; a job always has one. */
int64_t lookahead_of_parts(const Options *options);

#endif
