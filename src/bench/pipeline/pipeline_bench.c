/* lumeq-bench pipeline: what the machine allows and what the program reaches, in one table. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/options/options.h"
#include "bench/bench.h"
#include "bench/pcie.h"
#include "bench/pipeline/pipeline_run.h"
#include "bench/program_options.h"
#include "bench/report.h"
#include "media/log.h"
#include "media/output/temp_file.h"

/* Texts are those of the command line, NULL where nothing was said. */
typedef struct PipelineOptions {
    BenchProgram program;
    const char *input, *vcodec, *preset, *crf, *folder;
    int64_t frames, rounds;
} PipelineOptions;

typedef struct PipelineRow {
    const char *what, *backend;
    PipelineResult result;
    int64_t bytes;     /* of a frame, one way; 0: not of interest */
    const char *bound; /* the row that bounds it, or NULL */
    double bound_us;   /* its time for a frame */
} PipelineRow;

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

/* Their names in CSV and JSON, on standard output. */
static void print_columns(void)
{
    int used = 0;
    for (int i = 0; i < COLUMNS; i++) {
        const int more = (int)strlen(columns[i].key) + 2;
        if (used + more > 88) {
            putchar('\n');
            used = 0;
        }
        used += more;
        printf("%s%s", columns[i].key, i + 1 < COLUMNS ? ", " : "\n");
    }
}

static void start_report(BenchReport *report, BenchFormat format)
{
    *report = (BenchReport){format, columns, COLUMNS};
}

/* `video`: the result of a probe. */
static void print_row(const BenchReport *report, const PipelineRow *row,
                      const PipelineResult *video)
{
    const PipelineResult *r = &row->result;
    const double frame_us = r->wall_us / (double)r->frames;
    const BenchValue values[COLUMNS] = {
        [WHAT] = {.text = row->what},
        [BACKEND] = {.text = row->backend},
        [WIDTH] = {.number = video->width},
        [HEIGHT] = {.number = video->height},
        [DEPTH] = {.number = video->depth},
        [FRAMES] = {.number = (double)r->frames},
        [RATE] = {.number = 1e6 / frame_us},
        [TIME] = {.number = frame_us},
        [BANDWIDTH] = {.number = row->bytes ? (double)row->bytes / frame_us / 1e3 : NAN},
        [CPU_SHARE] = {.number = 100 * r->cpu_us / r->wall_us},
        [MEMORY] = {.number = r->memory_mib},
        [GPU] = {.number = 100 * r->gpu_busy},
        [GPU_MEMORY] = {.number = r->gpu_memory_mib},
        [DECODE] = {.number = 100 * r->decode_busy},
        [UPLOAD] = {.number = 100 * r->upload_busy},
        [EQUALIZE] = {.number = 100 * r->equalize_busy},
        [DOWNLOAD] = {.number = 100 * r->download_busy},
        [ENCODE] = {.number = 100 * r->sink_busy},
        [SHARE] = {.number = row->bound ? 100 * row->bound_us / frame_us : NAN},
        [BOUND] = {.text = row->bound},
    };
    bench_report_row(report, values);
}

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

static int take_backend(void *options, const char *value)
{
    static const char *const backends[] = {"cpu", "cuda", NULL};
    ((BenchProgram *)options)->backend = value;
    return bench_read_choice(value, backends) < 0 ? -1 : 0;
}

static int take_frames(void *options, const char *value)
{
    return bench_read_integer(value, 1, 1000000, &((PipelineOptions *)options)->frames);
}

static int take_rounds(void *options, const char *value)
{
    return bench_read_integer(value, 1, 99, &((PipelineOptions *)options)->rounds);
}

static int take_vcodec(void *options, const char *value)
{
    ((PipelineOptions *)options)->vcodec = value;
    return 0;
}

static int take_preset(void *options, const char *value)
{
    ((PipelineOptions *)options)->preset = value;
    return 0;
}

