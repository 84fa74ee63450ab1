/* Which video encoders there are, and which of those that need hardware work here. */
#ifndef LUMEQ_MEDIA_ENCODER_TRIAL_H
#define LUMEQ_MEDIA_ENCODER_TRIAL_H

#include <libavcodec/codec.h>

#include "media/error.h"

/* The next video encoder after *at (NULL: the first) of those that `--vcodec help` lists, or NULL.
 * `hardware`: not 0: of those that need it, else of the others. */
const AVCodec *encoder_trial_next(void **at, int hardware);

/* Opens the encoder for a small picture. MEDIA_OUTPUT. */
int encoder_trial_open(const AVCodec *codec, MediaError *error);

#endif
