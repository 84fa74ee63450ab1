#include "report/report_file.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "media/compat.h"
#include "media/output/output_file.h"
#include "media/small_picture.h"
#include "report/report_samples.h"
#include "report/report_summary.h"

/* ---- a frame: its measures before and after, and its pictures ---- */

typedef struct ReportMeasure {
    ReportSamples samples[2]; /* alternately: of this frame and the previous one */
    int64_t frames;
    SmallPictureMaker pictures;
} ReportMeasure;

/* Statistics use bins and codes of the frame's depth; a report uses 8-bit codes. */
#define CODES 256
#define LIMITED_BLACK 16
#define LIMITED_WHITE 235

/* The first bin of an 8-bit code. */
static int bin_of(int code, int bins)
{
    return code * (bins / CODES);
}

static void measure_histogram(ReportFrame *frame, int side, const uint32_t *hist, int bins,
                              int full_range)
{
    const double codes = (double)CODES / bins;
    const int black = full_range ? 0 : bin_of(LIMITED_BLACK, bins);
    const int white = full_range ? bins - 1 : bin_of(LIMITED_WHITE, bins);
    int64_t(*value)[REPORT_SIDES] = frame->value.of;
    value[REPORT_CONTRAST][side] = report_fixed(codes * histogram_deviation(hist, bins));
    value[REPORT_ENTROPY][side] = report_fixed(histogram_entropy(hist, bins));
    value[REPORT_BLACK][side] = report_fixed(100 * histogram_share(hist, bins, 0, black));
    value[REPORT_WHITE][side] = report_fixed(100 * histogram_share(hist, bins, white, bins - 1));
}

static void measure_blocks(ReportMeasure *m, const AVFrame *in, const AVFrame *out,
                           const LumeqFrameStats *stats, ReportFrame *frame)
{
    const ReportSamples *then = &m->samples[m->frames % 2];
    ReportSamples *now = &m->samples[++m->frames % 2];
    now->black = in->color_range == AVCOL_RANGE_JPEG ? 0 : LIMITED_BLACK;
    block_samples_take(&now->of[REPORT_BEFORE], in, stats->active);
    block_samples_take(&now->of[REPORT_AFTER], out, stats->active);
    double noise[REPORT_SIDES];
    const bool is_known = !frame->cut && block_samples_noise(now, then, noise) == 0;
    for (int side = 0; side < REPORT_SIDES; side++) {
        if (is_known)
            frame->value.of[REPORT_NOISE][side] = report_fixed(noise[side]);
        const double contrast = block_samples_contrast(&now->of[side]);
        if (isfinite(contrast))
            frame->value.of[REPORT_LOCAL][side] = report_fixed(contrast);
    }
}

/* Fills in everything except `number`, `begin_us` and `end_us`. */
static void measure_frame(ReportMeasure *m, const AVFrame *in, const AVFrame *out,
                          const LumeqFrameStats *stats, ReportFrame *frame)
{
    const int depth = convert_layout((enum AVPixelFormat)in->format).depth;
    const double code = ldexp(1, 8 - depth);
    const int full_range = in->color_range == AVCOL_RANGE_JPEG;
    frame->cut = stats->scene_cut != 0;
    frame->width = in->width;
    frame->height = in->height;
    frame->depth = depth;
    for (int i = 0; i < REPORT_FIGURES; i++)
        frame->value.of[i][REPORT_BEFORE] = frame->value.of[i][REPORT_AFTER] = REPORT_UNKNOWN;
    frame->value.of[REPORT_MEAN][REPORT_BEFORE] = report_fixed(stats->mean_in * code);
    frame->value.of[REPORT_MEAN][REPORT_AFTER] = report_fixed(stats->mean_out * code);
    measure_histogram(frame, REPORT_BEFORE, stats->hist_in, stats->bins, full_range);
    measure_histogram(frame, REPORT_AFTER, stats->hist_out, stats->bins, full_range);
    measure_blocks(m, in, out, stats, frame);
}

