#include "stats_rows.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the text after `"key":` in a line, or NULL. */
static const char *find_value(const char *line, const char *key)
{
    char quoted[32];
    snprintf(quoted, sizeof(quoted), "\"%s\":", key);
    const char *found = strstr(line, quoted);
    return found ? found + strlen(quoted) : NULL;
}

/* Returns 1 if the key has a number, else 0. */
static int get_number(const char *line, const char *key, double *value)
{
    const char *text = find_value(line, key);
    char *end = NULL;
    if (text)
        *value = strtod(text, &end);
    return end != text;
}

static int parse_row(const char *line, StatsRow *row)
{
    double cut = 0;
    const int found =
        get_number(line, "time", &row->time) + get_number(line, "mean_in", &row->mean_in) +
        get_number(line, "mean_out", &row->mean_out) +
        get_number(line, "stddev_in", &row->contrast_in) +
        get_number(line, "stddev_out", &row->contrast_out) +
        get_number(line, "entropy_in", &row->entropy_in) +
        get_number(line, "entropy_out", &row->entropy_out) + get_number(line, "scene_cut", &cut);
    row->scene_cut = cut != 0;
    return found == 8 ? 0 : -1;
}

static int add_row(StatsRows *rows, const StatsRow *row)
{
    /* Doubles the capacity when the count is a power of two. */
    if ((rows->count & (rows->count - 1)) == 0) {
        const size_t room = rows->count ? 2 * (size_t)rows->count : 1;
        StatsRow *more = realloc(rows->rows, room * sizeof(*more));
        if (!more)
            return -1;
        rows->rows = more;
    }
    rows->rows[rows->count++] = *row;
    return 0;
}

static int fail(const char *path, const char *what)
{
    fprintf(stderr, "cannot read the statistics %s: %s\n", path, what);
    return -1;
}

int stats_rows_read(StatsRows *rows, const char *path)
{
    *rows = (StatsRows){0};
    FILE *file = fopen(path, "r");
    if (!file)
        return fail(path, strerror(errno));
    char *line = NULL;
    size_t size = 0;
    const char *wrong = NULL;
    StatsRow row = {0};
    while (!wrong && (row.offset = ftell(file)) >= 0 && getline(&line, &size, file) > 0) {
        if (parse_row(line, &row) < 0)
            wrong = "a line is not a frame of lumeq --stats FILE.jsonl";
        else if (add_row(rows, &row) < 0)
            wrong = "out of memory";
    }
    if (!wrong && ferror(file))
        wrong = "read error";
    if (!wrong && rows->count == 0)
        wrong = "it has no frames";
    free(line);
    fclose(file);
    if (!wrong)
        return 0;
    stats_rows_free(rows);
    return fail(path, wrong);
}

const StatsRow *stats_rows_at(const StatsRows *rows, double time)
{
    const StatsRow *nearest = rows->rows;
    for (int i = 1; i < rows->count; i++)
        if (fabs(rows->rows[i].time - time) < fabs(nearest->time - time))
            nearest = &rows->rows[i];
    return nearest;
}

/* Stores the values multiplied by `scale`; returns their number, 0 if the key is missing. */
static int get_array(const char *line, const char *key, double scale, uint32_t *values)
{
    const char *text = find_value(line, key);
    int count = 0;
    while (text && (*text == '[' || *text == ',') && count < STATS_MAX_BINS) {
        char *end;
        const double value = strtod(text + 1, &end);
        if (end == text + 1 || !(value >= 0 && value * scale <= UINT32_MAX))
            return 0;
        values[count++] = (uint32_t)llrint(value * scale);
        text = end;
    }
    return text && *text == ']' ? count : 0;
}

int stats_rows_arrays(const char *path, const StatsRow *row, StatsArrays *arrays)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return fail(path, strerror(errno));
    char *line = NULL;
    size_t size = 0;
    int ok = fseek(file, row->offset, SEEK_SET) == 0 && getline(&line, &size, file) > 0;
    if (ok) {
        arrays->bins = get_array(line, "hist_in", 1, arrays->hist_in);
        ok = arrays->bins > 1 && get_array(line, "hist_out", 1, arrays->hist_out) == arrays->bins &&
             get_array(line, "curve", 65536, arrays->curve) == arrays->bins;
    }
    free(line);
    fclose(file);
    return ok ? 0 : fail(path, "a frame lacks its histograms or its curve");
}

void stats_rows_free(StatsRows *rows)
{
    free(rows->rows);
    *rows = (StatsRows){0};
}
