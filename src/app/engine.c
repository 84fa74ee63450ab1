#include "app/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/terminal.h"
#include "media/convert.h"
#include "media/gpu_frame.h"
#include "media/input/code_survey.h"
#include "media/log.h"
#include "media/output/container.h"
#include "media/picture_pattern.h"
#include "media/process.h"
#include "run/equalizer_frame.h"

/* Largest term of a frame rate such as 30000/1001. */
#define MAX_RATE_TERM 1001000

/* The first pause; later ones double. */
#define RECONNECT_PAUSE_S 1

unsigned engine_cpu_without(void)
{
    const char *mask = getenv("LUMEQ_CPU_MASK");
    return mask && *mask ? ~(unsigned)strtoul(mask, NULL, 0) : 0;
}

static void *alloc_host(void *context, size_t size)
{
    return lumeq_alloc_host(context, size);
}

static void free_host(void *context, void *memory)
{
    lumeq_free_host(context, memory);
}

static void log_warning(void *user, LumeqLogLevel level, const char *text)
{
    Engine *engine = user;
    if (level != LUMEQ_LOG_WARNING)
        return;
    gpu_device_mark_lost(engine->gpu);
    say(SAY_WARNINGS, "%s", text);
}

LumeqConfig engine_config(Engine *engine, const Options *options)
{
    return (LumeqConfig){
        .size = sizeof(LumeqConfig),
        .backend = (LumeqBackendId)options->backend,
        .device = (int)options->device,
        .threads = (int)options->threads,
        .cpu_without = engine_cpu_without(),
        .log = log_warning,
        .log_user = engine,
        .share_streams = engine->share_streams,
        .real_time = engine->real_time,
    };
}

static int open_context(Engine *engine, const Options *options, MediaError *error)
{
    const LumeqConfig config = engine_config(engine, options);
    const int ret =
        lumeq_context_create(&engine->context, &config, engine->where, sizeof(engine->where));
    if (ret < 0)
        return media_fail(error, ret == LUMEQ_ERR_MEMORY ? MEDIA_INPUT : MEDIA_USAGE, "%s%s",
                          config.backend == LUMEQ_BACKEND_CUDA ? ENGINE_NO_GPU : "", engine->where);
    engine->backend = lumeq_context_backend_name(engine->context);
    engine->device = config.device;
    say(SAY_DETAILS, "equalizing on %s", engine->where);
    return 0;
}

/* Decoded frames that a run holds at once: queued, in flight, and their predecessors. */
#define GPU_FRAMES 14

/* Lets FFmpeg use the context's GPU. */
static int open_gpu(Engine *engine, char *why, size_t size)
{
    void *context, *stream;
    int ret = lumeq_get_cuda(engine->context, &context, &stream);
    if (ret < 0) {
        snprintf(why, size, "%s", lumeq_last_error(NULL));
        return ret;
    }
    media_log_clear();
    ret = gpu_device_open(&engine->gpu, context, stream);
    if (ret < 0)
        snprintf(why, size, "FFmpeg cannot use the GPU: %s",
                 *media_log_error() ? media_log_error() : media_av_text(ret));
    return ret;
}

static int is_gpu(const Engine *engine)
{
    return strcmp(engine->backend, "cuda") == 0;
}

static int prepare_decoding(Engine *engine, const Options *o, MediaError *error)
{
    const int asked = o->hwdec == OPTIONS_HWDEC_NVDEC;
    char why[256];
    if (asked && !is_gpu(engine))
        return media_fail(
            error, MEDIA_USAGE,
            "--hwdec nvdec decodes on the GPU that equalizes, but equalizing is done by %s",
            engine->where);
    if (!is_gpu(engine) || !hwdec_choice(o, AV_CODEC_ID_NONE))
        return 0;
    engine->decodes = open_gpu(engine, why, sizeof(why)) >= 0;
    if (!engine->decodes && asked)
        return media_fail(error, MEDIA_USAGE, "--hwdec nvdec: %s", why);
    if (!engine->decodes)
        say(SAY_DETAILS, "decoding in software: %s", why);
    return 0;
}

void engine_encode_on_gpu(Engine *engine)
{
    char why[256] = "";
    if (!is_gpu(engine))
        return;
    engine->encodes = engine->gpu || open_gpu(engine, why, sizeof(why)) >= 0;
    if (engine->encodes)
        frame_memory_encode_on(engine->memory, engine->gpu);
    else
        say(SAY_DETAILS, "frames go to the encoder through the host: %s", why);
}

