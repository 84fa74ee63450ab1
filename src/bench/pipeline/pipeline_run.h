/* One run of the program's stages for `lumeq-bench pipeline`, in a process of its own. */
#ifndef LUMEQ_BENCH_PIPELINE_RUN_H
#define LUMEQ_BENCH_PIPELINE_RUN_H

#include <stdint.h>

#include "app/options/options.h"

/* How the frames are stored between the runs: as they are, so that reading them costs little. */
#define PIPELINE_RAW_FORMAT "nut"
#define PIPELINE_RAW_CODEC "rawvideo"

typedef enum PipelineSink {
    PIPELINE_DROP,   /* frames are thrown away, as with --null */
    PIPELINE_ENCODE, /* written to `output` by the encoder of the options */
    PIPELINE_STORE,  /* written to `output` as they are */
} PipelineSink;

typedef struct PipelineJob {
    const Options *options;
    const char *input, *output;
    int equalize; /* not 0: there is an equalizer, and its memory is decoded to */
    int pass;     /* not 0: it is left idle: frames pass as they are decoded, in one thread */
    int sum;      /* not 0: PipelineResult.sum is wanted */
    int plain;    /* not 0: by the kernels in plain C */
    int gpu;      /* not 0: the options' backend is a GPU */
    PipelineSink sink;
} PipelineJob;

/* Shares are of the time on the clock; what is not known is NAN. */
typedef struct PipelineResult {
    char error[1200]; /* one sentence, or "" */
    char where[256];  /* what equalizes, and why */
    int64_t frames;
    double wall_us, cpu_us;
    double memory_mib, gpu_memory_mib; /* the most there was; on the GPU beside the context */
    double gpu_busy;                   /* at least one stage of it */
    double decode_busy, upload_busy, equalize_busy, download_busy, sink_busy;
    uint32_t sum; /* over the samples of all frames */

    int width, height, depth; /* of the first frame */
    int64_t frame_bytes;      /* of its planes that the GPU gets */
} PipelineResult;

/* Does something in the process it is called in: 0, or -1 with result->error. */
typedef int PipelineWork(const void *job, PipelineResult *result);

/* Runs `work` in a child process, so that memory and processor time are its own, and CUDA is opened
 * anew. 0, or -1 with result->error. */
int pipeline_child(PipelineWork *work, const void *job, PipelineResult *result);

/* Jobs of these are a PipelineJob. */
PipelineWork pipeline_probe;   /* opens what the job needs and describes the first frame */
PipelineWork pipeline_run;     /* the stages, to the end of the input */
PipelineWork pipeline_library; /* the equalizer alone, fed with the first frames in turns */

/* The clock and processor time of this process from begin to end, into `result`. */
typedef struct PipelineMeter {
    double wall_us, cpu_us;
} PipelineMeter;

void pipeline_meter_begin(PipelineMeter *meter);
void pipeline_meter_end(const PipelineMeter *meter, PipelineResult *result);

#endif
