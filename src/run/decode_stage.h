/* A thread that decodes into a bounded queue: from a Reader for files, from a VideoFeed for a
 * window.
 */
#ifndef LUMEQ_RUN_DECODE_STAGE_H
#define LUMEQ_RUN_DECODE_STAGE_H

#include "media/error.h"
#include "media/input/reader.h"
#include "run/queue.h"
#include "run/run_frame.h"

typedef struct DecodeStageOptions {
    int count;     /* frames that may wait */
    int64_t bytes; /* that they may have; a larger frame waits alone */
    int live;      /* true: a frame that waits gives way to a newer one, which then says so */
    /* Fills `decoded`: 0; AVERROR_EOF; or another negative number, with `error` filled if it is a
     * fault. The stage's thread calls it when there is room. */
    int (*next)(void *opaque, Decoded *decoded, MediaError *error);
    void *opaque;
    void (*wake)(void *opaque); /* the stage's thread has put a frame, or has ended; or NULL */
    void *wake_opaque;
} DecodeStageOptions;

typedef struct DecodeStage DecodeStage;

/* No thread runs. NULL: out of memory. */
DecodeStage *decode_stage_create(const DecodeStageOptions *options);

/* The reader has to outlive it. */
DecodeStage *decode_stage_of_reader(Reader *reader);

/* Begins with an empty queue. MEDIA_INPUT. */
int decode_stage_start(DecodeStage *stage, MediaError *error);

/* The next frame, which is the caller's: as queue_take(). After the last one it returns what ended
 * the stage, with `error` filled if that is a fault. Any thread. */
int decode_stage_take(DecodeStage *stage, Frame **frame, QueueWait wait, MediaError *error);

/* Returns the same without taking it. */
int decode_stage_look(DecodeStage *stage, MediaError *error);

/* Number of frames that wait. Any thread. */
int decode_stage_waiting(DecodeStage *stage);

/* Whoever waits in decode_stage_take() gets AVERROR_EXIT. Any thread. */
void decode_stage_cancel(DecodeStage *stage);

/* Ends the thread, which must not wait for its input; frames in the queue are freed. */
void decode_stage_stop(DecodeStage *stage);

/* Stops it if necessary. *stage may be NULL. */
void decode_stage_close(DecodeStage **stage);

#endif
