/* lumeq-bench pipeline: what the machine allows and what the program reaches, in one table. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/pipeline_run.h"
#include "media/log.h"
#include "media/output/temp_file.h"

#define MAX_STEPS 16

enum { CPU, CUDA, BACKENDS };
static const char *const backend_names[BACKENDS] = {"cpu", "cuda"};

static const char *const pcie_both = "PCIe both ways";
static const char *const encoder_alone = "encoder alone";

typedef struct PipelineOptions {
    BenchProgram program;
    const char *input, *vcodec, *preset, *crf, *folder;
    int64_t frames, rounds;
} PipelineOptions;

/* A step is one row of the table. */
typedef struct Step {
    const char *what;
    int backend;        /* -1: none */
    PipelineWork *work; /* NULL: the difference of the two steps before it */
    PipelineJob job;
    PipelineResult *results; /* by round; after all rounds, the median is first */
} Step;

typedef struct Bench {
    PipelineOptions options;
    Options programs[BACKENDS];
    int works[BACKENDS]; /* measure the backend */
    PipelineResult video;
    char gpu[256];
    Step steps[MAX_STEPS];
    int count;
} Bench;

/* ---- options ---- */

static int take_input(void *options, const char *value)
{
    PipelineOptions *const o = options;
    struct stat input;
    if (o->input || stat(value, &input) < 0 || !S_ISREG(input.st_mode))
        return -1;
    o->input = value;
    return 0;
}

static int take_folder(void *options, const char *value)
{
    struct stat folder;
    ((PipelineOptions *)options)->folder = value;
    return stat(value, &folder) < 0 || !S_ISDIR(folder.st_mode) ? -1 : 0;
}

const BenchOption bench_pipeline_options[] = {
    {"INPUT", NULL, "the video; it is read several times", .take = take_input,
     .allowed = "one video file that exists"},
    {"--backend", "cpu|cuda", "measure only this backend [all that work here]",
     BENCH_STORE(CHOICE, BenchProgram, backend)},
    {"--frames", "N", "stop after N frames [250]",
     BENCH_RANGE(INT64, PipelineOptions, frames, 1, 1000000)},
    {"--rounds", "N", "runs of each step, alternately; medians are shown [3]",
     BENCH_RANGE(INT64, PipelineOptions, rounds, 1, 99)},
    {"--chroma", "scale|keep", "as lumeq --chroma; keep: only luma is transferred [keep]",
     BENCH_STORE(CHOICE, BenchProgram, chroma)},
    {"--vcodec", "NAME", "as lumeq --vcodec, into an mkv file [libx264]",
     BENCH_STORE(TEXT, PipelineOptions, vcodec)},
    {"--preset", "NAME", "as lumeq --preset [libx264: medium]",
     BENCH_STORE(TEXT, PipelineOptions, preset)},
    {"--crf", "X", "as lumeq --crf [libx264: 18]", BENCH_RANGE(TEXT, PipelineOptions, crf, 0, 63)},
    {"--threads", "N", "threads of decoder, equalizer and encoder; 0: all cores [0]",
     BENCH_RANGE(TEXT, BenchProgram, threads, 0, 256)},
    {"--device", "N", "number of the GPU [0]", BENCH_RANGE(TEXT, BenchProgram, device, 0, 255)},
    {"--folder", "FOLDER", "for the frames between the runs [TMPDIR, else /tmp]",
     .take = take_folder, .allowed = "a folder that exists"},
    BENCH_FORMAT_OPTIONS,
};

/* ---- rows ---- */

enum {
    WHAT,
    BACKEND,
    WIDTH,
    HEIGHT,
    DEPTH,
    FRAMES,
    RATE,
    TIME,
    BANDWIDTH,
    CPU_SHARE,
    MEMORY,
    GPU,
    GPU_MEMORY,
    DECODE,
    UPLOAD,
    EQUALIZE,
    DOWNLOAD,
    ENCODE,
    SHARE,
    BOUND,
    COLUMNS
};

