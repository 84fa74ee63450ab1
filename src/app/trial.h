/* A run that is tried: it encodes into nothing, and what it took is noted, for who wants to know
 * what more of the same would take. */
#ifndef LUMEQ_APP_TRIAL_H
#define LUMEQ_APP_TRIAL_H

#include "run/sink.h"

/* Times are of the video, in seconds from 0. Of one thread. */
typedef struct Trial {
    /* Set by the caller. */
    double length; /* packets of the first so many seconds count: what follows them is encoded so
                      that the encoder sees what comes, as in the whole film */
    /* Takes each frame as it came and as it is written, which stay the run's; NULL: nobody does. */
    void (*frame)(void *opaque, const AVFrame *before, const AVFrame *after, double time);
    /* Is called after each frame, so that progress can be shown; or NULL. */
    void (*step)(void *opaque);
    void *opaque;

    Writer *writer; /* set by the run, which owns it */

    /* Afterwards. */
    /* All of it, when the input was open, and when the first frame was encoded: seconds on the
     * monotonic clock. */
    double began, opened, encoded, ended;
    double cpu; /* seconds that all cores together take for what follows `opened`, at least */
    int64_t frames;
    double begin, end;       /* of the frames, in the video */
    int64_t packets, keys;   /* that count, the first one aside; key frames among them */
    double seconds;          /* of all that count */
    int64_t first, rest;     /* bytes: of the first packet, which is a key frame; of the others */
    int64_t payload;         /* bytes of all packets of the video */
    int64_t header, written; /* bytes of the file: before the first frame; all of it */
    int key_interval;        /* see writer_key_interval() */
    int no_frames;           /* not 0: the run failed because no frame could be decoded ... */
    int damaged;             /* ... as the input is damaged */
} Trial;

void trial_begin(Trial *trial);

/* After the output is complete. */
void trial_end(Trial *trial);

/* Makes the writer count what it would write. */
void trial_options(Trial *trial, WriterOptions *options);

/* The input is open: from here on frames are decoded. NULL is allowed. */
void trial_opened(Trial *trial);

/* Takes frames before anything is drawn into them. NULL: no sink. */
Sink trial_sink(Trial *trial);

/* Takes the place of writer_sink(). */
Sink trial_writer_sink(Trial *trial);

/* Seconds that a frame takes in a long run of the same. There a lookahead measures frames while
 * others are encoded, which in a short piece it does before: the slower of the two counts, or what
 * the cores need for both. */
double trial_pace(const Trial *trial);

#endif
