/*
 * The curves of a film, from the measures of all of its frames: each knows what comes. Measures
 * stream from their file, a lookahead before the curves. One thread at a time.
 */
#ifndef LUMEQ_RUN_CURVE_PLANNER_H
#define LUMEQ_RUN_CURVE_PLANNER_H

#include "run/measure_file.h"

typedef struct CurvePlanner CurvePlanner;

/* The file is flushed, and outlives it. `lookahead`: in nanoseconds. `depth`: that frames of 8 bits
 * get more bits; 0: they keep their own. MEDIA_INPUT. */
int curve_planner_open(CurvePlanner **planner, MeasureFile *file, const LumeqParams *params,
                       int64_t lookahead, int depth, MediaError *error);

/* The next frame and its curve, to be given back with lumeq_curve_unref(): 1; 0 after the last.
 * `shift`: what becomes 0 of the frames' times, in their time base. MEDIA_INPUT, MEDIA_OUTPUT. */
int curve_planner_next(CurvePlanner *planner, int64_t shift, AVRational base, MeasuredFrame *frame,
                       LumeqCurve **curve, MediaError *error);

/* How many of the frames would be filtered if there were one pass. MEDIA_INPUT, MEDIA_OUTPUT. */
int curve_planner_filtered(MeasureFile *file, const LumeqParams *params, int64_t shift,
                           AVRational base, int64_t *filtered, MediaError *error);

void curve_planner_close(CurvePlanner **planner);

#endif
