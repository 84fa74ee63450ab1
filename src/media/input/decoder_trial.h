/* Tests which codecs the GPU decodes, with a small picture of each. */
#ifndef LUMEQ_MEDIA_DECODER_TRIAL_H
#define LUMEQ_MEDIA_DECODER_TRIAL_H

#include <libavutil/buffer.h>

#include "media/error.h"

#define DECODER_TRIALS 6

/* "hevc 10 bits" */
const char *decoder_trial_name(int trial);

/* Opens the GPU with this index; close with decoder_trial_close(). MEDIA_INPUT. */
int decoder_trial_open(AVBufferRef **gpu, int number, MediaError *error);

/* Decodes a trial's picture on the GPU, or in software if `gpu` is NULL. MEDIA_INPUT. */
int decoder_trial_run(int trial, AVBufferRef *gpu, MediaError *error);

void decoder_trial_close(AVBufferRef **gpu);

#endif
