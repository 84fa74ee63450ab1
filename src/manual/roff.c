#include "manual/roff.h"

#include <ctype.h>
#include <string.h>

#include "lumeq/lumeq.h"

/* A break after a heading is redundant, and groff warns about it. */
static int below_heading;

/* The escape for a character that roff would misread, or NULL. */
static const char *escape(char c)
{
    switch (c) {
    case '\\': return "\\e";
    case '-': return "\\-";
    case '^': return "\\(ha";
    case '~': return "\\(ti";
    case '`': return "\\(ga";
    case '\'': return "\\(aq";
    case '"': return "\\(dq";
    }
    return NULL;
}

void roff_escape(char *roff, size_t size, const char *text)
{
    size_t used = 0;
    roff[0] = '\0';
    for (; *text && used + 1 < size; text++) {
        const char *special = escape(*text), plain[] = {*text, '\0'};
        used += (size_t)snprintf(roff + used, size - used, "%s", special ? special : plain);
    }
}

static void put(FILE *to, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *special = escape(text[i]);
        if (special)
            fputs(special, to);
        else
            putc(text[i], to);
    }
}

void roff_line(FILE *to, const char *text)
{
    if (*text == '.')
        fputs("\\&", to);
    put(to, text, strlen(text));
    putc('\n', to);
}

/* Ends the line after each sentence, as roff requires. */
static void put_filled(FILE *to, const char *text)
{
    const char *word = text + strspn(text, " \n");
    while (*word) {
        const size_t n = strcspn(word, " \n");
        if (*word == '.')
            fputs("\\&", to);
        put(to, word, n);
        const int ends = n > 1 && word[n - 1] == '.' && !ispunct((unsigned char)word[n - 2]) &&
                         !isdigit((unsigned char)word[n - 2]);
        word += n;
        word += strspn(word, " \n");
        putc(ends || !*word ? '\n' : ' ', to);
    }
}

void roff_break(FILE *to)
{
    if (!below_heading)
        fputs(".PP\n", to);
    below_heading = 0;
}

void roff_title(FILE *to, const char *name, int section, const char *date, const char *what)
{
    char escaped[64], upper[64];
    roff_escape(escaped, sizeof(escaped), name);
    snprintf(upper, sizeof(upper), "%s", escaped);
    for (char *c = upper; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    fprintf(to, ".\\\" Made by lumeq-manual from the tables of the programs.\n");
    fprintf(to, ".TH %s %d %s \"lumeq %d.%d.%d\" \"lumeq\"\n", upper, section, date,
            LUMEQ_VERSION_MAJOR, LUMEQ_VERSION_MINOR, LUMEQ_VERSION_PATCH);
    fprintf(to, ".SH NAME\n%s \\- %s\n", escaped, what);
}

void roff_section(FILE *to, const char *heading)
{
    below_heading = 1;
    fputs(".SH ", to);
    for (; *heading; heading++)
        putc(toupper((unsigned char)*heading), to);
    putc('\n', to);
}

void roff_subsection(FILE *to, const char *heading)
{
    fputs(".SS ", to);
    below_heading = 1;
    roff_line(to, heading);
}

void roff_paragraph(FILE *to, const char *text)
{
    roff_break(to);
    put_filled(to, text);
}

void roff_tagged(FILE *to, const char *roff_tag, const char *text)
{
    below_heading = 0;
    fprintf(to, ".TP\n%s\n", roff_tag);
    put_filled(to, text);
}

void roff_begin_example(FILE *to)
{
    roff_break(to);
    fputs(".nf\n.RS 4\n", to);
}

void roff_end_example(FILE *to)
{
    fputs(".RE\n.fi\n", to);
}
