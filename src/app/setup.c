#include "app/setup.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/terminal.h"
#include "media/convert.h"
#include "media/input/code_survey.h"
#include "media/output/container.h"
#include "media/picture_pattern.h"
#include "run/equalizer_frame.h"

#define MAX_RATE_TERM 1001000 /* largest term of a frame rate such as 30000/1001 */

/* Seconds before the first attempt to reconnect. Later pauses double. */
#define RECONNECT_PAUSE_S 1

/* ---- the parameters ---- */

static LumeqTransfer transfer_of(const Source *source)
{
    switch (source->video->codecpar->color_trc) {
    case AVCOL_TRC_SMPTE2084: return LUMEQ_TRANSFER_PQ;
    case AVCOL_TRC_ARIB_STD_B67: return LUMEQ_TRANSFER_HLG;
    default: return LUMEQ_TRANSFER_SDR;
    }
}

static int check_meter(const Options *o, const Source *source, MediaError *error)
{
    const LumeqRect *m = &o->meter;
    const AVCodecParameters *video = source->video->codecpar;
    const int right = video->width - m->x, below = video->height - m->y;
    if (m->width < 1 || (m->width <= right && m->height <= below))
        return 0;
    if (right <= 0 || below <= 0)
        return media_fail(error, MEDIA_USAGE,
                          "--meter %d,%d,%d,%d is outside the picture: %s has %dx%d pixels", m->x,
                          m->y, m->width, m->height, source->name, video->width, video->height);
    say(SAY_WARNINGS,
        "--meter %d,%d,%d,%d reaches beyond the picture: %s has %dx%d pixels; using %d,%d,%d,%d",
        m->x, m->y, m->width, m->height, source->name, video->width, video->height, m->x, m->y,
        m->width < right ? m->width : right, m->height < below ? m->height : below);
    return 0;
}

int setup_params(LumeqParams *params, OptionsInput *input, const Options *o, const Source *source,
                 const Writer *writer, MediaError *error)
{
    const enum AVPixelFormat format = source->video->codecpar->format;
    input->transfer = transfer_of(source);
    input->still = source_is_still(source) && !source->live;
    input->fine = o->virtual_camera || !options_headless(o) ||
                  (writer && writer_is_precise(writer, convert_nearest_direct(format)));
    *params = options_params(o, *input);
    if (source->video->codecpar->color_space == AVCOL_SPC_BT2020_CL &&
        params->mode != LUMEQ_MODE_OFF) {
        say(SAY_WARNINGS, "BT.2020 constant luminance is not equalized: its colours would change");
        params->mode = LUMEQ_MODE_OFF;
        params->brightness = params->gamma = params->deflicker = 0;
    }
    if (input->transfer != LUMEQ_TRANSFER_SDR && !o->reference)
        say(SAY_DETAILS, "this is HDR video (%s): light above 203 nits is left unchanged",
            input->transfer == LUMEQ_TRANSFER_PQ ? "PQ" : "HLG");
    const int depth = convert_depth(format);
    if (o->reference && depth > 8)
        return media_fail(error, MEDIA_USAGE,
                          "--reference is for 8 bits per sample: %s has %d; without --reference "
                          "lumeq equalizes deeper video at its own depth",
                          source->name, depth);
    return check_meter(o, source, error);
}

/* ---- the codes of gray video with more than 8 bits ---- */

/* Indexed by Options.range. */
static const enum AVColorRange levels[] = {AVCOL_RANGE_UNSPECIFIED, AVCOL_RANGE_MPEG,
                                           AVCOL_RANGE_JPEG};

CodeRange setup_codes(const Options *o, const Source *source)
{
    const LumeqParams params = options_params(o, (OptionsInput){0});
    const int is_hdr = source && transfer_of(source) != LUMEQ_TRANSFER_SDR;
    /* --strength 0, --limit and HDR refer to the source's tones, so these must not be stretched. */
    const int refers_to_source = o->strength == 0 || o->limit != LUMEQ_LIMIT_NONE || is_hdr;
    const int keeps_codes = o->code_range == OPTIONS_CODE_RANGE_FULL || o->mode == LUMEQ_MODE_OFF ||
                            !equalizer_writes(&params) ||
                            (o->code_range == OPTIONS_CODE_RANGE_AUTO && refers_to_source);
    const bool must_find = o->code_range == OPTIONS_CODE_RANGE_USED;
    CodeRange codes = {.mode = must_find ? CODE_RANGE_USED : CODE_RANGE_AUTO,
                       .levels = levels[o->range]};
    if (keeps_codes)
        codes.mode = CODE_RANGE_FULL;
    return codes;
}

int setup_survey_codes(CodeRange *codes, const Options *o, const Source *source,
                       const atomic_int *stop, MediaError *error)
{
    Source *again = NULL;
    const int is_file = o->input && strcmp(o->input, "-") != 0; /* NULL: a camera */
    if (!is_file || !code_survey_suits(codes, source))
        return 0;
    const int ret = setup_source_again(&again, o, NULL, NULL, stop, error);
    return ret < 0 ? ret : code_survey(codes, again, o->from_us, o->to_us, error);
}

