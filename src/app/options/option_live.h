/* What may be asked of a camera and of other live input, and what contradicts them. */
#ifndef LUMEQ_APP_OPTION_LIVE_H
#define LUMEQ_APP_OPTION_LIVE_H

#include "app/options/option_value.h"

/* `given`: not 0 for what stands on the command line, in the order of the table; a settings file
 * may say of cameras what is of no use in this run. 0, or -1 with a sentence. */
int option_live_check(const Options *options, const unsigned char *given, const Refusal *refusal);

/* Of what is asked for instead of a run: -1 with a sentence where that is not all. */
int option_live_check_lists(const Options *options, const Refusal *refusal);

#endif
