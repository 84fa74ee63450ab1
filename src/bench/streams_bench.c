/* lumeq-bench streams: measures how many live videos one machine decodes and equalizes at once.
 * Each stream has a thread that decodes and equalizes one frame after another. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "app/engine.h"
#include "app/setup.h"
#include "bench/bench.h"
#include "media/compat.h"
#include "media/gpu_frame.h"
#include "media/log.h"
#include "run/equalizer_frame.h"

#define MAX_FILES 64
#define MAX_STREAMS 256
#define MAX_FILM_BYTES ((int64_t)1 << 30) /* packets of one video in memory */

/* Time for all threads to start before the first packet is due. */
#define HEAD_START_US 200000

/* Frames of each stream before the clock starts. Decoder and equalizer allocate memory for them. */
#define WARM_UP_FRAMES 10

typedef struct StreamsOptions {
    BenchCommon common;
    const char *files[MAX_FILES];
    int file_count, live, unpaced;
    const char *hwdec, *backend, *threads, *device; /* values of lumeq's options */
    double rate, seconds;
} StreamsOptions;

/* A video's packets in memory, played in a loop, so that disks do not matter. */
typedef struct Film {
    Source *source;
    AVPacket **packets;
    int count;
    int64_t length; /* duration in the track's time base */
    double rate;    /* packets due per second; 0: as fast as possible */
} Film;

typedef struct Stream {
    const StreamsOptions *options;
    const Options *program;
    const Film *film;

    pthread_t thread;
    int running;
    Engine engine;
    LumeqEqualizer *equalizer;
    FrameMemory *device; /* for pictures that stay on the GPU, or NULL */
    Decoder *decoder;
    AVPacket *packet;
    int has_packet; /* the decoder has not accepted `packet` yet */
    AVFrame *frame, *before;
    int64_t sent, sent_before; /* packets so far, and before the clock started */
    double begin;              /* bench_now_us() at the start; 0: not started */

    /* Results. */
    int64_t frames, late; /* late: delayed by more than two periods */
    double wall_us;
    double *delays; /* milliseconds, of each frame, sorted at the end; NULL without a rate */
    int on_gpu;     /* decoded on the GPU until the end */
    int64_t hosted; /* frames that went to host memory because the GPU had no room */
    MediaError error;
} Stream;

typedef struct Bench {
    StreamsOptions options;
    Options program;
    Film films[MAX_FILES];
    Stream streams[MAX_STREAMS];
    int count;
    LumeqMemoryUse use;
} Bench;

/* ---- options ---- */

static int take_input(void *options, const char *value)
{
    StreamsOptions *const o = options;
    struct stat input;
    if (o->file_count == MAX_FILES || stat(value, &input) < 0 || !S_ISREG(input.st_mode))
        return -1;
    o->files[o->file_count++] = value;
    return 0;
}

const BenchOption bench_streams_options[] = {
    {"INPUT", NULL, "videos, played in a loop; streams take them in turn", .take = take_input,
     .allowed = "an existing video file, up to 64"},
    {"--live", "N", "streams at once [one for each INPUT]",
     BENCH_RANGE(INT, StreamsOptions, live, 1, MAX_STREAMS)},
    {"--rate", "X", "frames per second of each stream [as INPUT]",
     BENCH_RANGE(DOUBLE, StreamsOptions, rate, 1, 1000)},
    {"--unpaced", NULL, "run as fast as possible; no frame counts as late",
     BENCH_STORE(FLAG, StreamsOptions, unpaced)},
    {"--seconds", "S", "duration [10]", BENCH_RANGE(DOUBLE, StreamsOptions, seconds, 0.1, 86400)},
    {"--hwdec", "auto|nvdec|no", "as lumeq --hwdec [auto]",
     BENCH_STORE(CHOICE, StreamsOptions, hwdec)},
    {"--backend", "auto|cpu|cuda", "as lumeq --backend [auto]",
     BENCH_STORE(CHOICE, StreamsOptions, backend)},
    {"--threads", "N", "CPU threads of each stream's decoder and equalizer; 0: all cores [1]",
     BENCH_STORE(TEXT, StreamsOptions, threads)},
    {"--device", "N", "number of the GPU [0]", BENCH_STORE(TEXT, StreamsOptions, device)},
    BENCH_FORMAT_OPTIONS,
};

