/* Notes on a finished output file how it was made, for --resume. The note is an extended attribute,
 * which stays with the file. Any thread. */
#ifndef LUMEQ_APP_MADE_H
#define LUMEQ_APP_MADE_H

#include <stdint.h>

#include "app/options/options.h"

/* Identifies an input file as it is now, and everything in the options that decides what its output
 * is. */
uint32_t made_how(const Options *options, const char *input);

/* `code`: exit code of the run. Returns 0, or -1: the file system has no attributes, for example.
 */
int made_note(const char *output, uint32_t how, int code);

/* Returns the exit code of the run that made the output in this way; -1: another way, or it is not
 * known, or somebody changed the file since. */
int made_code(const char *output, uint32_t how);

#endif
