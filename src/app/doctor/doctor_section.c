#include "app/doctor/doctor_section.h"

#include <stdarg.h>
#include <string.h>

#include "media/printable.h"

/* Escapes names of devices and drivers. */
static void write(char *to, size_t size, const char *format, va_list args)
{
    char raw[sizeof(((Section *)0)->text)];
    vsnprintf(raw, sizeof(raw), format, args);
    printable(to, size, raw);
}

void section_set(Section *s, SectionVerdict verdict, const char *state, const char *text, ...)
{
    va_list args;
    va_start(args, text);
    write(s->text, sizeof(s->text), text, args);
    va_end(args);
    s->verdict = verdict;
    snprintf(s->state, sizeof(s->state), "%s", state);
}

void section_mend(Section *s, const char *text, ...)
{
    va_list args;
    va_start(args, text);
    write(s->mend, sizeof(s->mend), text, args);
    va_end(args);
}

void section_line(Section *s, const char *text, ...)
{
    size_t n = strlen(s->text);
    va_list args;
    if (n + 2 >= sizeof(s->text))
        return;
    s->text[n++] = '\n';
    va_start(args, text);
    write(s->text + n, sizeof(s->text) - n, text, args);
    va_end(args);
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

void section_quote(FILE *to, const char *text)
{
    uint32_t c;
    fputc('"', to);
    for (int n; *text; text += n ? n : 1) {
        n = utf8_read(text, &c);
        if (!n)
            fputs("\\ufffd", to);
        else if (is_control_character(c))
            fprintf(to, "\\u%04x", c);
        else
            fprintf(to, "%s%.*s", c == '"' || c == '\\' ? "\\" : "", n, text);
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
