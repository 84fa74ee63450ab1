/* Blocks of luma of one frame, before and after, and noise by two frames that follow each other. */
#ifndef LUMEQ_REPORT_SAMPLES_H
#define LUMEQ_REPORT_SAMPLES_H

#include "report/block_samples.h"
#include "report/report_figures.h"

typedef struct ReportSamples {
    int black; /* of the source, a code of 8 bits */
    BlockSamples of[REPORT_SIDES];
} ReportSamples;

/* Of a frame as it came and as it became, both in direct formats. */
void report_samples_take(ReportSamples *samples, const AVFrame *in, const AVFrame *out,
                         LumeqRect active);

/* Without blocks, as of a frame that is not there. */
void report_samples_clear(ReportSamples *samples);

/* Sets the frame's noise by its samples and those of the frame before it; REPORT_UNKNOWN where it
 * is not known, as at a cut. */
void report_samples_noise(const ReportSamples *now, const ReportSamples *then, ReportFrame *frame);

#endif
