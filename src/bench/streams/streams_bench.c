/* lumeq-bench streams: how many live videos one machine decodes and equalizes at once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/pcie.h"
#include "bench/program_options.h"
#include "bench/report.h"
#include "bench/streams/streams.h"
#include "media/log.h"
#include "media/process.h"

#define MOST_FILES 64
#define MOST_STREAMS 256

/* Texts are those of the command line, NULL where nothing was said. */
typedef struct StreamsOptions {
    BenchProgram program;
    const char *files[MOST_FILES];
    int file_count, live, unpaced, decode_only, download, own_streams;
    const char *hwdec;
    double rate, seconds;
} StreamsOptions;

enum {
    STREAM,
    INPUT,
    DECODED,
    FRAMES,
    RATE,
    LATE,
    DELAY_50,
    DELAY_99,
    DELAY_100,
    DECODER,
    GPU_MEMORY,
    COUNTED,
    PINNED,
    COLUMNS
};

static const BenchColumn columns[COLUMNS] = {
    [STREAM] = {"stream", "stream", 6, -1},
    [INPUT] = {"input", "input", 20, -1},
    [DECODED] = {"decoded_on", "decoded on", 10, -1},
    [FRAMES] = {"frames", "frames", 7, 0},
    [RATE] = {"frames_per_s", "frames/s", 9, 1},
    [LATE] = {"late", "late", 5, 0},
    [DELAY_50] = {"delay_50_ms", "50 % ms", 8, 2},
    [DELAY_99] = {"delay_99_ms", "99 % ms", 8, 2},
    [DELAY_100] = {"delay_100_ms", "all ms", 8, 2},
    [DECODER] = {"decoder_busy_percent", "NVDEC %", 7, 1},
    [GPU_MEMORY] = {"gpu_memory_mib", "GPU MiB", 8, 1},
    [COUNTED] = {"counted_mib", "counted", 8, 1},
    [PINNED] = {"pinned_mib", "pinned", 8, 1},
};

/* ---- options ---- */

static int take_input(void *options, const char *value)
{
    StreamsOptions *const o = options;
    struct stat input;
    if (o->file_count == MOST_FILES || stat(value, &input) < 0 || !S_ISREG(input.st_mode))
        return -1;
    o->files[o->file_count++] = value;
    return 0;
}

static int take_live(void *options, const char *value)
{
    return bench_read_int(value, 1, MOST_STREAMS, &((StreamsOptions *)options)->live);
}

static int take_unpaced(void *options, const char *value)
{
    (void)value;
    ((StreamsOptions *)options)->unpaced = 1;
    return 0;
}

static int take_decode_only(void *options, const char *value)
{
    (void)value;
    ((StreamsOptions *)options)->decode_only = 1;
    return 0;
}

static int take_download(void *options, const char *value)
{
    (void)value;
    ((StreamsOptions *)options)->download = 1;
    return 0;
}

static int take_own_streams(void *options, const char *value)
{
    (void)value;
    ((StreamsOptions *)options)->own_streams = 1;
    return 0;
}

static int take_rate(void *options, const char *value)
{
    return bench_read_number(value, 1, 1000, &((StreamsOptions *)options)->rate);
}

static int take_seconds(void *options, const char *value)
{
    return bench_read_number(value, 0.1, 86400, &((StreamsOptions *)options)->seconds);
}

static int take_backend(void *options, const char *value)
{
    static const char *const choices[] = {"auto", "cpu", "cuda", NULL};
    ((BenchProgram *)options)->backend = value;
    return bench_read_choice(value, choices) < 0 ? -1 : 0;
}

static int take_hwdec(void *options, const char *value)
{
    static const char *const choices[] = {"auto", "nvdec", "no", NULL};
    ((StreamsOptions *)options)->hwdec = value;
    return bench_read_choice(value, choices) < 0 ? -1 : 0;
}

