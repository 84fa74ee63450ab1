/* One run of the program's stages for lumeq-bench pipeline, in a process of its own. */
#ifndef LUMEQ_BENCH_PIPELINE_RUN_H
#define LUMEQ_BENCH_PIPELINE_RUN_H

#include <stdint.h>

#include "app/options/options.h"
#include "bench/copies.h"

#define PIPELINE_RAW_FORMAT "nut" /* of uncompressed frames between runs: cheap to read */

typedef enum PipelineSink {
    PIPELINE_DROP,   /* frames are discarded, as with --null */
    PIPELINE_ENCODE, /* frames are written to `output` by the encoder of the options */
    PIPELINE_STORE,  /* frames are written to `output` uncompressed */
} PipelineSink;

typedef struct PipelineJob {
    const Options *options;
    const char *input, *output;
    int equalize; /* open an equalizer, and decode into its memory */
    int pass;     /* but leave it idle: decode only, in one thread */
    int sum;      /* compute PipelineResult.sum */
    int plain;    /* use the kernels in plain C */
    int gpu;      /* the options' backend is a GPU */
    PipelineSink sink;
    BenchWay way; /* of pipeline_pcie(): copies of `size` bytes */
    int64_t size;
} PipelineJob;

/* Shares are of wall-clock time; NAN is unknown. */
typedef struct PipelineResult {
    char error[1200]; /* one sentence, or "" */
    char where[256];  /* the backend, and why it was chosen */
    int64_t frames;
    uint32_t sum; /* checksum over the samples of all frames */

    double wall_us, cpu_us;
    double memory_mib, gpu_memory_mib; /* peaks; on the GPU without the context */
    double gpu_busy;                   /* at least one stage was active on the GPU */
    double decode_busy, upload_busy, equalize_busy, download_busy, sink_busy;

    int width, height, depth; /* of the first frame */
    int64_t frame_bytes;      /* of its planes that are sent to the GPU */
} PipelineResult;

/* Does a job in the process it is called in. Returns 0, or -1 with result->error. */
typedef int PipelineWork(const PipelineJob *job, PipelineResult *result);

PipelineWork pipeline_probe;   /* opens everything and describes the first frame */
PipelineWork pipeline_run;     /* runs the stages to the end of the input */
PipelineWork pipeline_library; /* runs the equalizer alone, on the first frames in a loop */
PipelineWork pipeline_pcie;    /* copies over the bus */

/* Runs `work` in a child process, so that memory and processor time are its own, and CUDA starts
 * fresh. Returns 0, or -1 with result->error. */
int pipeline_child(PipelineWork *work, const PipelineJob *job, PipelineResult *result);

#endif