static const BenchColumn columns[COLUMNS] = {
    [WHAT] = {"stages", "stages", 22, -1},
    [BACKEND] = {"backend", "backend", 7, -1},
    [WIDTH] = {"width", NULL, 0, 0},
    [HEIGHT] = {"height", NULL, 0, 0},
    [DEPTH] = {"depth", NULL, 0, 0},
    [FRAMES] = {"frames", "frames", 7, 0},
    [RATE] = {"frames_per_s", "frames/s", 9, 1},
    [TIME] = {"frame_us", "us/frame", 9, 1},
    [BANDWIDTH] = {"gb_per_s", "GB/s", 6, 2},
    [CPU_SHARE] = {"cpu_percent", "CPU %", 6, 1},
    [MEMORY] = {"memory_mib", "MiB", 7, 1},
    [GPU] = {"gpu_busy_percent", "GPU %", 5, 1},
    [GPU_MEMORY] = {"gpu_memory_mib", "GPU MiB", 7, 1},
    [DECODE] = {"decode_busy_percent", "decode", 6, 1},
    [UPLOAD] = {"upload_busy_percent", "upload", 6, 1},
    [EQUALIZE] = {"equalize_busy_percent", "equalize", 8, 1},
    [DOWNLOAD] = {"download_busy_percent", "download", 8, 1},
    [ENCODE] = {"encode_busy_percent", "encode", 6, 1},
    [SHARE] = {"share_of_bound_percent", "share %", 7, 1},
    [BOUND] = {"bound", "of", 2, -1},
};

static void print_notes(void)
{
    printf(
        "\nPCIe: frames of the input's size, the planes that lumeq transfers, copied between GPU "
        "and\n"
        "pinned memory; GB/s is for one direction. library: the equalizer alone, on frames of the\n"
        "input in (on a GPU, pinned) memory. decode, +equalize, +encode: the program's stages. "
        "raw:\n"
        "the equalized frames, stored uncompressed, are read again and encoded in one thread;\n"
        "encoder alone is the difference of the two.\n"
        "CPU is user and system time of all threads, as a share of one core. Busy is the share of\n"
        "the time in which a stage had work; for decode and encode it is the time within their\n"
        "calls, which includes waiting for their own threads; GPU is any stage on it, with "
        "copies.\n"
        "Memory is the peak of a row's process; on the GPU, without CUDA's context.\n"
        "Before measuring, the frames of all backends and the stored frames are compared.\n"
        "Columns of --csv and --json:\n");
    for (int i = 0, used = 0; i < COLUMNS; i++) {
        const int more = (int)strlen(columns[i].key) + 2;
        const int wraps = used + more > 88;
        used = wraps ? more : used + more;
        printf("%s%s%s", wraps ? "\n" : "", columns[i].key, i + 1 < COLUMNS ? ", " : "\n");
    }
    printf(BENCH_ORIGIN_HELP);
}

static double frame_us(const PipelineResult *result)
{
    return result->wall_us / (double)result->frames;
}

static const Step *find_step(const Bench *b, const char *what, int backend)
{
    for (int i = 0; i < b->count; i++)
        if (!strcmp(b->steps[i].what, what) && b->steps[i].backend == backend)
            return &b->steps[i];
    return NULL;
}

/* Returns the step that limits this one, or NULL. */
static const Step *bound_of(const Bench *b, const Step *step)
{
    if (!strcmp(step->what, "library"))
        return find_step(b, pcie_both, step->backend);
    if (!strcmp(step->what, "decode+equalize+encode"))
        return find_step(b, encoder_alone, -1);
    if (strcmp(step->what, "decode+equalize") != 0)
        return NULL;
    const Step *decode = find_step(b, "decode", step->backend);
    const Step *library = find_step(b, "library", step->backend);
    return frame_us(decode->results) > frame_us(library->results) ? decode : library;
}