static int take_crf(void *options, const char *value)
{
    double crf;
    ((PipelineOptions *)options)->crf = value;
    return bench_read_number(value, 0, 63, &crf);
}

static int take_folder(void *options, const char *value)
{
    struct stat folder;
    ((PipelineOptions *)options)->folder = value;
    return stat(value, &folder) < 0 || !S_ISDIR(folder.st_mode) ? -1 : 0;
}

const BenchOption bench_pipeline_options[] = {
    {"INPUT", NULL, "one video file that is there", "the video, which is read several times",
     take_input},
    {"--backend", "cpu|cuda", "cpu or cuda", "only this one [all that work here]", take_backend},
    {"--frames", "N", "1 to 1000000", "at most so many frames of it [250]", take_frames},
    {"--rounds", "N", "1 to 99", "runs of each, in turns; medians are shown [3]", take_rounds},
    {"--chroma", "scale|keep", "scale or keep", "as of lumeq; keep: luma alone moves [keep]",
     bench_take_chroma},
    {"--vcodec", "NAME", "the name of an encoder", "as of lumeq, into mkv [libx264]", take_vcodec},
    {"--preset", "NAME", "a preset of the encoder", "as of lumeq [libx264: medium]", take_preset},
    {"--crf", "X", "0 to 63", "as of lumeq [libx264: 18]", take_crf},
    {"--threads", "N", "0 to 256", "of decoder, equalizer and encoder; 0 = all cores [0]",
     bench_take_threads},
    {"--device", "N", "0 to 255", "number of the GPU [0]", bench_take_device},
    {"--folder", "FOLDER", "a folder that is there",
     "for the frames between the runs [TMPDIR, else /tmp]", take_folder},
    {"--csv", NULL, "", "rows for programs", bench_take_csv},
    {"--json", NULL, "", "likewise, an object a line", bench_take_json},
    {NULL, NULL, NULL, NULL, NULL},
};

static void print_notes(void)
{
    printf(
        "\nPCIe: frames of the input's size, what lumeq moves of them, copied between the GPU and\n"
        "pinned memory; GB/s is of one direction. library: the equalizer alone, on frames of the\n"
        "input in (on a GPU, pinned) memory. decode, +equalize, +encode: the program's own "
        "stages.\n"
        "raw: the equalized frames, stored uncompressed, are read again, and encoded, in one\n"
        "thread; encoder alone is the difference of the two.\n"
        "CPU is user and system time of all threads, as a share of one core. Busy is the share of\n"
        "the time in which a stage had work: that of decode and encode is the time within their\n"
        "calls, waiting for threads of their own included; GPU is any stage on it, copies too.\n"
        "Memory is the most a row's process had; on the GPU, beside CUDA's own.\n"
        "Before all that, the frames of every backend and those stored are compared.\n"
        "Columns of --csv and --json:\n");
    print_columns();
    printf(BENCH_ORIGIN_HELP);
}

/* 0, 1 after the help, or -1 after a sentence on stderr. */
static int read_options(PipelineOptions *options, int argc, char **argv)
{
    const char *folder = getenv("TMPDIR");
    *options = (PipelineOptions){
        .program.chroma = "keep", .frames = 250, .rounds = 3, .folder = folder ? folder : "/tmp"};
    const int ret = bench_arguments("pipeline", bench_pipeline_options, options, argc, argv);
    if (ret > 0)
        print_notes();
    if (ret == 0 && !options->input) {
        fprintf(stderr, "lumeq-bench pipeline: no INPUT given; lumeq-bench pipeline --help shows "
                        "how it is called\n");
        return -1;
    }
    return ret;
}

/* The program's own options for the same on `backend`, to be freed with options_free(); `output` is
 * the encoded file. 0, or -1 after a sentence on stderr. */
