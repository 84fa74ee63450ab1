#include "app/doctor/doctor_section.h"

#include <stdarg.h>
#include <string.h>

/* Nothing that a driver is called gets at the terminal. */
static void clean(char *text)
{
    for (; *text; text++)
        if (((unsigned char)*text < 0x20 && *text != '\n') || *text == 0x7f)
            *text = ' ';
}

void section_set(Section *s, SectionVerdict verdict, const char *state, const char *text, ...)
{
    va_list args;
    va_start(args, text);
    vsnprintf(s->text, sizeof(s->text), text, args);
    va_end(args);
    clean(s->text);
    s->verdict = verdict;
    snprintf(s->state, sizeof(s->state), "%s", state);
}

void section_mend(Section *s, const char *text, ...)
{
    va_list args;
    va_start(args, text);
    vsnprintf(s->mend, sizeof(s->mend), text, args);
    va_end(args);
    clean(s->mend);
}

void section_line(Section *s, const char *text, ...)
{
    size_t n = strlen(s->text);
    va_list args;
    if (n + 2 >= sizeof(s->text))
        return;
    s->text[n++] = '\n';
    va_start(args, text);
    vsnprintf(s->text + n, sizeof(s->text) - n, text, args);
    va_end(args);
    clean(s->text + n);
}

void section_set_sentence(Section *s, SectionVerdict verdict, const char *state,
                          const char *sentence)
{
    const char *mend = strstr(sentence, "; ");
    if (!mend)
        mend = strstr(sentence, ": add yourself");
    const int n = mend ? (int)(mend - sentence) : (int)strlen(sentence);
    section_set(s, verdict, state, "%.*s", n, sentence);
    if (mend)
        section_mend(s, "%s", mend + 2);
}

/* ---- JSON ---- */

/* The length of the character of UTF-8 at `at`, 0: it is none. */
static int character(const unsigned char *at)
{
    const int n = *at < 0x80   ? 1
                  : *at < 0xc2 ? 0
                  : *at < 0xe0 ? 2
                  : *at < 0xf0 ? 3
                  : *at < 0xf5 ? 4
                               : 0;
    for (int i = 1; i < n; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
        (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
        return 0;
    return n;
}

void section_quote(FILE *to, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    fputc('"', to);
    while (*at) {
        const int n = character(at);
        if (!n)
            fputs("\\ufffd", to);
        else if (*at < 0x20 || *at == 0x7f)
            fprintf(to, "\\u%04x", *at);
        else
            fprintf(to, "%s%.*s", *at == '"' || *at == '\\' ? "\\" : "", n, (const char *)at);
        at += n ? n : 1;
    }
    fputc('"', to);
}

static void add_key(Section *s, const char *key)
{
    if (!s->first)
        fputc(',', s->members);
    s->first = 0;
    if (key)
        fprintf(s->members, "\"%s\":", key);
}

void section_text(Section *s, const char *key, const char *text)
{
    add_key(s, key);
    if (text && *text)
        section_quote(s->members, text);
    else
        fputs("null", s->members);
}

void section_number(Section *s, const char *key, double number)
{
    add_key(s, key);
    fprintf(s->members, "%.15g", number);
}

void section_flag(Section *s, const char *key, int flag)
{
    add_key(s, key);
    fputs(flag ? "true" : "false", s->members);
}

void section_begin(Section *s, const char *key, char bracket)
{
    add_key(s, key);
    fputc(bracket, s->members);
    s->first = 1;
}

void section_end(Section *s, char bracket)
{
    fputc(bracket, s->members);
    s->first = 0;
}