static void print_step(const Bench *b, const BenchReport *report, const Step *step)
{
    const PipelineResult *r = &step->results[0];
    const Step *bound = bound_of(b, step);
    const int on_bus =
        step->backend == CUDA && (step->work == pipeline_pcie || step->work == pipeline_library);
    const double us = frame_us(r);
    const BenchValue values[COLUMNS] = {
        [WHAT] = {.text = step->what},
        [BACKEND] = {.text = step->backend < 0 ? NULL : backend_names[step->backend]},
        [WIDTH] = {.number = b->video.width},
        [HEIGHT] = {.number = b->video.height},
        [DEPTH] = {.number = b->video.depth},
        [FRAMES] = {.number = (double)r->frames},
        [RATE] = {.number = 1e6 / us},
        [TIME] = {.number = us},
        [BANDWIDTH] = {.number = on_bus ? (double)b->video.frame_bytes / us / 1e3 : NAN},
        [CPU_SHARE] = {.number = 100 * r->cpu_us / r->wall_us},
        [MEMORY] = {.number = r->memory_mib},
        [GPU] = {.number = 100 * r->gpu_busy},
        [GPU_MEMORY] = {.number = r->gpu_memory_mib},
        [DECODE] = {.number = 100 * r->decode_busy},
        [UPLOAD] = {.number = 100 * r->upload_busy},
        [EQUALIZE] = {.number = 100 * r->equalize_busy},
        [DOWNLOAD] = {.number = 100 * r->download_busy},
        [ENCODE] = {.number = 100 * r->sink_busy},
        [SHARE] = {.number = bound ? 100 * frame_us(bound->results) / us : NAN},
        [BOUND] = {.text = bound ? bound->what : NULL},
    };
    bench_report_row(report, values);
}

/* ---- temporary files ---- */

static char folder[4000], raw[4096], encoded[4096]; /* for the signal handler */

static void remove_files(void)
{
    unlink(raw);
    unlink(encoded);
    rmdir(folder);
}

static void on_signal(int number)
{
    temp_file_remove_all(NULL);
    remove_files();
    _exit(128 + number);
}

static int make_folder(const char *place)
{
    const struct sigaction act = {.sa_handler = on_signal};
    if (strlen(place) > sizeof(folder) - 32)
        return bench_refuse("pipeline", "the name of --folder is too long");
    snprintf(folder, sizeof(folder), "%s/lumeq-bench-XXXXXX", place);
    if (!mkdtemp(folder))
        return bench_refuse("pipeline", "no folder can be made in %s: %s", place, strerror(errno));
    snprintf(raw, sizeof(raw), "%s/raw." PIPELINE_RAW_FORMAT, folder);
    snprintf(encoded, sizeof(encoded), "%s/encoded.mkv", folder);
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGHUP, &act, NULL);
    return 0;
}

/* ---- jobs ---- */

static PipelineJob job_of(const Bench *b, int backend, PipelineSink sink)
{
    return (PipelineJob){.options = &b->programs[backend],
                         .input = b->options.input,
                         .output = sink == PIPELINE_STORE ? raw : encoded,
                         .equalize = 1,
                         .gpu = backend == CUDA,
                         .sink = sink};
}

/* Reads the stored frames, without an equalizer. */
static PipelineJob raw_job(const Bench *b, PipelineSink sink)
{
    PipelineJob job = job_of(b, b->works[CPU] ? CPU : CUDA, sink);
    job.input = raw;
    job.equalize = job.gpu = 0;
    return job;
}

/* Makes the program's options for a backend. Returns 0, or -1 after a sentence on stderr. */
static int program_options(Options *program, const PipelineOptions *o, const char *backend)
{
    char frames[32];
    snprintf(frames, sizeof(frames), "%lld", (long long)o->frames);
    const BenchPair pairs[] = {
        {"--backend", backend},
        {"--chroma", o->program.chroma},
        {"--dither", "off"},
        {"--frames", frames},
        {"--vcodec", o->vcodec},
        {"--preset", o->preset},
        {"--crf", o->crf},
        {"--threads", o->program.threads},
        {"--device", o->program.device},
        {"-o", encoded},
        {"--hwdec", "no"},
    };
    return bench_program_options(program, "pipeline", "-y", pairs,
                                 (int)(sizeof(pairs) / sizeof(pairs[0])), o->input);
}

