/* What is reported of a frame. */
#ifndef LUMEQ_FRAME_STATS_H
#define LUMEQ_FRAME_STATS_H

#include "equalizer/backend.h"

/* From the finished job and the history it started from. */
void lumeq_fill_stats(LumeqFrameStats *stats, const LumeqJob *job, const LumeqHistory *before);

#endif