/* ---- the source and the encoder ---- */

/* True for a camera, a URL, a pipe or a device. */
static bool is_live(const char *path, int network)
{
    struct stat file;
    if (!path || network)
        return 1;
    return options_stat(path, STDIN_FILENO, &file) == 0 && !S_ISREG(file.st_mode) &&
           !S_ISDIR(file.st_mode);
}

/* Returns the end of the film to write, in microseconds: INT64_MAX for the end of the input, 0 if
 * no film is written or --frames ends it. */
static int64_t film_end(const Options *o)
{
    const AVOutputFormat *muxer = NULL;
    MediaError none = {0};
    if (!options_headless(o) || !o->output || o->frames >= 0)
        return 0;
    const char *format = !o->format && strcmp(o->output, "-") == 0 ? "yuv4mpegpipe" : o->format;
    if (container_find(&muxer, format, o->output, &none) < 0 || container_is_picture(muxer))
        return 0;
    return o->to_us >= 0 ? o->to_us : INT64_MAX;
}

/* `path`: NULL for the camera. */
static SourceOptions source_options(const Options *options, const char *path,
                                    const atomic_int *stop)
{
    const int network = options_opens_url(options, path);
    return (SourceOptions){
        .path = path ? path : options_input(options),
        .network = network,
        .silence_s = options->network_timeout,
        .low_latency = options->low_latency && is_live(path, network),
        .max_pixels = options->max_pixels,
        .stop = stop,
        .open_timeout_s = options->open_timeout,
        .video_track = (int)options->video_track + 1,
        .picture_rate = !network && options_is_pictures(options, path) ? options->sequence_rate : 0,
        .allow_playlists = options->allow_playlists,
        .force_dolby_vision = options->force_dovi,
        .find_largest_us = film_end(options),
        .note = say_line,
    };
}

int setup_source(Source **source, const Options *o, const char *path, struct SharedPipe *pipe,
                 const atomic_int *stop, MediaError *error)
{
    SourceOptions wanted = source_options(o, path, stop);
    CameraOptions camera;
    if (!path) {
        camera = (CameraOptions){
            .device = o->camera[0] ? o->camera : NULL,
            .format = o->input_format,
            .width = o->video_size.width,
            .height = o->video_size.height,
            .rate = o->framerate > 0 ? av_d2q(o->framerate, MAX_RATE_TERM) : (AVRational){0, 0},
            .wait = !o->no_reconnect && o->reconnect,
            .ends_changed =
                options_headless(o) && !o->virtual_camera && !options_is_piped(o->output),
            .awaits = o->piece,
            .newest = o->virtual_camera && o->null_output,
            .note = say_line,
        };
        wanted.camera = &camera;
    }
    wanted.pipe = pipe;
    const char *pause = getenv("LUMEQ_RECONNECT_PAUSE"); /* tests shorten it */
    const double seconds = pause ? strtod(pause, NULL) : 0;
    if (!o->no_reconnect && o->reconnect)
        wanted.reconnect_s = seconds > 0 ? seconds : RECONNECT_PAUSE_S;
    wanted.reconnect_live = o->reconnect < 0;
    const int ret = source_open(source, &wanted, error);
    if (ret >= 0 && (*source)->camera) {
        char text[512];
        camera_setting_text((*source)->camera, text, sizeof(text));
        say(SAY_NORMAL, "camera %s", text);
    }
    if (ret < 0 && path && picture_pattern_is(path) && access(path, F_OK) < 0 && !o->sequence)
        media_add(error, "; --sequence reads numbered pictures");
    return ret;
}

int setup_source_again(Source **source, const Options *o, struct SharedPipe *pipe,
                       const Source *like, const atomic_int *stop, MediaError *error)
{
    SourceOptions wanted = source_options(o, o->input, stop);
    wanted.pipe = pipe;
    wanted.pipe_side = 1;
    wanted.note = NULL;
    const int ret = source_open(source, &wanted, error);
    const AVFormatContext *from = like ? like->format : NULL;
    for (unsigned i = 0; ret >= 0 && from && i < from->nb_streams; i++)
        if (i < (*source)->format->nb_streams)
            (*source)->format->streams[i]->discard = from->streams[i]->discard;
    return ret;
}

int setup_start_opening(SourceOpening **opening, const Options *options, const char *path,
                        const atomic_int *stop, MediaError *error)
{
    const SourceOptions wanted = source_options(options, path, stop);
    return source_opening_start(opening, &wanted, error);
}

/* True if the output is watched live, so that it must not be delayed. */
static bool is_watched_live(const Options *o)
{
    const int live = o->camera || is_live(o->input, options_is_url(o));
    if (!options_headless(o))
        return 0;
    return options_is_piped(o->output) ? o->low_latency || o->camera : o->low_latency && live;
}

bool setup_is_paced(const Options *o, const Source *source)
{
    const int has_pace = source->live && source_duration(source) <= 0;
    return o->low_latency && options_headless(o) && options_is_piped(o->output) && !has_pace;
}

