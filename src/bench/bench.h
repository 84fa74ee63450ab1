/* The commands of lumeq-bench. */
#ifndef LUMEQ_BENCH_H
#define LUMEQ_BENCH_H

#include "bench/command_line.h"

typedef struct BenchCommand {
    const char *name, *help;
    int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns the exit status */
    const BenchOption *options;
} BenchCommand;

/* All commands; the last has no name. */
extern const BenchCommand bench_commands[];

int bench_equalize(int argc, char **argv);
int bench_histogram(int argc, char **argv);
int bench_streams(int argc, char **argv);
extern const BenchOption bench_equalize_options[], bench_histogram_options[],
    bench_streams_options[];

#endif