static int program_options(Options *program, const PipelineOptions *options, const char *backend,
                           const char *output)
{
    const BenchProgram *asked = &options->program;
    char frames[32];
    snprintf(frames, sizeof(frames), "%lld", (long long)options->frames);
    const BenchPair pairs[] = {
        {"--backend", backend},
        {"--chroma", asked->chroma},
        {"--dither", "off"},
        {"--frames", frames},
        {"--vcodec", options->vcodec},
        {"--preset", options->preset},
        {"--crf", options->crf},
        {"--threads", asked->threads},
        {"--device", asked->device},
        {"-o", output},
        {"--hwdec", "no"},
    };
    return bench_program_options(program, "pipeline", "-y", pairs,
                                 (int)(sizeof(pairs) / sizeof(pairs[0])), options->input);
}

/* ---- measuring ---- */

#define MAX_STEPS 16
#define PCIE_SECONDS 0.5

enum { CPU, CUDA, BACKENDS };
static const char *const backend_names[BACKENDS] = {"cpu", "cuda"};

static const char *const pcie_both = "PCIe both ways";
static const char *const encoder_alone = "encoder alone";

typedef struct PcieJob {
    int device, way;
    int64_t size;
} PcieJob;

typedef struct Step {
    const char *what;
    int backend; /* -1: none */
    PipelineWork *work;
    PipelineJob run;
    PcieJob pcie;
    int counts_frames;       /* not 0: it must give as many frames as there are */
    PipelineResult *results; /* by round; after all of them, the median is first */
} Step;

typedef struct Bench {
    PipelineOptions options;
    Options programs[BACKENDS];
    int works[BACKENDS]; /* not 0: to be measured */
    PipelineResult video;
    char gpu[256];
    Step steps[MAX_STEPS];
    int count;
} Bench;

/* For the signal handler. */
static char folder[4000], raw[4096], encoded[4096];

static int refuse(const char *sentence)
{
    fprintf(stderr, "lumeq-bench pipeline: %s\n", sentence);
    return -1;
}

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
        return refuse("the name of --folder is too long");
    snprintf(folder, sizeof(folder), "%s/lumeq-bench-XXXXXX", place);
    if (!mkdtemp(folder)) {
        fprintf(stderr, "lumeq-bench pipeline: no folder can be made in %s: %s\n", place,
                strerror(errno));
        return -1;
    }
    snprintf(raw, sizeof(raw), "%s/raw.%s", folder, PIPELINE_RAW_FORMAT);
    snprintf(encoded, sizeof(encoded), "%s/encoded.mkv", folder);
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGHUP, &act, NULL);
    return 0;
}

static PipelineJob job_of(const Bench *b, int backend, PipelineSink sink)
{
    return (PipelineJob){.options = &b->programs[backend],
                         .input = b->options.input,
                         .output = sink == PIPELINE_STORE ? raw : encoded,
                         .equalize = 1,
                         .gpu = backend == CUDA,
                         .sink = sink};
}

/* Opens everything once. Without --backend, a GPU that is not there is no error. */
static int probe(Bench *b, int backend)
{
    const int asked = b->options.program.backend != NULL;
    if (asked && strcmp(b->options.program.backend, backend_names[backend]) != 0)
        return 0;
    if (program_options(&b->programs[backend], &b->options, backend_names[backend], encoded) < 0)
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
    if (asked || backend == CPU)
        return refuse(result.error);
    fprintf(stderr, "lumeq-bench pipeline: PCIe and what runs on a GPU are left out: %s\n",
            result.error);
    return 0;
}

static int first_backend(const Bench *b)
{
    return b->works[CPU] ? CPU : CUDA;
}

static PipelineJob raw_job(const Bench *b, PipelineSink sink)
{
    PipelineJob job = job_of(b, first_backend(b), sink);
    job.input = raw;
    job.equalize = 0;
    job.gpu = 0;
    return job;
}

