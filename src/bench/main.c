/* lumeq-bench: measures the parts of lumeq on this machine. */
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"

static void print_usage(FILE *to)
{
    fprintf(to, "usage: lumeq-bench COMMAND [options]\n\n");
    for (const BenchCommand *c = bench_commands; c->name; c++)
        fprintf(to, "  %-10s %s\n", c->name, c->help);
    fprintf(to, "\nlumeq-bench COMMAND --help shows the options.\n");
}

/* Returns the exit code: 1 if standard output failed, else `code`. */
static int end(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fprintf(stderr, "lumeq-bench: standard output cannot be written\n");
    return 1;
}

int main(int argc, char **argv)
{
    for (const BenchCommand *c = bench_commands; argc > 1 && c->name; c++)
        if (!strcmp(argv[1], c->name))
            return end(c->run(argc - 1, argv + 1));
    const int help = argc == 1 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h");
    if (!help)
        fprintf(stderr, "lumeq-bench: unknown command %s\n", argv[1]);
    print_usage(help ? stdout : stderr);
    return end(help ? 0 : 1);
}
