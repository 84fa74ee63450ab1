#include "app/engine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/options/option_inputs.h"
#include "app/terminal.h"
#include "media/convert.h"
#include "media/log.h"

/* Of a rate such as 29.97, which is 30000/1001. */
#define MOST_RATE_PARTS 1001000

unsigned engine_cpu_without(void)
{
    const char *mask = getenv("LUMEQ_CPU_MASK");
    return mask && *mask ? ~(unsigned)strtoul(mask, NULL, 0) : 0;
}

static void *alloc_host(void *equalizer, size_t size)
{
    return lumeq_alloc_host(equalizer, size);
}

static void free_host(void *equalizer, void *memory)
{
    lumeq_free_host(equalizer, memory);
}

static LumeqConfig config_of(const Options *options)
{
    static const LumeqBackendId backends[] = {LUMEQ_BACKEND_AUTO, LUMEQ_BACKEND_CPU,
                                              LUMEQ_BACKEND_CUDA};
    return (LumeqConfig){
        .size = sizeof(LumeqConfig),
        .backend = backends[options->backend],
        .device = (int)options->device,
        .threads = (int)options->threads,
        .cpu_without = engine_cpu_without(),
    };
}

static int open_equalizer(Engine *engine, const Options *options, MediaError *error)
{
    const LumeqConfig config = config_of(options);
    const LumeqParams params = options_params(options);
    int ret = lumeq_create(&engine->equalizer, &config, engine->where, sizeof(engine->where));
    if (ret < 0)
        return media_fail(error, MEDIA_USAGE, "%s%s",
                          config.backend == LUMEQ_BACKEND_CUDA ? "--backend cuda: " : "",
                          engine->where);
    engine->backend = lumeq_backend_name(engine->equalizer);
    say(SAY_DETAILS, "equalizing on %s", engine->where);
    ret = lumeq_set_params(engine->equalizer, &params);
    if (ret < 0)
        return media_fail(error, MEDIA_USAGE, "%s", lumeq_last_error(engine->equalizer));
    return 0;
}

int engine_open(Engine *engine, const Options *options, int all_planes, MediaError *error)
{
    const int ret = open_equalizer(engine, options, error);
    if (ret < 0)
        return ret;
    /* Frames are decoded into memory that a GPU can copy from; the CPU takes any. */
    const FrameAllocator allocator = {alloc_host, free_host, engine->equalizer, all_planes};
    const int gpu = strcmp(engine->backend, "cpu") != 0;
    engine->memory = frame_memory_create(gpu ? &allocator : NULL);
    return engine->memory ? 0 : media_fail(error, MEDIA_INPUT, "out of memory");
}

/* What was chosen is that of the equalizer, and was said. */
static void log_warning(void *user, LumeqLogLevel level, const char *text)
{
    (void)user;
    if (level == LUMEQ_LOG_WARNING)
        say(SAY_WARNINGS, "%s", text);
}

int engine_open_context(Engine *engine, const Options *options, MediaError *error)
{
    LumeqConfig config = config_of(options);
    char why[256];
    config.log = log_warning;
    if (lumeq_context_create(&engine->context, &config, why, sizeof(why)) < 0)
        return media_fail(error, MEDIA_USAGE, "%s", why);
    return 0;
}

/* ---- the parameters ---- */

/* The codes of HDR are further apart than they look: what is right for others is too much. */
#define HDR_SHARE 0.5

static const char *hdr_name(const AVCodecParameters *video)
{
    switch (video->color_trc) {
    case AVCOL_TRC_SMPTE2084: return "PQ";
    case AVCOL_TRC_ARIB_STD_B67: return "HLG";
    default: return NULL;
    }
}

static int check_reference(const Options *o, const Source *source, MediaError *error)
{
    const int depth = convert_depth(source->video->codecpar->format);
    if (!o->reference || depth <= 8)
        return 0;
    return media_fail(error, MEDIA_USAGE,
                      "--reference is defined for 8 bits a sample: %s has %d; without it deeper "
                      "video is equalized at its own depth",
                      source->name, depth);
}

static int check_meter(const Options *o, const Source *source, MediaError *error)
{
    const LumeqRect *m = &o->meter;
    const AVCodecParameters *video = source->video->codecpar;
    if (m->width < 1 || (m->x < video->width && m->y < video->height))
        return 0;
    return media_fail(error, MEDIA_USAGE,
                      "--meter %d,%d,%d,%d is outside of the picture: %s has %dx%d pixels", m->x,
                      m->y, m->width, m->height, source->name, video->width, video->height);
}

