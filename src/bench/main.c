/* lumeq-bench: what the parts of lumeq cost on this machine. */
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"

static const struct {
    const char *name, *help;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"histogram", "every way to build a histogram, side by side", bench_histogram},
    {"equalize", "whole pictures, step by step, beside what bounds them", bench_equalize},
    {"pipeline", "from file to file: each stage alone, and all together", bench_pipeline},
};

enum { COMMANDS = sizeof(commands) / sizeof(*commands) };

static void print_usage(FILE *to)
{
    fprintf(to, "usage: lumeq-bench COMMAND [options]\n\n");
    for (int i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].help);
    fprintf(to, "\nlumeq-bench COMMAND --help shows the options.\n");
}

int main(int argc, char **argv)
{
    for (int i = 0; argc > 1 && i < COMMANDS; i++)
        if (!strcmp(argv[1], commands[i].name))
            return commands[i].run(argc - 1, argv + 1);
    const int asked = argc == 1 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h");
    if (!asked)
        fprintf(stderr, "lumeq-bench: %s is no command\n", argv[1]);
    print_usage(asked ? stdout : stderr);
    return asked ? 0 : 1;
}
