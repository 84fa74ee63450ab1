/* Whether INPUT is a URL, and whether it may be. */
#ifndef LUMEQ_APP_OPTION_NETWORK_H
#define LUMEQ_APP_OPTION_NETWORK_H

#include "app/option_value.h"

/* Not 0: INPUT is to be opened as the URL that it is. */
int option_network_is_url(const Options *options);

/* `playlists`: not 0: --allow-playlists stands on the command line. 0, or -1 with a sentence. */
int option_network_check(const Options *options, int playlists, const Refusal *refusal);

#endif
