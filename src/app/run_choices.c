#include "app/run_choices.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/terminal.h"
#include "media/convert.h"
#include "media/process.h"

/* ---- --hwdec ---- */

/* From this number of cores on, software decodes faster than the one NVDEC engine that a video can
 * use, at 1080p and 4K alike. */
static const struct {
    enum AVCodecID codec;
    int cores;
} faster_from[] = {
    {AV_CODEC_ID_H264, 5}, {AV_CODEC_ID_HEVC, 5}, {AV_CODEC_ID_VP9, 5},
    {AV_CODEC_ID_VP8, 4},  {AV_CODEC_ID_AV1, 4},
};

int hwdec_choice(const Options *o, enum AVCodecID codec)
{
    const int cores = o->threads > 0 ? (int)o->threads : process_cores();
    if (o->hwdec != OPTIONS_HWDEC_AUTO)
        return o->hwdec == OPTIONS_HWDEC_NVDEC;
    if (!options_headless(o)) /* NVDEC is fast enough to show frames, and saves cores */
        return 1;
    for (size_t i = 0; i < sizeof(faster_from) / sizeof(faster_from[0]); i++)
        if ((codec == AV_CODEC_ID_NONE || codec == faster_from[i].codec) &&
            cores < faster_from[i].cores)
            return 1;
    return 0;
}

/* ---- --lookahead ---- */

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

int choose_lookahead(const Options *o, const Writer *writer, int64_t *nanoseconds,
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

/* ---- --pix-fmt auto10 ---- */

#define AUTO10 "--pix-fmt auto10: "
#define BITS 10

/* Percentage of lifted frames that is worth 10 bits: most films go dark for a moment. */
#define LIFTED_PERCENT 1

int is_auto10(const Options *options)
{
    return options->pixel_format && strcmp(options->pixel_format, "auto10") == 0;
}

/* Returns the reason why 8-bit frames keep their depth, whatever they show, or NULL. */
static const char *why_8_bits(const LumeqParams *params, const Writer *writer)
{
    if (writer_is_picture(writer))
        return "a single picture keeps its depth";
    if (params->mode != LUMEQ_MODE_GLOBAL || params->reference || !params->lift)
        return "these options lift nothing";
    return NULL;
}

/* True if the frames gain from 10 bits. */
static int gains(FramesSeen seen)
{
    if (!seen.frames) {
        say(SAY_DETAILS, AUTO10 "10 bits, since there is no lookahead to tell what "
                                "will be lifted");
        return 1;
    }
    const int gain = seen.filtered * 100 >= seen.frames * LIFTED_PERCENT && seen.filtered;
    say(SAY_DETAILS, AUTO10 "%d bits, since %lld of %lld frames are lifted or gain much contrast",
        gain ? BITS : 8, (long long)seen.filtered, (long long)seen.frames);
    return gain;
}

int choose_output_depth(const Options *options, const LumeqParams *params, const Writer *writer,
                        const Source *source, FramesSeen seen)
{
    const enum AVPixelFormat from = convert_nearest_direct(source->video->codecpar->format);
    if (!is_auto10(options) || !writer || from == AV_PIX_FMT_NONE)
        return 0;
    const int deep = convert_depth(from) > 8;
    const char *why = deep ? NULL : why_8_bits(params, writer);
    if (why) {
        say(SAY_DETAILS, AUTO10 "8 bits, since %s", why);
        return 0;
    }
    const enum AVPixelFormat deeper = convert_deeper(from, BITS);
    if (writer_depth(writer, deeper) < BITS) {
        say(SAY_NORMAL, AUTO10 "8 bits, since %s supports no more", writer_encoder(writer));
        return 0;
    }
    return !deep && gains(seen) ? BITS : 0;
}
