#include "app/doctor/doctor_print.h"

#include <string.h>
#include <unistd.h>

#include "app/terminal.h"
#include "lumeq/lumeq.h"

#define MIN_WIDTH 44
#define MAX_WIDTH 100 /* longer lines are hard to read */
#define INDENT 22     /* where the findings begin */

static int colored;

static const char *paint(SayPaint color)
{
    return colored ? say_paint(color) : "";
}

/* ---- text ---- */

/* Words from `column` on, and from `indent` on in further lines. */
static void print_words(const char *text, int n, int column, int indent, int width)
{
    int first = 1;
    while (n > 0) {
        int word = 0;
        while (word < n && text[word] != ' ')
            word++;
        if (!first && column + 1 + word > width) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            putchar(' ');
            column++;
        }
        printf("%.*s", word, text);
        column += word;
        first = 0;
        word += word < n;
        text += word;
        n -= word;
    }
    putchar('\n');
}

static void print_finding(const Section *s, int width)
{
    for (const char *line = s->text; *line;) {
        const int n = (int)strcspn(line, "\n");
        if (line != s->text)
            printf("%*s", INDENT, "");
        print_words(line, n, INDENT, INDENT, width);
        line += n + (line[n] == '\n');
    }
    if (!*s->mend)
        return;
    printf("%*s%s", INDENT, "", paint(s->verdict == SECTION_MEND ? PAINT_BAR : PAINT_FAINT));
    fputs("> ", stdout);
    print_words(s->mend, (int)strlen(s->mend), INDENT + 2, INDENT + 2, width);
    fputs(paint(PAINT_OFF), stdout);
}

static void print_entry(const DoctorEntry *entry, int width)
{
    static const struct {
        const char *word;
        SayPaint paint;
    } verdicts[] = {[SECTION_NONE] = {"--", PAINT_FAINT},
                    [SECTION_FINE] = {"ok", PAINT_GOOD},
                    [SECTION_MEND] = {"!!", PAINT_WARNING}};
    const SectionVerdict v = entry->section.verdict;
    printf("  %s%s%s  %-14s  ", paint(verdicts[v].paint), verdicts[v].word, paint(PAINT_OFF),
           entry->name);
    print_finding(&entry->section, width);
}

void doctor_print_text(const DoctorEntry *entries, int count, int works, int colors)
{
    int width = say_columns(STDOUT_FILENO), wrong = 0;
    width = width < MIN_WIDTH ? MIN_WIDTH : width > MAX_WIDTH ? MAX_WIDTH : width;
    colored = colors || isatty(STDOUT_FILENO);
    putchar('\n');
    for (int i = 0; i < count; i++) {
        print_entry(&entries[i], width);
        wrong += entries[i].section.verdict == SECTION_MEND;
    }
    printf("\n  %slumeq %s here%s", paint(works ? PAINT_GOOD : PAINT_ERROR),
           works ? "works" : "does not work", paint(PAINT_OFF));
    if (wrong)
        printf("; %d thing%s could be mended, see !! above", wrong, wrong == 1 ? "" : "s");
    puts(".\n");
}

/* ---- JSON ---- */

static void print_json_entry(const DoctorEntry *entry)
{
    static const char *const verdicts[] = {
        [SECTION_NONE] = "none", [SECTION_FINE] = "ok", [SECTION_MEND] = "mend"};
    const Section *s = &entry->section;
    printf(",\n\"%s\":{\"verdict\":\"%s\",\"state\":\"%s\",\"text\":", entry->key,
           verdicts[s->verdict], s->state);
    section_quote(stdout, s->text);
    fputs(",\"mend\":", stdout);
    if (*s->mend)
        section_quote(stdout, s->mend);
    else
        fputs("null", stdout);
    if (entry->members && *entry->members)
        printf(",%s", entry->members);
    putchar('}');
}

void doctor_print_json(const DoctorEntry *entries, int count, int works)
{
    printf("{\"works\":%s", works ? "true" : "false");
    for (int i = 0; i < count; i++)
        print_json_entry(&entries[i]);
    puts("}");
}
