#include "bench/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int is_known(const BenchColumn *column, const BenchValue *value)
{
    return column->digits < 0 ? value->text != NULL : isfinite(value->number);
}

/* Of the first processor, as Linux names it. */
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

static void print_machine(const char *command, const char *gpu)
{
    char cpu[128], date[32] = "";
    const time_t now = time(NULL);
    struct tm calendar;
    cpu_name(cpu, sizeof(cpu));
    if (gmtime_r(&now, &calendar))
        strftime(date, sizeof(date), "%Y-%m-%d", &calendar);
    printf("%s\n%s, %ld cores%s%s, %s\n\n", command, cpu, sysconf(_SC_NPROCESSORS_ONLN),
           gpu ? "; " : "", gpu ? gpu : "", date);
}

void bench_report_begin(const BenchReport *report, const char *command, const char *gpu)
{
    if (report->format == BENCH_JSON)
        return;
    if (report->format == BENCH_TABLE)
        print_machine(command, gpu);
    for (int i = 0; i < report->count; i++) {
        const BenchColumn *c = &report->columns[i];
        if (report->format == BENCH_CSV)
            printf("%s%s", i ? "," : "", c->key);
        else if (c->title)
            printf(c->digits < 0 ? "%-*s " : "%*s ", c->width, c->title);
    }
    putchar('\n');
    fflush(stdout);
}

static void print_cell(const BenchColumn *column, const BenchValue *value)
{
    if (!column->title)
        return;
    if (!is_known(column, value))
        printf(column->digits < 0 ? "%-*s " : "%*s ", column->width, "-");
    else if (column->digits < 0)
        printf("%-*s ", column->width, value->text);
    else
        printf("%*.*f ", column->width, column->digits, value->number);
}

/* In quotes, with `escape` before those within; what is not ASCII is not known to be UTF-8. */
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

static void print_csv(const BenchColumn *column, const BenchValue *value)
{
    if (!is_known(column, value))
        return;
    if (column->digits >= 0)
        printf("%.*f", column->digits, value->number);
    else if (strpbrk(value->text, ",\"\n"))
        print_quoted(value->text, '"');
    else
        printf("%s", value->text);
}

static void print_json(const BenchColumn *column, const BenchValue *value)
{
    printf("\"%s\":", column->key);
    if (!is_known(column, value)) {
        printf("null");
    } else if (column->digits < 0) {
        print_quoted(value->text, '\\');
    } else {
        printf("%.*f", column->digits, value->number);
    }
}

void bench_report_row(const BenchReport *report, const BenchValue *values)
{
    if (report->format == BENCH_JSON)
        putchar('{');
    for (int i = 0; i < report->count; i++) {
        if (report->format == BENCH_TABLE) {
            print_cell(&report->columns[i], &values[i]);
            continue;
        }
        if (i)
            putchar(',');
        if (report->format == BENCH_CSV)
            print_csv(&report->columns[i], &values[i]);
        else
            print_json(&report->columns[i], &values[i]);
    }
    puts(report->format == BENCH_JSON ? "}" : "");
    fflush(stdout);
}

const char *bench_command_line(int argc, char **argv)
{
    static char line[512];
    size_t used = (size_t)snprintf(line, sizeof(line), "lumeq-bench");
    for (int i = 0; i < argc && used < sizeof(line); i++)
        used += (size_t)snprintf(line + used, sizeof(line) - used, " %s", argv[i]);
    return line;
}
