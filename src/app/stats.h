/* --stats: one row per frame, as CSV or JSON lines (by the file's name). */
#ifndef LUMEQ_APP_STATS_H
#define LUMEQ_APP_STATS_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lumeq/lumeq.h"
#include "media/error.h"
#include "run/sink.h"

typedef struct StatsFile StatsFile;

/* One row. Times in seconds and microseconds. */
typedef struct StatsRow {
    int64_t frame, pts;
    double time;
    const LumeqFrameStats *stats;
    int depth; /* bits of a code */
    double decode_us, sink_us;
} StatsRow;

/* Not 0: the name ends in .csv or .jsonl. */
int stats_known_name(const char *path);

/*
 * Opens it under a temporary name. `input`: what the input is, or NULL. `stop`: not 0 ends waiting
 * for the reader of a pipe; or NULL. The path must outlive it.
 * MEDIA_USAGE when the file exists and `overwrite` is 0, or is the input; MEDIA_OUTPUT.
 */
int stats_open(StatsFile **file, const char *path, int overwrite, const struct stat *input,
               const atomic_int *stop, MediaError *error);

/* What cannot be written ends the statistics, and not the run: it is said once, there is no file,
 * and stats_commit() fails. NULL is allowed in all that follow. */
void stats_write(StatsFile *file, const StatsRow *row);

/* Writes a row for each frame. After the sinks whose time it tells. */
Sink stats_sink(StatsFile *file);

/* Adds the rows of another such file, as a part of a film has them. MEDIA_INPUT. */
int stats_append(StatsFile *file, const char *path, MediaError *error);

/* After the last row: everything is on its way to the disk. */
void stats_flush(StatsFile *file);

/* Gives the file its name, or NAME.partial.EXT where it is `partial`: then there is none without a
 * row. MEDIA_OUTPUT, which has been said. */
int stats_commit(StatsFile *file, int partial);

/* Once it is committed: where it is, or NULL. Valid until it is closed. */
const char *stats_name(const StatsFile *file);

/* What was not committed is removed. */
void stats_close(StatsFile **file);

#endif
