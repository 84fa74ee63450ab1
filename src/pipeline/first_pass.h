/*
 * The first of two passes: the wanted part of the input is decoded and measured, and nothing else.
 * A thread of its own reads and decodes; the caller's measures.
 */
#ifndef LUMEQ_PIPELINE_FIRST_PASS_H
#define LUMEQ_PIPELINE_FIRST_PASS_H

#include "media/input/reader.h"
#include "pipeline/measure_file.h"

typedef struct FirstPass {
    Source *source;       /* opened for this pass alone */
    ReaderOptions reader; /* as those of the second pass; nothing is copied */
    LumeqContext *context;
    const LumeqParams *params;
    MeasureFile *file; /* takes the measures */
    /* Is called after each frame, with its end in seconds. */
    void (*done)(void *opaque, double end);
    void *opaque;
    int damaged; /* afterwards: the input is known to be */
} FirstPass;

/* Reads to the end of the part, or until the source is told to stop. MEDIA_INPUT, MEDIA_OUTPUT. */
int first_pass_run(FirstPass *pass, MediaError *error);

#endif
