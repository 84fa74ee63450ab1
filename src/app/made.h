/* Notes that tell --resume how an output was made: attributes of outputs. */
#ifndef LUMEQ_APP_MADE_H
#define LUMEQ_APP_MADE_H

#include <stdint.h>
#include <sys/stat.h>

#include "app/options/options.h"

#define MADE_ROOM 128

/* Identifies an input file as it is now, and everything in the options that decides what its output
 * is. */
uint32_t made_how(const Options *options, const char *input);

/* Prints the note for a complete output. `code`: exit code of the run. Returns its length. */
int made_print(char text[MADE_ROOM], const struct stat *output, uint32_t how, int code);

/* Stores the note. Returns 0, or -1: the file system has no attributes, for example. */
int made_note(const char *output, uint32_t how, int code);

/* Returns the exit code of the run that made the output in this way; -1: another way, or it is not
 * known, or somebody changed the file since. `file`: also has a note, or NULL. */
int made_code(const char *output, uint32_t how, const char *file);

#endif
