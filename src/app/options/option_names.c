#include "app/options/option_names.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "media/error.h"
#include "media/input/url.h"
#include "media/output/container.h"

static void join(OptionNames *names, const char *name)
{
    const size_t used = strlen(names->joined), room = sizeof(names->joined) - used;
    const int all = names->count == 0 || used > 0;
    const int n = snprintf(names->joined + used, room, "%s%s", used ? " " : "", name);
    if (!all || n < 0 || (size_t)n >= room)
        names->joined[0] = '\0';
}

int option_names_take(OptionNames *names, Options *options, const char *name,
                      const Refusal *refusal)
{
    if (!*name)
        return refuse(refusal, "INPUT is empty; a file name is needed");
    if (!names->count)
        options->input = name;
    join(names, name);
    names->last = name;
    names->all[names->count++] = name;
    return 0;
}

static int exists(const char *name)
{
    return strcmp(name, "-") != 0 && access(name, F_OK) == 0;
}

int option_names_type(const char *name, char *text, size_t size)
{
    static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "0123456789._-+,:@%/";
    const char *quote = name[strspn(name, harmless)] ? "'" : "";
    size_t n = (size_t)snprintf(text, size, "%s", quote);
    for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
        const char letter[] = {(char)*c, '\0'};
        if (*c < 0x20 || *c == 0x7f)
            return 0;
        if (n < size)
            n += (size_t)snprintf(text + n, size - n, "%s", *c == '\'' ? "'\\''" : letter);
    }
    if (n < size)
        n += (size_t)snprintf(text + n, size - n, "%s", quote);
    return n < size;
}

int option_names_may_be_new(const char *name)
{
    return !exists(name) && !url_scheme_length(name);
}

int option_names_check(const OptionNames *names, const Options *o, const Refusal *refusal)
{
    char message[1200], first[512], text[512], why[600] = "lumeq takes one INPUT";
    if (names->count < 2)
        return 0;
    if (!options_headless(o) && option_names_may_be_new(names->last) &&
        strcmp(names->last, "-") != 0)
        snprintf(why, sizeof(why), "there is no %s", media_quote(names->last));
    snprintf(first, sizeof(first), "%s", media_quote(o->input));
    snprintf(message, sizeof(message), "two names, %s and %s, but %s", first,
             media_quote(names->last), why);
    if (names->count > 2)
        snprintf(message, sizeof(message), "%d names, %s to %s, but %s", names->count, first,
                 media_quote(names->last), why);
    const int many = options_many(o);
    if (exists(names->joined) && !(many && exists(o->input)) &&
        option_names_type(names->joined, text, sizeof(text)))
        return refuse(refusal, "%s; did you mean %s, in quotes?", message, text);
    /* A window plays a list of files; a last name that does not exist may be meant as the output.
     */
    if (many || (!o->output && !o->null_output && !o->camera && exists(names->last)))
        return 0;
    if (o->output && option_names_type(o->output, text, sizeof(text)))
        return refuse(refusal, "%s at a time; write many into a folder with -o %s/", message, text);
    if (o->output || o->null_output)
        return refuse(refusal, "%s at a time", message);
    if (option_names_may_be_new(names->last) && option_names_type(names->last, text, sizeof(text)))
        return refuse(refusal, "%s; did you mean -o %s%s?", message, text,
                      names->count > 2 ? " for the last" : "");
    return refuse(refusal, "%s at a time; name the OUTPUT with -o", message);
}
