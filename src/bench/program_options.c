#include "bench/program_options.h"

#include <stdio.h>

int bench_take_chroma(void *options, const char *value)
{
    static const char *const choices[] = {"scale", "keep", NULL};
    ((BenchProgram *)options)->chroma = value;
    return bench_read_choice(value, choices) < 0 ? -1 : 0;
}

int bench_take_threads(void *options, const char *value)
{
    int64_t threads;
    ((BenchProgram *)options)->threads = value;
    return bench_read_integer(value, 0, 256, &threads);
}

int bench_take_device(void *options, const char *value)
{
    int64_t device;
    ((BenchProgram *)options)->device = value;
    return bench_read_integer(value, 0, 255, &device);
}

int bench_program_options(Options *program, const char *command, const char *flag,
                          const BenchPair *pairs, int count, const char *input)
{
    const char *argv[2 * BENCH_MOST_PAIRS + 6] = {"lumeq", "--no-config", flag};
    char text[1400];
    int argc = 3;
    for (int i = 0; i < count; i++)
        if (pairs[i][1]) {
            argv[argc++] = pairs[i][0];
            argv[argc++] = pairs[i][1];
        }
    argv[argc++] = "--";
    argv[argc++] = input;
    if (options_parse(program, argc, (char **)argv, text, sizeof(text)) == 0)
        return 0;
    fprintf(stderr, "lumeq-bench %s: %s\n", command, text);
    return -1;
}
