/* --report of a run: its end, and what is said where it fails. */
#ifndef LUMEQ_APP_RUN_REPORT_H
#define LUMEQ_APP_RUN_REPORT_H

#include <stdatomic.h>
#include <sys/stat.h>

#include "app/options/options.h"
#include "lumeq/lumeq.h"
#include "media/error.h"
#include "run/sink.h"

typedef struct RunReport RunReport;

/* Opens what the options ask for, if anything; else *report becomes NULL, which is allowed in all
 * that follow. They must outlive it. As report_open(). */
int run_report_open(RunReport **report, const Options *options, const struct stat *input,
                    const atomic_int *stop, MediaError *error);

/* The same of a part of the film, at a path that must outlive it: what run_report_append() reads.
 */
int run_report_open_part(RunReport **report, const Options *options, const char *path,
                         MediaError *error);

/* Takes frames before anything is drawn into them. */
Sink run_report_sink(RunReport *report);

/* The frames of a part of the film, by the path of what it has left. MEDIA_INPUT. */
int run_report_append(RunReport *report, const char *path, MediaError *error);

/* After the last frame: writes it, so that all is on its way to the disk. What cannot be written is
 * said. */
void run_report_write(RunReport *report, int partial);

/* Gives the file its name, or NAME.partial.EXT where it is `partial`: then there is none without a
 * frame. MEDIA_OUTPUT, which has been said. */
int run_report_commit(RunReport *report, int partial);

/* Once it is committed: where it is, or NULL. Valid until it is closed. */
const char *run_report_name(const RunReport *report);

/* What was not committed is removed. NULL is allowed inside. */
void run_report_close(RunReport **report);

#endif
