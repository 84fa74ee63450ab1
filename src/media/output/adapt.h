/* Frames brought to what an encoder takes: pixel format, range, and sides padded to even ones. */
#ifndef LUMEQ_MEDIA_ADAPT_H
#define LUMEQ_MEDIA_ADAPT_H

#include <libavcodec/avcodec.h>

typedef struct Adapter Adapter;

/* For frames like `first` and an encoder that has been opened. NULL: out of memory. */
Adapter *adapter_create(const AVFrame *first, const AVCodecContext *encoder);

/* What it does ("padded from 641x361 to 642x362"), for a person, or NULL when frames pass as they
 * are. */
const char *adapter_description(const Adapter *adapter);

/* The frame as the encoder takes it, with all its properties, in `to`, which is unreferenced first.
 * 0 or AVERROR. */
int adapter_run(Adapter *adapter, const AVFrame *frame, AVFrame *to);

void adapter_close(Adapter **adapter);

#endif