static void print_notes(void)
{
    printf("\nA stream's packets come from memory, each at its time, as from a camera. Frames are\n"
           "decoded, equalized with lumeq's defaults, and discarded. A frame's delay lasts from\n"
           "the time of its packet until it is equalized; p50, p99 and max are the delays that\n"
           "50, 99 and 100 percent of the frames do not exceed. A frame is late if its delay\n"
           "exceeds two periods. B-frames add to the delay. Ten frames of each stream come\n"
           "before the clock starts. In MiB, counted is lumeq's peak GPU memory, including\n"
           "decoder surfaces, and pinned its peak pinned host memory; stderr has the limits. A\n"
           "frame without room on the GPU goes to host memory. The exit code is 0 even if\n"
           "frames were late, and 1 if an option, a video or the GPU cannot be used, or if the\n"
           "rows cannot be written.\n" BENCH_ORIGIN_HELP);
}

static int read_options(StreamsOptions *o, int argc, char **argv)
{
    *o = (StreamsOptions){
        .hwdec = "auto", .backend = "auto", .threads = "1", .device = "0", .seconds = 10};
    const int ret = bench_arguments("streams", bench_streams_options, o, argc, argv);
    if (ret > 0)
        print_notes();
    if (ret == 0 && !o->file_count)
        return bench_fail("streams", "INPUT is missing; see lumeq-bench streams --help");
    if (ret == 0 && o->unpaced && o->rate > 0)
        return bench_fail("streams", "--unpaced and --rate contradict each other");
    return ret;
}

/* Parses lumeq's own options. Returns 0, or -1 after a sentence on stderr. */
static int program_options(Options *program, const StreamsOptions *o)
{
    const char *argv[] = {"lumeq",   "--no-config", "--null",    "--backend", o->backend,
                          "--hwdec", o->hwdec,      "--threads", o->threads,  "--device",
                          o->device, "--",          o->files[0]};
    char text[1400];
    return options_parse(program, sizeof(argv) / sizeof(argv[0]), (char **)argv, text,
                         sizeof(text)) == 0
               ? 0
               : bench_fail("streams", "%s", text);
}

/* ---- films ---- */

static int read_packets(Film *f)
{
    AVPacket *packet = av_packet_alloc();
    int64_t bytes = 0;
    int ret = packet ? 0 : AVERROR(ENOMEM);
    while (ret >= 0 && bytes < MAX_FILM_BYTES && (ret = source_read(f->source, packet)) >= 0) {
        bytes += packet->size;
        if (packet->stream_index == f->source->video->index) {
            AVPacket *copy = av_packet_clone(packet);
            ret = copy ? av_packet_make_refcounted(copy) : AVERROR(ENOMEM);
            if (ret >= 0)
                ret = av_dynarray_add_nofree(&f->packets, &f->count, copy);
            if (ret < 0)
                av_packet_free(&copy);
        }
        av_packet_unref(packet);
    }
    av_packet_free(&packet);
    return ret == AVERROR_EOF ? 0 : ret;
}

static int film_open(Film *f, const StreamsOptions *options, const Options *o, const char *path,
                     MediaError *error)
{
    static const atomic_int never;
    int ret = setup_source(&f->source, o, path, NULL, &never, error);
    if (ret < 0)
        return ret;
    const AVRational rate = source_frame_rate(f->source);
    f->rate = rate.num > 0 && rate.den > 0 ? av_q2d(rate) : 25;
    if (read_packets(f) < 0 || f->count == 0)
        return media_fail(error, MEDIA_INPUT, "cannot read video packets of %s into memory",
                          media_quote(path));
    f->length = (int64_t)llround(f->count / f->rate / av_q2d(f->source->video->time_base));
    if (options->unpaced || options->rate > 0)
        f->rate = options->unpaced ? 0 : options->rate;
    return 0;
}

/* ---- one stream ---- */

static int out_of_memory(Stream *s)
{
    return media_fail(&s->error, MEDIA_INPUT, "out of memory");
}

