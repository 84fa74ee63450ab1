/* What may be asked of each kind of input (a file, a URL, a camera, a pipe), and what contradicts
 * it.
 */
#ifndef LUMEQ_APP_OPTION_INPUTS_H
#define LUMEQ_APP_OPTION_INPUTS_H

#include "app/options/option_value.h"

/* Not 0: INPUT is to be opened as the URL that it is. */
int option_inputs_is_url(const Options *options);

/* Not 0: pictures that are one video: a folder, or with --sequence a name like frame%04d.png. */
int option_inputs_is_pictures(const Options *options, const char *path);

/* `given`: by the place in option_table, whether it stands on the command line; a settings file may
 * say what is of no use in this run. 0, or -1 with a sentence. */
int option_inputs_check(const Options *options, const unsigned char *given, const Refusal *refusal);

/* Of what is asked for instead of a run: -1 with a sentence where that is not all. */
int option_inputs_check_lists(const Options *options, const Refusal *refusal);

#endif
