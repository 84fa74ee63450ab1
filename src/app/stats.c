#include "app/stats.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct StatsFile {
    FILE *file;
    int json;
};

typedef struct Column {
    const char *name;
    double value;
    int digits;
} Column;

#define COLUMNS 14

static int ends_in(const char *path, const char *extension)
{
    const size_t n = strlen(path), m = strlen(extension);
    return n > m && strcmp(path + n - m, extension) == 0;
}

int stats_known_name(const char *path)
{
    return ends_in(path, ".csv") || ends_in(path, ".jsonl");
}

double stats_deviation(const uint32_t *hist, int bins)
{
    double count = 0, sum = 0, squares = 0;
    for (int i = 0; i < bins; i++) {
        count += hist[i];
        sum += (double)hist[i] * i;
        squares += (double)hist[i] * i * i;
    }
    const double mean = sum / count, variance = squares / count - mean * mean;
    return variance > 0 ? sqrt(variance) : 0;
}

double stats_entropy(const uint32_t *hist, int bins)
{
    double count = 0, entropy = 0;
    for (int i = 0; i < bins; i++)
        count += hist[i];
    for (int i = 0; i < bins; i++)
        if (hist[i])
            entropy -= hist[i] / count * log2(hist[i] / count);
    return entropy;
}

StatsFile *stats_open(const char *path)
{
    StatsFile *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    f->json = ends_in(path, ".jsonl");
    f->file = fopen(path, "w");
    if (!f->file) {
        const int reason = errno;
        free(f);
        errno = reason;
        return NULL;
    }
    if (!f->json)
        fputs("frame,pts,time,mean_in,mean_out,stddev_in,stddev_out,entropy_in,entropy_out,"
              "scene_cut,curve_speed,decode_us,upload_us,equalize_us,download_us,sink_us\n",
              f->file);
    return f;
}

static void write_histogram(FILE *file, const char *name, const uint32_t *hist, int bins)
{
    fprintf(file, ",\"%s\":[", name);
    for (int i = 0; i < bins; i++)
        fprintf(file, "%s%" PRIu32, i ? "," : "", hist[i]);
    fputc(']', file);
}

static void write_curve(FILE *file, const uint32_t *curve, int bins)
{
    fputs(",\"curve\":[", file);
    for (int i = 0; i < bins; i++)
        fprintf(file, "%s%.4f", i ? "," : "", curve[i] / 65536.0);
    fputc(']', file);
}

void stats_write(StatsFile *f, const StatsRow *row)
{
    const LumeqFrameStats *s = row->stats;
    const Column columns[COLUMNS] = {
        {"time", row->time, 6},
        {"mean_in", s->mean_in, 4},
        {"mean_out", s->mean_out, 4},
        {"stddev_in", stats_deviation(s->hist_in, s->bins), 4},
        {"stddev_out", stats_deviation(s->hist_out, s->bins), 4},
        {"entropy_in", stats_entropy(s->hist_in, s->bins), 4},
        {"entropy_out", stats_entropy(s->hist_out, s->bins), 4},
        {"scene_cut", s->scene_cut, 0},
        {"curve_speed", s->curve_speed, 4},
        {"decode_us", row->decode_us, 1},
        {"upload_us", s->upload_us, 1},
        {"equalize_us", s->equalize_us, 1},
        {"download_us", s->download_us, 1},
        {"sink_us", row->sink_us, 1},
    };
    fprintf(f->file, f->json ? "{\"frame\":%" PRId64 ",\"pts\":%" PRId64 : "%" PRId64 ",%" PRId64,
            row->frame, row->pts);
    for (int i = 0; i < COLUMNS; i++) {
        if (f->json)
            fprintf(f->file, ",\"%s\":%.*f", columns[i].name, columns[i].digits, columns[i].value);
        else
            fprintf(f->file, ",%.*f", columns[i].digits, columns[i].value);
    }
    if (f->json) {
        write_histogram(f->file, "hist_in", s->hist_in, s->bins);
        write_histogram(f->file, "hist_out", s->hist_out, s->bins);
        write_curve(f->file, s->curve, s->bins);
        fputc('}', f->file);
    }
    fputc('\n', f->file);
}

int stats_close(StatsFile **file)
{
    StatsFile *f = *file;
    if (!f)
        return 0;
    errno = 0;
    const int failed = ferror(f->file);
    const int ret = fclose(f->file);
    free(f);
    *file = NULL;
    return failed || ret ? -1 : 0;
}
