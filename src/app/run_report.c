#include "app/run_report.h"

#include <stdlib.h>
#include <string.h>

#include "app/options/option_arguments.h"
#include "app/terminal.h"
#include "media/file_name.h"
#include "media/text_list.h"
#include "report/report_file.h"

struct RunReport {
    const Options *options;
    Report *report;
    int failed;
};

int run_report_open(RunReport **report, const Options *options, const struct stat *input,
                    const atomic_int *stop, MediaError *error)
{
    MediaError why = {0};
    *report = NULL;
    if (!options->report)
        return 0;
    RunReport *r = *report = calloc(1, sizeof(*r));
    if (!r)
        return media_no_memory(error, MEDIA_OUTPUT);
    r->options = options;
    if (report_open(&r->report, options->report, options->overwrite, input, stop, &why) >= 0)
        return 0;
    run_report_close(report);
    return media_fail(error, why.fault, "--report %s: %s", media_quote(options->report), why.text);
}

static int take_frame(void *self, Frame *f)
{
    const RunReport *r = self;
    report_frame(r->report, f->decoded.frame, f->out, &f->stats, f->number, f->words);
    return 0;
}

Sink run_report_sink(RunReport *r)
{
    return (Sink){.self = r, .frame = take_frame};
}

static int write_about(RunReport *r, const TextList *arguments, int partial, MediaError *why)
{
    const Options *o = r->options;
    /* Omit the folders, because they may be private. */
    const char *input = o->input ? file_name_base(o->input) : NULL;
    const char *output = o->output ? file_name_base(o->output) : NULL;
    char program[64];
    if (o->camera)
        input = "a camera";
    else if (o->input && strcmp(o->input, "-") == 0)
        input = "standard input";
    else if (options_is_url(o)) /* a URL may contain secrets */
        input = "a stream from the network";
    snprintf(program, sizeof(program), "lumeq %d.%d.%d", LUMEQ_VERSION_MAJOR, LUMEQ_VERSION_MINOR,
             LUMEQ_VERSION_PATCH);
    const ReportAbout about = {
        .program = program,
        .input = input,
        .output = output && strcmp(output, "-") == 0 ? "standard output" : output,
        .options = (const char *const *)arguments->all,
        .option_count = arguments->count,
        .partial = partial,
    };
    return report_write(r->report, &about, why);
}

void run_report_write(RunReport *r, int partial)
{
    MediaError why = {0};
    TextList arguments = {0};
    if (!r)
        return;
    int ret = option_arguments(r->options, text_list_add, &arguments);
    ret = ret < 0 ? media_no_memory(&why, MEDIA_OUTPUT) : write_about(r, &arguments, partial, &why);
    text_list_free(&arguments);
    if (ret >= 0)
        return;
    say(SAY_ERRORS, "--report %s: %s", media_quote(r->options->report), why.text);
    r->failed = 1;
}

int run_report_commit(RunReport *r, int partial)
{
    MediaError why = {0};
    if (!r || (partial && !report_frames(r->report)))
        return 0;
    if (!r->failed && report_commit(r->report, partial, &why) < 0) {
        say(SAY_ERRORS, "--report %s: %s", media_quote(r->options->report), why.text);
        r->failed = 1;
    }
    return r->failed ? MEDIA_OUTPUT : 0;
}

const char *run_report_name(const RunReport *r)
{
    return r && !r->failed ? report_name(r->report) : NULL;
}

void run_report_close(RunReport **report)
{
    if (*report)
        report_close(&(*report)->report);
    free(*report);
    *report = NULL;
}
