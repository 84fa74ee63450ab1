#include "app/options/option_table.h"
#include "bench/bench.h"
#include "manual/shells.h"

#define SPECIAL "[]:\\"
#define QUOTE "'\\''"

/* :what:how, as _arguments wants it. */
static void print_value(FILE *to, const char *name, const char *choices, int optional)
{
    char words[256];
    const ShellValue value = shell_value(choices, words, sizeof(words));
    if (value == SHELL_NONE)
        return;
    fprintf(to, ":%s%s:", optional ? ":" : "", name);
    switch (value) {
    case SHELL_WORDS: fprintf(to, "(%s)", words); break;
    case SHELL_LIST: fprintf(to, "{_lumeq_list %s %s}", name, words); break;
    case SHELL_FOLDER: fprintf(to, "_files -/"); break;
    case SHELL_CAMERA: fprintf(to, "_files -g \"/dev/video*\""); break;
    case SHELL_FILE: fprintf(to, "_files"); break;
    default: fprintf(to, " "); break;
    }
}

static void print_option(FILE *to, const Option *o)
{
    const int alone = option_may_stand_alone(o);
    const char *const equals = !o->choices ? "" : alone ? "=-" : "=";
    fprintf(to, "        ");
    if (o->letter) {
        fprintf(to, "'(-%c --%s)'{-%c%s,--%s%s}'", o->letter, o->name, o->letter,
                o->choices && !alone ? "+" : "", o->name, equals);
    } else {
        const int again = o->type == OPTION_LIST;
        fprintf(to, "'%s--%s%s", again ? "*" : "", o->name, equals);
    }
    putc('[', to);
    shell_text(to, o->help, SPECIAL, QUOTE);
    putc(']', to);
    print_value(to, o->name, o->choices, alone);
    fputs("' \\\n", to);
}

void zsh_program(FILE *to)
{
    fprintf(to, "#compdef lumeq\n\n"
                "# What the program lists, and words beside that.\n"
                "_lumeq_list() {\n    local -a names\n"
                "    names=(${(f)\"$($words[1] --no-config --$1 help 2>/dev/null | "
                "sed -n 's/^\\([a-z0-9][^ ]*\\).*/\\1/p')\"})\n"
                "    compadd -- $names $argv[2,-1]\n}\n\n"
                "_lumeq_input() {\n    (( CURRENT != 2 )) || compadd -- ");
    shell_commands(to);
    fprintf(to, "\n"
                "    _files\n}\n\n"
                "_lumeq() {\n    _arguments -s -S \\\n");
    for (int i = 0; i < option_count; i++)
        if (option_table[i].name)
            print_option(to, &option_table[i]);
    fprintf(to, "        '*:input:_lumeq_input'\n}\n\n_lumeq \"$@\"\n");
}

static void print_bench_command(FILE *to, const BenchCommand *command)
{
    fprintf(to, "    %s)\n        _arguments \\\n            '--help[show the options]' \\\n",
            command->name);
    for (const BenchOption *o = command->options; o->name; o++) {
        if (o->name[0] != '-')
            continue;
        fprintf(to, "            '%s[", o->name);
        shell_text(to, o->help, SPECIAL, QUOTE);
        putc(']', to);
        print_value(to, o->name + 2, o->value, 0);
        fputs("' \\\n", to);
    }
    fprintf(to, "            '*:input:_files'\n        ;;\n");
}

void zsh_bench(FILE *to)
{
    fprintf(to, "#compdef lumeq-bench\n\n_lumeq-bench() {\n"
                "    if (( CURRENT == 2 )); then\n        compadd -- --help");
    for (const BenchCommand *c = bench_commands; c->name; c++)
        fprintf(to, " %s", c->name);
    fprintf(to, "\n        return\n    fi\n    shift words\n    (( CURRENT-- ))\n"
                "    case $words[1] in\n");
    for (const BenchCommand *c = bench_commands; c->name; c++)
        print_bench_command(to, c);
    fprintf(to, "    esac\n}\n\n_lumeq-bench \"$@\"\n");
}
