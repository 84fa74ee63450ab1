/* --stats: one row per frame, as CSV or JSON lines (by the file's name). */
#ifndef LUMEQ_APP_STATS_H
#define LUMEQ_APP_STATS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lumeq/lumeq.h"
#include "media/error.h"
#include "run/run.h"

typedef struct StatsFile StatsFile;

/* `time` is in seconds; members that end in _us are in microseconds. */
typedef struct StatsRow {
    int64_t frame, pts;
    double time;
    const LumeqFrameStats *stats;
    int depth; /* bits of a code */
    double decode_us, sink_us;
} StatsRow;

/* True if the name ends in .csv or .jsonl. */
bool stats_known_name(const char *path);

/*
 * Opens the file under a temporary name. `input` and `stop` may be NULL. If the file is a pipe,
 * `stop` ends the wait for its reader. The path must outlive the file. MEDIA_USAGE if the file is
 * the input, or exists and `overwrite` is 0; MEDIA_OUTPUT.
 */
int stats_open(StatsFile **file, const char *path, int overwrite, const struct stat *input,
               const atomic_int *stop, MediaError *error);

/* Writes a row. A failure is reported once and ends the statistics, not the run; stats_commit()
 * then fails. This and the following functions accept NULL. */
void stats_write(StatsFile *file, const StatsRow *row);

/* A sink that writes a row for each frame. Add it after the sinks whose time it measures. */
Sink stats_sink(StatsFile *file);

/* Appends the rows of the file at `path`, which describes a part of the film. MEDIA_INPUT. */
int stats_append(StatsFile *file, const char *path, MediaError *error);

/* Flushes after the last row. */
void stats_flush(StatsFile *file);

/* Renames the temporary file to its final name, which is NAME.partial.EXT if `partial`. Does
 * nothing for a partial file without rows. Returns 0, or MEDIA_OUTPUT after a message. */
int stats_commit(StatsFile *file, int partial);

/* The name of the committed file, or NULL. Valid until it is closed. */
const char *stats_name(const StatsFile *file);

/* Removes the file unless it was committed. */
void stats_close(StatsFile **file);

#endif