int engine_params(LumeqParams *params, const Options *o, const Source *source, int fine,
                  MediaError *error)
{
    const char *hdr = hdr_name(source->video->codecpar);
    *params = options_params(o);
    if (o->dither == OPTIONS_DITHER_AUTO)
        params->dither = fine;
    const int asked = o->strength >= 0 && o->strength != o->profile_strength;
    if (hdr && !asked && params->mode != LUMEQ_MODE_OFF && !o->reference) {
        params->lift = 0;
        params->strength *= HDR_SHARE;
        say(SAY_WARNINGS,
            "this is HDR video (%s): it is equalized at half strength, %.2g at most; "
            "--strength sets another",
            hdr, params->strength);
    }
    const int ret = check_reference(o, source, error);
    return ret < 0 ? ret : check_meter(o, source, error);
}

/* ---- the source and the encoder ---- */

/* What comes as it happens, not all at once. */
static int is_live(const char *path, int network)
{
    struct stat file;
    if (!path || network)
        return 1;
    const int known = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &file) : stat(path, &file);
    return known == 0 && !S_ISREG(file.st_mode);
}

static CameraOptions camera_options(const Options *o)
{
    return (CameraOptions){
        .device = o->camera[0] ? o->camera : NULL,
        .format = o->input_format,
        .width = o->video_size.width,
        .height = o->video_size.height,
        .rate = o->framerate > 0 ? av_d2q(o->framerate, MOST_RATE_PARTS) : (AVRational){0, 0},
        .wait = !options_headless(o),
    };
}

static void say_setting(const Camera *camera)
{
    char text[512];
    camera_setting_text(camera, text, sizeof(text));
    say(SAY_NORMAL, "camera %s", text);
}

static SourceOptions source_options(const Options *options, const char *path,
                                    const atomic_int *stop)
{
    const int network = path == options->input && option_inputs_is_url(options);
    return (SourceOptions){
        .path = path ? path : options_input(options),
        .network = network,
        .silence_s = options->network_timeout,
        .low_latency = options->low_latency && is_live(path, network),
        .max_pixels = options->max_pixels,
        .stop = stop,
        .open_timeout_s = options->open_timeout,
        .video_track = (int)options->video_track + 1,
        .allow_playlists = options->allow_playlists,
        .force_dolby_vision = options->force_dovi,
        .note = say_line,
    };
}

int engine_open_source(Source **source, const Options *options, const char *path,
                       const atomic_int *stop, MediaError *error)
{
    const CameraOptions camera = options->camera ? camera_options(options) : (CameraOptions){0};
    SourceOptions wanted = source_options(options, path, stop);
    wanted.camera = path ? NULL : &camera;
    if (wanted.network)
        media_log_hide(path);
    const int ret = source_open(source, &wanted, error);
    if (ret >= 0 && (*source)->camera)
        say_setting((*source)->camera);
    return ret;
}

int engine_open_again(Source **source, const Options *options, const char *path,
                      const atomic_int *stop, MediaError *error)
{
    SourceOptions wanted = source_options(options, path, stop);
    wanted.note = NULL;
    return source_open(source, &wanted, error);
}

int engine_start_opening(SourceOpening **opening, const Options *options, const char *path,
                         const atomic_int *stop, MediaError *error)
{
    const SourceOptions wanted = source_options(options, path, stop);
    return source_opening_start(opening, &wanted, error);
}

EncoderOptions engine_encoder(const Options *options)
{
    return (EncoderOptions){.codec = options->vcodec,
                            .crf = options->crf,
                            .preset = options->preset,
                            .bitrate = options->bitrate,
                            .pixel_format = options->pixel_format,
                            .options = options->encoder_options,
                            .threads = (int)options->threads,
                            .deinterlaced = options->deinterlace == OPTIONS_DEINTERLACE_ON,
                            .live = options->camera != NULL};
}

/* ---- what computes ---- */

int engine_is_lost(const Engine *engine)
{
    return strcmp(lumeq_backend_name(engine->equalizer), engine->backend) != 0;
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
    lumeq_context_destroy(&engine->context);
    lumeq_destroy(&engine->equalizer);
}
