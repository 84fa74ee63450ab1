/*
 * Finds the place from where a part's frames are decoded as they are in the whole film: a key frame
 * from which the frame before the part comes out as it did when it was measured. Where it does not,
 * since frames refer to what is before the key frame, it is tried from further back.
 */
#ifndef LUMEQ_JOB_PART_READER_H
#define LUMEQ_JOB_PART_READER_H

#include "job/job_plan.h"
#include "lumeq/lumeq.h"
#include "media/input/reader.h"

typedef struct PartPlace {
    /* Opens the film, whose tracks are those of one run. */
    int (*open)(void *opaque, Source **source, MediaError *error);
    void *opaque;
    ReaderOptions reader; /* as of one run, without copies; its span is set */
    LumeqContext *context;
    const LumeqParams *params;

    /* Afterwards, to be closed by the caller in any case, the reader first. */
    Source *source;
    Reader *open_reader; /* the part's first frame comes next */
    AVFrame *before[3];  /* the frames before that, the nearest first; NULL: there is none */
    ReaderSpan span;
} PartPlace;

/* How far further back, after so many places that were none; see ReaderSpan.seek_us. */
int64_t part_seek_again(const JobPart *part, int tries);

/* MEDIA_INPUT. Ends with MEDIA_INPUT, too, where the source was told to stop. */
int part_reader_open(PartPlace *place, const JobPlan *plan, const JobPart *part, MediaError *error);

void part_reader_close(PartPlace *place);

#endif
