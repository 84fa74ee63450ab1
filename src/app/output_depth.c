#include "app/output_depth.h"

#include <string.h>

#include "app/terminal.h"
#include "media/convert.h"

#define NAME "auto10"
#define BITS 10

/* Frames of a hundred that have to be lifted: most films go dark for a moment. */
#define LIFTED_PERCENT 1

int output_depth_is_auto(const Options *options)
{
    return options->pixel_format && strcmp(options->pixel_format, NAME) == 0;
}

/* Why frames of 8 bits stay so whatever is in them, or NULL. */
static const char *no_use(const LumeqParams *params, const Writer *writer)
{
    if (writer_is_picture(writer))
        return "a single picture keeps its depth";
    if (params->mode != LUMEQ_MODE_GLOBAL || params->reference || !params->lift)
        return "with these options nothing is lifted";
    return NULL;
}

/* Whether they gain by more. */
static int gains(FramesSeen seen)
{
    if (!seen.frames) {
        say(SAY_DETAILS, "--pix-fmt " NAME ": 10 bits, since without a lookahead nothing is known "
                         "of what will be lifted");
        return 1;
    }
    const int gain = seen.filtered * 100 >= seen.frames * LIFTED_PERCENT && seen.filtered;
    say(SAY_DETAILS,
        "--pix-fmt " NAME ": %d bits, since %lld of %lld frames are lifted or gain much contrast",
        gain ? BITS : 8, (long long)seen.filtered, (long long)seen.frames);
    return gain;
}

int output_depth_choose(const Options *options, const LumeqParams *params, const Writer *writer,
                        const Source *source, FramesSeen seen)
{
    const enum AVPixelFormat from = convert_nearest_direct(source->video->codecpar->format);
    if (!output_depth_is_auto(options) || !writer || from == AV_PIX_FMT_NONE)
        return 0;
    const int deep = convert_depth(from) > 8;
    const char *why = deep ? NULL : no_use(params, writer);
    if (why) {
        say(SAY_DETAILS, "--pix-fmt " NAME ": 8 bits, since %s", why);
        return 0;
    }
    const enum AVPixelFormat deeper = convert_deeper(from, BITS);
    if (writer_depth(writer, deeper) < BITS) {
        say(SAY_NORMAL, "--pix-fmt " NAME ": 8 bits, since %s takes no more of such video",
            writer_encoder(writer));
        return 0;
    }
    return !deep && gains(seen) ? BITS : 0;
}
