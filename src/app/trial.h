/* A trial run: encodes without writing, and measures time and bytes, to estimate a longer run. */
#ifndef LUMEQ_APP_TRIAL_H
#define LUMEQ_APP_TRIAL_H

#include "run/run.h"

/* Times of the video are in seconds from 0. Not thread-safe. */
typedef struct Trial {
    /* Set by the caller. */
    double began;  /* start: monotonic, in seconds */
    double length; /* packets of this many seconds count; the rest is for the encoder's lookahead */
    /* Receives each decoded frame and its output; the run owns both. */
    void (*frame)(void *opaque, const AVFrame *before, const AVFrame *after, double time);
    void *opaque;

    Writer *writer; /* set by the run, which owns it */

    /* Results. */
    double opened, encoded, ended; /* input open, first frame encoded, end: as `began` */
    double cpu;                    /* processor time after `opened`, divided by the cores */
    int64_t frames;
    double begin, end;   /* of all frames, in the video */
    int64_t packets;     /* counted packets without the first */
    double seconds;      /* of counted packets */
    int64_t first, rest; /* bytes of the first packet, a key frame, and of the other counted ones */
    int64_t payload;     /* bytes of all video packets */
    int64_t header, written; /* bytes of the file: before the first frame, and in total */
    int key_interval;        /* see writer_key_interval() */
    int no_frames;           /* the run failed: no frame could be decoded */
    int damaged;             /* because the input is damaged */
} Trial;

/* Call after the output is complete. */
void trial_end(Trial *trial);

/* Makes the writer count bytes instead of writing. */
void trial_options(Trial *trial, WriterOptions *options);

/* Call when the input is open. Accepts NULL. */
void trial_opened(Trial *trial);

/* Replaces writer_sink(). */
Sink trial_sink(Trial *trial);

/* Seconds per frame in a long run. There the lookahead runs beside the encoder, not before it as in
 * a short piece, so the slower of the two counts, or the processor time of both. */
double trial_pace(const Trial *trial);

#endif