int engine_open(Engine *engine, const Options *options, int all_planes, MediaError *error)
{
    /* Parameters for an unknown input, for now. */
    const LumeqParams params = options_params(options, (OptionsInput){.still = 1});
    int ret = open_context(engine, options, error);
    if (ret >= 0)
        ret = prepare_decoding(engine, options, error);
    if (ret < 0)
        return ret;
    /* A GPU copies from pinned memory; the CPU reads any. */
    const FrameAllocator allocator = {alloc_host, free_host, engine->context,
                                      all_planes || engine->decodes ||
                                          equalizer_writes_chroma(&params)};
    const int gpu = strcmp(engine->backend, "cpu") != 0;
    engine->memory = frame_memory_create(gpu ? &allocator : NULL);
    return engine->memory ? 0 : media_fail(error, MEDIA_INPUT, "out of memory");
}

#define MIB(bytes) ((unsigned long long)((bytes) >> 20))

static int reserve_on_gpu(void *opaque, int64_t bytes)
{
    Engine *engine = opaque;
    LumeqMemoryUse use = {.size = sizeof(use)};
    if (bytes < 0)
        lumeq_release_device(engine->device, (uint64_t)-bytes);
    if (bytes < 0 || lumeq_reserve_device(engine->device, (uint64_t)bytes) == 0)
        return 0;
    (void)lumeq_memory_use(engine->device, &use);
    if (!atomic_exchange(&engine->no_room, 1))
        say(SAY_WARNINGS,
            "GPU %d: no room for %llu MiB of a decoder's surfaces: %llu of the %llu MiB that lumeq "
            "may use are in use; frames go through the host, or are decoded in software",
            engine->device, MIB(bytes), MIB(use.device), MIB(use.device_limit));
    return -1;
}

GpuBudget engine_budget(Engine *engine)
{
    return (GpuBudget){reserve_on_gpu, engine};
}

void engine_say_memory(const Engine *engine)
{
    LumeqMemoryUse use = {.size = sizeof(use)};
    if (is_gpu(engine) && lumeq_memory_use(engine->device, &use) == 0)
        say(SAY_DETAILS, "peak memory: %llu of %llu MiB of GPU %d, %llu of %llu MiB pinned",
            MIB(use.device_most), MIB(use.device_limit), engine->device, MIB(use.pinned_most),
            MIB(use.pinned_limit));
}

void engine_decoder(Engine *engine, const Options *o, const Source *source, DecoderOptions *decoder)
{
    const int on_gpu = engine->decodes && hwdec_choice(o, source->video->codecpar->codec_id);
    decoder->memory = engine->memory;
    decoder->threads = (int)o->threads;
    decoder->gpu = on_gpu ? engine->gpu : NULL;
    decoder->gpu_frames = GPU_FRAMES;
    decoder->budget = engine_budget(engine);
    decoder->codes = engine_codes(o, source);
}

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

OptionsInput engine_input(const Options *o, const Source *source, const Writer *writer)
{
    const enum AVPixelFormat from = convert_nearest_direct(source->video->codecpar->format);
    return (OptionsInput){.transfer = transfer_of(source),
                          .still = source_is_still(source) && !source->live,
                          .fine = o->virtual_camera || !options_headless(o) ||
                                  (writer && writer_is_precise(writer, from))};
}

int engine_params(LumeqParams *params, const Options *o, OptionsInput input, const Source *source,
                  MediaError *error)
{
    *params = options_params(o, input);
    if (source->video->codecpar->color_space == AVCOL_SPC_BT2020_CL &&
        params->mode != LUMEQ_MODE_OFF) {
        say(SAY_WARNINGS, "video of constant luminance is not equalized: its colours would change");
        params->mode = LUMEQ_MODE_OFF;
        params->brightness = params->gamma = params->deflicker = 0;
    }
    if (input.transfer != LUMEQ_TRANSFER_SDR && !o->reference)
        say(SAY_DETAILS, "this is HDR video (%s): light above 203 nits stays as it is",
            input.transfer == LUMEQ_TRANSFER_PQ ? "PQ" : "HLG");
    const int depth = convert_depth(source->video->codecpar->format);
    if (o->reference && depth > 8)
        return media_fail(error, MEDIA_USAGE,
                          "--reference is for 8 bits per sample: %s has %d; without --reference "
                          "lumeq equalizes deeper video at its own depth",
                          source->name, depth);
    return check_meter(o, source, error);
}

/* ---- the codes of deep gray video ---- */

/* By Options.range. */
static const enum AVColorRange levels[] = {AVCOL_RANGE_UNSPECIFIED, AVCOL_RANGE_MPEG,
                                           AVCOL_RANGE_JPEG};

