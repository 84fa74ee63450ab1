/* Records in an extended attribute how an output was made, so that --resume recognizes it. */
#ifndef LUMEQ_APP_MADE_H
#define LUMEQ_APP_MADE_H

#include <stdint.h>
#include <sys/stat.h>

#include "app/options/options.h"

#define MADE_ROOM 128 /* bytes of the longest note, including its terminator */

/* Returns a checksum of the input's path, size and time, and of options that change the output. */
uint32_t made_how(const Options *options, const char *input);

/* Prints the note for a complete output. `code`: exit code of the run. Returns its length. */
int made_print(char text[MADE_ROOM], const struct stat *output, uint32_t how, int code);

/* Stores the note in the output. Returns 0, or -1 on failure, as without extended attributes. */
int made_note(const char *output, uint32_t how, int code);

/* Returns the exit code of the run that made the output, or -1 if the run is unknown, if it had
 * another `how`, or if the output has changed since. `file`: another file that may hold the note,
 * or NULL. */
int made_code(const char *output, uint32_t how, const char *file);

#endif
