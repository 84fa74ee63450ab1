/* Results as a table for people, as CSV, or as JSON: one object a line. */
#ifndef LUMEQ_BENCH_REPORT_H
#define LUMEQ_BENCH_REPORT_H

typedef enum BenchFormat { BENCH_TABLE, BENCH_CSV, BENCH_JSON } BenchFormat;

typedef struct BenchColumn {
    const char *key;   /* in CSV and JSON, with its unit */
    const char *title; /* in the table; NULL: not there */
    int width;         /* in the table, of the column's right, or text's left, alignment */
    int digits;        /* after the point; -1: text */
} BenchColumn;

/* What was not measured has no text, or is no number (NAN): it shows as "-", in CSV as nothing, in
 * JSON as null. */
typedef struct BenchValue {
    const char *text;
    double number;
} BenchValue;

typedef struct BenchReport {
    BenchFormat format;
    const BenchColumn *columns;
    int count;
} BenchReport;

/* Part of --help. */
#define BENCH_ORIGIN_HELP                                                                          \
    "With --csv and --json every row ends with machine (CPU, cores, GPU), date (UTC) and "         \
    "command.\n"

/* The heading of the one report of this process; in a table after what was measured on and when:
 * `command`, CPU, `gpu` (may be NULL) and date, else every row ends with them. `command` has to
 * stay. */
void bench_report_begin(const BenchReport *report, const char *command, const char *gpu);

/* A row of as many values as there are columns; it is out when this returns. */
void bench_report_row(const BenchReport *report, const BenchValue *values);

/* The argv that the program was called with, as one line for the report; the shell's quotes are
 * lost. */
const char *bench_command_line(int argc, char **argv);

#endif
