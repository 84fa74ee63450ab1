#include "bench/command_line.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No part of a list is longer. */
#define PART_MAX 256

static void print_help(const char *command, const BenchOption *table)
{
    printf("usage: lumeq-bench %s", command);
    for (const BenchOption *o = table; o->name; o++)
        if (o->name[0] != '-')
            printf(" %s", o->name);
    printf(" [options]\n\n");
    for (; table->name; table++) {
        char left[64];
        snprintf(left, sizeof(left), "%s%s%s", table->name, table->value ? " " : "",
                 table->value ? table->value : "");
        printf("  %-34s %s\n", left, table->help);
    }
}

static const BenchOption *find(const BenchOption *table, const char *name)
{
    while (table->name && strcmp(table->name, name) != 0)
        table++;
    return table->name ? table : NULL;
}

/* Names an argument that is no option, where the table has one: its name has no dash. */
static const BenchOption *find_operand(const BenchOption *table, const char *text)
{
    while (table->name && (table->name[0] == '-' || text[0] == '-'))
        table++;
    return table->name ? table : NULL;
}

int bench_arguments(const char *command, const BenchOption *table, void *options, int argc,
                    char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            print_help(command, table);
            return 1;
        }
        const BenchOption *operand = find_operand(table, argv[i]);
        const BenchOption *option = operand ? operand : find(table, argv[i]);
        if (!option) {
            fprintf(stderr,
                    "lumeq-bench %s: %s is no option; lumeq-bench %s --help shows those there "
                    "are\n",
                    command, argv[i], command);
            return -1;
        }
        if (option->value && i + 1 == argc) {
            fprintf(stderr, "lumeq-bench %s: %s needs a value: %s\n", command, argv[i],
                    option->allowed);
            return -1;
        }
        const char *value = operand ? argv[i] : option->value ? argv[++i] : NULL;
        if (option->take(options, value) < 0) {
            fprintf(stderr, "lumeq-bench %s: %s %s is not possible; it is %s\n", command,
                    option->name, value ? value : "", option->allowed);
            return -1;
        }
    }
    return 0;
}

BenchFormat bench_format(const BenchCommon *common)
{
    return common->csv ? BENCH_CSV : common->json ? BENCH_JSON : BENCH_TABLE;
}

int bench_take_csv(void *options, const char *value)
{
    (void)value;
    ((BenchCommon *)options)->csv = 1;
    return 0;
}

int bench_take_json(void *options, const char *value)
{
    (void)value;
    ((BenchCommon *)options)->json = 1;
    return 0;
}

int bench_take_seed(void *options, const char *value)
{
    return bench_read_integer(value, 1, INT64_MAX, &((BenchCommon *)options)->seed);
}

int bench_read_int(const char *text, int least, int most, int *value)
{
    int64_t number;
    if (bench_read_integer(text, least, most, &number) < 0)
        return -1;
    *value = (int)number;
    return 0;
}

int bench_read_integer(const char *text, int64_t least, int64_t most, int64_t *value)
{
    char *end;
    errno = 0;
    const intmax_t number = strtoimax(text, &end, 10);
    if (end == text || *end || errno || number < least || number > most)
        return -1;
    *value = number;
    return 0;
}

int bench_read_number(const char *text, double least, double most, double *value)
{
    char *end;
    const double number = strtod(text, &end);
    if (end == text || *end || !(number >= least && number <= most))
        return -1;
    *value = number;
    return 0;
}

int bench_read_size(const char *text, int most, int *width, int *height)
{
    int w, h;
    char more;
    if (sscanf(text, "%5dx%5d%c", &w, &h, &more) != 2 || w < 1 || h < 1 || w > most || h > most)
        return -1;
    *width = w;
    *height = h;
    return 0;
}

int bench_read_choice(const char *text, const char *const *choices)
{
    for (int i = 0; choices[i]; i++)
        if (!strcmp(text, choices[i]))
            return i;
    return -1;
}

int bench_read_list(const char *text, int (*take)(void *options, const char *part), void *options)
{
    for (;;) {
        char part[PART_MAX];
        const size_t length = strcspn(text, ",");
        if (length >= sizeof(part))
            return -1;
        memcpy(part, text, length);
        part[length] = 0;
        if (take(options, part) < 0)
            return -1;
        if (!text[length])
            return 0;
        text += length + 1;
    }
}
