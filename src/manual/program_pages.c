#include "manual/pages.h"

#include <string.h>

#include "app/options/option_help.h"
#include "app/options/option_profile.h"
#include "app/options/option_table.h"
#include "bench/bench.h"
#include "manual/roff.h"

/* ---- lumeq(1) ---- */

/* -o, --output OUTPUT */
static void print_option(FILE *to, const Option *o)
{
    char tag[512], name[64], choices[128];
    size_t used = 0;
    roff_escape(name, sizeof(name), o->name);
    if (o->letter)
        used += (size_t)snprintf(tag, sizeof(tag), "\\fB\\-%c\\fR, ", o->letter);
    used += (size_t)snprintf(tag + used, sizeof(tag) - used, "\\fB\\-\\-%s\\fR", name);
    if (o->choices) {
        const int alone = option_may_stand_alone(o);
        roff_escape(choices, sizeof(choices), o->choices);
        snprintf(tag + used, sizeof(tag) - used, alone ? "[=\\fI%s\\fR]" : " \\fI%s\\fR", choices);
    }
    roff_tagged(to, tag, o->help);
}

static void print_synopsis(FILE *to)
{
    roff_section(to, "Synopsis");
    for (const HelpPair *p = option_usage; p->left; p++) {
        char arguments[128];
        roff_escape(arguments, sizeof(arguments), p->left + strcspn(p->left, " ") + 1);
        fprintf(to, "%s\\fBlumeq\\fR %s\n", p == option_usage ? "" : ".br\n", arguments);
    }
}

static void print_profiles(FILE *to)
{
    roff_section(to, "Profiles");
    roff_paragraph(
        to,
        "A profile sets several options for a kind of video; options given beside it override it.");
    for (int i = 0; i < profile_count; i++) {
        char tag[128], settings[512];
        size_t used = 0;
        settings[0] = '\0';
        for (const ProfileSetting *s = profiles[i].settings; s->option; s++)
            used += (size_t)snprintf(settings + used, sizeof(settings) - used, "--%s %s ",
                                     s->option, s->value);
        snprintf(tag, sizeof(tag), "\\fB%s\\fR", profiles[i].name);
        roff_tagged(to, tag, settings);
    }
}

static void print_examples(FILE *to)
{
    static const HelpPair examples[] = {
        {"lumeq foggy.mkv", "Play it, equalized, with its histogram."},
        {"lumeq dark.mp4 -o bright.mp4", "Write it, with its sound, subtitles and chapters."},
        {"lumeq --camera --virtual-camera", "Offer the equalized camera to video calls."},
        {"lumeq in.mkv -o out.mkv --report out.html",
         "Write it, and a report with pictures of each shot."},
        {"lumeq in.mkv -o long.mkv --sample",
         "Estimate its time and size, and draw before and after into long.mkv.sample.png."},
        {"lumeq in.mkv -o long.mkv --jobs auto --resume",
         "Write a long film in parts, and continue an interrupted run."},
        {"lumeq --doctor", "Show what this machine offers, and how to fix what is missing."},
        {0},
    };
    roff_section(to, "Examples");
    for (const HelpPair *e = examples; e->left; e++) {
        char tag[128];
        roff_escape(tag, sizeof(tag), e->left);
        roff_tagged(to, tag, e->text);
    }
}

static void print_files(FILE *to)
{
    roff_section(to, "Files");
    roff_tagged(to, "\\fI$XDG_CONFIG_HOME/lumeq/config\\fR",
                "Settings, see lumeq(5). XDG_CONFIG_HOME defaults to ~/.config.");
    roff_tagged(to, "\\fIOUTPUT.lumeq/\\fR",
                "Finished parts of --jobs or lumeq plan. Removed once OUTPUT is complete.");
    roff_tagged(to, "\\fIOUTPUT.sample.png\\fR", "The pictures of --sample.");
    roff_tagged(to, "\\fINAME.partial.EXT\\fR",
                "The finished part of OUTPUT, NAME.EXT, after an interrupted run.");
    roff_section(to, "Environment");
    roff_tagged(to, "\\fBXDG_CONFIG_HOME\\fR, \\fBHOME\\fR", "Location of the settings.");
    roff_tagged(to, "\\fBNO_COLOR\\fR", "Turns off colours, unless --color says otherwise.");
    roff_tagged(to,
                "\\fBSLURM_ARRAY_TASK_ID\\fR, \\fBJOB_COMPLETION_INDEX\\fR, \\fBPARALLEL_SEQ\\fR",
                "The part for lumeq measure and lumeq segment if they name none.");
}