/* Sums over all frames: *sum is that of the first run, which the others must have, too. */
static int compare(Bench *b, PipelineJob job, const char *what, int first)
{
    PipelineResult result;
    job.sum = 1;
    if (pipeline_child(pipeline_run, &job, &result) < 0)
        return refuse(result.error);
    if (first) {
        b->video.frames = result.frames;
        b->video.sum = result.sum;
    }
    if (result.frames == b->video.frames && result.sum == b->video.sum)
        return 0;
    fprintf(stderr,
            "lumeq-bench pipeline: MISMATCH: %s: %lld frames of sum %08x; expected %lld of "
            "%08x\n",
            what, (long long)result.frames, result.sum, (long long)b->video.frames, b->video.sum);
    return -1;
}

/* Stores the equalized frames and sees to it that all the ways to them are right. */
static int prepare(Bench *b)
{
    const int first = first_backend(b);
    PipelineJob plain = job_of(b, CPU, PIPELINE_DROP);
    plain.plain = 1;
    int ret = compare(b, job_of(b, first, PIPELINE_STORE), backend_names[first], 1);
    if (ret == 0 && b->works[CPU])
        ret = compare(b, plain, "plain C", 0);
    if (ret == 0 && b->works[CPU] && b->works[CUDA])
        ret = compare(b, job_of(b, CUDA, PIPELINE_DROP), backend_names[CUDA], 0);
    return ret < 0 ? ret : compare(b, raw_job(b, PIPELINE_DROP), "the stored frames", 0);
}

static int work_pcie(const void *data, PipelineResult *result)
{
    const PcieJob *job = data;
    PipelineMeter meter;
    double us;
    long count;
    pipeline_meter_begin(&meter);
    const int ret = bench_pcie(&us, &count, job->device, (PcieWay)job->way, (size_t)job->size,
                               PCIE_SECONDS, result->error, sizeof(result->error));
    if (ret == 0) {
        result->wall_us = us * (double)count;
        result->frames = count;
    }
    return ret;
}

static Step *add_step(Bench *b, const char *what, int backend, PipelineWork *work)
{
    Step *step = &b->steps[b->count++];
    *step = (Step){.what = what, .backend = backend, .work = work};
    return step;
}

static void add_pcie(Bench *b, const char *what, PcieWay way)
{
    const PcieJob job = {(int)b->programs[CUDA].device, way, b->video.frame_bytes};
    add_step(b, what, CUDA, work_pcie)->pcie = job;
}

static void add_run(Bench *b, const char *what, int backend, PipelineWork *work, PipelineJob job)
{
    Step *step = add_step(b, what, backend, work);
    step->run = job;
    step->counts_frames = work == pipeline_run;
}

static PipelineJob decode_job(const Bench *b, int backend)
{
    PipelineJob job = job_of(b, backend, PIPELINE_DROP);
    job.pass = 1;
    return job;
}

static void add_steps(Bench *b)
{
    if (b->works[CUDA]) {
        add_pcie(b, "PCIe up", PCIE_UP);
        add_pcie(b, "PCIe down", PCIE_DOWN);
        add_pcie(b, pcie_both, PCIE_BOTH);
    }
    for (int i = 0; i < BACKENDS; i++) {
        if (!b->works[i])
            continue;
        add_run(b, "library", i, pipeline_library, job_of(b, i, PIPELINE_DROP));
        add_run(b, "decode", i, pipeline_run, decode_job(b, i));
        add_run(b, "decode+equalize", i, pipeline_run, job_of(b, i, PIPELINE_DROP));
        add_run(b, "decode+equalize+encode", i, pipeline_run, job_of(b, i, PIPELINE_ENCODE));
    }
    add_run(b, "raw decode", -1, pipeline_run, raw_job(b, PIPELINE_DROP));
    add_run(b, "raw decode+encode", -1, pipeline_run, raw_job(b, PIPELINE_ENCODE));
    add_step(b, encoder_alone, -1, NULL);
}

/* What the encoder adds to the two steps before it. */
static void subtract(Step *alone, int64_t round)
{
    const PipelineResult *decode = &alone[-2].results[round], *both = &alone[-1].results[round];
    PipelineResult *r = &alone->results[round];
    *r = *decode;
    r->wall_us = both->wall_us - decode->wall_us;
    r->cpu_us = both->cpu_us - decode->cpu_us;
    r->memory_mib = r->decode_busy = NAN;
}

