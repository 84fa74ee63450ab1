#include "app/lookahead_choice.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/options/option_inputs.h"
#include "app/terminal.h"

int lookahead_check(Options *o, const unsigned char *given, const Refusal *refusal)
{
    const int asked = option_is_given(given, "lookahead") && o->lookahead > 0;
    const int even = option_is_given(given, "deflicker") && o->deflicker > 0;
    o->lookahead_for = even ? "--deflicker" : asked ? "--lookahead" : NULL;
    if (!o->lookahead_for || options_headless(o))
        return 0;
    return refuse(refusal,
                  "%s is for a video that is written: the window shows each frame as soon as it "
                  "can; -o FILE writes it",
                  o->lookahead_for);
}

int lookahead_of_pipe(const Options *o)
{
    struct stat file;
    if (!o->input || option_inputs_is_url(o))
        return 0;
    const int known =
        strcmp(o->input, "-") == 0 ? fstat(STDIN_FILENO, &file) : stat(o->input, &file);
    return known == 0 && (S_ISFIFO(file.st_mode) || S_ISSOCK(file.st_mode));
}

/* Why the input cannot be read by two decoders, or NULL. */
static const char *once_only(const Options *o)
{
    struct stat file;
    if (o->camera)
        return "a camera gives each picture once";
    if (option_inputs_is_url(o))
        return "network streams are read once";
    if (strcmp(o->input, "-") == 0 && !lookahead_of_pipe(o))
        return "standard input is a file, which can be read ahead by its name";
    if (!lookahead_of_pipe(o) && stat(o->input, &file) == 0 && !S_ISREG(file.st_mode) &&
        !S_ISDIR(file.st_mode))
        return "the input is neither a regular file nor a pipe";
    return NULL;
}

/* Why there is nothing to look ahead for, or NULL. */
static const char *no_use(const Options *o, const Writer *writer)
{
    if (!writer)
        return "no video is written";
    if (o->reference)
        return "--reference takes each frame on its own";
    if (o->mode == LUMEQ_MODE_OFF && o->deflicker <= 0)
        return "--mode off has no curve that follows the picture";
    return NULL;
}

/* Why there can be none, or NULL. */
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
        say(SAY_WARNINGS, "deflicker, of the settings file, needs a lookahead: %s", why);
    if (!why && o->lookahead <= 0 && o->deflicker <= 0)
        why = o->lookahead == 0 ? "--lookahead off" : no_use(o, writer);
    if (!why)
        *nanoseconds = lookahead_of_parts(o);
    if (why)
        say(SAY_DETAILS, "no lookahead: %s", why);
    else
        say(SAY_DETAILS, "lookahead: curves know up to %.3g s of what follows",
            (double)*nanoseconds / 1e9);
    return 0;
}
