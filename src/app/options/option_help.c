#include "app/options/option_help.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/terminal.h"

#define MIN_WIDTH 72  /* narrower terminals wrap by themselves */
#define MAX_WIDTH 120 /* longer lines are hard to read */
#define INDENT 32     /* column of the explanations */
#define USAGE_INDENT 41

const HelpPair option_usage[] = {
    {"lumeq [options] [INPUT]", "play it, or wait for a file"},
    {"lumeq [options] INPUT -o OUTPUT", "write the processed video"},
    {"lumeq [options] INPUT... -o DIR/", "write many videos under their own names"},
    {"lumeq [options] INPUT --null", "process, but write no video"},
    {"lumeq [options] --camera[=DEV|N]", "preview a camera; -o records it"},
    {0},
};

const char option_summary[] = "lumeq equalizes the luma of dull, dark or foggy video. INPUT and "
                              "OUTPUT are files such as mp4, mkv, webm, mov or y4m; "
                              "- is a pipe. Defaults are in [].";

const HelpPair option_topics[] = {
    {"Commands for a film in parts",
     "lumeq plan IN -o OUT [options] writes OUT.lumeq/plan; lumeq segment PLAN K writes part K, "
     "counted from 0; lumeq join PLAN joins the parts into OUT. After lumeq plan with "
     "--no-measure, lumeq measure PLAN K measures part K, and lumeq plan PLAN finishes the plan."},
    {"The settings file",
     "Its lines are long options without dashes, such as strength = 0.6 or reference = yes. # "
     "starts a comment; values may be quoted. The command line overrides the file: --reference=no "
     "cancels reference = yes."},
    {"Exit codes",
     "0 done; 1 wrong usage; 2 input cannot be used; 3 output cannot be written; 4 interrupted; "
     "5 done, but the input was damaged."},
    {0},
};

/* Prints `left` and the explanation beside it, or below it if `left` is too long. */
static void print_pair(const char *left, const char *text, int indent, int width)
{
    const int is_long = (int)strlen(left) + 2 > indent;
    printf("%-*s%s", is_long ? 0 : indent, left, is_long ? "\n" : "");
    printf("%*s", is_long ? indent : 0, "");
    say_wrapped(text, indent, indent, width);
}

const char *option_term(const Option *o, char *text, size_t size)
{
    const char *format = o->choices && option_may_stand_alone(o) ? "%s--%s[=%s]" : "%s--%s %s";
    char letter[8] = "";
    if (o->letter)
        snprintf(letter, sizeof(letter), "-%c, ", o->letter);
    snprintf(text, size, o->choices ? format : "%s--%s", letter, o->name, o->choices);
    return text;
}

static void print_option(const Option *o, int width)
{
    char term[64], left[80];
    snprintf(left, sizeof(left), "%s%s", o->letter ? "  " : "      ",
             option_term(o, term, sizeof(term)));
    print_pair(left, o->help, INDENT, width);
}

static void print_full(int width)
{
    for (int i = 0; i < option_count; i++) {
        if (option_table[i].name) {
            print_option(&option_table[i], width);
            continue;
        }
        putchar('\n');
        say_wrapped(option_table[i].help, 0, 0, width);
    }
    for (const HelpPair *p = option_topics; p->left; p++) {
        printf("\n%s\n  ", p->left);
        say_wrapped(p->text, 2, 2, width);
    }
}

void options_print_help(OptionsHelp help)
{
    int width = say_columns(STDOUT_FILENO);
    if (width < MIN_WIDTH)
        width = MIN_WIDTH;
    if (width > MAX_WIDTH)
        width = MAX_WIDTH;
    for (const HelpPair *p = option_usage; p->left; p++) {
        char left[64];
        snprintf(left, sizeof(left), "%s %s", p == option_usage ? "Usage:" : "      ", p->left);
        print_pair(left, p->text, USAGE_INDENT, width);
    }
    putchar('\n');
    say_wrapped(option_summary, 0, 0, width);
    if (help == OPTIONS_HELP_FULL) {
        print_full(width);
        return;
    }
    fputs("\nMost common options\n", stdout);
    for (int i = 0; i < option_count; i++)
        if (option_table[i].flags & OPTION_COMMON)
            print_option(&option_table[i], width);
    putchar('\n');
    say_wrapped("lumeq --help=full lists all options, the settings file and the exit codes.", 0, 0,
                width);
}

void profile_print_all(void)
{
    for (int i = 0; i < profile_count; i++) {
        const Profile *p = &profiles[i];
        printf("%-14s%s\n%14s", p->name, p->purpose, "");
        for (const ProfileSetting *s = p->settings; s->option; s++)
            printf("%s--%s %s", s == p->settings ? "" : " ", s->option, s->value);
        putchar('\n');
    }
}
