#include <ctype.h>
#include <string.h>

#include "app/job_run.h"
#include "manual/shells.h"

/* A word to be typed, not a name for one: in lower case. */
static int is_literal(const char *word, size_t n)
{
    int letters = 0;
    for (size_t i = 0; i < n; i++) {
        if (!islower((unsigned char)word[i]) && !isdigit((unsigned char)word[i]) && word[i] != '-')
            return 0;
        letters += islower((unsigned char)word[i]) != 0;
    }
    return letters > 0;
}

static int has(const char *text, const char *what)
{
    return text && strstr(text, what);
}

ShellValue shell_value(const char *choices, char *words, size_t size)
{
    size_t used = 0;
    words[0] = '\0';
    if (!choices)
        return SHELL_NONE;
    for (const char *word = choices; *word;) {
        const size_t n = strcspn(word, "|");
        if (is_literal(word, n) && used < size)
            used += (size_t)snprintf(words + used, size - used, "%s%.*s", used ? " " : "", (int)n,
                                     word);
        word += n + (word[n] == '|');
    }
    if (has(choices, "help"))
        return SHELL_LIST;
    if (has(choices, "DEV"))
        return SHELL_CAMERA;
    if (has(choices, "FILE") || has(choices, "OUTPUT") || has(choices, "INPUT"))
        return SHELL_FILE;
    if (has(choices, "DIR") || has(choices, "FOLDER"))
        return SHELL_FOLDER;
    return used ? SHELL_WORDS : SHELL_OTHER;
}

void shell_commands(FILE *to)
{
    for (int i = 0; job_words[i]; i++)
        fprintf(to, "%s%s", i ? " " : "", job_words[i]);
}

void shell_text(FILE *to, const char *help, const char *special, const char *quote)
{
    for (; *help && *help != ';' && !(help[0] == ' ' && help[1] == '['); help++) {
        if (*help == '\'') {
            fputs(quote, to);
            continue;
        }
        if (strchr(special, *help))
            putc('\\', to);
        putc(*help, to);
    }
}