const BenchOption bench_streams_options[] = {
    {"INPUT", NULL, "a video file that is there, one of 64 at most",
     "the videos, each over and over again; streams take them in turns", take_input},
    {"--live", "N", "1 to 256", "so many streams at once [one for each INPUT]", take_live},
    {"--rate", "X", "1 to 1000", "frames a second of each [as INPUT has]", take_rate},
    {"--unpaced", NULL, "", "as fast as each goes: nothing is ever late", take_unpaced},
    {"--seconds", "S", "0.1 to 86400", "for how long [10]", take_seconds},
    {"--decode-only", NULL, "", "equalize nothing: what the decoders alone would do",
     take_decode_only},
    {"--download", NULL, "", "bring equalized pictures to the host [they stay on the GPU]",
     take_download},
    {"--own-streams", NULL, "", "CUDA streams of its own for each [all share five]",
     take_own_streams},
    {"--hwdec", "auto|nvdec|no", "auto, nvdec or no", "as of lumeq [auto]", take_hwdec},
    {"--backend", "auto|cpu|cuda", "auto, cpu or cuda", "as of lumeq [auto]", take_backend},
    {"--chroma", "scale|keep", "scale or keep", "as of lumeq [scale]", bench_take_chroma},
    {"--threads", "N", "0 to 256",
     "of each stream's decoder and equalizer, where they run on the CPU; 0 = all cores [1]",
     bench_take_threads},
    {"--device", "N", "0 to 255", "number of the GPU [0]", bench_take_device},
    {"--csv", NULL, "", "rows for programs", bench_take_csv},
    {"--json", NULL, "", "likewise, an object a line", bench_take_json},
    {NULL, NULL, NULL, NULL, NULL},
};

static void print_notes(void)
{
    printf(
        "\nA stream's packets come from memory, each at its time, as a camera sends them. Its "
        "frames\n"
        "are decoded, equalized with what lumeq has as defaults, and thrown away. The delay of a\n"
        "frame is counted from the time its packet came to when it was equalized: half of the "
        "frames\n"
        "had no more than the first, 99 in 100 than the second, all than the third. Late is a "
        "frame\n"
        "with more than two periods. Videos with B-frames are late by those. Ten frames of each,\n"
        "by which decoders and equalizers are made, come before all that. NVDEC: the share of the\n"
        "time in which its engines were at work, as nvidia-smi tells once a second. GPU MiB: what "
        "all\n"
        "streams together take of it; counted, what lumeq says of that, which is limited to half "
        "of "
        "the\n"
        "GPU's memory, surfaces of decoders included; pinned, what it has pinned of the host's. "
        "Both "
        "at\n"
        "most, in MiB; the limits are told below. A frame for which there is no room comes to the "
        "host.\n"
        "The exit code is 0, also where frames were late, and 1 where an option, a video or the "
        "GPU\n"
        "cannot be used, or rows cannot be written.\n");
    printf(BENCH_ORIGIN_HELP);
}

static int read_options(StreamsOptions *o, int argc, char **argv)
{
    *o = (StreamsOptions){.program = {.threads = "1", .chroma = "scale"}, .seconds = 10};
    const int ret = bench_arguments("streams", bench_streams_options, o, argc, argv);
    if (ret > 0)
        print_notes();
    if (ret == 0 && !o->file_count) {
        fprintf(stderr, "lumeq-bench streams: no INPUT given; lumeq-bench streams --help shows how "
                        "it is called\n");
        return -1;
    }
    if (ret == 0 && o->unpaced && o->rate > 0) {
        fprintf(stderr, "lumeq-bench streams: --unpaced and --rate contradict each other\n");
        return -1;
    }
    return ret;
}

/* The program's own options for the same. 0, or -1 after a sentence on stderr. */
static int program_options(Options *program, const StreamsOptions *o)
{
    const BenchProgram *asked = &o->program;
    const BenchPair pairs[] = {
        {"--backend", asked->backend}, {"--hwdec", o->hwdec},       {"--chroma", asked->chroma},
        {"--threads", asked->threads}, {"--device", asked->device},
    };
    return bench_program_options(program, "streams", "--null", pairs,
                                 (int)(sizeof(pairs) / sizeof(pairs[0])), o->files[0]);
}

