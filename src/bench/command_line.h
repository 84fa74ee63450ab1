/* The command line of lumeq-bench: each command has a table of its options. */
#ifndef LUMEQ_BENCH_COMMAND_LINE_H
#define LUMEQ_BENCH_COMMAND_LINE_H

#include <stdint.h>

#include "bench/report.h"

typedef struct BenchOption {
    const char *name;    /* "--size", or "INPUT": what takes an argument that is no option */
    const char *value;   /* what stands for the value in the help; NULL: there is none */
    const char *allowed; /* said of a value that is refused */
    const char *help;
    /* 0, or -1: refused. Without a value it is called with NULL. The text outlives the options. */
    int (*take)(void *options, const char *value);
} BenchOption;

/* The table ends with an option without a name. 0, 1 after the help was asked for and printed, or
 * -1 after one sentence on stderr. */
int bench_arguments(const char *command, const BenchOption *table, void *options, int argc,
                    char **argv);

/* What several commands have: their options begin with it. */
typedef struct BenchCommon {
    int csv, json;
    int64_t seed;
} BenchCommon;

BenchFormat bench_format(const BenchCommon *common);

/* BenchOption.take() for these. */
int bench_take_csv(void *options, const char *value);
int bench_take_json(void *options, const char *value);
int bench_take_seed(void *options, const char *value);

/* All of them answer 0, or -1 where the text is something else. */
int bench_read_int(const char *text, int least, int most, int *value);
int bench_read_integer(const char *text, int64_t least, int64_t most, int64_t *value);
int bench_read_number(const char *text, double least, double most, double *value);
int bench_read_size(const char *text, int most, int *width, int *height);

/* The number of the choice in a list that ends with NULL, or -1. */
int bench_read_choice(const char *text, const char *const *choices);

/* Calls take() for each part between commas. 0, or -1 after the first that is refused. */
int bench_read_list(const char *text, int (*take)(void *options, const char *part), void *options);

#endif
