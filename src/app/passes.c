#include "app/passes.h"

#include <string.h>
#include <sys/stat.h>

#include "app/options/option_inputs.h"
#include "app/terminal.h"

int passes_check(Options *o, const unsigned char *given, const Refusal *refusal)
{
    const int on = option_is_given(given, "two-pass") && o->two_pass == OPTIONS_TWO_PASS_ON;
    const int even = option_is_given(given, "deflicker") && o->deflicker > 0;
    o->passes_asked_by = even ? "--deflicker" : on ? "--two-pass on" : NULL;
    if (!o->passes_asked_by || options_headless(o))
        return 0;
    return refuse(refusal,
                  "%s is for a video that is read twice to be written: the window shows "
                  "it once; -o FILE writes it",
                  o->passes_asked_by);
}

/* Why the input cannot be read twice, or NULL. */
static const char *once_only(const Options *o)
{
    struct stat file;
    if (o->camera)
        return "a camera gives each picture once";
    if (strcmp(o->input, "-") == 0)
        return "standard input is read once";
    if (option_inputs_is_url(o))
        return "what comes from the network is read once";
    if (stat(o->input, &file) == 0 && !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode))
        return "the input is no regular file";
    return NULL;
}

/* Why nothing is written that is worth a second pass, or NULL. */
static const char *not_kept(const Writer *writer)
{
    if (writer && writer_is_direct(writer))
        return "the output is no regular file";
    if (writer && writer_is_picture(writer))
        return "the output is a single picture";
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

int passes_choose(const Options *o, const Writer *writer, MediaError *error)
{
    const int wanted = o->two_pass == OPTIONS_TWO_PASS_ON || o->deflicker > 0;
    const char *why = once_only(o);
    if (!why)
        why = not_kept(writer);
    if (why && o->passes_asked_by)
        return media_fail(error, MEDIA_USAGE,
                          "%s needs an input and an output that are regular files: %s",
                          o->passes_asked_by, why);
    if (why && o->deflicker > 0)
        say(SAY_WARNINGS, "deflicker, of the settings file, needs two passes: %s", why);
    if (!why && !wanted)
        why = o->two_pass == OPTIONS_TWO_PASS_OFF ? "--two-pass off" : no_use(o, writer);
    if (why)
        say(SAY_DETAILS, "one pass: %s", why);
    else
        say(SAY_DETAILS, "two passes: the input is measured first, so that curves know what comes");
    return why ? 1 : 2;
}