EncoderOptions setup_encoder(const Options *options)
{
    const int keeps_format = options->pixel_format && strcmp(options->pixel_format, "source") == 0;
    return (EncoderOptions){.codec = options->vcodec,
                            .crf = options->crf,
                            .preset = options->preset,
                            .bitrate = options->bitrate,
                            .pixel_format =
                                is_auto10(options) || keeps_format ? NULL : options->pixel_format,
                            .keep_format = keeps_format,
                            .options = options->encoder_options,
                            .threads = (int)options->threads,
                            .deinterlaced = options->deinterlace == OPTIONS_ON,
                            .cuts = options->segment_time > 0,
                            .live = options->camera != NULL || is_watched_live(options),
                            .low_latency = is_watched_live(options)};
}

SegmentOptions setup_segments(const Options *o)
{
    return (SegmentOptions){
        .path = o->output,
        .seconds = o->segment_time,
        .keep = o->keep,
        .note = say_line,
        .live = o->camera || is_live(o->input, options_is_url(o)),
        .overwrite = o->overwrite,
    };
}

WriterOptions setup_writer(const Options *o, const atomic_int *stop)
{
    return (WriterOptions){
        .path = o->output,
        .format = o->format,
        .overwrite = o->overwrite,
        .sequence = o->sequence && picture_pattern_is(o->output),
        .stop = stop,
        .segments = setup_segments(o),
        .low_latency = is_watched_live(o),
        .video = setup_encoder(o),
        .tracks = {.acodec = o->acodec,
                   .audio_track = (int)o->audio_track + 1,
                   .sub_track = (int)o->sub_track + 1,
                   .no_subs = o->no_subs,
                   .no_chapters = o->no_chapters,
                   .no_metadata = o->no_metadata,
                   .part_given = 1,
                   .from_us = o->from_us,
                   .to_us = o->to_us,
                   .frames = o->frames,
                   .note = say_line},
    };
}

const AVCodec *setup_find_encoder(const Options *o)
{
    const WriterOptions wanted = setup_writer(o, NULL);
    const AVOutputFormat *muxer = NULL;
    const AVCodec *codec = NULL;
    MediaError none = {0};
    return container_find(&muxer, wanted.format, wanted.path, &none) >= 0 &&
                   encoder_find(&codec, &wanted.video, muxer, wanted.path, &none) >= 0
               ? codec
               : NULL;
}

int setup_check_parts(const Options *o, MediaError *error)
{
    const AVCodec *codec = setup_find_encoder(o);
    const EncoderOptions options = setup_encoder(o);
    return codec ? encoder_check_parts(codec, &options, error) : 0;
}

int setup_create_writer(Writer **writer, const WriterOptions *wanted, const Options *o,
                        MediaError *error)
{
    struct stat input;
    const bool is_known = o->input && options_stat(o->input, STDIN_FILENO, &input) == 0;
    return writer_create(writer, wanted, is_known ? &input : NULL, error);
}

InputOptions setup_video(const Options *o, const Writer *writer)
{
    const int picture = writer && writer_is_picture(writer);
    /* Files keep their fields, but a virtual camera should show whole frames. */
    const bool shows_frames = o->deinterlace == OPTIONS_AUTO && o->virtual_camera && !o->output;
    const DeinterlaceMode otherwise = shows_frames ? DEINTERLACE_AUTO : DEINTERLACE_OFF;
    return (InputOptions){
        .from_us = o->from_us,
        .to_us = o->to_us,
        .frames = picture && o->frames < 0 ? 2 : o->frames, /* so that a second frame is an error */
        .range = levels[o->range],
        .deinterlace = o->deinterlace == OPTIONS_ON ? DEINTERLACE_ON : otherwise,
        .decoder = {.full_rgb = writer && writer_is_full_range(writer), .bars = 1, .marks_bars = 1},
        .copy = writer != NULL,
    };
}

/* ---- --pix-fmt auto10 ---- */

#define AUTO10 "--pix-fmt auto10: "
#define BITS 10

/* 10 bits need this percentage of lifted frames, because most films go dark for a moment. */
#define LIFTED_PERCENT 1

bool is_auto10(const Options *options)
{
    return options->pixel_format && strcmp(options->pixel_format, "auto10") == 0;
}

/* True if enough frames are lifted for 10 bits, or no lookahead has counted frames. */
static int gains(FramesSeen seen)
{
    if (!seen.frames) {
        say(SAY_DETAILS, AUTO10 "10 bits, since there is no lookahead to show what "
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
    const char *why = NULL;
    if (!deep && writer_is_picture(writer))
        why = "a single picture keeps its depth";
    else if (!deep && params->mode != LUMEQ_MODE_HAZE &&
             (params->mode != LUMEQ_MODE_GLOBAL || params->reference || !params->lift))
        why = "these options lift nothing";
    if (why) {
        say(SAY_DETAILS, AUTO10 "8 bits, since %s", why);
        return 0;
    }
    if (writer_depth(writer, convert_deeper(from, BITS)) < BITS) {
        say(SAY_NORMAL, AUTO10 "8 bits, since %s supports no more", writer_encoder(writer));
        return 0;
    }
    return !deep && gains(seen) ? BITS : 0;
}
