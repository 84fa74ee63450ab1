/*
 * A thread that decodes into a bounded queue, for whoever equalizes, measures or shows what comes.
 * What it decodes from is a call: a reader of all that a file has, or the pictures of a demuxer.
 */
#ifndef LUMEQ_RUN_DECODE_STAGE_H
#define LUMEQ_RUN_DECODE_STAGE_H

#include "media/error.h"
#include "media/input/reader.h"
#include "run/queue.h"

typedef struct DecodeStageOptions {
    size_t item; /* these as in QueueOptions */
    int count;
    void (*free)(void *item);
    void (*drop)(const void *oldest, void *next);
    /* Fills the item, and says how large it is: 0; AVERROR_EOF; another negative number, with
     * `error` filled where it is a fault. From the stage's thread, once there is room. */
    int (*next)(void *opaque, void *item, int64_t *bytes, MediaError *error);
    void *opaque;
    void (*wake)(void *opaque); /* there is something to take; from the stage's thread. Or NULL */
    void *wake_opaque;
} DecodeStageOptions;

typedef struct DecodeStage DecodeStage;

/* No thread runs. NULL: out of memory. */
DecodeStage *decode_stage_create(const DecodeStageOptions *options);

/* Of messages; the reader has to outlive it. */
DecodeStage *decode_stage_of_reader(Reader *reader);

/* Begins with an empty queue. MEDIA_INPUT. */
int decode_stage_start(DecodeStage *stage, MediaError *error);

/* As queue_take(). After the last item, what ended the stage, with `error` filled where it is a
 * fault. Any thread. */
int decode_stage_take(DecodeStage *stage, void *item, QueueWait wait, MediaError *error);

/* The same without taking it. */
int decode_stage_look(DecodeStage *stage, MediaError *error);

/* Items that wait. Any thread. */
int decode_stage_waiting(DecodeStage *stage);

/* Ends after the item being decoded. The items until then can still be taken, then the answer is
 * AVERROR_EXIT. */
void decode_stage_finish(DecodeStage *stage);

/* Whoever waits in decode_stage_take() gets AVERROR_EXIT. Any thread. */
void decode_stage_cancel(DecodeStage *stage);

/* Ends the thread, which is in no call that waits; items in the queue are freed. */
void decode_stage_stop(DecodeStage *stage);

/* Stops it, too. NULL is allowed inside. */
void decode_stage_close(DecodeStage **stage);

#endif
