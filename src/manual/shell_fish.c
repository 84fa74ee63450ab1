#include "app/options/option_table.h"
#include "bench/bench.h"
#include "manual/shells.h"

static void print_text(FILE *to, const char *help)
{
    fputs(" -d '", to);
    shell_text(to, help, "\\", "\\'");
    fputs("'\n", to);
}

static void print_option(FILE *to, const Option *o)
{
    char words[256];
    const ShellValue value = shell_value(o->choices, words, sizeof(words));
    fprintf(to, "complete -c lumeq -l %s", o->name);
    if (o->letter)
        fprintf(to, " -s %c", o->letter);
    if (value != SHELL_NONE && !option_may_stand_alone(o))
        fprintf(to, value == SHELL_FILE ? " -r -F" : " -x");
    if (value == SHELL_WORDS)
        fprintf(to, " -a '%s'", words);
    if (value == SHELL_LIST && option_may_stand_alone(o))
        fprintf(to, " -a '%s'", words);
    else if (value == SHELL_LIST)
        fprintf(to, " -a '%s (__lumeq_list %s)'", words, o->name);
    if (value == SHELL_FOLDER)
        fprintf(to, " -a '(__fish_complete_directories)'");
    print_text(to, o->help);
}

void fish_program(FILE *to)
{
    fprintf(to, "# fish completion for lumeq\n"
                "function __lumeq_list\n    set -l program (commandline -opc)[1]\n"
                "    $program --no-config --$argv[1] help 2>/dev/null | "
                "string match -rg '^([a-z0-9]\\S*)'\nend\n\n"
                "complete -c lumeq -n __fish_is_first_arg -a '");
    shell_commands(to);
    fprintf(to, "'\n");
    for (int i = 0; i < option_count; i++)
        if (option_table[i].name)
            print_option(to, &option_table[i]);
}

void fish_bench(FILE *to)
{
    fprintf(to, "# fish completion for lumeq-bench\n");
    for (const BenchCommand *c = bench_commands; c->name; c++) {
        fprintf(to, "complete -c lumeq-bench -n __fish_is_first_arg -x -a %s", c->name);
        print_text(to, c->help);
        for (const BenchOption *o = c->options; o->name; o++) {
            char words[256];
            const ShellValue value = shell_value(o->value, words, sizeof(words));
            if (o->name[0] != '-')
                continue;
            fprintf(to, "complete -c lumeq-bench -n '__fish_seen_subcommand_from %s' -l %s",
                    c->name, o->name + 2);
            if (value == SHELL_FILE)
                fprintf(to, " -r -F");
            else if (value != SHELL_NONE)
                fprintf(to, " -x -a '%s'", words);
            print_text(to, o->help);
        }
    }
}
