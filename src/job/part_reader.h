/*
 * Finds the key frame from which a part's frames are decoded as in the whole film: the frames
 * before the part must come out as they were measured. If they do not, since they refer to frames
 * before the key frame, an earlier key frame is tried.
 */
#ifndef LUMEQ_JOB_PART_READER_H
#define LUMEQ_JOB_PART_READER_H

#include "job/job_plan.h"
#include "lumeq/lumeq.h"
#include "run/input.h"

typedef struct PartPlace {
    /* Opens the film, whose tracks are those of one run. */
    int (*open)(void *opaque, Source **source, MediaError *error);
    void *opaque;
    InputOptions options; /* as in one run, but without copies; the span is set here */
    LumeqContext *context;
    const LumeqParams *params;

    /* Results, for part_reader_close(). */
    Source *source;
    Input *input;       /* has started; the part's first frame comes next */
    AVFrame *before[3]; /* the frames before that, the nearest first, or NULL */
    InputSpan span;
} PartPlace;

/* Where to begin after a number of failed tries; see InputSpan.seek_us. */
int64_t part_seek_again(const JobPart *part, int tries);

/* Close the place in any case. MEDIA_INPUT, also if the source was stopped. */
int part_reader_open(PartPlace *place, const JobPlan *plan, const JobPart *part, MediaError *error);

void part_reader_close(PartPlace *place);

#endif
