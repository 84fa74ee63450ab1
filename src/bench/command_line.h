/* The command line of lumeq-bench: each command has a table of its options. */
#ifndef LUMEQ_BENCH_COMMAND_LINE_H
#define LUMEQ_BENCH_COMMAND_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "app/options/options.h"
#include "bench/report.h"

/* How an option's value is checked and stored. */
typedef enum BenchKind {
    BENCH_OWN,    /* BenchOption.take() checks and stores the value */
    BENCH_LIST,   /* int: the count, set to 0; then take() adds each part between commas */
    BENCH_FLAG,   /* int: set to 1; the option has no value */
    BENCH_INT,    /* int, from `least` to `most` */
    BENCH_INT64,  /* int64_t */
    BENCH_DOUBLE, /* double */
    BENCH_TEXT,   /* const char *: the argument itself; a number in the range if most > least */
    BENCH_CHOICE, /* const char *: the argument itself, one of the words of `value` */
} BenchKind;

typedef struct BenchOption {
    const char *name;  /* "--size", or "INPUT" for arguments that are not options */
    const char *value; /* placeholder in the help, or choices "a|b|c"; NULL: takes no value */
    const char *help;
    BenchKind kind;
    size_t offset; /* of the member that stores the value */
    double least, most;
    const char *allowed; /* describes the allowed values; NULL: derived from the fields above */
    /* For BENCH_OWN and BENCH_LIST: returns 0, or -1 to refuse the value. The text outlives the
     * options. */
    int (*take)(void *options, const char *value);
} BenchOption;

/* Initializers that store an option's value in a member of a struct; the second checks a range. */
#define BENCH_STORE(KIND, TYPE, MEMBER) .kind = BENCH_##KIND, .offset = offsetof(TYPE, MEMBER)
#define BENCH_RANGE(KIND, TYPE, MEMBER, LEAST, MOST)                                               \
    BENCH_STORE(KIND, TYPE, MEMBER), .least = (LEAST), .most = (MOST)

/* Options that several commands share; the options of each command begin with it. */
typedef struct BenchCommon {
    int csv, json;
    int64_t seed;
} BenchCommon;

/* Rows of option tables; the latter end them. */
#define BENCH_SEED_OPTION                                                                          \
    {                                                                                              \
        "--seed", "N", "seed of the random numbers [1]",                                           \
            BENCH_RANGE(INT64, BenchCommon, seed, 1, (double)INT64_MAX), .allowed = "1 or more"    \
    }
#define BENCH_FORMAT_OPTIONS                                                                       \
    {"--csv", NULL, "print comma-separated values", BENCH_STORE(FLAG, BenchCommon, csv)},          \
        {"--json", NULL, "print a JSON object per line", BENCH_STORE(FLAG, BenchCommon, json)},    \
    {                                                                                              \
        0                                                                                          \
    }

/* Parses the arguments. The table ends with an option without a name. Returns 0, 1 after printing
 * the help, or -1 after one sentence on stderr. */
int bench_arguments(const char *command, const BenchOption *table, void *options, int argc,
                    char **argv);

BenchFormat bench_format(const BenchCommon *common);

/* Prints "lumeq-bench COMMAND: sentence" to stderr. Returns -1. */
int bench_refuse(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* These return 0, or -1 if the text is something else. */
int bench_read_integer(const char *text, int64_t least, int64_t most, int64_t *value);
int bench_read_size(const char *text, int most, int *width, int *height);

/* Index of the text in a list "a|b|c", or -1. */
int bench_read_choice(const char *text, const char *choices);

/* Calls take() for each part between commas. Returns 0, or -1 after the first refused part. */
int bench_read_list(const char *text, int (*take)(void *options, const char *part), void *options);

/* Options of lumeq that commands pass on: texts of the command line, NULL if not given. The options
 * of these commands begin with it. */
typedef struct BenchProgram {
    BenchCommon common;
    const char *backend, *chroma, *threads, *device;
} BenchProgram;

/* One of lumeq's options and its value; NULL: skip it. */
typedef const char *BenchPair[2];

/* Parses lumeq's own options for an input: `flag`, and the pairs (12 at most). Free them with
 * options_free(). Returns 0, or -1 after one sentence on stderr. */
int bench_program_options(Options *program, const char *command, const char *flag,
                          const BenchPair *pairs, int count, const char *input);

#endif
