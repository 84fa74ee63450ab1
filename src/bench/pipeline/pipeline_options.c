#include "bench/pipeline/pipeline_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/command_line.h"
#include "bench/pipeline/pipeline_rows.h"

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
    ((PipelineOptions *)options)->backend = value;
    return bench_read_choice(value, backends) < 0 ? -1 : 0;
}

static int take_chroma(void *options, const char *value)
{
    static const char *const choices[] = {"scale", "keep", NULL};
    ((PipelineOptions *)options)->chroma = value;
    return bench_read_choice(value, choices) < 0 ? -1 : 0;
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

static int take_threads(void *options, const char *value)
{
    int64_t threads;
    ((PipelineOptions *)options)->threads = value;
    return bench_read_integer(value, 0, 256, &threads);
}

static int take_device(void *options, const char *value)
{
    int64_t device;
    ((PipelineOptions *)options)->device = value;
    return bench_read_integer(value, 0, 255, &device);
}

static int take_folder(void *options, const char *value)
{
    struct stat folder;
    ((PipelineOptions *)options)->folder = value;
    return stat(value, &folder) < 0 || !S_ISDIR(folder.st_mode) ? -1 : 0;
}

static int take_csv(void *options, const char *value)
{
    (void)value;
    ((PipelineOptions *)options)->format = BENCH_CSV;
    return 0;
}

static int take_json(void *options, const char *value)
{
    (void)value;
    ((PipelineOptions *)options)->format = BENCH_JSON;
    return 0;
}

static const BenchOption table[] = {
    {"INPUT", NULL, "one video file that is there", "the video, which is read several times",
     take_input},
    {"--backend", "cpu|cuda", "cpu or cuda", "only this one [all that work here]", take_backend},
    {"--frames", "N", "1 to 1000000", "at most so many frames of it [250]", take_frames},
    {"--rounds", "N", "1 to 99", "runs of each, in turns; medians are shown [3]", take_rounds},
    {"--chroma", "scale|keep", "scale or keep", "as of lumeq; keep: luma alone moves [keep]",
     take_chroma},
    {"--vcodec", "NAME", "the name of an encoder", "as of lumeq, into mkv [libx264]", take_vcodec},
    {"--preset", "NAME", "a preset of the encoder", "as of lumeq [libx264: medium]", take_preset},
    {"--crf", "X", "0 to 63", "as of lumeq [libx264: 18]", take_crf},
    {"--threads", "N", "0 to 256", "of decoder, equalizer and encoder; 0 = all cores [0]",
     take_threads},
    {"--device", "N", "0 to 255", "number of the GPU [0]", take_device},
    {"--folder", "FOLDER", "a folder that is there",
     "for the frames between the runs [TMPDIR, else /tmp]", take_folder},
    {"--csv", NULL, "", "rows for programs", take_csv},
    {"--json", NULL, "", "likewise, an object a line", take_json},
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
    pipeline_print_columns();
    printf(BENCH_ORIGIN_HELP);
}

int pipeline_options(PipelineOptions *options, int argc, char **argv)
{
    const char *folder = getenv("TMPDIR");
    *options = (PipelineOptions){
        .chroma = "keep", .frames = 250, .rounds = 3, .folder = folder ? folder : "/tmp"};
    const int ret = bench_arguments("pipeline", table, options, argc, argv);
    if (ret > 0)
        print_notes();
    if (ret == 0 && !options->input) {
        fprintf(stderr, "lumeq-bench pipeline: no INPUT given; lumeq-bench pipeline --help shows "
                        "how it is called\n");
        return -1;
    }
    return ret;
}

int pipeline_program_options(Options *program, const PipelineOptions *options, const char *backend,
                             const char *output)
{
    char frames[32], text[1400];
    snprintf(frames, sizeof(frames), "%lld", (long long)options->frames);
    const char *const pairs[][2] = {
        {"--backend", backend},  {"--chroma", options->chroma},   {"--dither", "off"},
        {"--frames", frames},    {"--vcodec", options->vcodec},   {"--preset", options->preset},
        {"--crf", options->crf}, {"--threads", options->threads}, {"--device", options->device},
        {"-o", output},
    };
    const char *argv[32] = {"lumeq", "--no-config", "-y"};
    int argc = 3;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (pairs[i][1]) {
            argv[argc++] = pairs[i][0];
            argv[argc++] = pairs[i][1];
        }
    argv[argc++] = "--";
    argv[argc++] = options->input;
    if (options_parse(program, argc, (char **)argv, text, sizeof(text)) == 0)
        return 0;
    fprintf(stderr, "lumeq-bench pipeline: %s\n", text);
    return -1;
}
