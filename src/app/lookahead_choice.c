#include "app/lookahead_choice.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/terminal.h"

int lookahead_of_pipe(const Options *o)
{
    struct stat file;
    if (!o->input || options_is_url(o))
        return 0;
    const int known =
        strcmp(o->input, "-") == 0 ? fstat(STDIN_FILENO, &file) : stat(o->input, &file);
    return known == 0 && (S_ISFIFO(file.st_mode) || S_ISSOCK(file.st_mode));
}

/* Returns the reason why two decoders cannot read the input, or NULL. */
static const char *once_only(const Options *o)
{
    struct stat file;
    if (o->camera)
        return "a camera delivers each picture once";
    if (options_is_url(o))
        return "network streams are read once";
    if (strcmp(o->input, "-") == 0 && !lookahead_of_pipe(o))
        return "standard input is a file; give its name to read ahead";
    if (!lookahead_of_pipe(o) && stat(o->input, &file) == 0 && !S_ISREG(file.st_mode) &&
        !S_ISDIR(file.st_mode))
        return "the input is neither a regular file nor a pipe";
    return NULL;
}

/* Returns the reason why a lookahead would be useless, or NULL. */
static const char *no_use(const Options *o, const Writer *writer)
{
    if (!writer)
        return "no video is written";
    if (o->reference)
        return "--reference treats each frame on its own";
    if (o->mode == LUMEQ_MODE_OFF && o->deflicker <= 0)
        return "--mode off has no curve that follows the picture";
    return NULL;
}

/* Returns the reason why a lookahead is impossible, or NULL. */
static const char *cannot(const Options *o, const Writer *writer)
{
    if (writer && writer_is_picture(writer))
        return "the output is a single picture";
    return o->low_latency ? "--low-latency holds nothing back" : once_only(o);
}

int64_t lookahead_of_parts(const Options *o)
{
    return o->lookahead > 0 ? llrint(o->lookahead * 1e9) : LUMEQ_MAX_LOOKAHEAD;
}

int lookahead_choose(const Options *o, const Writer *writer, int64_t *nanoseconds,
                     MediaError *error)
{
    const char *why = cannot(o, writer);
    *nanoseconds = 0;
    if (why && o->lookahead_for)
        return media_fail(error, MEDIA_USAGE, "%s needs an input that can be read ahead: %s",
                          o->lookahead_for, why);
    if (why && o->deflicker > 0)
        say(SAY_WARNINGS, "deflicker in the settings file needs a lookahead: %s", why);
    if (!why && o->lookahead <= 0 && o->deflicker <= 0)
        why = o->lookahead == 0 ? "--lookahead off" : no_use(o, writer);
    if (!why)
        *nanoseconds = lookahead_of_parts(o);
    if (why)
        say(SAY_DETAILS, "no lookahead: %s", why);
    else
        say(SAY_DETAILS, "lookahead: curves see up to %.3g s ahead", (double)*nanoseconds / 1e9);
    return 0;
}
