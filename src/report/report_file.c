#include "report/report_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "media/compat.h"
#include "media/output/output_file.h"
#include "media/regular_file.h"
#include "report/report_log.h"
#include "report/report_measure.h"
#include "report/report_summary.h"

typedef enum Kind { PAGE, JSON, PART } Kind;

struct Report {
    Kind kind;
    OutputFile file;
    ReportMeasure measure;
    ReportSummary summary; /* not for a part */
    PictureChoice choice;  /* for a part: candidates ... */
    int after_plain;       /* ... and whether its last frame was plain */
    int64_t part_begins;   /* while appending a part: its first frame number, ... */
    ReportSamples first;   /* ... samples of that frame, ... */
    ReportSamples last;    /* ... and of the previous part's last frame */
    int64_t frames;
};

static int ends_in(const char *path, const char *extension)
{
    const size_t n = strlen(path), m = strlen(extension);
    return n > m && strcmp(path + n - m, extension) == 0;
}

int report_known_name(const char *path)
{
    return ends_in(path, ".html") || ends_in(path, ".json");
}

static int open_report(Report **report, Kind kind, const char *path, int overwrite,
                       const struct stat *input, const atomic_int *stop, MediaError *error)
{
    Report *r = *report = calloc(1, sizeof(*r));
    if (!r)
        return media_no_memory(error, MEDIA_OUTPUT);
    r->kind = kind;
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

int report_open(Report **report, const char *path, int overwrite, const struct stat *input,
                const atomic_int *stop, MediaError *error)
{
    return open_report(report, ends_in(path, ".json") ? JSON : PAGE, path, overwrite, input, stop,
                       error);
}

int report_open_part(Report **report, const char *path, MediaError *error)
{
    return open_report(report, PART, path, 1, NULL, NULL, error);
}

/* For a part; whether it really begins one is decided when the parts are joined. */
static int may_begin_shot(const Report *r, const ReportFrame *frame)
{
    return frame->cut || (r->after_plain && !report_frame_is_plain(frame));
}

/* Also logs pictures that the reader may drop later. */
static void log_frame(Report *r, const ReportFrame *frame, ReportPicture *picture)
{
    if (picture) {
        (void)picture_choice_take(&r->choice, frame->number, may_begin_shot(r, frame));
        report_log_picture(&r->file, picture);
        report_picture_free(picture);
    }
    if (!r->frames)
        report_log_samples(&r->file, report_measure_samples(&r->measure));
    report_log_frame(&r->file, frame);
    r->after_plain = report_frame_is_plain(frame);
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
    report_measure_frame(&r->measure, in, out, stats, &frame);
    const int wanted = r->kind == PART
                           ? picture_choice_wants(&r->choice, number, may_begin_shot(r, &frame))
                           : report_summary_wants(&r->summary, &frame);
    if (wanted)
        picture = report_measure_picture(&r->measure, in, out, stats, &frame, words);
    if (r->kind == PART)
        log_frame(r, &frame, picture);
    else
        report_summary_add(&r->summary, &frame, picture);
    r->frames++;
}

static int append_line(Report *r, char *line, ReportPicture **picture)
{
    ReportFrame frame;
    ReportPicture *read = NULL;
    const int is_first = r->frames == r->part_begins;
    const int kind = report_log_read(line, &frame, &read, is_first ? &r->first : &r->last);
    if (kind == REPORT_LOG_PICTURE) {
        report_picture_free(*picture);
        *picture = read;
    }
    if (kind != REPORT_LOG_FRAME)
        return kind;
    if (frame.number != r->frames)
        return -1;
    if (is_first) {
        report_samples_noise(&r->first, &r->last, &frame);
        report_samples_clear(&r->last);
    }
    report_summary_add(&r->summary, &frame, *picture);
    *picture = NULL;
    r->frames++;
    return kind;
}

int report_append(Report *r, const char *path, MediaError *error)
{
    char *line = NULL;
    size_t room = 0;
    ReportPicture *picture = NULL; /* of the next frame */
    FILE *file = regular_file_stream(path, O_NOFOLLOW);
    if (!file)
        return media_fail(error, MEDIA_INPUT, "cannot read %s: %s", media_quote(path),
                          regular_file_why());
    int kind = REPORT_LOG_FRAME;
    r->part_begins = r->frames;
    report_samples_clear(&r->first);
    while (kind > 0 && getline(&line, &room, file) > 0)
        kind = append_line(r, line, &picture);
    const int failed = kind < 0 || ferror(file);
    report_picture_free(picture);
    free(line);
    fclose(file);
    return failed ? media_fail(error, MEDIA_INPUT, "%s is damaged", media_quote(path)) : 0;
}

int report_write(Report *r, const ReportAbout *about, MediaError *error)
{
    report_summary_end(&r->summary);
    if (r->kind == PART && r->frames)
        report_log_samples(&r->file, report_measure_samples(&r->measure));
    if (r->kind == JSON)
        report_json(&r->file, &r->summary, about);
    else if (r->kind == PAGE)
        report_page(&r->file, &r->summary, about);
    return output_file_flush(&r->file, error);
}

int report_commit(Report *r, int partial, MediaError *error)
{
    return output_file_commit(&r->file, partial ? OUTPUT_PARTIAL : OUTPUT_OWN_NAME, error);
}

int64_t report_frames(const Report *r)
{
    return r->frames;
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
