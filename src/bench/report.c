#include "bench/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The process's only report, and its current row. */
static struct {
    int csv, has_names;
    char machine[448], date[32];
    const char *command;
    char names[1024], cells[8192];
} report;

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

void bench_report_begin(int csv, const char *command, const char *gpu)
{
    char cpu[128];
    const time_t now = time(NULL);
    struct tm calendar;
    report.csv = csv;
    report.command = command;
    cpu_name(cpu, sizeof(cpu));
    snprintf(report.machine, sizeof(report.machine), "%s, %ld cores%s%s", cpu,
             sysconf(_SC_NPROCESSORS_ONLN), gpu ? "; " : "", gpu ? gpu : "");
    if (gmtime_r(&now, &calendar))
        strftime(report.date, sizeof(report.date), "%Y-%m-%d", &calendar);
    if (!csv)
        printf("%s\n%s, %s\n\n", command, report.machine, report.date);
}

static void append(char *line, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void append(char *line, size_t size, const char *format, ...)
{
    const size_t used = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + used, size - used, format, arguments);
    va_end(arguments);
}

/* Appends a CSV field. Bytes that are not ASCII become "?", since they may not be UTF-8. */
static void append_field(const char *text)
{
    const char *quote = strpbrk(text, ",\"\n") ? "\"" : "";
    append(report.cells, sizeof(report.cells), "%s", quote);
    for (; *text; text++)
        append(report.cells, sizeof(report.cells), "%s%c", *text == '"' ? quote : "",
               *text >= ' ' && *text <= '~' ? *text : '?');
    append(report.cells, sizeof(report.cells), "%s,", quote);
}

static void add_cell(const char *key, const char *title, int width, int left, const char *text)
{
    if (report.csv) {
        append(report.names, sizeof(report.names), "%s,", key);
        append_field(text ? text : "");
    } else if (title) {
        append(report.names, sizeof(report.names), "%*s ", left ? -width : width, title);
        append(report.cells, sizeof(report.cells), "%*s ", left ? -width : width,
               text ? text : "-");
    }
}

void bench_text(const char *key, const char *title, int width, const char *text)
{
    add_cell(key, title, width, 1, text);
}

void bench_number(const char *key, const char *title, int width, int digits, double number)
{
    char text[64];
    snprintf(text, sizeof(text), "%.*f", digits, number);
    add_cell(key, title, width, 0, isfinite(number) ? text : NULL);
}

void bench_end_row(void)
{
    if (report.csv) {
        append_field(report.machine);
        append_field(report.date);
        append_field(report.command);
        report.cells[strlen(report.cells) - 1] = '\0'; /* the last comma */
    }
    if (!report.has_names)
        printf("%s%s\n", report.names, report.csv ? "machine,date,command" : "");
    puts(report.cells);
    fflush(stdout);
    report.has_names = 1;
    report.names[0] = report.cells[0] = '\0';
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
