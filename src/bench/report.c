#include "bench/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What every row of the one report is of. */
static struct {
    char machine[448], date[32];
    const char *command;
} origin;

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

static void find_origin(const char *command, const char *gpu)
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
}

void bench_report_begin(const BenchReport *report, const char *command, const char *gpu)
{
    find_origin(command, gpu);
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

static void print_csv_text(const char *text)
{
    if (strpbrk(text, ",\"\n"))
        print_quoted(text, '"');
    else
        printf("%s", text);
}

static void print_csv(const BenchColumn *column, const BenchValue *value)
{
    if (is_known(column, value) && column->digits >= 0)
        printf("%.*f", column->digits, value->number);
    else if (is_known(column, value))
        print_csv_text(value->text);
    putchar(',');
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
    putchar(',');
}

static void end_csv(void)
{
    print_csv_text(origin.machine);
    printf(",%s,", origin.date);
    print_csv_text(origin.command);
    putchar('\n');
}

static void end_json(void)
{
    printf("\"machine\":");
    print_quoted(origin.machine, '\\');
    printf(",\"date\":\"%s\",\"command\":", origin.date);
    print_quoted(origin.command, '\\');
    puts("}");
}

void bench_report_row(const BenchReport *report, const BenchValue *values)
{
    if (report->format == BENCH_JSON)
        putchar('{');
    for (int i = 0; i < report->count; i++) {
        if (report->format == BENCH_TABLE)
            print_cell(&report->columns[i], &values[i]);
        else if (report->format == BENCH_CSV)
            print_csv(&report->columns[i], &values[i]);
        else
            print_json(&report->columns[i], &values[i]);
    }
    if (report->format == BENCH_TABLE)
        putchar('\n');
    else if (report->format == BENCH_CSV)
        end_csv();
    else
        end_json();
    fflush(stdout);
}

const char *bench_command_line(int argc, char **argv)
{
    static char line[4096];
    size_t used = (size_t)snprintf(line, sizeof(line), "lumeq-bench");
    for (int i = 0; i < argc && used < sizeof(line); i++)
        used += (size_t)snprintf(line + used, sizeof(line) - used, " %s", argv[i]);
    return line;
}
