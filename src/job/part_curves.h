/* The curves of a plan: made from the measures of a film, part by part, and read again. */
#ifndef LUMEQ_JOB_PART_CURVES_H
#define LUMEQ_JOB_PART_CURVES_H

#include "job/film_parts.h"
#include "job/job_plan.h"
#include "lumeq/lumeq.h"

/* Sees each curve of a plan, with the frame that it is of. {NULL}: nobody does. */
typedef struct CurveWatcher {
    void (*see)(void *opaque, const MeasuredFrame *frame, const LumeqCurve *curve);
    void *opaque;
} CurveWatcher;

/*
 * Plans the film: writes the file of curves, and fills in frames and parts of the plan, whose zero
 * and time base are known. `start`: source_start() of the film. `histograms`: are
 * wanted of the frames, too. MEDIA_INPUT, MEDIA_OUTPUT.
 */
int part_curves_plan(JobPlan *plan, MeasureFile *file, const LumeqParams *params, int64_t lookahead,
                     const FilmFrames *frames, int64_t start, int histograms, CurveWatcher watcher,
                     MediaError *error);

typedef struct PartCurves PartCurves;

/* MEDIA_INPUT. */
int part_curves_open(PartCurves **curves, const JobPlan *plan, const JobPart *part,
                     MediaError *error);

/* See PlannedOptions. */
int part_curves_next(void *curves, int64_t shift, AVRational base, MeasuredFrame *frame,
                     LumeqCurve **curve, MediaError *error);

void part_curves_close(PartCurves **curves);

#endif