/* Prints "0 done; 1 wrong usage; ..." as a list. */
static void print_exit_codes(FILE *to, const char *text)
{
    char copy[512];
    snprintf(copy, sizeof(copy), "%s", text);
    roff_section(to, "Exit status");
    for (char *code = strtok(copy, ";"); code; code = strtok(NULL, ";")) {
        char tag[2] = {code[strspn(code, " ")], '\0'};
        roff_tagged(to, tag, strchr(code + 1, ' '));
    }
}

void page_program(FILE *to, const char *date)
{
    roff_title(to, "lumeq", 1, date, "make dull, dark and foggy video clear");
    print_synopsis(to);
    roff_section(to, "Description");
    roff_paragraph(to, option_summary);
    roff_paragraph(to,
                   "It stretches each frame's tones over the available range, smoothly over time, "
                   "and adjusts colour to match. Well-exposed video is left almost untouched. It "
                   "runs on an NVIDIA GPU or on the CPU, with identical results.");
    roff_paragraph(to, "Press ? in the window for its keys.");
    roff_section(to, "Options");
    for (int i = 0; i < option_count; i++) {
        if (option_table[i].name)
            print_option(to, &option_table[i]);
        else
            roff_subsection(to, option_table[i].help);
    }
    print_profiles(to);
    for (const HelpPair *p = option_topics; p->left; p++) {
        if (strcmp(p->left, "Exit codes") == 0) {
            print_exit_codes(to, p->text);
            continue;
        }
        roff_section(to, p->left);
        roff_paragraph(to, p->text);
    }
    print_files(to);
    print_examples(to);
    roff_section(to, "See also");
    fputs(".BR lumeq (5),\n.BR lumeq\\-bench (1),\n.BR liblumeq (3)\n", to);
}

/* ---- lumeq(5) ---- */

void page_settings(FILE *to, const char *date)
{
    roff_title(to, "lumeq", 5, date, "the settings file of lumeq");
    roff_section(to, "Description");
    roff_paragraph(to, "lumeq reads $XDG_CONFIG_HOME/lumeq/config, by default "
                       "~/.config/lumeq/config, or the regular file given with --config.");
    for (const HelpPair *p = option_topics; p->left; p++)
        if (strcmp(p->left, "The settings file") == 0)
            roff_paragraph(to, p->text);
    roff_paragraph(to, "lumeq refuses a wrong line and names file, line and allowed values. "
                       "--no-config ignores the file, and -v names the file in use. Options for a "
                       "single run are taken from the command line only.");
    roff_section(to, "Example");
    roff_begin_example(to);
    roff_line(to, "strength = 0.6");
    roff_line(to, "vcodec = libx265      # a comment");
    roff_line(to, "vopt = \"x265-params=keyint=50\"");
    roff_line(to, "no-metadata = yes     # flags take yes or no");
    roff_end_example(to);
    roff_section(to, "Settings");
    const char *heading = NULL;
    for (int i = 0; i < option_count; i++) {
        const Option *o = &option_table[i];
        char tag[512], name[64], choices[128];
        if (!o->name)
            heading = o->help;
        if (!o->name || (o->flags & OPTION_ONCE))
            continue;
        if (heading)
            roff_subsection(to, heading);
        heading = NULL;
        roff_escape(name, sizeof(name), o->name);
        roff_escape(choices, sizeof(choices),
                    o->type == OPTION_FLAG ? "yes|no"
                    : o->choices           ? o->choices
                                           : "");
        snprintf(tag, sizeof(tag), "\\fB%s\\fR = \\fI%s\\fR", name, choices);
        roff_tagged(to, tag, o->help);
    }
    roff_section(to, "See also");
    fputs(".BR lumeq (1)\n", to);
}

/* ---- lumeq-bench(1) ---- */

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
    roff_paragraph(to, "0 done; 1 failed, with one sentence.");
    roff_section(to, "See also");
    fputs(".BR lumeq (1)\n", to);
}
