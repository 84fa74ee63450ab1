#include <string.h>

#include "app/options/option_help.h"
#include "app/options/option_table.h"
#include "manual/pages.h"
#include "manual/roff.h"

/* What a flag takes in the file, and what others do. */
static const char *values(const Option *o)
{
    return o->type == OPTION_FLAG ? "yes|no" : o->choices ? o->choices : "";
}

static void print_example(FILE *to)
{
    static const char *const lines[] = {
        "strength = 0.6",
        "vcodec = libx265      # a comment",
        "vopt = \"x265-params=keyint=50\"",
        "no-metadata = yes     # flags take yes or no",
    };
    roff_section(to, "Example");
    roff_begin_example(to);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        roff_line(to, lines[i]);
    roff_end_example(to);
}

void page_settings(FILE *to, const char *date)
{
    roff_title(to, "lumeq", 5, date, "the settings file of lumeq");
    roff_section(to, "Description");
    roff_paragraph(to, "What is always wanted goes into $XDG_CONFIG_HOME/lumeq/config, which is "
                       "~/.config/lumeq/config unless XDG_CONFIG_HOME is set, or into any regular "
                       "file that is given with --config.");
    for (const HelpPair *p = option_topics; p->left; p++)
        if (strcmp(p->left, "The settings file") == 0)
            roff_paragraph(to, p->text);
    roff_paragraph(to, "A wrong line is refused with file, line and what is allowed. With "
                       "--no-config no such file is read, and -v says which one is in use. What "
                       "belongs to a single run is given on the command line alone.");
    print_example(to);
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
        roff_escape(choices, sizeof(choices), values(o));
        snprintf(tag, sizeof(tag), "\\fB%s\\fR = \\fI%s\\fR", name, choices);
        roff_tagged(to, tag, o->help);
    }
    roff_section(to, "See also");
    fputs(".BR lumeq (1)\n", to);
}
