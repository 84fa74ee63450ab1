/* lumeq-manual DATE FOLDER: writes the manual pages during the build, with roff's "man" macros,
 * from the tables of the programs. */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "app/options/option_help.h"
#include "app/options/option_table.h"
#include "bench/bench.h"
#include "lumeq/lumeq.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static FILE *page;         /* the page that is being written */
static bool below_heading; /* where groff would warn about a break */

/* ---- roff ---- */

/* Prints text, and escapes characters that roff would misread. */
static void put(const char *text)
{
    static const char special[] = "\\-^~`'\"";
    static const char *const escapes[] = {"\\e",   "\\-",   "\\(ha", "\\(ti",
                                          "\\(ga", "\\(aq", "\\(dq"};
    if (*text == '.')
        fputs("\\&", page);
    for (; *text; text++) {
        const char *at = strchr(special, *text);
        if (at)
            fputs(escapes[at - special], page);
        else
            putc(*text, page);
    }
}

static void put_line(const char *text)
{
    put(text);
    putc('\n', page);
    below_heading = false;
}

static void put_macro(const char *macro, const char *text)
{
    fprintf(page, ".%s ", macro);
    put_line(text);
}

static void put_subheading(const char *text)
{
    put_macro("SS", text);
    below_heading = true;
}

static void put_heading(const char *text)
{
    fputs(".SH ", page);
    for (; *text; text++)
        putc(toupper((unsigned char)*text), page);
    putc('\n', page);
    below_heading = true;
}

static void put_break(void)
{
    if (!below_heading)
        fputs(".PP\n", page);
    below_heading = false;
}

static void put_paragraph(const char *text)
{
    put_break();
    put_line(text);
}

static void put_term(const char *term, const char *text)
{
    fputs(".TP\n", page);
    put_macro("B", term);
    put_line(text);
}

static void put_title(const char *name, int section, const char *date, const char *what)
{
    fprintf(page,
            ".\\\" Made by lumeq-manual.\n.TH %s %d %s \"lumeq %d.%d.%d\" \"lumeq\"\n.SH NAME\n",
            name, section, date, LUMEQ_VERSION_MAJOR, LUMEQ_VERSION_MINOR, LUMEQ_VERSION_PATCH);
    put(name);
    fprintf(page, " \\- %s\n", what);
}

/* ---- lumeq(1) ---- */

static const HelpPair files[] = {
    {"$XDG_CONFIG_HOME/lumeq/config", "Settings. XDG_CONFIG_HOME defaults to ~/.config."},
    {"OUTPUT.lumeq/", "Finished parts of --jobs or lumeq plan. Removed once OUTPUT is complete."},
    {"OUTPUT.sample.png", "The pictures of --sample."},
    {"NAME.partial.EXT", "The finished part of the output NAME.EXT, after an interrupted run."},
    {0},
};

static const HelpPair environment[] = {
    {"XDG_CONFIG_HOME, HOME", "Location of the settings."},
    {"NO_COLOR", "Turns off colours, except with --color always."},
    {"SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX, PARALLEL_SEQ",
     "The part's number for lumeq measure and lumeq segment, if K is not given."},
    {0},
};

static const HelpPair examples[] = {
    {"lumeq foggy.mkv", "Play it, equalized, with its histogram."},
    {"lumeq dark.mp4 -o bright.mp4", "Write it, with its sound, subtitles and chapters."},
    {"lumeq --camera --virtual-camera", "Offer the equalized camera to video calls."},
    {"lumeq in.mkv -o out.mkv --report out.html",
     "Write it, and a report with pictures of each shot."},
    {"lumeq in.mkv -o long.mkv --sample",
     "Estimate its time and size, and save pictures, before and after, as long.mkv.sample.png."},
    {"lumeq in.mkv -o long.mkv --jobs auto --resume",
     "Write a long film in parts, and continue an interrupted run."},
    {"lumeq --doctor", "Show what this machine offers and lacks, and how to fix it."},
    {0},
};

static void put_pairs(const char *heading, const HelpPair *pairs)
{
    put_heading(heading);
    for (; pairs->left; pairs++)
        put_term(pairs->left, pairs->text);
}

static void put_profiles(void)
{
    put_heading("Profiles");
    put_paragraph("A profile sets several options for a kind of video. Options given with it "
                  "override its values.");
    for (int i = 0; i < profile_count; i++) {
        char settings[512] = "";
        size_t used = 0;
        for (const ProfileSetting *s = profiles[i].settings; s->option; s++)
            used += (size_t)snprintf(settings + used, sizeof(settings) - used, "--%s %s ",
                                     s->option, s->value);
        put_term(profiles[i].name, settings);
    }
}

static void page_program(const char *date)
{
    char term[512];
    put_title("lumeq", 1, date, "make dull, dark and foggy video clear");
    put_pairs("Synopsis", option_usage);
    put_heading("Description");
    put_paragraph(option_summary);
    put_paragraph("It stretches each frame's tones over the available range, smoothly over time, "
                  "and adjusts colour to match. Well-exposed video is left almost untouched. It "
                  "runs on an NVIDIA GPU or on the CPU, with identical results.");
    put_paragraph("Press ? in the window for its keys.");
    put_heading("Options");
    for (int i = 0; i < option_count; i++) {
        if (option_table[i].name)
            put_term(option_term(&option_table[i], term, sizeof(term)), option_table[i].help);
        else
            put_subheading(option_table[i].help);
    }
    put_profiles();
    for (const HelpPair *p = option_topics; p->left; p++) {
        put_heading(p->left);
        put_paragraph(p->text);
    }
    put_pairs("Files", files);
    put_pairs("Environment", environment);
    put_pairs("Examples", examples);
    put_heading("See also");
    put_line("lumeq-bench(1)");
}

static void page_bench(const char *date)
{
    char term[256];
    put_title("lumeq-bench", 1, date, "what the parts of lumeq cost on this machine");
    put_heading("Synopsis");
    for (const BenchCommand *c = bench_commands; c->name; c++) {
        const int has_input = c->options[0].name[0] != '-';
        snprintf(term, sizeof(term), "lumeq-bench %s%s [options]", c->name,
                 has_input ? " INPUT" : "");
        put_term(term, c->help);
    }
    put_heading("Description");
    put_paragraph("lumeq-bench measures on synthetic pictures or on any file, and checks every "
                  "result against the CPU before it prints a time. Its tables end with the "
                  "machine, the date and the command.");
    for (const BenchCommand *c = bench_commands; c->name; c++) {
        snprintf(term, sizeof(term), "Options of %s", c->name);
        put_heading(term);
        for (const BenchOption *o = c->options; o->name; o++) {
            snprintf(term, sizeof(term), "%s %s", o->name, o->value ? o->value : "");
            put_term(term, o->help);
        }
    }
    put_heading("Exit status");
    put_paragraph("0 done; 1 failed, after one sentence on standard error.");
    put_heading("See also");
    put_line("lumeq(1)");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*write)(const char *date);
    } pages[] = {{"lumeq.1", page_program}, {"lumeq-bench.1", page_bench}};
    if (argc != 3) {
        fprintf(stderr, "usage: lumeq-manual DATE FOLDER\n");
        return 1;
    }
    for (int i = 0; i < COUNT(pages); i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", argv[2], pages[i].name);
        page = fopen(path, "w");
        if (page)
            pages[i].write(argv[1]);
        if (!page || ferror(page) || fclose(page) != 0) {
            fprintf(stderr, "lumeq-manual: cannot make %s: %s\n", path, strerror(errno));
            return 1;
        }
    }
    return 0;
}
