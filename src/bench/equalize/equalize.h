/* Shared by the parts of lumeq-bench equalize. */
#ifndef LUMEQ_BENCH_EQUALIZE_H
#define LUMEQ_BENCH_EQUALIZE_H

#include "bench/bench.h"
#include "bench/content.h"
#include "lumeq/lumeq.h"

typedef enum EqualizeBackend {
    EQUALIZE_CPU,      /* lumeq */
    EQUALIZE_NAIVE,    /* the textbook's equalization on the GPU */
    EQUALIZE_IMPROVED, /* the same with the usual improvements */
    EQUALIZE_CUDA,     /* lumeq */
    EQUALIZE_BACKENDS
} EqualizeBackend;

extern const char *const equalize_backends[EQUALIZE_BACKENDS]; /* their names */

typedef struct EqualizeMode {
    const char *name;
    LumeqMode mode;
    int reference;
} EqualizeMode;

/* A case is one row of the report. */
typedef struct EqualizeCase {
    const char *content;
    const EqualizeMode *mode; /* NULL: the textbook's */
    EqualizeBackend backend;
    int threads, device, load_factor;
    int batch; /* most frames in a launch */
    double seconds;
    BenchPicture picture;
} EqualizeCase;

/* Columns of the report. */
enum {
    EQ_SIZE,
    EQ_CONTENT,
    EQ_BACKEND,
    EQ_CPU_TOTAL_US,
    EQ_UPLOAD_US,
    EQ_HISTOGRAM_US,
    EQ_CURVE_US,
    EQ_APPLY_US,
    EQ_DOWNLOAD_US,
    EQ_GPU_TOTAL_US,
    EQ_COPY_US,
    EQ_MODE,
    EQ_DEPTH,
    EQ_THREADS,
    EQ_DEVICE,
    EQ_LOAD_FACTOR,
    EQ_BATCH,
    EQ_MULTIPLE_OF_COPY,
    EQ_LATENCY_US,
    EQ_GPU_SPREAD_US,
    EQ_HISTOGRAM_CURVE_US,
    EQ_CHROMA_US,
    EQ_CLAHE_US,
    EQ_RESIDENT_US,
    EQ_HOST_TOTAL_US,
    EQ_FRAMES_PER_S,
    EQ_DUPLEX_FRAMES_PER_S,
    EQ_SHARE_OF_DUPLEX,
    EQ_LINEARITY,
    EQ_CHECKED,
    EQUALIZE_COLUMNS
};

typedef BenchValue EqualizeRow[EQUALIZE_COLUMNS];

/* The following return 0, or -1 after a sentence on stderr. `row` is an EqualizeRow. */

/* Measures frames through the library: rates, and times from host memory to host memory. */
int equalize_library(const EqualizeCase *c, BenchValue *row);

/* Measures GPUs 0 to count - 1 at the same time; fills a row for each, and then one for all of
 * them. `alone`: frames per second of one GPU. */
int equalize_together(const EqualizeCase *c, int count, double alone, EqualizeRow *rows);

/* Measure only kernels: lumeq's, and those of the textbook. */
int equalize_device(const EqualizeCase *c, BenchValue *row);
int equalize_baseline(const EqualizeCase *c, BenchValue *row);

#define EQUALIZE_MAX_DEVICES 64

#endif
