/* What the parts of lumeq-bench equalize share. */
#ifndef LUMEQ_BENCH_EQUALIZE_H
#define LUMEQ_BENCH_EQUALIZE_H

#include <stdint.h>

#include "bench/command_line.h"
#include "bench/content.h"
#include "lumeq/lumeq.h"

/* The longest list of an option. */
#define EQUALIZE_LIST 16

typedef enum EqualizeBackend {
    EQUALIZE_CPU,      /* lumeq's */
    EQUALIZE_NAIVE,    /* as the textbook has it, on the GPU */
    EQUALIZE_IMPROVED, /* the same with the usual improvements */
    EQUALIZE_CUDA,     /* lumeq's */
    EQUALIZE_BACKENDS
} EqualizeBackend;

extern const char *const equalize_backends[]; /* their names, and NULL */

typedef struct EqualizeMode {
    const char *name;
    LumeqMode mode;
    int reference;
} EqualizeMode;

#define EQUALIZE_MODES "global, clahe, stretch, off, reference, clahe-reference"

#define EQUALIZE_DEVICES 64       /* at most, at the same time */
#define EQUALIZE_ALL_DEVICES (-1) /* as a device's number: all there are */

typedef struct EqualizeOptions {
    BenchCommon common;
    int widths[EQUALIZE_LIST], heights[EQUALIZE_LIST], sizes;
    char content[EQUALIZE_LIST][256];
    int contents;
    int backend[EQUALIZE_BACKENDS], backends; /* wanted or not; 0 backends: what there is */
    const EqualizeMode *mode[EQUALIZE_LIST];
    int modes;
    int threads[EQUALIZE_LIST], thread_counts;
    int load_factor, depth, device;
    double seconds;
} EqualizeOptions;

/* 0, 1 after the help, -1 after a sentence on stderr. */
int equalize_options(EqualizeOptions *options, int argc, char **argv);

/* One row of the report. */
typedef struct EqualizeCase {
    const char *content;
    const EqualizeMode *mode; /* NULL: the textbook's */
    EqualizeBackend backend;
    int threads, device, load_factor;
    double seconds;
    BenchPicture picture;
} EqualizeCase;

/* The parameters of a case's mode. */
LumeqParams equalize_params(const EqualizeMode *mode);

/* The columns of the report; the first ones, up to COPY_US, in this order. */
typedef enum EqualizeColumn {
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
} EqualizeColumn;

typedef struct EqualizeRow {
    BenchValue value[EQUALIZE_COLUMNS];
} EqualizeRow;

void equalize_report_begin(BenchFormat format, const char *command, const char *gpu);
EqualizeRow equalize_row(void); /* nothing is measured */
/* Names what the row is of, and prints it. `device`: NULL on the CPU. */
void equalize_report_row(BenchFormat format, const EqualizeCase *c, const char *device,
                         EqualizeRow *row);

/* ---- what measures: all of them answer 0, or -1 after a sentence on stderr ------------------- */

/* Rates, and what goes from host memory to host memory. */
int equalize_library(const EqualizeCase *c, EqualizeRow *row);

/* The GPUs 0..count-1 at the same time: a row each, and one of all of them. `alone`: frames a
 * second of one. */
int equalize_together(const EqualizeCase *c, int count, double alone, BenchFormat format);

/* On the device alone: lumeq's kernels; those of the textbook. */
int equalize_device(const EqualizeCase *c, EqualizeRow *row);
int equalize_baseline(const EqualizeCase *c, EqualizeRow *row);

#endif
