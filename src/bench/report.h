/* Prints results as a table or as CSV. Clock and median. */
#ifndef LUMEQ_BENCH_REPORT_H
#define LUMEQ_BENCH_REPORT_H

#include <stdint.h>

typedef struct BenchColumn {
    const char *key;   /* in CSV, with its unit */
    const char *title; /* in the table; NULL: the table omits the column */
    int width;         /* in the table; numbers are right-aligned, text left-aligned */
    int digits;        /* after the point; -1: text */
} BenchColumn;

/* A value without text, or with the number NAN, was not measured: "-" in the table, empty in CSV.
 */
typedef struct BenchValue {
    const char *text;
    double number;
} BenchValue;

typedef struct BenchReport {
    int csv; /* else a table */
    const BenchColumn *columns;
    int count;
} BenchReport;

/* Part of --help. */
#define BENCH_ORIGIN_HELP                                                                          \
    "With --csv every row ends with machine (CPU, cores, GPU), date (UTC) and command.\n"

/* Begins the one report of this process. Tables are headed by command, CPU, `gpu` (may be NULL) and
 * date; in CSV every row ends with them. `command` must outlive the report. */
void bench_report_begin(const BenchReport *report, const char *command, const char *gpu);

/* Prints and flushes a row with a value for each column. */
void bench_report_row(const BenchReport *report, const BenchValue *values);

/* Marks all values as not measured. */
void bench_report_clear(BenchValue *values, int count);

double bench_now_us(void); /* monotonic clock, microseconds */
void bench_sort(double *values, int64_t count);
double bench_median(double *values, int count); /* sorts them */

/* Returns the program's arguments as one line for the report; quotes are lost. */
const char *bench_command_line(int argc, char **argv);

#endif
