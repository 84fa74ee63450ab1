/* Whether INPUT is a URL, and whether it may be. */
#ifndef LUMEQ_APP_OPTION_NETWORK_H
#define LUMEQ_APP_OPTION_NETWORK_H

#include "app/options/option_value.h"

/* Not 0: INPUT is to be opened as the URL that it is. */
int option_network_is_url(const Options *options);

/* `given`: by the place in option_table, whether it stands on the command line. 0, or -1 with a
 * sentence. */
int option_network_check(const Options *options, const unsigned char *given,
                         const Refusal *refusal);

#endif