/* Makes a shot's pictures and curve from a frame. The caller frees the result. NULL if out of
 * memory or if the frame's format is unsupported. */
static ReportPicture *make_picture(ReportMeasure *m, const AVFrame *in, const AVFrame *out,
                                   const LumeqFrameStats *stats, const ReportFrame *frame,
                                   const char *words)
{
    const AVFrame *const frames[REPORT_SIDES] = {in, out};
    ReportPicture *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->number = frame->number;
    p->time_us = frame->begin_us;
    p->entropy = frame->value.of[REPORT_ENTROPY][REPORT_BEFORE];
    p->words = strdup(words);
    /* From codes of the frame's depth with 16 fraction bits, to 8-bit codes with 8. */
    for (int i = 0; i < REPORT_CURVE; i++)
        p->curve[i] = (uint16_t)(stats->curve[bin_of(i, stats->bins)] >> frame->depth);
    for (int side = 0; side < REPORT_SIDES; side++)
        p->jpeg[side] = small_picture_jpeg(&m->pictures, frames[side], REPORT_PICTURE_SIDE,
                                           &p->width, &p->height);
    if (p->words && p->jpeg[REPORT_BEFORE] && p->jpeg[REPORT_AFTER])
        return p;
    report_picture_free(p);
    return NULL;
}

/* ---- the report ---- */

struct Report {
    bool is_json; /* else a page */
    OutputFile file;
    ReportMeasure measure;
    ReportSummary summary;
};

static int ends_in(const char *path, const char *extension)
{
    const size_t n = strlen(path), m = strlen(extension);
    return n > m && strcmp(path + n - m, extension) == 0;
}

bool report_known_name(const char *path)
{
    return ends_in(path, ".html") || ends_in(path, ".json");
}

int report_open(Report **report, const char *path, int overwrite, const struct stat *input,
                const atomic_int *stop, MediaError *error)
{
    Report *r = *report = calloc(1, sizeof(*r));
    if (!r)
        return media_no_memory(error, MEDIA_OUTPUT);
    r->is_json = ends_in(path, ".json");
    r->file.stop = stop;
    int ret = report_summary_open(&r->summary) < 0 ? media_no_memory(error, MEDIA_OUTPUT) : 0;
    if (ret >= 0)
        ret = output_file_check(&r->file, path, overwrite, input, error);
    if (ret >= 0)
        ret = output_file_open(&r->file, error);
    if (ret < 0)
        report_close(report);
    return ret;
}

static int64_t to_us(int64_t time, AVRational base)
{
    return llrint((double)time * av_q2d(base) * 1e6);
}

void report_frame(Report *r, const AVFrame *in, const AVFrame *out, const LumeqFrameStats *stats,
                  int64_t number, const char *words)
{
    ReportFrame frame = {
        .number = number,
        .begin_us = to_us(out->pts, out->time_base),
        .end_us = to_us(out->pts + FRAME_DURATION(out), out->time_base),
    };
    ReportPicture *picture = NULL;
    measure_frame(&r->measure, in, out, stats, &frame);
    if (report_summary_wants(&r->summary, &frame))
        picture = make_picture(&r->measure, in, out, stats, &frame, words);
    report_summary_add(&r->summary, &frame, picture);
}

int report_write(Report *r, const ReportAbout *about, MediaError *error)
{
    if (r->is_json)
        report_json(&r->file, &r->summary, about);
    else
        report_page(&r->file, &r->summary, about);
    return output_file_flush(&r->file, error);
}

int report_commit(Report *r, int partial, MediaError *error)
{
    return output_file_commit(&r->file, partial ? OUTPUT_PARTIAL : OUTPUT_OWN_NAME, error);
}

int64_t report_frames(const Report *r)
{
    return r->summary.all.frames;
}

const char *report_name(const Report *r)
{
    return r->file.name;
}

void report_close(Report **report)
{
    Report *r = *report;
    if (!r)
        return;
    small_picture_close(&r->measure.pictures);
    report_summary_close(&r->summary);
    output_file_close(&r->file);
    free(r);
    *report = NULL;
}
