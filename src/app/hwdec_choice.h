/* --hwdec auto: whether a GPU decodes where it equalizes. */
#ifndef LUMEQ_APP_HWDEC_CHOICE_H
#define LUMEQ_APP_HWDEC_CHOICE_H

#include "app/options/options.h"
#include "media/input/source.h"

/* Not 0: it is to decode such a video, if it can; AV_CODEC_ID_NONE: any. */
int hwdec_choice(const Options *options, enum AVCodecID codec);

#endif
