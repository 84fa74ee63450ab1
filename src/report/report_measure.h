/* Measures what a report says of a frame, before and after, and makes its pictures. */
#ifndef LUMEQ_REPORT_MEASURE_H
#define LUMEQ_REPORT_MEASURE_H

#include "lumeq/lumeq.h"
#include "media/convert.h"
#include "report/report_figures.h"
#include "report/report_samples.h"

typedef struct ReportMeasure ReportMeasure;

/* NULL: out of memory. For one thread at a time. */
ReportMeasure *report_measure_open(void);

/* Frames in order, both in direct formats, with statistics that have their histograms. All but
 * `number`, `begin_us` and `end_us` is filled in. */
void report_measure_frame(ReportMeasure *measure, const AVFrame *in, const AVFrame *out,
                          const LumeqFrameStats *stats, ReportFrame *frame);

/* Of the frame that was measured last; valid until the next one is. */
const ReportSamples *report_measure_samples(const ReportMeasure *measure);

/* Both pictures, small, with the curve and the histograms. `words`: what was decided about the
 * frame. The caller frees it. NULL: out of memory, or no picture can be made of such a frame. */
ReportPicture *report_measure_picture(ReportMeasure *measure, const AVFrame *in, const AVFrame *out,
                                      const LumeqFrameStats *stats, const ReportFrame *frame,
                                      const char *words);

/* NULL is allowed inside. */
void report_measure_close(ReportMeasure **measure);

#endif
