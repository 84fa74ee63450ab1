#include <string.h>

#include "app/options/option_help.h"
#include "app/options/option_profile.h"
#include "app/options/option_table.h"
#include "manual/pages.h"
#include "manual/roff.h"

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
    char names[256];
    profile_names(names, sizeof(names));
    roff_section(to, "Profiles");
    roff_paragraph(to,
                   "Each is a set of options for a kind of video; options given beside it win.");
    for (char *name = strtok(names, ", "); name; name = strtok(NULL, ", ")) {
        char tag[128], settings[512];
        size_t used = 0;
        settings[0] = '\0';
        for (const ProfileSetting *s = profile_settings(profile_find(name)); s->option; s++)
            used += (size_t)snprintf(settings + used, sizeof(settings) - used, "--%s %s ",
                                     s->option, s->value);
        snprintf(tag, sizeof(tag), "\\fB%s\\fR", name);
        roff_tagged(to, tag, settings);
    }
}

static void print_examples(FILE *to)
{
    static const HelpPair examples[] = {
        {"lumeq foggy.mkv", "Play it, equalized live, beside its histogram."},
        {"lumeq dark.mp4 -o bright.mp4", "Write it, with its sound, subtitles and chapters."},
        {"lumeq --camera --virtual-camera", "Give the equalized camera to a video call."},
        {"lumeq in.mkv -o out.mkv --report out.html",
         "Write it, and a page that tells what was done to it, with pictures of each shot."},
        {"lumeq in.mkv -o long.mkv --sample",
         "Say how long that would take and how large it would be, and draw before and after into "
         "long.mkv.sample.png."},
        {"lumeq in.mkv -o long.mkv --jobs auto --resume",
         "Write a long film in parts, and go on where a run was broken off."},
        {"lumeq --doctor", "Say what this machine offers, and what mends what is missing."},
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
                "Settings, see lumeq(5). Without XDG_CONFIG_HOME it is ~/.config/lumeq/config.");
    roff_tagged(to, "\\fIOUTPUT.lumeq/\\fR",
                "What a run with --jobs, or lumeq plan, has done so far. It goes when OUTPUT is "
                "there.");
    roff_tagged(to, "\\fIOUTPUT.sample.png\\fR", "The pictures of --sample.");
    roff_tagged(to, "\\fINAME.partial.EXT\\fR",
                "What a run that was interrupted has written of OUTPUT, which is NAME.EXT.");
    roff_section(to, "Environment");
    roff_tagged(to, "\\fBXDG_CONFIG_HOME\\fR, \\fBHOME\\fR", "Where the settings are.");
    roff_tagged(to, "\\fBNO_COLOR\\fR", "Messages have no colours, unless --color says otherwise.");
    roff_tagged(to,
                "\\fBSLURM_ARRAY_TASK_ID\\fR, \\fBJOB_COMPLETION_INDEX\\fR, \\fBPARALLEL_SEQ\\fR",
                "The part that lumeq measure and lumeq segment work on, where none is named.");
}

/* "0 done; 1 usage; ..." */
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
                   "It looks at the histogram of every frame, spreads the tones that are there "
                   "over the range that is there, keeps this calm from frame to frame, and lets "
                   "colour follow. What is well exposed it leaves nearly alone. It runs on an "
                   "NVIDIA GPU where there is one, else on the CPU, with the same bits.");
    roff_paragraph(to, "In the window, ? shows the keys.");
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
