/* Figures about the frames of a run, for the lines at its end. */
#ifndef LUMEQ_APP_RUN_FIGURES_H
#define LUMEQ_APP_RUN_FIGURES_H

#include "app/decision.h"
#include "run/sink.h"

/* Frames in a row that are looked at together. */
#define TIMELINE_FRAMES 8

typedef struct TimelineFrame {
    int64_t number;
    double begin_us[LUMEQ_STAGES], end_us[LUMEQ_STAGES];
} TimelineFrame;

/* The frames whose stages overlapped most on the GPU. */
typedef struct Timeline {
    TimelineFrame last[TIMELINE_FRAMES], best[TIMELINE_FRAMES]; /* oldest first */
    int count;
    double overlap; /* of `best`: stages at work at a time, on average */
} Timeline;

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

/* Says them to users who ask for details. `planned`: the curves knew what comes. */
void figures_say_details(const RunFigures *figures, int planned);

#endif
