#include "bench/command_line.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lumeq/lumeq.h"

#define MAX_AREA (1 << 29)
#define MAX_GPUS 64

static void print_help(const char *command, const BenchOption *table)
{
    printf("usage: lumeq-bench %s%s%s [options]\n\n", command, table->name[0] == '-' ? "" : " ",
           table->name[0] == '-' ? "" : table->name);
    for (; table->name; table++) {
        char left[64];
        snprintf(left, sizeof(left), "%s%s%s", table->name, table->value ? " " : "",
                 table->value ? table->value : "");
        printf("  %-34s %s\n", left, table->help);
    }
}

int bench_fail(const char *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "lumeq-bench %s: ", command);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return -1;
}

/* Finds an option by its name. A word without a dash is the table's operand, if it has one. */
static const BenchOption *find(const BenchOption *table, const char *word)
{
    while (table->name && (word[0] == '-' ? strcmp(table->name, word) != 0 : table->name[0] == '-'))
        table++;
    return table->name ? table : NULL;
}

static int read_number(const char *text, double least, double most, double *value)
{
    char *end;
    const double number = strtod(text, &end);
    if (end == text || *end || !(number >= least && number <= most))
        return -1;
    *value = number;
    return 0;
}

/* Index of a word in "a|b|c", or -1. */
static int find_word(const char *text, size_t length, const char *words)
{
    for (int i = 0;; i++) {
        const size_t word = strcspn(words, "|");
        if (word == length && !strncmp(words, text, length))
            return i;
        if (!words[word])
            return -1;
        words += word + 1;
    }
}

static int read_list(BenchList *list, const char *text, const char *words)
{
    for (list->count = 0; list->count < BENCH_MAX_LIST;) {
        const size_t length = strcspn(text, ",");
        const int item = find_word(text, length, words);
        if (item < 0)
            return -1;
        list->items[list->count++] = item;
        if (!text[length])
            return 0;
        text += length + 1;
    }
    return -1;
}

static int store(const BenchOption *o, void *options, const char *value)
{
    char *const member = (char *)options + o->offset;
    double number;
    switch (o->kind) {
    case BENCH_OWN: return o->take(options, value);
    case BENCH_LIST: return read_list((BenchList *)(void *)member, value, o->allowed);
    case BENCH_CHOICE:
        if (find_word(value, strlen(value), o->value) < 0)
            return -1; /* fall through */
    case BENCH_TEXT: *(const char **)(void *)member = value; return 0;
    case BENCH_DOUBLE: return read_number(value, o->least, o->most, (double *)(void *)member);
    case BENCH_FLAG: *(int *)(void *)member = 1; return 0;
    case BENCH_INT:
        if (read_number(value, o->least, o->most, &number) < 0 || number != floor(number))
            return -1;
        *(int *)(void *)member = (int)number;
        return 0;
    }
    return -1;
}

static const char *allowed(const BenchOption *o, char *text, size_t size)
{
    if (o->kind == BENCH_LIST)
        snprintf(text, size, "a list of up to %d of %s", BENCH_MAX_LIST, o->allowed);
    else if (o->allowed)
        return o->allowed;
    else if (o->most > o->least)
        snprintf(text, size, o->kind == BENCH_DOUBLE ? "%g to %g" : "%.0f to %.0f", o->least,
                 o->most);
    else
        snprintf(text, size, "%s%s", o->kind == BENCH_CHOICE ? "one of " : "", o->value);
    return text;
}

int bench_arguments(const char *command, const BenchOption *table, void *options, int argc,
                    char **argv)
{
    for (int i = 1; i < argc; i++) {
        char text[128];
        const char *word = argv[i];
        if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
            print_help(command, table);
            return 1;
        }
        const BenchOption *option = find(table, word);
        if (!option)
            return bench_fail(command, "unknown option %s; see lumeq-bench %s --help", word,
                              command);
        if (option->value && i + 1 == argc)
            return bench_fail(command, "%s needs a value: %s", word,
                              allowed(option, text, sizeof(text)));
        const char *value = word[0] != '-' ? word : NULL;
        if (word[0] == '-' && option->value)
            value = argv[++i];
        if (store(option, options, value) < 0)
            return bench_fail(command, "%s %s is not allowed; it must be %s", option->name, value,
                              allowed(option, text, sizeof(text)));
    }
    return 0;
}

void bench_word(char word[32], const char *words, int index)
{
    while (index-- > 0)
        words += strcspn(words, "|") + 1;
    snprintf(word, 32, "%.*s", (int)strcspn(words, "|"), words);
}

int bench_list_has(const BenchList *list, int item)
{
    int i = 0;
    while (i < list->count && list->items[i] != item)
        i++;
    return i < list->count;
}

int bench_take_sizes(void *options, const char *sizes)
{
    BenchPictures *const o = options;
    int width, height, used = 0;
    o->sizes = 0;
    for (;; sizes += used + 1) {
        if (o->sizes == BENCH_MAX_LIST || sscanf(sizes, "%5dx%5d%n", &width, &height, &used) != 2 ||
            width < 1 || height < 1 || width > LUMEQ_MAX_SIDE || height > LUMEQ_MAX_SIDE ||
            (int64_t)width * height > MAX_AREA || (sizes[used] && sizes[used] != ','))
            return -1;
        o->widths[o->sizes] = width;
        o->heights[o->sizes++] = height;
        if (!sizes[used])
            return 0;
    }
}

int bench_make_picture(BenchPicture *picture, const BenchPictures *o, int size, int content)
{
    *picture = (BenchPicture){NULL, o->widths[size], o->heights[size], atoi(o->bits)};
    picture->luma = malloc(bench_row_size(picture) * (size_t)picture->height);
    if (!picture->luma) {
        fprintf(stderr, "lumeq-bench: out of memory\n");
        return -1;
    }
    bench_fill(picture, (BenchContent)o->contents.items[content], (uint64_t)o->common.seed);
    return 0;
}

int bench_find_gpu(const char *command, const char *what, int device, int is_needed, char *name,
                   size_t size)
{
    static LumeqGpu gpus[MAX_GPUS] = {{.size = sizeof(LumeqGpu)}};
    char why[256] = "";
    int count = lumeq_list_gpus(gpus, MAX_GPUS, why, sizeof(why));
    count = count > MAX_GPUS ? MAX_GPUS : count;
    if (count < 1) {
        bench_fail(command, is_needed ? "%s needs a GPU: %s" : "%s is left out: %s", what,
                   *why ? why : "there is no GPU");
        return is_needed ? -1 : 0;
    }
    if (device >= count)
        return bench_fail(command, "there is no GPU %d; this machine has %d, numbered from 0",
                          device, count);
    snprintf(name, size, "%s", gpus[device].name);
    return 1;
}
