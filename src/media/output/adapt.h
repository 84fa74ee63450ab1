/* Adapts frames to an encoder: pixel format, range, and padding to even sizes. */
#ifndef LUMEQ_MEDIA_ADAPT_H
#define LUMEQ_MEDIA_ADAPT_H

#include <libavcodec/avcodec.h>

typedef struct Adapter Adapter;

/* Creates an adapter for frames like `first` and an open encoder. NULL: out of memory. */
Adapter *adapter_create(const AVFrame *first, const AVCodecContext *encoder);

/* Describes the adaptation ("padded from 641x361 to 642x362"), or NULL if frames pass unchanged. */
const char *adapter_description(const Adapter *adapter);

/* Writes the adapted frame, with all its properties, to `to`, which is unreferenced first. Returns
 * 0 or AVERROR. */
int adapter_run(Adapter *adapter, const AVFrame *frame, AVFrame *to);

void adapter_close(Adapter **adapter);

#endif