static void wait_until(double us)
{
    const double left = us - bench_now_us();
    const struct timespec nap = {(time_t)(left / 1e6), (long)(fmod(left, 1e6) * 1e3)};
    if (left > 0)
        nanosleep(&nap, NULL);
}

/* Waits until the next packet is due and takes it. Timestamps continue when the film repeats. */
static int take_packet(Stream *s)
{
    const Film *f = s->film;
    const int64_t offset = s->sent / f->count * f->length;
    if (s->has_packet)
        return 0;
    if (f->rate > 0 && s->begin > 0)
        wait_until(s->begin + (double)(s->sent - s->sent_before) * 1e6 / f->rate);
    if (av_packet_ref(s->packet, f->packets[s->sent % f->count]) < 0)
        return out_of_memory(s);
    if (s->packet->pts != AV_NOPTS_VALUE)
        s->packet->pts += offset;
    if (s->packet->dts != AV_NOPTS_VALUE)
        s->packet->dts += offset;
    s->sent++;
    s->has_packet = 1;
    return 0;
}

static int decode(Stream *s)
{
    int ret;
    while ((ret = decoder_receive(s->decoder, s->frame, &s->error)) == AVERROR(EAGAIN)) {
        ret = take_packet(s);
        if (ret < 0)
            return ret;
        ret = decoder_send(s->decoder, s->packet);
        s->has_packet = ret == AVERROR(EAGAIN);
        if (!s->has_packet)
            av_packet_unref(s->packet);
        if (ret < 0 && ret != AVERROR(EAGAIN))
            return out_of_memory(s);
    }
    return ret < 0 && !s->error.fault ? media_fail(&s->error, MEDIA_INPUT, "%s", media_av_text(ret))
                                      : ret;
}

/* Returns an output frame in GPU memory; NULL if the GPU has no room. */
static AVFrame *make_on_device(Stream *s)
{
    AVFrame *out = frame_memory_output(s->device, s->frame, 1);
    for (int i = 0; out && i < 3; i++)
        if (out->data[i] && !frame_memory_owns(s->device, out->data[i]))
            av_frame_free(&out);
    return out;
}

static int equalize(Stream *s)
{
    AVFrame *out = s->device ? make_on_device(s) : NULL;
    const int on_device = out != NULL;
    s->hosted += s->device && !out;
    if (!out)
        out = equalizer_output(s->engine.memory, s->frame, 1, &s->error);
    if (!out)
        return s->error.fault;
    LumeqFrame frame = equalizer_frame(s->frame, out);
    const LumeqImage before = equalizer_previous(s->before, s->frame);
    const LumeqSync sync = equalizer_sync(s->frame);
    if (on_device)
        frame.out.memory = LUMEQ_MEMORY_CUDA;
    if (before.plane[0])
        frame.previous = &before;
    if (sync.after)
        frame.sync = &sync;
    const int ret = lumeq_process(s->equalizer, &frame, NULL);
    av_frame_free(&out);
    av_frame_free(&s->before);
    s->before = av_frame_clone(s->frame);
    av_frame_unref(s->frame);
    if (ret < 0)
        return media_fail(&s->error, MEDIA_INPUT, "the equalizer failed: %s",
                          lumeq_last_error(s->equalizer));
    return s->before ? 0 : out_of_memory(s);
}

static int next_frame(Stream *s)
{
    const int ret = decode(s);
    return ret < 0 ? ret : equalize(s);
}

static void *alloc_device(void *context, size_t size)
{
    return lumeq_alloc_device(context, size);
}

static void free_device(void *context, void *memory)
{
    lumeq_free_device(context, memory);
}

static int open_equalizer(Stream *s)
{
    char why[256];
    LumeqConfig config = engine_config(&s->engine, s->program);
    config.no_stage_times = 1;
    return lumeq_create(&s->equalizer, &config, why, sizeof(why)) < 0
               ? media_fail(&s->error, MEDIA_USAGE, "%s", why)
               : 0;
}

