/* The samples of a frame's luma and chroma. */
#ifndef LUMEQ_BENCH_PIPELINE_PLANES_H
#define LUMEQ_BENCH_PIPELINE_PLANES_H

#include <stdint.h>

#include <stddef.h>

#include "media/convert.h"

/* Bytes of its luma, and with `chroma` of its chroma, without what lies beside the rows. */
int64_t pipeline_planes_size(const AVFrame *frame, int chroma);

/* `sum` and the samples of all its planes but alpha become another number. */
uint64_t pipeline_planes_sum(const AVFrame *frame, uint64_t sum);

#endif
