/* What the parts of lumeq-bench share. */
#ifndef LUMEQ_BENCH_H
#define LUMEQ_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include "bench/command_line.h"
#include "bench/content.h"

double bench_now_us(void);
double bench_median(double *values, int count); /* sorts them */

/* lumeq-bench COMMAND: the program's exit status. argv[0] is the command's name. */
int bench_equalize(int argc, char **argv);
int bench_histogram(int argc, char **argv);
int bench_pipeline(int argc, char **argv);
int bench_streams(int argc, char **argv);
extern const BenchOption bench_equalize_options[], bench_histogram_options[],
    bench_pipeline_options[], bench_streams_options[];

typedef struct BenchCommand {
    const char *name, *help;
    int (*run)(int argc, char **argv);
    const BenchOption *options;
} BenchCommand;

/* All of them; the last has no name. */
extern const BenchCommand bench_commands[];

/* Microseconds for a plane up and another one down at the same time, between the device and pinned
 * host memory; `count` of each, one after the other. */
int bench_duplex(double *us, int number, void *const *up, void *const *down, int buffers,
                 size_t size, int count, char *text, size_t text_size);

#endif
