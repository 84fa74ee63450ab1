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

static int is_there(const char *name)
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
    return !is_there(name) && !url_scheme_length(name);
}

/* A window plays several, one after the other. A last one that is not there may be meant for what
 * is to be written. */
static int is_list(const OptionNames *names, const Options *o)
{
    return !o->output && !o->null_output && !o->camera && is_there(names->last);
}

int option_names_check(const OptionNames *names, const Options *o, const Refusal *refusal)
{
    char said[1200], first[512], text[512], why[600] = "one INPUT is taken";
    if (names->count < 2)
        return 0;
    if (!options_headless(o) && option_names_may_be_new(names->last) &&
        strcmp(names->last, "-") != 0)
        snprintf(why, sizeof(why), "there is no %s", media_quote(names->last));
    snprintf(first, sizeof(first), "%s", media_quote(o->input));
    snprintf(said, sizeof(said), "two names, %s and %s, but %s", first, media_quote(names->last),
             why);
    if (names->count > 2)
        snprintf(said, sizeof(said), "%d names, %s to %s, but %s", names->count, first,
                 media_quote(names->last), why);
    const int many = options_many(o);
    if (is_there(names->joined) && !(many && is_there(o->input)) &&
        option_names_type(names->joined, text, sizeof(text)))
        return refuse(refusal, "%s; did you mean %s, in quotes?", said, text);
    if (many || is_list(names, o))
        return 0;
    if (o->output && option_names_type(o->output, text, sizeof(text)))
        return refuse(refusal, "%s at a time; those of many go into a folder, as in -o %s/", said,
                      text);
    if (o->output || o->null_output)
        return refuse(refusal, "%s at a time", said);
    if (option_names_may_be_new(names->last) && option_names_type(names->last, text, sizeof(text)))
        return refuse(refusal, "%s; did you mean -o %s%s?", said, text,
                      names->count > 2 ? " for the last" : "");
    return refuse(refusal, "%s at a time; an OUTPUT is named by -o", said);
}