static int run_step(const Bench *b, Step *step, int64_t round)
{
    PipelineResult *result = &step->results[round];
    if (!step->work) {
        subtract(step, round);
        return 0;
    }
    const void *job = step->work == work_pcie ? (const void *)&step->pcie : &step->run;
    if (pipeline_child(step->work, job, result) < 0)
        return refuse(result->error);
    if (step->counts_frames && result->frames != b->video.frames) {
        fprintf(stderr, "lumeq-bench pipeline: MISMATCH: %s gave %lld frames, expected %lld\n",
                step->what, (long long)result->frames, (long long)b->video.frames);
        return -1;
    }
    return 0;
}

static double frame_us(const PipelineResult *result)
{
    return result->wall_us / (double)result->frames;
}

static int compare_times(const void *a, const void *b)
{
    const double x = frame_us(a), y = frame_us(b);
    return (x > y) - (x < y);
}

/* Of an even number of runs, the slower one of the two in the middle. */
static void put_median_first(Step *step, int64_t rounds)
{
    qsort(step->results, (size_t)rounds, sizeof(*step->results), compare_times);
    step->results[0] = step->results[rounds / 2];
}

static int measure(Bench *b)
{
    const int64_t rounds = b->options.rounds;
    for (int i = 0; i < b->count; i++) {
        b->steps[i].results = calloc((size_t)rounds, sizeof(PipelineResult));
        if (!b->steps[i].results)
            return refuse("out of memory");
    }
    for (int64_t round = 0; round < rounds; round++)
        for (int i = 0; i < b->count; i++)
            if (run_step(b, &b->steps[i], round) < 0)
                return -1;
    for (int i = 0; i < b->count; i++)
        put_median_first(&b->steps[i], rounds);
    return 0;
}

static const Step *find_step(const Bench *b, const char *what, int backend)
{
    for (int i = 0; i < b->count; i++)
        if (!strcmp(b->steps[i].what, what) && b->steps[i].backend == backend)
            return &b->steps[i];
    return NULL;
}

/* The step that this one can at best be as fast as, or NULL. */
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
    const int on_bus =
        step->backend == CUDA && (step->work == work_pcie || step->work == pipeline_library);
    const Step *bound = bound_of(b, step);
    const PipelineRow row = {.what = step->what,
                             .backend = step->backend < 0 ? NULL : backend_names[step->backend],
                             .result = step->results[0],
                             .bytes = on_bus ? b->video.frame_bytes : 0,
                             .bound = bound ? bound->what : NULL,
                             .bound_us = bound ? frame_us(bound->results) : NAN};
    print_row(report, &row, &b->video);
}

static void print_all(const Bench *b, const char *command)
{
    BenchReport report;
    start_report(&report, bench_format(&b->options.program.common));
    bench_report_begin(&report, command, b->gpu[0] ? b->gpu : NULL);
    for (int i = 0; i < b->count; i++)
        print_step(b, &report, &b->steps[i]);
}

static int run(Bench *b, const char *command)
{
    int ret = 0;
    for (int i = 0; i < BACKENDS && ret == 0; i++)
        ret = probe(b, i);
    if (ret == 0)
        ret = prepare(b);
    if (ret == 0) {
        add_steps(b);
        ret = measure(b);
    }
    if (ret == 0)
        print_all(b, command);
    for (int i = 0; i < b->count; i++)
        free(b->steps[i].results);
    for (int i = 0; i < BACKENDS; i++)
        options_free(&b->programs[i]);
    return ret;
}

int bench_pipeline(int argc, char **argv)
{
    static Bench bench;
    const char *command = bench_command_line(argc, argv);
    const int asked = read_options(&bench.options, argc, argv);
    if (asked)
        return asked < 0;
    media_log_install(0, NULL);
    if (make_folder(bench.options.folder) < 0)
        return 1;
    const int ret = run(&bench, command);
    remove_files();
    return ret < 0;
}
