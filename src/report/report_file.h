/* A report of a run: frames go in, and at the end one page or one JSON object is written. Of a part
 * of a film it writes what the whole's needs. */
#ifndef LUMEQ_REPORT_FILE_H
#define LUMEQ_REPORT_FILE_H

#include <stdatomic.h>
#include <sys/stat.h>

#include "lumeq/lumeq.h"
#include "media/convert.h"
#include "media/error.h"
#include "report/report_output.h"

typedef struct Report Report;

/* Not 0: the name ends in .html or .json. */
int report_known_name(const char *path);

/*
 * Opens it under a temporary name. `input`: what the input is, or NULL. `stop`: not 0 ends waiting
 * for the reader of a pipe; or NULL. The path must outlive it.
 * MEDIA_USAGE when the file exists and `overwrite` is 0, or is the input; MEDIA_OUTPUT. One thread
 * at a time.
 */
int report_open(Report **report, const char *path, int overwrite, const struct stat *input,
                const atomic_int *stop, MediaError *error);

/* The same of a part. */
int report_open_part(Report **report, const char *path, MediaError *error);

/* A frame as it came and as it became, both in direct formats, with statistics that have their
 * arrays, and words about what was decided. Frames have numbers from 0 on, without gaps, but those
 * of a part, whose first one may have any. */
void report_frame(Report *report, const AVFrame *in, const AVFrame *out,
                  const LumeqFrameStats *stats, int64_t number, const char *words);

/* The frames of a part, which come next. MEDIA_INPUT: it cannot be read, or is damaged. */
int report_append(Report *report, const char *path, MediaError *error);

/* After the last frame: writes it. MEDIA_OUTPUT. */
int report_write(Report *report, const ReportAbout *about, MediaError *error);

/* Gives the file its name, or NAME.partial.EXT where it is `partial`. MEDIA_OUTPUT. */
int report_commit(Report *report, int partial, MediaError *error);

int64_t report_frames(const Report *report);

/* Once it is committed: where it is, or NULL. Valid until it is closed. */
const char *report_name(const Report *report);

/* What was not committed is removed. NULL is allowed inside. */
void report_close(Report **report);

#endif
