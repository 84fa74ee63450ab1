#include "app/options/option_table.h"
#include "bench/bench.h"
#include "manual/shells.h"

static const char begin[] =
    "    local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    COMPREPLY=()\n";

/* = divides words, so --mode=x is three of them. */
static const char begin_equals[] = "    local equals=\n"
                                   "    if [[ $current == = ]]; then\n"
                                   "        current='' equals=1\n"
                                   "    elif [[ $option == = ]]; then\n"
                                   "        option=${COMP_WORDS[COMP_CWORD - 2]} equals=1\n"
                                   "    fi\n";

/* A match is a line, with its spaces. */
static void begin_reply(FILE *to)
{
    fprintf(to, "mapfile -t COMPREPLY < <(compgen ");
}

static void end_reply(FILE *to)
{
    fprintf(to, " -- \"$current\")");
}

static void print_matches(FILE *to, const Option *o, ShellValue value, const char *words)
{
    begin_reply(to);
    switch (value) {
    case SHELL_LIST:
        fprintf(to,
                "-W \"%s $(\"$1\" --no-config --%s help 2>/dev/null |\n"
                "        sed -n 's/^\\([a-z0-9][^ ]*\\).*/\\1/p')\"",
                words, o->name);
        break;
    case SHELL_CAMERA: fprintf(to, "-W \"$(compgen -G '/dev/video*')\""); break;
    case SHELL_FOLDER: fprintf(to, "-d"); break;
    case SHELL_FILE: fprintf(to, "-f"); break;
    default: fprintf(to, "-W '%s'", words);
    }
    end_reply(to);
}

static void print_value(FILE *to, const Option *o)
{
    char words[256];
    const ShellValue value = shell_value(o->choices, words, sizeof(words));
    if (value == SHELL_NONE)
        return;
    fprintf(to, "    --%s", o->name);
    if (o->letter)
        fprintf(to, " | -%c", o->letter);
    fprintf(to, ") ");
    print_matches(to, o, option_may_stand_alone(o) && *words ? SHELL_WORDS : value, words);
    fprintf(to, " ;;\n");
}

/* What may stand alone takes a value only behind =. */
static void print_alone(FILE *to)
{
    fprintf(to, "    case $option in\n    ");
    const char *bar = "";
    for (int i = 0; i < option_count; i++)
        if (option_table[i].name && option_table[i].choices &&
            option_may_stand_alone(&option_table[i])) {
            fprintf(to, "%s--%s", bar, option_table[i].name);
            if (option_table[i].letter)
                fprintf(to, " | -%c", option_table[i].letter);
            bar = " | ";
        }
    fprintf(to, ") [[ $equals ]] || option= ;;\n    esac\n");
}

void bash_program(FILE *to)
{
    fprintf(to, "# bash completion for lumeq\n# shellcheck shell=bash\n_lumeq()\n{\n%s%s", begin,
            begin_equals);
    print_alone(to);
    fprintf(to, "    case $option in\n");
    for (int i = 0; i < option_count; i++)
        if (option_table[i].name)
            print_value(to, &option_table[i]);
    fprintf(to, "    *)\n        if [[ $current == -* ]]; then\n            ");
    begin_reply(to);
    fprintf(to, "-W '");
    const char *space = "";
    for (int i = 0; i < option_count; i++)
        if (option_table[i].name) {
            fprintf(to, "%s--%s", space, option_table[i].name);
            space = " ";
        }
    fprintf(to, "'");
    end_reply(to);
    fprintf(to, "\n        elif [[ $COMP_CWORD == 1 ]]; then\n            ");
    begin_reply(to);
    fprintf(to, "-f -W '");
    shell_commands(to);
    fprintf(to, "'");
    end_reply(to);
    fprintf(to, "\n        else\n            ");
    begin_reply(to);
    fprintf(to, "-f");
    end_reply(to);
    fprintf(to, "\n        fi\n        ;;\n    esac\n}\ncomplete -o filenames -F _lumeq lumeq\n");
}

static void print_bench_command(FILE *to, const BenchCommand *command)
{
    fprintf(to, "    %s)\n        case $option in\n", command->name);
    for (const BenchOption *o = command->options; o->name; o++) {
        char words[256];
        if (shell_value(o->value, words, sizeof(words)) != SHELL_WORDS)
            continue;
        fprintf(to, "        %s) ", o->name);
        begin_reply(to);
        fprintf(to, "-W '%s'", words);
        end_reply(to);
        fprintf(to, " ;;\n");
    }
    fprintf(to, "        *)\n            if [[ $current == -* ]]; then\n                ");
    begin_reply(to);
    fprintf(to, "-W '--help");
    for (const BenchOption *o = command->options; o->name; o++)
        if (o->name[0] == '-')
            fprintf(to, " %s", o->name);
    fprintf(to, "'");
    end_reply(to);
    fprintf(to, "\n            else\n                ");
    begin_reply(to);
    fprintf(to, "-f");
    end_reply(to);
    fprintf(to, "\n            fi\n            ;;\n        esac\n        ;;\n");
}

void bash_bench(FILE *to)
{
    fprintf(to,
            "# bash completion for lumeq-bench\n# shellcheck shell=bash\n_lumeq_bench()\n{\n%s"
            "    if [[ $COMP_CWORD == 1 ]]; then\n        ",
            begin);
    begin_reply(to);
    fprintf(to, "-W '--help");
    for (const BenchCommand *c = bench_commands; c->name; c++)
        fprintf(to, " %s", c->name);
    fprintf(to, "'");
    end_reply(to);
    fprintf(to, "\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n");
    for (const BenchCommand *c = bench_commands; c->name; c++)
        print_bench_command(to, c);
    fprintf(to, "    esac\n}\ncomplete -o filenames -F _lumeq_bench lumeq-bench\n");
}