/* Opens everything once. A missing GPU is an error only with --backend cuda. */
static int probe(Bench *b, int backend)
{
    const char *given = b->options.program.backend;
    if (given && strcmp(given, backend_names[backend]) != 0)
        return 0;
    if (program_options(&b->programs[backend], &b->options, backend_names[backend]) < 0)
        return -1;
    const PipelineJob job = job_of(b, backend, PIPELINE_ENCODE);
    PipelineResult result;
    if (pipeline_child(pipeline_probe, &job, &result) == 0) {
        b->works[backend] = 1;
        b->video = result;
        if (backend == CUDA)
            snprintf(b->gpu, sizeof(b->gpu), "%s", result.where);
        return 0;
    }
    if (given || backend == CPU)
        return bench_refuse("pipeline", "%s", result.error);
    bench_refuse("pipeline", "PCIe and stages on a GPU are left out: %s", result.error);
    return 0;
}

/* Compares the frames of a run with those of the first run. */
static int compare(Bench *b, PipelineJob job, const char *what, int is_first)
{
    PipelineResult result;
    job.sum = 1;
    if (pipeline_child(pipeline_run, &job, &result) < 0)
        return bench_refuse("pipeline", "%s", result.error);
    if (is_first) {
        b->video.frames = result.frames;
        b->video.sum = result.sum;
    }
    if (result.frames == b->video.frames && result.sum == b->video.sum)
        return 0;
    return bench_refuse(
        "pipeline", "MISMATCH: %s: %lld frames with checksum %08x; expected %lld with %08x", what,
        (long long)result.frames, result.sum, (long long)b->video.frames, b->video.sum);
}

/* Stores the equalized frames, and checks that all backends, plain C and the stored file give the
 * same frames. */
static int prepare(Bench *b)
{
    const int first = b->works[CPU] ? CPU : CUDA;
    PipelineJob plain = job_of(b, CPU, PIPELINE_DROP);
    plain.plain = 1;
    int ret = compare(b, job_of(b, first, PIPELINE_STORE), backend_names[first], 1);
    if (ret == 0 && b->works[CPU])
        ret = compare(b, plain, "plain C", 0);
    if (ret == 0 && b->works[CPU] && b->works[CUDA])
        ret = compare(b, job_of(b, CUDA, PIPELINE_DROP), backend_names[CUDA], 0);
    return ret < 0 ? ret : compare(b, raw_job(b, PIPELINE_DROP), "the stored frames", 0);
}

/* ---- steps ---- */

static void add_step(Bench *b, const char *what, int backend, PipelineWork *work, PipelineJob job)
{
    b->steps[b->count++] = (Step){.what = what, .backend = backend, .work = work, .job = job};
}

static void add_pcie(Bench *b, const char *what, BenchWay way)
{
    PipelineJob job = job_of(b, CUDA, PIPELINE_DROP);
    job.way = way;
    job.size = b->video.frame_bytes;
    add_step(b, what, CUDA, pipeline_pcie, job);
}

