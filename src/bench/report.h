/* Prints results as a table or as CSV; reads the clock and finds medians. */
#ifndef LUMEQ_BENCH_REPORT_H
#define LUMEQ_BENCH_REPORT_H

#include <stdint.h>

/* The last line of each command's help. */
#define BENCH_ORIGIN_HELP "With --csv, every row ends with machine, date (UTC) and command.\n"

/* Begins the process's only report, a table or CSV. Command, CPU, cores, `gpu` (may be NULL) and
 * date are printed above the table or in each row of CSV. `command` must outlive the report. */
void bench_report_begin(int csv, const char *command, const char *gpu);

/* Add a cell to the row; every row has the same columns. `key`: the column's name in CSV, with its
 * unit. `title`: the column's name in the table; NULL: only in CSV. `width`: of the column in the
 * table. `digits`: after the decimal point. A text of NULL or a number of NAN means not measured:
 * "-" in the table, empty in CSV. */
void bench_text(const char *key, const char *title, int width, const char *text);
void bench_number(const char *key, const char *title, int width, int digits, double number);

/* Prints and flushes the row. Before the first row, also prints the names of the columns. */
void bench_end_row(void);

double bench_now_us(void); /* monotonic clock, microseconds */
void bench_sort(double *values, int64_t count);
double bench_median(double *values, int count); /* sorts them */

/* Returns the program's arguments as one line for the report; quotes are lost. */
const char *bench_command_line(int argc, char **argv);

#endif
