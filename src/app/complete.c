#include "app/complete.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "app/job_run.h"
#include "app/options/option_table.h"
#include "media/output/codec_list.h"

/* Prints a candidate and, if `help` is not NULL, a tab and a description. */
static void complete_print(const char *candidate, const char *help)
{
    size_t n = help ? strcspn(help, ";[") : 0; /* omit details and default */
    while (n && help[n - 1] == ' ')
        n--;
    printf("%s%s%.*s\n", candidate, help ? "\t" : "", (int)n, help ? help : "");
}

/* Prints the values of an option. `choices`: as in Option. */
static void complete_value(const char *choices)
{
    for (const char *word = choices; *word;) {
        /* Skip placeholders, which are in capitals. */
        const size_t n = strcspn(word, "|");
        const size_t plain = strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-");
        if (plain >= n && strcspn(word, "abcdefghijklmnopqrstuvwxyz") < n)
            printf("%.*s\n", (int)n, word);
        word += n + (word[n] == '|');
    }
    if (strstr(choices, "DEV")) {
        glob_t found;
        if (glob("/dev/video*", 0, NULL, &found) == 0)
            for (size_t i = 0; i < found.gl_pathc; i++)
                complete_print(found.gl_pathv[i], NULL);
        globfree(&found);
    } else if (strstr(choices, "FILE") || strstr(choices, "OUTPUT") || strstr(choices, "INPUT")) {
        complete_print(":file", NULL);
    } else if (strstr(choices, "DIR") || strstr(choices, "FOLDER")) {
        complete_print(":folder", NULL);
    }
}

/* Prints the name at the start of a line, if any. */
static void print_name(const char *line)
{
    if (islower((unsigned char)*line) || isdigit((unsigned char)*line))
        printf("%.*s\n", (int)strcspn(line, " "), line);
}

/* Finds the option of a word such as --mode=x. */
static const Option *find(const char *word)
{
    if (strncmp(word, "--", 2) == 0)
        return option_find(word + 2, strcspn(word + 2, "="));
    return word[0] == '-' && word[1] && !word[2] ? option_find_letter(word[1]) : NULL;
}

static void print_options(int count, char **words)
{
    for (int i = 0; i < option_count; i++) {
        const Option *o = &option_table[i];
        char name[64];
        int given = !o->name;
        for (int k = 0; k < count && o->type != OPTION_LIST && !given; k++)
            given = find(words[k]) == o;
        if (given)
            continue;
        snprintf(name, sizeof(name), "--%s", o->name);
        complete_print(name, o->help);
        snprintf(name, sizeof(name), "-%c", o->letter);
        if (o->letter)
            complete_print(name, o->help);
    }
}

void complete(int count, char **words)
{
    const char *word = count ? words[count - 1] : "";
    const char *option = count > 1 ? words[count - 2] : "";
    int equals = 0;
    /* bash splits --mode=x into three words; other shells do not. */
    if (strncmp(word, "--", 2) == 0 && strchr(word, '=')) {
        option = word;
        equals = 1;
    } else if (strcmp(word, "=") == 0) {
        equals = 1;
    } else if (strcmp(option, "=") == 0 && count > 2) {
        option = words[count - 3];
        equals = 1;
    }
    const Option *o = find(option);
    if (o && o->choices && (equals || !option_may_stand_alone(o))) {
        const char *list = strstr(o->choices, "help") && !option_may_stand_alone(o) ? o->name : "";
        for (int i = 0; i < profile_count && strcmp(list, "profile") == 0; i++)
            complete_print(profiles[i].name, NULL);
        if (strcmp(list, "vcodec") == 0)
            codec_list_video(print_name);
        else if (strcmp(list, "acodec") == 0)
            codec_list_sound(print_name);
        else if (strcmp(list, "format") == 0)
            codec_list_containers(print_name);
        complete_value(o->choices);
    } else if (*word == '-') {
        print_options(count - 1, words);
    } else {
        for (int i = 0; count < 2 && job_commands[i]; i++)
            complete_print(job_commands[i], NULL);
        complete_print(":file", NULL);
    }
}
