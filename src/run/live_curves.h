/* Curves that depend on past frames only. One thread at a time. */
#ifndef LUMEQ_RUN_LIVE_CURVES_H
#define LUMEQ_RUN_LIVE_CURVES_H

#include "run/run_frame.h"

/* {0} is closed. */
typedef struct LiveCurves {
    LumeqContext *context;
    LumeqParams params;
    LumeqHistory *history;
    LumeqMeasure *measure; /* of the last frame */
} LiveCurves;

/* The context must outlive it. MEDIA_INPUT, MEDIA_USAGE. */
int live_curves_open(LiveCurves *curves, LumeqContext *context, const LumeqParams *params,
                     MediaError *error);

/* Settings of the frames that follow, without deflicker, which needs a lookahead. MEDIA_USAGE. */
int live_curves_set(LiveCurves *curves, const LumeqParams *params, MediaError *error);

/* Measures a frame against its `previous[0]`, and makes its curve. 0; EQUALIZER_LOST, which leaves
 * the history as it was; or MEDIA_INPUT. */
int live_curves_make(LiveCurves *curves, Frame *frame, MediaError *error);

void live_curves_close(LiveCurves *curves);

#endif
