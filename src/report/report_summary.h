/* Sums up the figures of the whole video, of each point of a plot and of each shot. The constants
 * below limit the memory for long videos. */
#ifndef LUMEQ_REPORT_SUMMARY_H
#define LUMEQ_REPORT_SUMMARY_H

#include <stdbool.h>

#include "media/output/output_file.h"
#include "report/report_figures.h"

/* Maximum number of points. When more are needed, each two neighbouring points are merged. */
#define REPORT_POINTS 2000

/* Maximum number of listed shots. Later shots count only in the totals. */
#define REPORT_SHOTS 2000

/* Maximum number of shots with pictures. If there are more shots, only every second one has a
 * picture; of even more shots, every fourth, and so on. */
#define REPORT_PICTURED 100

/* {0} has no frames. */
typedef struct ReportSpan {
    int64_t first, frames; /* first frame number, number of frames */
    int64_t begin_us, end_us;
    ReportSums sums;
} ReportSpan;

typedef struct ReportShot {
    ReportSpan span;
    ReportPicture *picture; /* NULL: none */
} ReportShot;

typedef struct ReportSummary {
    ReportSpan all;
    int width, height, depth; /* of the first frame */

    ReportSpan *points; /* each covers `step` frames, except the last */
    int point_count;
    int64_t step;

    ReportShot *shots;
    int shot_count;
    int64_t shots_seen; /* including unlisted ones */
    int64_t cuts;
    int64_t pictured; /* one in this many shots has a picture */

    int64_t last_mean[REPORT_SIDES]; /* REPORT_MEAN of the previous frame */
} ReportSummary;

/* Returns 0, or -1 if out of memory. */
int report_summary_open(ReportSummary *summary);

/* True if the next frame needs a picture. */
bool report_summary_wants(const ReportSummary *summary, const ReportFrame *frame);

/* Adds the next frame and computes its MABD and flicker. Takes ownership of `picture`, which may be
 * NULL. */
void report_summary_add(ReportSummary *summary, ReportFrame *frame, ReportPicture *picture);

/* {0} is allowed. */
void report_summary_close(ReportSummary *summary);

/* Facts about the run; the strings are borrowed. */
typedef struct ReportAbout {
    const char *program;        /* with its version */
    const char *input, *output; /* names; output NULL: no video was written */
    const char *const *options; /* non-default options, "--name=value" */
    int option_count;
    int partial; /* nonzero: the run was interrupted */
} ReportAbout;

/* Writes one JSON object, which README.md describes. */
void report_json(OutputFile *file, const ReportSummary *summary, const ReportAbout *about);

/* Writes one HTML page, without scripts or other files. */
void report_page(OutputFile *file, const ReportSummary *summary, const ReportAbout *about);

#endif
