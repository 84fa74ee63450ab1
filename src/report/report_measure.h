/* Measures a frame before and after, and makes its pictures. */
#ifndef LUMEQ_REPORT_MEASURE_H
#define LUMEQ_REPORT_MEASURE_H

#include "lumeq/lumeq.h"
#include "media/small_picture.h"
#include "report/report_figures.h"
#include "report/report_samples.h"

/* {0} is valid; end with small_picture_close(). For one thread at a time. */
typedef struct ReportMeasure {
    ReportSamples samples[2]; /* alternately: of this frame and the previous one */
    int64_t frames;
    SmallPictureMaker pictures;
} ReportMeasure;

/* Measures consecutive frames in direct formats, with histograms in the statistics. Fills in
 * everything except `number`, `begin_us` and `end_us`. */
void report_measure_frame(ReportMeasure *measure, const AVFrame *in, const AVFrame *out,
                          const LumeqFrameStats *stats, ReportFrame *frame);

/* Samples of the last measured frame; valid until the next one. */
const ReportSamples *report_measure_samples(const ReportMeasure *measure);

/* Makes small pictures, curve and histograms. `words`: the decision about the frame. The caller
 * frees the result. NULL if out of memory or if the frame's format is unsupported. */
ReportPicture *report_measure_picture(ReportMeasure *measure, const AVFrame *in, const AVFrame *out,
                                      const LumeqFrameStats *stats, const ReportFrame *frame,
                                      const char *words);

#endif
