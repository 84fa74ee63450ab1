/* What options and input together make of the equalizer's parameters. */
#ifndef LUMEQ_APP_LOOK_H
#define LUMEQ_APP_LOOK_H

#include "app/options.h"
#include "media/source.h"

/* `exact`: every sample that is made is shown, or written, as it is. Says what is chosen
 * because of the input. MEDIA_USAGE where the options do not suit it. */
int look_params(LumeqParams *params, const Options *options, const Source *source, int exact,
                MediaError *error);

#endif
