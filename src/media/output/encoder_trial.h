/* Lists video encoders, and tests whether hardware encoders work on this machine. */
#ifndef LUMEQ_MEDIA_ENCODER_TRIAL_H
#define LUMEQ_MEDIA_ENCODER_TRIAL_H

#include <libavcodec/codec.h>

#include "media/error.h"

/* Returns the next video encoder that `--vcodec help` lists, or NULL; *at starts as NULL.
 * `hardware`: 1 for hardware encoders, 0 for the others. */
const AVCodec *encoder_trial_next(void **at, int hardware);

/* Tries to open the encoder for a small picture. MEDIA_OUTPUT. */
int encoder_trial_open(const AVCodec *codec, MediaError *error);

#endif