static void add_steps(Bench *b)
{
    if (b->works[CUDA]) {
        add_pcie(b, "PCIe up", BENCH_UP);
        add_pcie(b, "PCIe down", BENCH_DOWN);
        add_pcie(b, pcie_both, BENCH_BOTH);
    }
    for (int i = 0; i < BACKENDS; i++) {
        const PipelineJob drop = job_of(b, i, PIPELINE_DROP);
        PipelineJob pass = drop;
        pass.pass = 1;
        if (!b->works[i])
            continue;
        add_step(b, "library", i, pipeline_library, drop);
        add_step(b, "decode", i, pipeline_run, pass);
        add_step(b, "decode+equalize", i, pipeline_run, drop);
        add_step(b, "decode+equalize+encode", i, pipeline_run, job_of(b, i, PIPELINE_ENCODE));
    }
    add_step(b, "raw decode", -1, pipeline_run, raw_job(b, PIPELINE_DROP));
    add_step(b, "raw decode+encode", -1, pipeline_run, raw_job(b, PIPELINE_ENCODE));
    add_step(b, encoder_alone, -1, NULL, (PipelineJob){0});
}

static int run_step(const Bench *b, Step *step, int64_t round)
{
    PipelineResult *result = &step->results[round];
    if (!step->work) { /* the difference of the two steps before it */
        const PipelineResult *both = &step[-1].results[round];
        *result = step[-2].results[round];
        result->wall_us = both->wall_us - result->wall_us;
        result->cpu_us = both->cpu_us - result->cpu_us;
        result->memory_mib = result->decode_busy = NAN;
        return 0;
    }
    if (pipeline_child(step->work, &step->job, result) < 0)
        return bench_refuse("pipeline", "%s", result->error);
    if (step->work == pipeline_run && result->frames != b->video.frames)
        return bench_refuse("pipeline", "MISMATCH: %s gave %lld frames, expected %lld", step->what,
                            (long long)result->frames, (long long)b->video.frames);
    return 0;
}

static int compare_times(const void *a, const void *b)
{
    const double x = frame_us(a), y = frame_us(b);
    return (x > y) - (x < y);
}

static int measure(Bench *b)
{
    const int64_t rounds = b->options.rounds;
    for (int i = 0; i < b->count; i++) {
        b->steps[i].results = calloc((size_t)rounds, sizeof(PipelineResult));
        if (!b->steps[i].results)
            return bench_refuse("pipeline", "out of memory");
    }
    for (int64_t round = 0; round < rounds; round++)
        for (int i = 0; i < b->count; i++)
            if (run_step(b, &b->steps[i], round) < 0)
                return -1;
    for (int i = 0; i < b->count; i++) {
        PipelineResult *results = b->steps[i].results;
        qsort(results, (size_t)rounds, sizeof(*results), compare_times);
        results[0] = results[rounds / 2]; /* the slower one of two in the middle */
    }
    return 0;
}

int bench_pipeline(int argc, char **argv)
{
    static Bench b;
    const char *temporary = getenv("TMPDIR");
    b.options = (PipelineOptions){.program.chroma = "keep",
                                  .frames = 250,
                                  .rounds = 3,
                                  .folder = temporary ? temporary : "/tmp"};
    int ret = bench_arguments("pipeline", bench_pipeline_options, &b.options, argc, argv);
    if (ret > 0)
        print_notes();
    if (ret)
        return ret < 0;
    if (!b.options.input)
        return bench_refuse("pipeline", "INPUT is missing; see lumeq-bench pipeline --help") < 0;
    media_log_install(0, NULL, NULL);
    if (make_folder(b.options.folder) < 0)
        return 1;
    for (int i = 0; i < BACKENDS && ret == 0; i++)
        ret = probe(&b, i);
    if (ret == 0)
        ret = prepare(&b);
    if (ret == 0) {
        add_steps(&b);
        ret = measure(&b);
    }
    if (ret == 0) {
        const BenchReport report = {bench_format(&b.options.program.common), columns, COLUMNS};
        bench_report_begin(&report, bench_command_line(argc, argv), b.gpu[0] ? b.gpu : NULL);
        for (int i = 0; i < b.count; i++)
            print_step(&b, &report, &b.steps[i]);
    }
    for (int i = 0; i < b.count; i++)
        free(b.steps[i].results);
    for (int i = 0; i < BACKENDS; i++)
        options_free(&b.programs[i]);
    remove_files();
    return ret < 0;
}