static int open_stream(Stream *s)
{
    s->engine.real_time = s->film->rate > 0;
    int ret = engine_open(&s->engine, s->program, 1, &s->error);
    if (ret >= 0)
        ret = open_equalizer(s);
    const FrameAllocator device = {alloc_device, free_device, s->engine.context, 1};
    DecoderOptions decoder = {0};
    engine_decoder(&s->engine, s->program, s->film->source, &decoder);
    if (ret >= 0)
        ret = decoder_open(&s->decoder, s->film->source, &decoder, &s->error);
    if (ret < 0)
        return ret;
    const int stays = strcmp(s->engine.backend, "cuda") == 0;
    s->device = stays ? frame_memory_create(&device) : NULL;
    s->packet = av_packet_alloc();
    s->frame = av_frame_alloc();
    ret = (stays && !s->device) || !s->packet || !s->frame ? out_of_memory(s) : 0;
    for (int i = 0; i < WARM_UP_FRAMES && ret >= 0; i++)
        ret = next_frame(s);
    s->sent_before = s->sent;
    return ret;
}

static void close_stream(Stream *s)
{
    av_frame_free(&s->before);
    av_frame_free(&s->frame);
    av_packet_free(&s->packet);
    decoder_close(&s->decoder);
    frame_memory_close(&s->device);
    lumeq_destroy(&s->equalizer);
    engine_close(&s->engine);
}

static int note_delay(Stream *s)
{
    const double period = 1e6 / s->film->rate;
    const double delay = bench_now_us() - s->begin - (double)s->frames * period;
    double *more = realloc(s->delays, ((size_t)s->frames + 1) * sizeof(more[0]));
    if (!more)
        return out_of_memory(s);
    s->delays = more;
    more[s->frames] = delay / 1e3;
    s->late += delay > 2 * period;
    return 0;
}

static void *stream_main(void *stream)
{
    Stream *s = stream;
    const double end = s->begin + s->options->seconds * 1e6;
    int ret = 0;
    wait_until(s->begin);
    while (ret >= 0 && bench_now_us() < end) {
        ret = next_frame(s);
        if (ret >= 0 && s->film->rate > 0)
            ret = note_delay(s);
        s->frames += ret >= 0;
    }
    s->wall_us = bench_now_us() - s->begin;
    s->on_gpu = decoder_is_on_gpu(s->decoder);
    return NULL;
}

/* ---- all streams ---- */

/* Opens and starts all streams; they begin at the same time. */
static int start_streams(Bench *b)
{
    for (int i = 0; i < b->count; i++)
        if (open_stream(&b->streams[i]) < 0)
            return -1;
    const double begin = bench_now_us() + HEAD_START_US;
    for (int i = 0; i < b->count; i++) {
        Stream *s = &b->streams[i];
        s->begin = begin;
        s->running = pthread_create(&s->thread, NULL, stream_main, s) == 0;
        if (!s->running)
            return media_fail(&s->error, MEDIA_INPUT, "cannot start a thread");
    }
    return 0;
}

static int measure(Bench *b)
{
    const StreamsOptions *o = &b->options;
    MediaError error = {0};
    int ret = 0;
    for (int i = 0; i < o->file_count; i++)
        if (film_open(&b->films[i], o, &b->program, o->files[i], &error) < 0)
            return bench_fail("streams", "%s", error.text);
    b->count = o->live ? o->live : o->file_count;
    for (int i = 0; i < b->count; i++) {
        b->streams[i].options = o;
        b->streams[i].program = &b->program;
        b->streams[i].film = &b->films[i % o->file_count];
    }
    b->use.size = sizeof(b->use);
    (void)start_streams(b); /* the stream that fails keeps its error */
    for (int i = 0; i < b->count; i++)
        if (b->streams[i].running)
            pthread_join(b->streams[i].thread, NULL);
    for (int i = 0; i < b->count; i++) {
        Stream *s = &b->streams[i];
        close_stream(s);
        if (s->delays)
            bench_sort(s->delays, s->frames);
        if (s->error.fault)
            ret = bench_fail("streams", "stream %d: %s", i + 1, s->error.text);
    }
    (void)lumeq_memory_use((int)b->program.device, &b->use);
    return ret;
}

/* ---- rows ---- */

typedef struct Row {
    const char *stream, *input, *decoded;
    double frames, rate, late, delays[3], counted, pinned; /* delays: for 50, 99, 100 % */
} Row;

