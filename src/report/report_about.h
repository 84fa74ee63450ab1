/* What a report tells of the run itself. Plain data, borrowed. */
#ifndef LUMEQ_REPORT_ABOUT_H
#define LUMEQ_REPORT_ABOUT_H

typedef struct ReportAbout {
    const char *program;        /* with its version */
    const char *input, *output; /* names; output NULL: nothing was written */
    const char *const *options; /* that are not at their defaults, "--name=value" */
    int option_count;
    int partial; /* not 0: the run was interrupted */
} ReportAbout;

#endif
