#include <string.h>

#include "manual/pages.h"
#include "manual/roff.h"

#define MAX_LINE 256
#define MAX_COMMENT 8192
#define MARK "LUMEQ_API " /* not shown to callers */

/* The current line of the header, without its newline. */
typedef struct Lines {
    FILE *file;
    char line[MAX_LINE];
    int more;
} Lines;

static void next(Lines *l)
{
    l->more = fgets(l->line, sizeof(l->line), l->file) != NULL;
    if (l->more)
        l->line[strcspn(l->line, "\n")] = '\0';
}

static int begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

/* Reads a comment's text line by line, up to the line after it. */
static void take_comment(Lines *l, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int first = 1, ends = 0; l->more && !ends; first = 0, next(l)) {
        char *end = strstr(l->line, "*/");
        ends = end != NULL;
        if (end)
            *end = '\0';
        const char *line = l->line + (first ? 2 : 1);
        line += first ? strspn(line, " ") : begins(line, "*") ? 1 : 0;
        if (*line == ' ')
            line++;
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, "%s\n", line);
    }
}

/* Prints a comment: blank lines separate paragraphs, indented lines are examples. */
static void print_comment(FILE *to, char *text)
{
    char paragraph[MAX_COMMENT] = "";
    int as_is = 0;
    for (char *line = text, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end)
            *end++ = '\0';
        const int indented = *line == ' ';
        if (*paragraph && (!*line || indented)) {
            roff_paragraph(to, paragraph);
            paragraph[0] = '\0';
        }
        if (indented && !as_is)
            roff_begin_example(to);
        if (!indented && as_is)
            roff_end_example(to);
        as_is = indented;
        if (indented)
            roff_line(to, line + strspn(line, " "));
        else if (*line)
            snprintf(paragraph + strlen(paragraph), sizeof(paragraph) - strlen(paragraph), "%s\n",
                     line);
    }
    if (as_is)
        roff_end_example(to);
    if (paragraph[strspn(paragraph, "\n ")])
        roff_paragraph(to, paragraph);
}

/* Prints a declaration, up to a blank line, then its comment. */
static void print_declaration(FILE *to, Lines *l, char *comment)
{
    roff_break(to);
    fputs(".nf\n", to);
    size_t aligned = 0; /* surplus indentation of further lines */
    for (; l->more && *l->line; next(l)) {
        const size_t spaces = strspn(l->line, " ");
        if (!spaces)
            aligned = begins(l->line, MARK) ? strlen(MARK) : 0;
        roff_line(to, l->line + (!spaces || aligned < spaces ? aligned : spaces));
    }
    fputs(".fi\n", to);
    if (*comment) {
        fputs(".RS 4\n", to);
        print_comment(to, comment);
        fputs(".RE\n", to);
    }
}

static void print_heading(FILE *to, const char *line)
{
    char heading[MAX_LINE];
    const char *text = line + strspn(line, "/* -");
    snprintf(heading, sizeof(heading), "%.*s", (int)strcspn(text, "-"), text);
    while (*heading && heading[strlen(heading) - 1] == ' ')
        heading[strlen(heading) - 1] = '\0';
    roff_section(to, heading);
}

int page_library(FILE *to, const char *date, FILE *header)
{
    char comment[MAX_COMMENT] = "";
    Lines l = {.file = header};
    roff_title(to, "liblumeq", 3, date, "equalize the luma of video frames");
    roff_section(to, "Synopsis");
    fputs(".nf\n", to);
    roff_line(to, "#include <lumeq/lumeq.h>");
    fputs(".PP\n", to);
    roff_line(to, "cc program.c $(pkg-config --cflags --libs lumeq)");
    fputs(".fi\n", to);
    roff_section(to, "Description");
    int declared = 0;
    for (next(&l); l.more;) {
        if (!*l.line) {
            print_comment(to, comment);
            comment[0] = '\0';
            next(&l);
        } else if (begins(l.line, "/* ----")) {
            print_heading(to, l.line);
            next(&l);
        } else if (begins(l.line, "/*")) {
            take_comment(&l, comment, sizeof(comment));
            if (!declared++) /* the first comment describes the library */
                print_comment(to, comment);
        } else if (begins(l.line, "#if") || begins(l.line, "#include") ||
                   begins(l.line, "#endif")) {
            while (l.more && *l.line)
                next(&l);
            comment[0] = '\0';
        } else {
            print_declaration(to, &l, comment);
            comment[0] = '\0';
            declared++;
        }
    }
    roff_section(to, "See also");
    fputs(".BR lumeq (1)\n", to);
    return declared > 20 && !ferror(header) ? 0 : -1;
}