static void print_row(const Row *r)
{
    bench_text("stream", "stream", 6, r->stream);
    bench_text("input", "input", 20, r->input);
    bench_text("decoded_on", "decoded on", 10, r->decoded);
    bench_number("frames", "frames", 7, 0, r->frames);
    bench_number("frames_per_s", "frames/s", 9, 1, r->rate);
    bench_number("late", "late", 5, 0, r->late);
    bench_number("delay_50_ms", "p50 ms", 8, 2, r->delays[0]);
    bench_number("delay_99_ms", "p99 ms", 8, 2, r->delays[1]);
    bench_number("delay_100_ms", "max ms", 8, 2, r->delays[2]);
    bench_number("counted_mib", "counted", 8, 1, r->counted);
    bench_number("pinned_mib", "pinned", 8, 1, r->pinned);
    bench_end_row();
}

static void print_stream(const Bench *b, int number)
{
    const Stream *s = &b->streams[number];
    const char *path = b->options.files[number % b->options.file_count];
    const char *slash = strrchr(path, '/');
    char text[16];
    Row row = {text,
               slash ? slash + 1 : path,
               s->on_gpu ? "GPU" : "CPU",
               (double)s->frames,
               (double)s->frames * 1e6 / s->wall_us,
               NAN,
               {NAN, NAN, NAN},
               NAN,
               NAN};
    snprintf(text, sizeof(text), "%d", number + 1);
    if (s->delays && s->frames) {
        const double last = (double)(s->frames - 1);
        row.late = (double)s->late;
        row.delays[0] = s->delays[(int64_t)(last * 0.5)];
        row.delays[1] = s->delays[(int64_t)(last * 0.99)];
        row.delays[2] = s->delays[s->frames - 1];
    }
    print_row(&row);
}

static double mib(uint64_t bytes)
{
    return (double)bytes / (1 << 20);
}

static void print_all(const Bench *b)
{
    int64_t hosted = 0;
    const int has_use = b->use.device_limit > 0;
    Row row = {.stream = "all",
               .late = b->options.unpaced ? NAN : 0,
               .delays = {NAN, NAN, NAN},
               .counted = has_use ? mib(b->use.device_most) : NAN,
               .pinned = has_use ? mib(b->use.pinned_most) : NAN};
    for (int i = 0; i < b->count; i++) {
        const Stream *s = &b->streams[i];
        row.frames += (double)s->frames;
        row.late += (double)s->late;
        row.rate += (double)s->frames * 1e6 / s->wall_us;
        hosted += s->hosted;
    }
    print_row(&row);
    if (!has_use)
        return;
    fprintf(stderr,
            "lumeq-bench streams: limits: %.0f MiB of GPU %d (%.0f used), %.0f MiB pinned (%.0f "
            "used)\n",
            mib(b->use.device_limit), (int)b->program.device, mib(b->use.device_most),
            mib(b->use.pinned_limit), mib(b->use.pinned_most));
    if (hosted)
        bench_fail("streams", "%lld frames went to host memory, because the GPU had no room",
                   (long long)hosted);
}

int bench_streams(int argc, char **argv)
{
    static Bench b;
    const int ret = read_options(&b.options, argc, argv);
    if (ret != 0)
        return ret < 0;
    if (program_options(&b.program, &b.options) < 0)
        return 1;
    media_log_install(0, NULL, NULL);
    /* Use all hardware queues of the GPU, so that decoders' CUDA streams do not wait for each
     * other. CUDA reads the variable when it starts. */
    (void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
    const int failed = measure(&b) < 0;
    if (!failed) {
        bench_report_begin(b.options.common.csv, bench_command_line(argc, argv), NULL);
        for (int i = 0; i < b.count; i++)
            print_stream(&b, i);
        print_all(&b);
    }
    for (int i = 0; i < b.count; i++)
        free(b.streams[i].delays);
    for (Film *f = b.films; f < b.films + b.options.file_count; f++) {
        for (int i = 0; i < f->count; i++)
            av_packet_free(&f->packets[i]);
        av_freep(&f->packets);
        source_close(&f->source);
    }
    options_free(&b.program);
    return failed;
}
