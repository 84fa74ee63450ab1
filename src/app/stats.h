/* --stats: one row per frame, as CSV or JSON lines (by the file's name). */
#ifndef LUMEQ_APP_STATS_H
#define LUMEQ_APP_STATS_H

#include <stdint.h>

#include "lumeq/lumeq.h"

typedef struct StatsFile StatsFile;

/* One row. Times in seconds and microseconds. */
typedef struct StatsRow {
    int64_t frame, pts;
    double time;
    const LumeqFrameStats *stats;
    double decode_us, sink_us;
} StatsRow;

/* Not 0: the name ends in .csv or .jsonl. */
int stats_known_name(const char *path);

/* Replaces what was there. NULL: see errno. */
StatsFile *stats_open(const char *path);

void stats_write(StatsFile *file, const StatsRow *row);

/* 0, or -1 (errno) when any of it could not be written. NULL file: 0. */
int stats_close(StatsFile **file);

/* Of a histogram over codes: standard deviation in codes, and -sum p log2 p in bits. */
double stats_deviation(const uint32_t *hist, int bins);
double stats_entropy(const uint32_t *hist, int bins);

#endif
