/* What commands of lumeq-bench that run the program's stages share: its own options. */
#ifndef LUMEQ_BENCH_PROGRAM_OPTIONS_H
#define LUMEQ_BENCH_PROGRAM_OPTIONS_H

#include "app/options/options.h"
#include "bench/command_line.h"

/* Their options begin with it. Texts are those of the command line, NULL where nothing was said. */
typedef struct BenchProgram {
    BenchCommon common;
    const char *backend, *chroma, *threads, *device;
} BenchProgram;

/* BenchOption.take() for these. */
int bench_take_chroma(void *options, const char *value);
int bench_take_threads(void *options, const char *value);
int bench_take_device(void *options, const char *value);

#define BENCH_MOST_PAIRS 12

/* An option of lumeq's and its value; NULL: it is not given. */
typedef const char *BenchPair[2];

/* The program's own options for an input, to be freed with options_free(): `flag`, and the pairs,
 * at most BENCH_MOST_PAIRS. 0, or -1 after a sentence of the command's on stderr. */
int bench_program_options(Options *program, const char *command, const char *flag,
                          const BenchPair *pairs, int count, const char *input);

#endif