CodeRange engine_codes(const Options *o, const Source *source)
{
    const LumeqParams params = options_params(o, (OptionsInput){0});
    const int is_hdr = source && transfer_of(source) != LUMEQ_TRANSFER_SDR;
    /* --strength 0 and --limit refer to the source's tones. */
    const int refers_to_source = o->strength == 0 || o->limit != LUMEQ_LIMIT_NONE || is_hdr;
    const int keeps_codes = o->code_range == OPTIONS_CODE_RANGE_FULL || o->mode == LUMEQ_MODE_OFF ||
                            !equalizer_writes(&params) ||
                            (o->code_range == OPTIONS_CODE_RANGE_AUTO && refers_to_source);
    return (CodeRange){
        .mode = keeps_codes                                ? CODE_RANGE_FULL
                : o->code_range == OPTIONS_CODE_RANGE_USED ? CODE_RANGE_USED
                                                           : CODE_RANGE_AUTO,
        .levels = levels[o->range],
    };
}

int engine_survey_codes(CodeRange *codes, const Options *o, const Source *source,
                        const atomic_int *stop, MediaError *error)
{
    Source *again = NULL;
    const int is_file = o->input && strcmp(o->input, "-") != 0; /* NULL: a camera */
    if (!is_file || !code_survey_suits(codes, source))
        return 0;
    const int ret = engine_open_again(&again, o, o->input, stop, error);
    return ret < 0 ? ret : code_survey(codes, again, o->from_us, o->to_us, error);
}

/* ---- the source and the encoder ---- */

/* True for a camera, a URL, a pipe or a device. */
static int is_live(const char *path, int network)
{
    struct stat file;
    if (!path || network)
        return 1;
    const int known = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &file) : stat(path, &file);
    return known == 0 && !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode);
}

/* True if the output is a pipe or a device. */
static int is_piped(const Options *o)
{
    struct stat file;
    return o->output &&
           (strcmp(o->output, "-") == 0 || (stat(o->output, &file) == 0 && !S_ISREG(file.st_mode)));
}

static CameraOptions camera_options(const Options *o)
{
    return (CameraOptions){
        .device = o->camera[0] ? o->camera : NULL,
        .format = o->input_format,
        .width = o->video_size.width,
        .height = o->video_size.height,
        .rate = o->framerate > 0 ? av_d2q(o->framerate, MAX_RATE_TERM) : (AVRational){0, 0},
        .wait = !o->no_reconnect && o->reconnect,
        .ends_changed = options_headless(o) && !o->virtual_camera && !is_piped(o),
        .awaits = o->piece,
        .newest = o->virtual_camera && o->null_output,
        .note = say_line,
    };
}

/* The end of the film to write, as a position; 0: unknown, or no film. */
static int64_t film_end(const Options *o)
{
    const AVOutputFormat *muxer = NULL;
    MediaError none = {0};
    if (!options_headless(o) || !o->output || o->frames >= 0)
        return 0;
    const char *format = !o->format && strcmp(o->output, "-") == 0 ? "yuv4mpegpipe" : o->format;
    const int is_film =
        container_find(&muxer, format, o->output, &none) >= 0 && !container_is_picture(muxer);
    return !is_film ? 0 : o->to_us >= 0 ? o->to_us : INT64_MAX;
}

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

int engine_open_source(Source **source, const Options *options, const char *path,
                       const atomic_int *stop, MediaError *error)
{
    const CameraOptions camera = options->camera ? camera_options(options) : (CameraOptions){0};
    SourceOptions wanted = source_options(options, path, stop);
    wanted.camera = path ? NULL : &camera;
    const char *pause = getenv("LUMEQ_RECONNECT_PAUSE"); /* tests shorten it */
    const double seconds = pause ? strtod(pause, NULL) : 0;
    const int never = options->no_reconnect || !options->reconnect;
    wanted.reconnect_s = never ? 0 : seconds > 0 ? seconds : RECONNECT_PAUSE_S;
    wanted.reconnect_live = options->reconnect < 0;
    if (wanted.network)
        media_log_hide(path);
    const int ret = source_open(source, &wanted, error);
    if (ret >= 0 && (*source)->camera) {
        char text[512];
        camera_setting_text((*source)->camera, text, sizeof(text));
        say(SAY_NORMAL, "camera %s", text);
    }
    if (ret < 0 && path && picture_pattern_is(path) && access(path, F_OK) < 0 && !options->sequence)
        media_add(error, "; --sequence reads numbered pictures");
    return ret;
}

int engine_open_again(Source **source, const Options *options, const char *path,
                      const atomic_int *stop, MediaError *error)
{
    SourceOptions wanted = source_options(options, path, stop);
    wanted.note = NULL;
    return source_open(source, &wanted, error);
}

