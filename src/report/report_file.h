/* Writes a report: takes frames, and at the end writes one HTML page or JSON object. */
#ifndef LUMEQ_REPORT_FILE_H
#define LUMEQ_REPORT_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "lumeq/lumeq.h"
#include "media/convert.h"
#include "media/error.h"
#include "report/report_summary.h"

typedef struct Report Report;

/* True if the name ends in .html or .json. */
bool report_known_name(const char *path);

/* Opens the report under a temporary name. `input`: the input file's status, or NULL. `stop`: NULL,
 * or a flag that outlives the report; setting the flag ends a wait for a pipe's reader. On errors,
 * *report is NULL. MEDIA_USAGE: `path` is a directory or the input, or it exists and `overwrite` is
 * 0. MEDIA_OUTPUT: other errors. One thread may use a report at a time. */
int report_open(Report **report, const char *path, int overwrite, const struct stat *input,
                const atomic_int *stop, MediaError *error);

/* Adds a frame as decoded (`in`) and as equalized (`out`), both in direct formats (convert.h).
 * `stats` must include histograms and the curve. `words`: the decision about the frame; copied.
 * Frame numbers start at 0 and are consecutive. */
void report_frame(Report *report, const AVFrame *in, const AVFrame *out,
                  const LumeqFrameStats *stats, int64_t number, const char *words);

/* Writes the report after the last frame. Error: MEDIA_OUTPUT. */
int report_write(Report *report, const ReportAbout *about, MediaError *error);

/* Gives the file its final name, or NAME.partial.EXT if `partial`. Error: MEDIA_OUTPUT. */
int report_commit(Report *report, int partial, MediaError *error);

int64_t report_frames(const Report *report);

/* The file's path after report_commit(), even after a failure; NULL before. Owned by the report. */
const char *report_name(const Report *report);

/* Frees the report, and removes its file unless report_commit() succeeded. *report may be NULL. */
void report_close(Report **report);

#endif
