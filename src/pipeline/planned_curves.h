/*
 * The second of two passes: each frame is equalized by a curve that knows what comes, from the
 * measures of the first pass. They stream from its file, a lookahead before the frames. One thread
 * at a time.
 */
#ifndef LUMEQ_PIPELINE_PLANNED_CURVES_H
#define LUMEQ_PIPELINE_PLANNED_CURVES_H

#include "media/input/source.h"
#include "pipeline/measure_file.h"

typedef struct PlannedOptions {
    MeasureFile *file;     /* of the first pass, flushed */
    LumeqContext *context; /* that equalizes */
    const LumeqParams *params;
    const Source *source; /* that the frames come from */
    const char *path;     /* of the input */
} PlannedOptions;

typedef struct PlannedCurves PlannedCurves;

/* What is in the options has to outlive it. MEDIA_INPUT. */
int planned_open(PlannedCurves **planned, const PlannedOptions *options, MediaError *error);

/*
 * Equalizes the next frame into `out`, NULL: only its statistics are wanted. `before`: the frame
 * before it, or NULL. `zero`: what became 0 of the input's times, see reader_zero().
 * Answers 1; or 0 where it is not the frame that was measured: this one and all that follow are to
 * be equalized otherwise. MEDIA_INPUT (the file has been changed since, or out of memory),
 * MEDIA_OUTPUT (the temporary file).
 */
int planned_apply(PlannedCurves *planned, const AVFrame *in, const AVFrame *before, AVFrame *out,
                  int64_t zero, LumeqFrameStats *stats, MediaError *error);

/* Frames that it has equalized. */
int64_t planned_count(const PlannedCurves *planned);

/* After the last frame: the frames were not those that were measured. */
int planned_differs(const PlannedCurves *planned);

void planned_close(PlannedCurves **planned);

#endif
