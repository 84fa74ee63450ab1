#include "bench/bench.h"
#include "manual/pages.h"
#include "manual/roff.h"

static void print_command(FILE *to, const BenchCommand *command)
{
    roff_subsection(to, command->name);
    roff_paragraph(to, command->help);
    for (const BenchOption *o = command->options; o->name; o++) {
        char tag[256], name[64], value[64];
        roff_escape(name, sizeof(name), o->name);
        roff_escape(value, sizeof(value), o->value ? o->value : "");
        snprintf(tag, sizeof(tag), "\\fB%s\\fR%s\\fI%s\\fR", name, o->value ? " " : "", value);
        roff_tagged(to, tag, o->help);
    }
}

void page_bench(FILE *to, const char *date)
{
    roff_title(to, "lumeq-bench", 1, date, "what the parts of lumeq cost on this machine");
    roff_section(to, "Synopsis");
    for (const BenchCommand *c = bench_commands; c->name; c++)
        fprintf(to, "%s\\fBlumeq\\-bench %s\\fR%s [options]\n", c == bench_commands ? "" : ".br\n",
                c->name, c->options[0].name[0] == '-' ? "" : " \\fIINPUT\\fR");
    roff_section(to, "Description");
    roff_paragraph(to, "lumeq-bench measures on made-up pictures or on any file, and checks every "
                       "result against the CPU before it prints a time. Its tables end with the "
                       "machine, the date and the command.");
    roff_section(to, "Commands");
    for (const BenchCommand *c = bench_commands; c->name; c++)
        print_command(to, c);
    roff_section(to, "Exit status");
    roff_paragraph(to, "0 done; 1 not done, one sentence says why.");
    roff_section(to, "See also");
    fputs(".BR lumeq (1)\n", to);
}