/* ---- measuring ---- */

typedef struct Bench {
    StreamsOptions options;
    Options program;
    Film films[MOST_FILES];
    Stream streams[MOST_STREAMS];
    StreamsJob jobs[MOST_FILES]; /* one for each film, whose rate it has */
    int count;
    double memory_before, memory; /* of the GPU, in MiB */
    LumeqMemoryUse use;           /* as the library counts */
    double busy;                  /* percents, summed up */
    int asked;                    /* how often they were told */
} Bench;

/* What its decoders do, in percent; NAN where nvidia-smi does not tell. */
static double ask_decoders(int device)
{
    char number[16], text[64] = "";
    char *const argv[] = {(char *)"nvidia-smi",
                          (char *)"-i",
                          number,
                          (char *)"--query-gpu=utilization.decoder",
                          (char *)"--format=csv,noheader,nounits",
                          NULL};
    const ProcessOptions options = {.argv = argv, .stream = STDOUT_FILENO};
    Process process;
    double busy = NAN;
    snprintf(number, sizeof(number), "%d", device);
    if (process_start(&process, &options))
        return NAN;
    if (process_read(&process, text, sizeof(text) - 1, -1) > 0 && sscanf(text, "%lf", &busy) != 1)
        busy = NAN;
    (void)process_wait(&process, -1);
    return busy;
}

static void tick(void *bench)
{
    Bench *b = bench;
    const int device = (int)b->program.device;
    const double memory = bench_gpu_memory(device), busy = ask_decoders(device);
    b->memory = fmax(b->memory, memory);
    if (isnan(busy))
        return;
    b->busy += busy;
    b->asked++;
}

