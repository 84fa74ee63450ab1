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
    if (!report->csv)
        printf("%s\n%s, %s\n\n", command, origin.machine, origin.date);
    for (int i = 0; i < report->count; i++) {
        const BenchColumn *c = &report->columns[i];
        if (report->csv)
            printf("%s,", c->key);
        else if (c->title)
            printf(c->digits < 0 ? "%-*s " : "%*s ", c->width, c->title);
    }
    puts(report->csv ? "machine,date,command" : "");
    fflush(stdout);
}

/* Bytes that are not ASCII become "?", since they may not be UTF-8. */
static void print_csv_text(const char *text)
{
    const int quotes = strpbrk(text, ",\"\n") != NULL;
    printf("%s", quotes ? "\"" : "");
    for (; *text; text++) {
        if (*text == '"')
            putchar('"');
        putchar(*text >= ' ' && *text <= '~' ? *text : '?');
    }
    printf("%s", quotes ? "\"" : "");
}

static void print_cell(const BenchReport *report, const BenchColumn *c, const BenchValue *value)
{
    const int is_text = c->digits < 0, width = report->csv ? 0 : c->width;
    const int is_known = is_text ? value->text != NULL : isfinite(value->number);
    if (!report->csv && !c->title)
        return;
    if (report->csv && is_text && is_known)
        print_csv_text(value->text);
    else if (is_known && !is_text)
        printf("%*.*f", width, c->digits, value->number);
    else
        printf(is_text ? "%-*s" : "%*s", width, is_known ? value->text : report->csv ? "" : "-");
    putchar(report->csv ? ',' : ' ');
}

void bench_report_row(const BenchReport *report, const BenchValue *values)
{
    for (int i = 0; i < report->count; i++)
        print_cell(report, &report->columns[i], &values[i]);
    if (report->csv) {
        print_csv_text(origin.machine);
        printf(",%s,", origin.date);
        print_csv_text(origin.command);
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
