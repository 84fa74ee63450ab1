/* What options and input together make of the equalizer's parameters. */
#ifndef LUMEQ_APP_LOOK_H
#define LUMEQ_APP_LOOK_H

#include "app/options/options.h"
#include "media/input/source.h"

/* `fine`: the output shows fractions of codes: --dither auto is on. Says what is chosen
 * because of the input. MEDIA_USAGE where the options do not suit it. */
int look_params(LumeqParams *params, const Options *options, const Source *source, int fine,
                MediaError *error);

#endif
