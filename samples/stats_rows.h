/* Reads a file that `lumeq --stats FILE.jsonl` wrote. */
#ifndef LUMEQ_SAMPLES_STATS_ROWS_H
#define LUMEQ_SAMPLES_STATS_ROWS_H

#include <stdint.h>

/* One frame. Means and contrasts (standard deviations) are in codes, times in seconds. */
typedef struct StatsRow {
    double time;
    double mean_in, mean_out, contrast_in, contrast_out, entropy_in, entropy_out;
    int scene_cut;
    long offset; /* of the frame's line in the file, in bytes */
} StatsRow;

typedef struct StatsRows {
    StatsRow *rows;
    int count;
} StatsRows;

#define STATS_MAX_BINS 4096

typedef struct StatsArrays {
    int bins;
    uint32_t hist_in[STATS_MAX_BINS], hist_out[STATS_MAX_BINS];
    uint32_t curve[STATS_MAX_BINS]; /* output of each bin's first code, with 16 fraction bits */
} StatsArrays;

/* Reads all rows. Returns 0, or -1 with a message on stderr. */
int stats_rows_read(StatsRows *rows, const char *path);

/* The row nearest to a time in seconds. */
const StatsRow *stats_rows_at(const StatsRows *rows, double time);

/* Reads the arrays of one row. Returns 0, or -1 with a message on stderr. */
int stats_rows_arrays(const char *path, const StatsRow *row, StatsArrays *arrays);

void stats_rows_free(StatsRows *rows);

#endif
