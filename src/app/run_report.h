/* Writes the file of --report during a run, and prints failures. */
#ifndef LUMEQ_APP_RUN_REPORT_H
#define LUMEQ_APP_RUN_REPORT_H

#include <stdatomic.h>
#include <sys/stat.h>

#include "app/options/options.h"
#include "lumeq/lumeq.h"
#include "media/error.h"
#include "run/run.h"

typedef struct RunReport RunReport;

/* Opens the report, or sets NULL without --report; the other functions accept NULL. The options
 * must outlive the report. Returns like report_open(). */
int run_report_open(RunReport **report, const Options *options, const struct stat *input,
                    const atomic_int *stop, MediaError *error);

/* A sink that adds frames to the report. Add it before sinks that draw on the frames. */
Sink run_report_sink(RunReport *report);

/* Writes the file; call it after the last frame. Prints failures. */
void run_report_write(RunReport *report, int partial);

/* Renames the temporary file to its final name, which is NAME.partial.EXT if `partial`. Does
 * nothing for a partial file without frames. Returns 0, or MEDIA_OUTPUT after a message. */
int run_report_commit(RunReport *report, int partial);

/* The name of the committed file, or NULL. Valid until the report is closed. */
const char *run_report_name(const RunReport *report);

/* Removes the file unless it was committed. *report may be NULL. */
void run_report_close(RunReport **report);

#endif
