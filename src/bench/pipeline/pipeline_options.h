/* What `lumeq-bench pipeline` is asked for. */
#ifndef LUMEQ_BENCH_PIPELINE_OPTIONS_H
#define LUMEQ_BENCH_PIPELINE_OPTIONS_H

#include "app/options/options.h"
#include "bench/report.h"

/* Texts are those of the command line, NULL where nothing was said. */
typedef struct PipelineOptions {
    const char *input, *backend, *chroma, *vcodec, *preset, *crf, *threads, *device, *folder;
    int64_t frames, rounds;
    BenchFormat format;
} PipelineOptions;

/* 0, 1 after the help, or -1 after a sentence on stderr. */
int pipeline_options(PipelineOptions *options, int argc, char **argv);

/* The program's own options for the same on `backend`, to be freed with options_free(); `output` is
 * the encoded file. 0, or -1 after a sentence on stderr. */
int pipeline_program_options(Options *program, const PipelineOptions *options, const char *backend,
                             const char *output);

#endif
