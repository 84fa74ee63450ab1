#include "app/stats.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "app/terminal.h"
#include "media/output/output_file.h"
#include "media/regular_file.h"
#include "report/report_figures.h"
#include "run/equalizer_frame.h"
#include "run/run.h"

struct StatsFile {
    const char *path;
    OutputFile file;
    int json;
    int64_t rows;
    int failed; /* writing failed; the file is closed */
};

typedef struct Column {
    const char *name;
    double value;
    int digits;
} Column;

#define COLUMNS 14 /* number of columns after frame and pts */

static int ends_in(const char *path, const char *extension)
{
    const size_t n = strlen(path), m = strlen(extension);
    return n > m && strcmp(path + n - m, extension) == 0;
}

bool stats_known_name(const char *path)
{
    return ends_in(path, ".csv") || ends_in(path, ".jsonl");
}

int stats_open(StatsFile **file, const char *path, int overwrite, const struct stat *input,
               const atomic_int *stop, MediaError *error)
{
    MediaError why = {0};
    *file = NULL;
    StatsFile *f = calloc(1, sizeof(*f));
    if (!f)
        return media_no_memory(error, MEDIA_OUTPUT);
    f->path = path;
    f->file.stop = stop;
    int ret = output_file_check(&f->file, path, overwrite, input, &why);
    if (ret >= 0)
        ret = output_file_open(&f->file, &why);
    if (ret < 0) {
        stats_close(&f);
        return media_fail(error, why.fault, "--stats %s: %s", media_quote(path), why.text);
    }
    f->json = ends_in(path, ".jsonl");
    if (!f->json)
        output_file_print(
            &f->file,
            "frame,pts,time,mean_in,mean_out,stddev_in,stddev_out,entropy_in,entropy_out,"
            "scene_cut,curve_speed,decode_us,upload_us,equalize_us,download_us,sink_us\n");
    *file = f;
    return 0;
}

/* Writes a JSON array of the values times `unit`. */
static void write_list(OutputFile *file, const char *name, const uint32_t *list, int bins,
                       double unit)
{
    output_file_print(file, ",\"%s\":[", name);
    for (int i = 0; i < bins; i++)
        output_file_print(file, "%s%.*f", i ? "," : "", unit < 1 ? 4 : 0, list[i] * unit);
    output_file_print(file, "]");
}

static void write_row(StatsFile *f, const StatsRow *row)
{
    const LumeqFrameStats *s = row->stats;
    const double codes = (double)(1 << row->depth) / s->bins; /* codes per bin */
    const Column columns[COLUMNS] = {
        {"time", row->time, 6},
        {"mean_in", s->mean_in, 4},
        {"mean_out", s->mean_out, 4},
        {"stddev_in", codes * histogram_deviation(s->hist_in, s->bins), 4},
        {"stddev_out", codes * histogram_deviation(s->hist_out, s->bins), 4},
        {"entropy_in", histogram_entropy(s->hist_in, s->bins), 4},
        {"entropy_out", histogram_entropy(s->hist_out, s->bins), 4},
        {"scene_cut", s->scene_cut, 0},
        {"curve_speed", s->curve_speed, 4},
        {"decode_us", row->decode_us, 1},
        {"upload_us", s->upload_us, 1},
        {"equalize_us", s->equalize_us, 1},
        {"download_us", s->download_us, 1},
        {"sink_us", row->sink_us, 1},
    };
    output_file_print(&f->file,
                      f->json ? "{\"frame\":%" PRId64 ",\"pts\":%" PRId64 : "%" PRId64 ",%" PRId64,
                      row->frame, row->pts);
    for (int i = 0; i < COLUMNS; i++) {
        if (f->json)
            output_file_print(&f->file, ",\"%s\":%.*f", columns[i].name, columns[i].digits,
                              columns[i].value);
        else
            output_file_print(&f->file, ",%.*f", columns[i].digits, columns[i].value);
    }
    if (f->json) {
        write_list(&f->file, "hist_in", s->hist_in, s->bins, 1);
        write_list(&f->file, "hist_out", s->hist_out, s->bins, 1);
        write_list(&f->file, "curve", s->curve, s->bins, 1 / 65536.0);
        output_file_print(&f->file, "}");
    }
    output_file_print(&f->file, "\n");
}

/* Flushes. On failure, prints the error and `then`, and deletes the file, freeing a full disk. */
static void flush(StatsFile *f, const char *then)
{
    MediaError why = {0};
    if (output_file_flush(&f->file, &why) >= 0)
        return;
    say(SAY_ERRORS, "--stats %s: %s%s", media_quote(f->path), why.text, then);
    output_file_close(&f->file);
    f->failed = 1;
}

void stats_write(StatsFile *f, const StatsRow *row)
{
    if (!f || f->failed)
        return;
    write_row(f, row);
    f->rows++;
    if (output_file_has_failed(&f->file))
        flush(f, "; continuing without statistics");
}

static int write_frame(void *file, Frame *f)
{
    const AVFrame *out = f->out;
    const StatsRow row = {
        .frame = f->number,
        .pts = out->pts,
        .time = out->pts * av_q2d(out->time_base),
        .stats = &f->stats,
        .depth = equalizer_depth(out),
        .decode_us = f->decoded.decode_us,
        .sink_us = run_now_us() - f->begin_us,
    };
    stats_write(file, &row);
    return 0;
}

Sink stats_sink(StatsFile *file)
{
    return (Sink){.self = file, .frame = write_frame};
}

int stats_append(StatsFile *f, const char *path, MediaError *error)
{
    char *line = NULL;
    size_t room = 0;
    int titles = f && !f->json;
    FILE *file = f && !f->failed ? regular_file_stream(path, O_NOFOLLOW) : NULL;
    if (f && !f->failed && !file)
        return media_fail(error, MEDIA_INPUT, "cannot read %s: %s", media_quote(path),
                          regular_file_why());
    while (file && !f->failed && getline(&line, &room, file) > 0) {
        if (!titles) {
            output_file_print(&f->file, "%s", line);
            f->rows++;
        }
        titles = 0;
        if (output_file_has_failed(&f->file))
            flush(f, "; joining the film without statistics");
    }
    free(line);
    if (file)
        fclose(file);
    return 0;
}

void stats_flush(StatsFile *f)
{
    if (f && !f->failed)
        flush(f, "");
}

int stats_commit(StatsFile *f, int partial)
{
    MediaError why = {0};
    const OutputName name = partial ? OUTPUT_PARTIAL : OUTPUT_OWN_NAME;
    if (!f || (partial && !f->rows))
        return 0;
    if (!f->failed && output_file_commit(&f->file, name, &why) < 0) {
        say(SAY_ERRORS, "--stats %s: %s", media_quote(f->path), why.text);
        f->failed = 1;
    }
    return f->failed ? MEDIA_OUTPUT : 0;
}

const char *stats_name(const StatsFile *f)
{
    return f && !f->failed ? f->file.name : NULL;
}

void stats_close(StatsFile **file)
{
    if (*file)
        output_file_close(&(*file)->file);
    free(*file);
    *file = NULL;
}
