#include "bench/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The end of every row. */
static struct {
    char machine[448], date[32];
    const char *command;
} origin;

/* The first processor's name from Linux. */
static void cpu_name(char *name, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(name, size, "unknown CPU");
    while (file && fgets(line, sizeof(line), file)) {
        const char *colon = strchr(line, ':');
        if (!strncmp(line, "model name", 10) && colon) {
            snprintf(name, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (file)
        fclose(file);
}

void bench_report_begin(const BenchReport *report, const char *command, const char *gpu)
{
    char cpu[128];
    const time_t now = time(NULL);
    struct tm calendar;
    cpu_name(cpu, sizeof(cpu));
    snprintf(origin.machine, sizeof(origin.machine), "%s, %ld cores%s%s", cpu,
             sysconf(_SC_NPROCESSORS_ONLN), gpu ? "; " : "", gpu ? gpu : "");
    if (gmtime_r(&now, &calendar))
        strftime(origin.date, sizeof(origin.date), "%Y-%m-%d", &calendar);
    origin.command = command;
    if (report->format == BENCH_JSON)
        return;
    if (report->format == BENCH_TABLE)
        printf("%s\n%s, %s\n\n", command, origin.machine, origin.date);
    for (int i = 0; i < report->count; i++) {
        const BenchColumn *c = &report->columns[i];
        if (report->format == BENCH_CSV)
            printf("%s,", c->key);
        else if (c->title)
            printf(c->digits < 0 ? "%-*s " : "%*s ", c->width, c->title);
    }
    puts(report->format == BENCH_CSV ? "machine,date,command" : "");
    fflush(stdout);
}

/* Quotes the text, with `escape` before quotes within it. Bytes that are not ASCII become "?",
 * since they may not be UTF-8. */
static void print_quoted(const char *text, char escape)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == escape)
            putchar(escape);
        putchar(*text >= ' ' && *text <= '~' ? *text : '?');
    }
    putchar('"');
}

static void print_csv_text(const char *text)
{
    if (strpbrk(text, ",\"\n"))
        print_quoted(text, '"');
    else
        printf("%s", text);
}

static void print_cell(BenchFormat format, const BenchColumn *c, const BenchValue *value)
{
    const int is_text = c->digits < 0;
    const int is_known = is_text ? value->text != NULL : isfinite(value->number);
    if (format == BENCH_TABLE && !c->title)
        return;
    if (format == BENCH_JSON)
        printf("\"%s\":", c->key);
    if (format == BENCH_TABLE && (is_text || !is_known))
        printf(is_text ? "%-*s" : "%*s", c->width, is_known ? value->text : "-");
    else if (!is_known)
        printf("%s", format == BENCH_JSON ? "null" : "");
    else if (!is_text)
        printf("%*.*f", format == BENCH_TABLE ? c->width : 0, c->digits, value->number);
    else if (format == BENCH_JSON)
        print_quoted(value->text, '\\');
    else
        print_csv_text(value->text);
    putchar(format == BENCH_TABLE ? ' ' : ',');
}

void bench_report_row(const BenchReport *report, const BenchValue *values)
{
    if (report->format == BENCH_JSON)
        putchar('{');
    for (int i = 0; i < report->count; i++)
        print_cell(report->format, &report->columns[i], &values[i]);
    if (report->format == BENCH_CSV) {
        print_csv_text(origin.machine);
        printf(",%s,", origin.date);
        print_csv_text(origin.command);
    } else if (report->format == BENCH_JSON) {
        printf("\"machine\":");
        print_quoted(origin.machine, '\\');
        printf(",\"date\":\"%s\",\"command\":", origin.date);
        print_quoted(origin.command, '\\');
        putchar('}');
    }
    putchar('\n');
    fflush(stdout);
}

void bench_report_clear(BenchValue *values, int count)
{
    for (int i = 0; i < count; i++)
        values[i] = (BenchValue){NULL, NAN};
}

double bench_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void bench_sort(double *values, int64_t count)
{
    qsort(values, (size_t)count, sizeof(*values), compare_doubles);
}

double bench_median(double *values, int count)
{
    bench_sort(values, count);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

const char *bench_command_line(int argc, char **argv)
{
    static char line[4096];
    size_t used = (size_t)snprintf(line, sizeof(line), "lumeq-bench");
    for (int i = 0; i < argc && used < sizeof(line); i++)
        used += (size_t)snprintf(line + used, sizeof(line) - used, " %s", argv[i]);
    return line;
}
