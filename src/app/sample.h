/* --sample: tries pieces of a film to estimate its time and size, and draws a contact sheet. */
#ifndef LUMEQ_APP_SAMPLE_H
#define LUMEQ_APP_SAMPLE_H

#include <stdatomic.h>
#include <stdint.h>

#include "app/options/options.h"
#include "app/trial.h"
#include "media/error.h"

/* Runs it; `stop` as in headless_run(). Prints messages and returns the exit code. */
int sample_run(const Options *options, atomic_int *stop);

/* ---- the estimate ---- */

typedef struct SampleFilm {
    double seconds;  /* of the film to write */
    int64_t bitrate; /* requested bits per second; 0 or less: constant quality */
} SampleFilm;

typedef struct SampleEstimate {
    double frames;  /* of the film */
    double seconds; /* of wall clock time */
    double bytes;   /* of the output */
    double video;   /* bytes of video packets, included above */
} SampleEstimate;

/* Estimates a film from finished trials of pieces with at least one frame each. */
SampleEstimate sample_estimate(const SampleFilm *film, const Trial *trials, int count);

#endif
