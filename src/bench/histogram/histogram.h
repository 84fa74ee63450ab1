/* What the parts of lumeq-bench histogram share. */
#ifndef LUMEQ_BENCH_HISTOGRAM_H
#define LUMEQ_BENCH_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_MAX_BINS 4096
#define HISTOGRAM_MAX_ELEMENTS (1 << 30)

/* Of strategy per-thread-64: the most bins. */
#define HISTOGRAM_THREAD_BINS 64

typedef enum HistogramKind {
    HISTOGRAM_CPU,
    HISTOGRAM_CPU_SIMD,
    HISTOGRAM_GLOBAL, /* from here on with a GPU */
    HISTOGRAM_GLOBAL_STRIDE,
    HISTOGRAM_SHARED,
    HISTOGRAM_SHARED_WARP,
    HISTOGRAM_SHARED_REPLICATED,
    HISTOGRAM_AGGREGATED,
    HISTOGRAM_PER_THREAD,
    HISTOGRAM_RACY,
    HISTOGRAM_CUB,
    HISTOGRAM_LUMEQ,
    HISTOGRAM_KINDS
} HistogramKind;

/* A strategy as it was asked for. */
typedef struct HistogramChoice {
    char name[32];
    HistogramKind kind;
    int copies; /* of shared-replicated; 0: as many as fit */
} HistogramChoice;

typedef enum HistogramMemory {
    HISTOGRAM_PINNED,
    HISTOGRAM_PAGEABLE,
    HISTOGRAM_MANAGED
} HistogramMemory;

/* What is to be counted, and how. Every element is below `bins`. */
typedef struct HistogramJob {
    uint8_t *data;
    size_t pitch; /* bytes from one row to the next; what is left of them are no elements */
    int width, height;
    int sample_size; /* 1, 2 or 4 bytes */
    int bins;
    uint32_t saturate; /* no bin counts further; 0: all do */
    int cumulate;      /* the sums up to each bin as well */
    int load_factor;   /* elements a thread counts, or as many more as its strategy
                          reads at once; 0: the strategy's own */
    int sectioned;     /* they are neighbours; else those of neighbouring threads are */
    HistogramMemory memory;
    int check_only; /* nothing is timed */
} HistogramJob;

typedef enum HistogramStatus {
    HISTOGRAM_DONE,
    HISTOGRAM_SKIPPED,
    HISTOGRAM_FAILED
} HistogramStatus;

/* Times are medians in microseconds; NAN: there is none. */
typedef struct HistogramOutcome {
    HistogramStatus status;
    char why[192];        /* of what was skipped or has failed */
    uint32_t load_factor; /* the most elements that a thread counts; 0: not known */
    double us, spread_us;
    double alone_us; /* each begins when all of the one before is done */
    double up_us, down_us;
    double peak_gb_s, copy_gb_s; /* of the device's memory: by its clock, and copying */
    uint32_t counts[HISTOGRAM_MAX_BINS], sums[HISTOGRAM_MAX_BINS];
    uint32_t whole[HISTOGRAM_MAX_BINS]; /* counts before --saturate cuts them; only with that */
} HistogramOutcome;

static inline int64_t histogram_elements(const HistogramJob *job)
{
    return (int64_t)job->width * job->height;
}

/* ---- histogram_data.c: both answer 0, or -1 after a sentence on stderr ---- */

/* How many elements of `sample_size` bytes are in a file. */
int histogram_file_elements(const char *name, int sample_size, int64_t *elements);

/* Allocates job->data, for free(), and fills it with one of bench_contents or a file's bytes, which
 * are refused when an element is not below the bins. The gaps between rows are full of ones. */
int histogram_fill(HistogramJob *job, const char *content, uint64_t seed);

/* ---- histogram_cpu.c ---- */

/* Strategy cpu or cpu-simd: counts, and the sums, several times. */
void histogram_cpu(HistogramOutcome *outcome, const HistogramJob *job, HistogramKind kind);

/* ---- histogram_device.c, or its stub ---- */

typedef struct HistogramGpus HistogramGpus;

/* The job's elements on each of the devices. NULL with a sentence in `text`. */
HistogramGpus *histogram_gpus_open(const HistogramJob *job, const int *devices, int count,
                                   char *text, size_t text_size);

/* The strategy on all of them at once: an outcome each. */
void histogram_gpus_run(HistogramGpus *gpus, const HistogramChoice *choice,
                        HistogramOutcome *outcomes);

void histogram_gpus_close(HistogramGpus *gpus);

#endif
