/* The command line of lumeq-bench: each command has a table of its options. */
#ifndef LUMEQ_BENCH_COMMAND_LINE_H
#define LUMEQ_BENCH_COMMAND_LINE_H

#include <limits.h>
#include <stddef.h>

#include "bench/content.h"
#include "bench/report.h"

/* How an option's value is checked and stored. */
typedef enum BenchKind {
    BENCH_OWN,    /* BenchOption.take() checks and stores the value */
    BENCH_LIST,   /* BenchList: words of `allowed`, separated by commas */
    BENCH_FLAG,   /* int: set to 1; the option has no value */
    BENCH_INT,    /* int, from `least` to `most` */
    BENCH_DOUBLE, /* double, from `least` to `most` */
    BENCH_TEXT,   /* const char *: the argument itself */
    BENCH_CHOICE, /* const char *: the argument itself, one of the words of `value` */
} BenchKind;

typedef struct BenchOption {
    const char *name;  /* "--size", or "INPUT" for arguments that are not options */
    const char *value; /* placeholder in the help, or choices "a|b|c"; NULL: takes no value */
    const char *help;
    BenchKind kind;
    size_t offset; /* of the member that stores the value */
    double least, most;
    const char *allowed; /* the allowed values; NULL: derived from the fields above */
    /* For BENCH_OWN: returns 0, or -1 to refuse the value. `value` outlives the options. */
    int (*take)(void *options, const char *value);
} BenchOption;

/* Initializers of options whose value is stored in a member. BENCH_RANGE also limits the value. */
#define BENCH_STORE(KIND, TYPE, MEMBER) .kind = BENCH_##KIND, .offset = offsetof(TYPE, MEMBER)
#define BENCH_RANGE(KIND, TYPE, MEMBER, LEAST, MOST)                                               \
    BENCH_STORE(KIND, TYPE, MEMBER), .least = (LEAST), .most = (MOST)

#define BENCH_MAX_LIST 16

/* The words that were given, as indices in BenchOption.allowed. */
typedef struct BenchList {
    int count, items[BENCH_MAX_LIST];
} BenchList;

/* Options of all commands. The options struct of each command begins with a BenchCommon. */
typedef struct BenchCommon {
    int csv, seed;
} BenchCommon;

/* The last rows of each option table. */
#define BENCH_FORMAT_OPTIONS                                                                       \
    {"--csv", NULL, "print comma-separated values", BENCH_STORE(FLAG, BenchCommon, csv)},          \
    {                                                                                              \
        0                                                                                          \
    }

/* Parses the arguments. The table ends with an option without a name. Returns 0, 1 after printing
 * the help, or -1 after one sentence on stderr. */
int bench_arguments(const char *command, const BenchOption *table, void *options, int argc,
                    char **argv);

/* Prints "lumeq-bench COMMAND: sentence" to stderr. Returns -1. */
int bench_fail(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Copies the word with this index from "a|b|c". */
void bench_word(char word[32], const char *words, int index);

int bench_list_has(const BenchList *list, int item);

/* Options of commands that work on pictures. Their options structs begin with a BenchPictures. */
typedef struct BenchPictures {
    BenchCommon common;
    int widths[BENCH_MAX_LIST], heights[BENCH_MAX_LIST], sizes;
    BenchList contents;
    const char *bits;
    int device;
} BenchPictures;

/* Rows of option tables, for the options in BenchPictures. */
#define BENCH_PICTURE_OPTIONS(SIZES, CONTENT, DEPTHS)                                              \
    {"--size", "WxH,..", "picture sizes [" SIZES "]", .take = bench_take_sizes,                    \
     .allowed = "a list of up to 16 sizes such as 1920x1080: sides from 1 to 65535, areas up to "  \
                "536870912"},                                                                      \
        {"--content", "NAME,..", "pictures: " BENCH_CONTENTS " [" CONTENT "]",                     \
         BENCH_STORE(LIST, BenchPictures, contents), .allowed = BENCH_CONTENTS},                   \
        {"--depth", DEPTHS, "bits per sample [8]", BENCH_STORE(CHOICE, BenchPictures, bits)},      \
        {"--device", "N", "number of the GPU [0]",                                                 \
         BENCH_RANGE(INT, BenchPictures, device, 0, 255)},                                         \
    {                                                                                              \
        "--seed", "N", "seed of the random numbers [1]",                                           \
            BENCH_RANGE(INT, BenchCommon, seed, 1, INT_MAX), .allowed = "1 or more"                \
    }

/* For BenchOption.take. `options`: begins with a BenchPictures. */
int bench_take_sizes(void *options, const char *sizes);

/* Generates the picture with these indices of size and content. The caller frees its luma. Returns
 * 0, or -1 after one sentence on stderr. */
int bench_make_picture(BenchPicture *picture, const BenchPictures *options, int size, int content);

/* Stores the name of GPU number `device`, which `what` uses, and returns 1. On failure, prints the
 * reason and returns -1, or 0 if the machine has no GPU and `is_needed` is 0. */
int bench_find_gpu(const char *command, const char *what, int device, int is_needed, char *name,
                   size_t size);

#endif
