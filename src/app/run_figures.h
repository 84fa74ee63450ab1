/* Figures about the frames of a run, for the lines at its end. */
#ifndef LUMEQ_APP_RUN_FIGURES_H
#define LUMEQ_APP_RUN_FIGURES_H

#include "app/decision.h"
#include "app/timeline.h"
#include "run/sink.h"

/* Mean absolute difference of brightness (MABD) between neighbouring frames, without cuts: how much
 * the light pumps. In codes of 8 bits. */
typedef struct Pumping {
    double last_in, last_out; /* means of the previous frame */
    double sum_in, sum_out;
    int started;
    int64_t count; /* of differences */
} Pumping;

/* {0} at first, but for the parameters. */
typedef struct RunFigures {
    const LumeqParams *params; /* the frames are equalized with these */
    char words[128];           /* about the frame on its way */
    Decisions decisions;
    Timeline timeline;
    Pumping pumping;
    double noise_gain;   /* the greatest */
    double noise;        /* sum over frames whose noise is known */
    int64_t noise_count; /* of those frames */
    int64_t filtered;    /* frames that the filter was used for */
} RunFigures;

/* Also sets the words of frames that have histograms: comes before the sinks that show them. */
Sink figures_sink(RunFigures *figures);

/* The sentence about pumping, or 0 with fewer than two frames. */
int figures_pumping(const RunFigures *figures, char *text, size_t size);

#endif