int engine_open_pipe(Source **source, const Options *options, struct SharedPipe *pipe, int side,
                     const atomic_int *stop, MediaError *error)
{
    SourceOptions wanted = source_options(options, options->input, stop);
    wanted.pipe = pipe;
    wanted.pipe_side = side;
    if (side)
        wanted.note = NULL;
    return source_open(source, &wanted, error);
}

int engine_wants(const Options *options, const char *path, const atomic_int *stop)
{
    SourceOptions wanted = source_options(options, path, stop);
    Source *source = NULL;
    MediaError error = {0};
    int no_video = 0;
    wanted.note = NULL;
    wanted.no_video = &no_video;
    const int opens = source_open(&source, &wanted, &error) >= 0;
    source_close(&source);
    if (!opens && atomic_load(stop))
        return -1;
    return opens || (!no_video && container_promises_video(path));
}

int engine_start_opening(SourceOpening **opening, const Options *options, const char *path,
                         const atomic_int *stop, MediaError *error)
{
    const SourceOptions wanted = source_options(options, path, stop);
    if (wanted.network)
        media_log_hide(path);
    return source_opening_start(opening, &wanted, error);
}

/* True if the output must not be delayed: it is watched live. */
static int is_watched_live(const Options *o)
{
    const int live = o->camera || is_live(o->input, options_is_url(o));
    if (!options_headless(o))
        return 0;
    return is_piped(o) ? o->low_latency || o->camera : o->low_latency && live;
}

int engine_is_paced(const Options *o, const Source *source)
{
    const int has_pace = source->live && source_duration(source) <= 0;
    return o->low_latency && options_headless(o) && is_piped(o) && !has_pace;
}

EncoderOptions engine_encoder(const Options *options)
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

SegmentOptions engine_segments(const Options *o)
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

WriterOptions engine_writer(const Options *o, const atomic_int *stop)
{
    return (WriterOptions){
        .path = o->output,
        .format = o->format,
        .overwrite = o->overwrite,
        .sequence = o->sequence && picture_pattern_is(o->output),
        .stop = stop,
        .segments = engine_segments(o),
        .low_latency = is_watched_live(o),
        .video = engine_encoder(o),
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

const AVCodec *engine_find_encoder(const Options *o)
{
    const WriterOptions wanted = engine_writer(o, NULL);
    const AVOutputFormat *muxer = NULL;
    const AVCodec *codec = NULL;
    MediaError none = {0};
    return container_find(&muxer, wanted.format, wanted.path, &none) >= 0 &&
                   encoder_find(&codec, &wanted.video, muxer, wanted.path, &none) >= 0
               ? codec
               : NULL;
}

int engine_check_parts(const Options *o, MediaError *error)
{
    const AVCodec *codec = engine_find_encoder(o);
    const EncoderOptions options = engine_encoder(o);
    return codec ? encoder_check_parts(codec, &options, error) : 0;
}

int engine_create_writer(Writer **writer, const WriterOptions *wanted, const Options *o,
                         MediaError *error)
{
    struct stat input;
    const int known = o->input && (strcmp(o->input, "-") == 0 ? fstat(STDIN_FILENO, &input)
                                                              : stat(o->input, &input)) == 0;
    return writer_create(writer, wanted, known ? &input : NULL, error);
}

InputOptions engine_video(const Options *o, const Writer *writer)
{
    const int picture = writer && writer_is_picture(writer);
    return (InputOptions){
        .from_us = o->from_us,
        .to_us = o->to_us,
        .frames = picture && o->frames < 0 ? 2 : o->frames, /* a second one is an error */
        .range = levels[o->range],
        /* Files keep their fields, but a virtual camera should show frames. */
        .deinterlace = o->deinterlace == OPTIONS_ON ? DEINTERLACE_ON
                       : o->deinterlace == OPTIONS_AUTO && o->virtual_camera && !o->output
                           ? DEINTERLACE_AUTO
                           : DEINTERLACE_OFF,
        .decoder = {.full_rgb = writer && writer_is_full_range(writer), .bars = 1, .marks_bars = 1},
        .copy = writer != NULL,
    };
}

/* ---- where it runs ---- */

int engine_is_lost(const Engine *engine)
{
    return strcmp(lumeq_context_backend_name(engine->context), engine->backend) != 0;
}

const char *engine_where(const Engine *engine, int lost)
{
    if (lost)
        return "the CPU, which took over from the GPU";
    return strcmp(engine->backend, "cpu") == 0 ? "the CPU" : engine->where;
}

void engine_close(Engine *engine)
{
    frame_memory_close(&engine->memory);
    av_buffer_unref(&engine->gpu);
    lumeq_context_destroy(&engine->context);
}

/* ---- run choices ---- */

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
