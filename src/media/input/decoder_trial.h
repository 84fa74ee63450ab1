/* Which codecs the GPU decodes here, found out by decoding a small picture of each. */
#ifndef LUMEQ_MEDIA_DECODER_TRIAL_H
#define LUMEQ_MEDIA_DECODER_TRIAL_H

#include <libavutil/buffer.h>

#include "media/error.h"

#define DECODER_TRIALS 6

/* "hevc 10 bits" */
const char *decoder_trial_name(int trial);

/* The GPU of this number as FFmpeg opens it, to be freed with decoder_trial_close(). MEDIA_INPUT.
 */
int decoder_trial_open(AVBufferRef **gpu, int number, MediaError *error);

/* Decodes the picture of a trial there, or in software where `gpu` is NULL. MEDIA_INPUT. */
int decoder_trial_run(int trial, AVBufferRef *gpu, MediaError *error);

void decoder_trial_close(AVBufferRef **gpu);

#endif
