/* Shared by the parts of lumeq-bench histogram. */
#ifndef LUMEQ_BENCH_HISTOGRAM_H
#define LUMEQ_BENCH_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_MAX_BINS 4096
#define HISTOGRAM_MAX_ELEMENTS (1 << 30)
#define HISTOGRAM_THREAD_BINS 64 /* most bins of strategy per-thread-64 */

typedef enum HistogramKind {
    HISTOGRAM_CPU,
    HISTOGRAM_CPU_SIMD,
    HISTOGRAM_GLOBAL, /* this and the following need a GPU */
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

/* A strategy from the command line. */
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

/* The elements to count, and how. Every element is below `bins`. */
typedef struct HistogramJob {
    uint8_t *data;
    size_t pitch; /* bytes from one row to the next; the gap after a row holds no elements */
    int width, height;
    int sample_size; /* 1, 2 or 4 bytes */
    int bins;
    uint32_t saturate; /* counts stop at this limit; 0: no limit */
    int cumulate;      /* compute the cumulative histogram as well */
    int load_factor;   /* elements per thread, rounded up to what the strategy reads at once; 0: the
                        * strategy chooses */
    int sectioned;     /* a thread counts neighbouring elements; else neighbouring threads do */
    HistogramMemory memory;
    int check_only; /* measure no times */
} HistogramJob;

typedef enum HistogramStatus {
    HISTOGRAM_DONE,
    HISTOGRAM_SKIPPED,
    HISTOGRAM_FAILED
} HistogramStatus;

/* Times are medians in microseconds; NAN: not measured. */
typedef struct HistogramOutcome {
    HistogramStatus status;
    char why[192];        /* it was skipped or failed */
    uint32_t load_factor; /* most elements that a thread counts; 0: unknown */
    double us, spread_us;
    double alone_us; /* each run begins after the one before has finished */
    double up_us, down_us;
    double peak_gb_s, copy_gb_s; /* bandwidth of device memory: theoretical, and of a copy */
    uint32_t counts[HISTOGRAM_MAX_BINS], sums[HISTOGRAM_MAX_BINS];
    uint32_t whole[HISTOGRAM_MAX_BINS]; /* counts without the limit; only with --saturate */
} HistogramOutcome;

static inline int64_t histogram_elements(const HistogramJob *job)
{
    return (int64_t)job->width * job->height;
}

/* ---- histogram_data.c: these return 0, or -1 after a sentence on stderr ---- */

/* Stores the number of elements of `sample_size` bytes in a file. */
int histogram_file_elements(const char *name, int sample_size, int64_t *elements);

/* Allocates job->data with malloc() and fills it with a content or a file's bytes. Refuses a file
 * with elements that are not below `bins`. All bits of the gaps between rows are set. */
int histogram_fill(HistogramJob *job, const char *content, uint64_t seed);

/* ---- histogram_cpu.c ---- */

/* Runs strategy cpu or cpu-simd, and times it. */
void histogram_cpu(HistogramOutcome *outcome, const HistogramJob *job, HistogramKind kind);

/* ---- histogram_device.c ---- */

typedef struct HistogramGpus HistogramGpus;

/* Copies the job's elements to each device. Returns NULL with a sentence in `text` on failure. */
HistogramGpus *histogram_gpus_open(const HistogramJob *job, const int *devices, int count,
                                   char *text, size_t text_size);

/* Runs the strategy on all devices at the same time; fills an outcome for each. */
void histogram_gpus_run(HistogramGpus *gpus, const HistogramChoice *choice,
                        HistogramOutcome *outcomes);

void histogram_gpus_close(HistogramGpus *gpus);

#endif
