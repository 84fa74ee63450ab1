#include "app/engine.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "app/setup.h"
#include "app/terminal.h"
#include "media/gpu_frame.h"
#include "media/log.h"
#include "media/process.h"
#include "run/equalizer_frame.h"

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
        .real_time = engine->real_time,
    };
}

/* Maximum number of decoded frames in a run: queued, being equalized, and kept as references. */
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

static bool is_gpu(const Engine *engine)
{
    return strcmp(engine->backend, "cuda") == 0;
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

int engine_open(Engine *engine, const Options *o, int all_planes, MediaError *error)
{
    const LumeqConfig config = engine_config(engine, o);
    /* The input is not known yet, so these parameters may differ from the run's. */
    const LumeqParams params = options_params(o, (OptionsInput){.still = 1});
    const bool must_decode = o->hwdec == OPTIONS_HWDEC_NVDEC;
    char why[256];
    const int ret =
        lumeq_context_create(&engine->context, &config, engine->where, sizeof(engine->where));
    if (ret < 0)
        return media_fail(error, ret == LUMEQ_ERR_MEMORY ? MEDIA_INPUT : MEDIA_USAGE, "%s%s",
                          config.backend == LUMEQ_BACKEND_CUDA ? "--backend cuda: " : "",
                          engine->where);
    engine->backend = lumeq_context_backend_name(engine->context);
    engine->device = config.device;
    say(SAY_DETAILS, "equalizing on %s", engine->where);
    if (must_decode && !is_gpu(engine))
        return media_fail(
            error, MEDIA_USAGE,
            "--hwdec nvdec decodes on the GPU that equalizes, but lumeq equalizes on %s",
            engine->where);
    if (is_gpu(engine) && hwdec_choice(o, AV_CODEC_ID_NONE)) {
        engine->decodes = open_gpu(engine, why, sizeof(why)) >= 0;
        if (!engine->decodes && must_decode)
            return media_fail(error, MEDIA_USAGE, "--hwdec nvdec: %s", why);
        if (!engine->decodes)
            say(SAY_DETAILS, "decoding in software: %s", why);
    }
    /* Pinned memory (alloc_host) makes a GPU's copies fast; the CPU needs none. */
    const FrameAllocator allocator = {alloc_host, free_host, engine->context,
                                      all_planes || engine->decodes ||
                                          equalizer_writes_chroma(&params)};
    engine->memory = frame_memory_create(strcmp(engine->backend, "cpu") != 0 ? &allocator : NULL);
    return engine->memory ? 0 : media_no_memory(error, MEDIA_INPUT);
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
    decoder->codes = setup_codes(o, source);
}

bool engine_is_lost(const Engine *engine)
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

/* From this number of cores on, software decodes faster than NVDEC. */
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
