#include "app/options/option_network.h"

#include <sys/stat.h>

#include "app/options/option_table.h"
#include "media/error.h"
#include "media/input/network.h"
#include "media/input/url.h"

int option_network_is_url(const Options *o)
{
    return o->network && o->input && network_scheme(o->input);
}

int option_network_check(const Options *o, const unsigned char *given, const Refusal *refusal)
{
    char known[256];
    struct stat file;
    if (!o->network && option_is_given(given, "network-timeout"))
        return refuse(refusal, "--network-timeout is how long a URL may be silent: --network is "
                               "missing");
    if (!o->input || !url_scheme_length(o->input))
        return 0;
    const int is_known = network_scheme(o->input) != NULL;
    if (o->network && is_known && option_is_given(given, "allow-playlists"))
        return refuse(refusal,
                      "--allow-playlists and the URL %s contradict each other: playlists from the "
                      "network are never followed",
                      media_quote(o->input));
    if ((o->network && is_known) || stat(o->input, &file) == 0)
        return 0;
    if (is_known)
        return refuse(refusal, "%s is a URL, not a file: --network allows it to be opened",
                      media_quote(o->input));
    if (!o->network)
        return 0; /* no such file, as any other */
    network_list_schemes(known, sizeof(known));
    return refuse(refusal, "%s is neither a file nor a URL of those that --network opens: %s",
                  media_quote(o->input), known);
}
