/*
 * The wanted part of an input is decoded and measured, and nothing else: ahead of the frames that
 * are equalized, or for a job. A thread of its own reads and decodes; the caller's measures.
 */
#ifndef LUMEQ_RUN_MEASURE_PASS_H
#define LUMEQ_RUN_MEASURE_PASS_H

#include "media/input/reader.h"
#include "run/measure_file.h"

typedef struct MeasurePass {
    Source *source;       /* opened for this pass alone */
    ReaderOptions reader; /* nothing is copied */
    LumeqContext *context;
    const LumeqParams *params;
    /* Takes each frame's measure, which it may keep: then it sets it to NULL. A fault ends the
     * pass. */
    int (*take)(void *opaque, const AVFrame *frame, const MeasuredFrame *which,
                LumeqMeasure **measure, MediaError *error);
    void *opaque;
    /* Where the reader begins ahead of what is wanted: frames before this time (in the track's time
     * base, not shifted) are left out, but for the one that the first is compared with. INT64_MIN:
     * none are. */
    int64_t from_pts;

    /* Afterwards. */
    int damaged;          /* the input is known to be, as the sentence says */
    char damage[512];     /* the sentence */
    DamageReport report;  /* what it is made of */
    int64_t zero;         /* see reader_zero(); where there was a frame, as is what follows */
    AVRational time_base; /* of frames */
    uint32_t before[2];   /* the marks of the frames before the first one; 0: there was none */
} MeasurePass;

/* The marks of the first two of three frames, the last one first, by which they are known again; 0
 * where there is none. MEDIA_INPUT. */
int measure_pass_marks(LumeqContext *context, const LumeqParams *params, AVFrame *const frames[3],
                       uint32_t marks[2], MediaError *error);

/* Reads to the end of the part, or until the source stops. MEDIA_INPUT, or a fault of
 * take(). */
int measure_pass_run(MeasurePass *pass, MediaError *error);

#endif