static double share_of(const Stream *s, double share)
{
    return s->delays && s->frames ? s->delays[(int64_t)((double)(s->frames - 1) * share)] : NAN;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void print_stream(const BenchReport *report, const Bench *b, int number)
{
    const Stream *s = &b->streams[number];
    char text[16];
    snprintf(text, sizeof(text), "%d", number + 1);
    const BenchValue values[COLUMNS] = {
        [STREAM] = {.text = text},
        [INPUT] = {.text = name_of(b->options.files[number % b->options.file_count])},
        [DECODED] = {.text = s->on_gpu ? "GPU" : "CPU"},
        [FRAMES] = {.number = (double)s->frames},
        [RATE] = {.number = (double)s->frames * 1e6 / s->wall_us},
        [LATE] = {.number = s->delays ? (double)s->late : NAN},
        [DELAY_50] = {.number = share_of(s, 0.5)},
        [DELAY_99] = {.number = share_of(s, 0.99)},
        [DELAY_100] = {.number = share_of(s, 1)},
        [DECODER] = {.number = NAN},
        [GPU_MEMORY] = {.number = NAN},
        [COUNTED] = {.number = NAN},
        [PINNED] = {.number = NAN},
    };
    bench_report_row(report, values);
}

static double mib(uint64_t bytes)
{
    return (double)bytes / (1 << 20);
}

/* What the process may have, and what became of frames that found no room. */
static void say_limits(const Bench *b)
{
    int64_t hosted = 0;
    for (int i = 0; i < b->count; i++)
        hosted += b->streams[i].hosted;
    if (!b->use.device_limit)
        return;
    fprintf(stderr,
            "lumeq-bench streams: limits: %.0f MiB of GPU %d, of which %.0f were used; %.0f MiB "
            "pinned, of which %.0f were used\n",
            mib(b->use.device_limit), (int)b->program.device, mib(b->use.device_most),
            mib(b->use.pinned_limit), mib(b->use.pinned_most));
    if (hosted)
        fprintf(stderr, "lumeq-bench streams: %lld frames came to the host for want of room\n",
                (long long)hosted);
}

static void print_all(const BenchReport *report, const Bench *b)
{
    int64_t frames = 0, late = 0;
    double rate = 0;
    for (int i = 0; i < b->count; i++) {
        frames += b->streams[i].frames;
        late += b->streams[i].late;
        rate += (double)b->streams[i].frames * 1e6 / b->streams[i].wall_us;
    }
    const double memory = b->memory - b->memory_before;
    const BenchValue values[COLUMNS] = {
        [STREAM] = {.text = "all"},
        [FRAMES] = {.number = (double)frames},
        [RATE] = {.number = rate},
        [LATE] = {.number = b->options.unpaced ? NAN : (double)late},
        [DELAY_50] = {.number = NAN},
        [DELAY_99] = {.number = NAN},
        [DELAY_100] = {.number = NAN},
        [DECODER] = {.number = b->asked ? b->busy / b->asked : NAN},
        [GPU_MEMORY] = {.number = b->memory_before >= 0 && memory > 0 ? memory : NAN},
        [COUNTED] = {.number = b->use.device_limit ? mib(b->use.device_most) : NAN},
        [PINNED] = {.number = b->use.device_limit ? mib(b->use.pinned_most) : NAN},
    };
    bench_report_row(report, values);
}

static int open_films(Bench *b)
{
    MediaError error = {0};
    for (int i = 0; i < b->options.file_count; i++) {
        if (film_open(&b->films[i], &b->program, b->options.files[i], &error) < 0) {
            fprintf(stderr, "lumeq-bench streams: %s\n", error.text);
            return -1;
        }
        const double rate = b->options.rate > 0 ? b->options.rate : b->films[i].rate;
        b->jobs[i] = (StreamsJob){.options = &b->program,
                                  .seconds = b->options.seconds,
                                  .rate = b->options.unpaced ? 0 : rate,
                                  .decode_only = b->options.decode_only,
                                  .download = b->options.download,
                                  .own_streams = b->options.own_streams};
    }
    return 0;
}

static int measure(Bench *b)
{
    b->count = b->options.live ? b->options.live : b->options.file_count;
    for (int i = 0; i < b->count; i++) {
        const int film = i % b->options.file_count;
        b->streams[i] = (Stream){.job = &b->jobs[film], .film = &b->films[film]};
    }
    b->memory = b->memory_before = bench_gpu_memory((int)b->program.device);
    b->use.size = sizeof(b->use);
    const int ret = streams_run(b->streams, b->count, tick, b);
    (void)lumeq_memory_use((int)b->program.device, &b->use);
    if (ret >= 0)
        return 0;
    for (int i = 0; i < b->count; i++)
        if (b->streams[i].error.fault)
            fprintf(stderr, "lumeq-bench streams: stream %d: %s\n", i + 1,
                    b->streams[i].error.text);
    return -1;
}

static void print_rows(const Bench *b, int argc, char **argv)
{
    const BenchReport report = {bench_format(&b->options.program.common), columns, COLUMNS};
    bench_report_begin(&report, bench_command_line(argc, argv), NULL);
    for (int i = 0; i < b->count; i++)
        print_stream(&report, b, i);
    print_all(&report, b);
    say_limits(b);
}

int bench_streams(int argc, char **argv)
{
    static Bench b;
    const int ret = read_options(&b.options, argc, argv);
    if (ret != 0)
        return ret < 0;
    if (program_options(&b.program, &b.options) < 0)
        return 1;
    media_log_install(0, NULL);
    /* As many queues of the GPU as there are, for CUDA's streams: decoders' do not wait for each
     * other then. Before CUDA starts, which looks at it. */
    (void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
    const int failed = open_films(&b) < 0 || measure(&b) < 0;
    if (!failed)
        print_rows(&b, argc, argv);
    for (int i = 0; i < b.count; i++)
        free(b.streams[i].delays);
    for (int i = 0; i < b.options.file_count; i++)
        film_close(&b.films[i]);
    options_free(&b.program);
    return failed;
}
