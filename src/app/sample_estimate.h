/* What a whole film takes, from trials of pieces of it. */
#ifndef LUMEQ_APP_SAMPLE_ESTIMATE_H
#define LUMEQ_APP_SAMPLE_ESTIMATE_H

#include <stdint.h>

#include "app/trial.h"

typedef struct SampleFilm {
    double seconds;  /* of the film that is to be written */
    int64_t bitrate; /* that is asked for, bits a second; 0 or less: a constant quality is */
} SampleFilm;

typedef struct SampleEstimate {
    double frames;          /* that the film has */
    double seconds;         /* that it takes, on the clock ... */
    double begin;           /* ... of which before the first frame */
    double bytes;           /* of the output ... */
    double video;           /* ... of which the packets of the video */
    double frames_a_second; /* over all of it */

    /* Standard errors by how much the pieces differ, as shares: 0 of a single piece. */
    double seconds_error, bytes_error;
} SampleEstimate;

/* `trials` were run, each of a piece with at least a frame. */
SampleEstimate sample_estimate(const SampleFilm *film, const Trial *trials, int count);

/* Of a film that was tried as a whole. */
SampleEstimate sample_estimate_whole(const Trial *trial);

#endif
