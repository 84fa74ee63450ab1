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

/* ---- images, their expected results, and the copies that bound them ---- */

/* Parameters of a mode. */
LumeqParams equalize_params(const EqualizeMode *mode);

/* Bytes of a picture without gaps: luma and, with 3 planes, 4:2:0 chroma after it. */
size_t equalize_image_size(const BenchPicture *picture, int planes);

/* An image in memory of that size; planes are NULL if `memory` is. */
LumeqImage equalize_image(const BenchPicture *picture, void *memory, int planes);

/* The picture with uniform chroma, in malloc()ed memory at plane[0]; NULL if out of memory. */
LumeqImage equalize_input(const BenchPicture *picture, int planes);

/* Computes the result for a first frame with plain C; bars are treated like the rest. plane[0] of
 * `out` is malloc()ed memory, also on failure, or NULL. Returns 0, or -1 after a sentence on
 * stderr.
 */
int equalize_expected(LumeqImage *out, const LumeqImage *in, const EqualizeMode *mode);

/* Returns 0, or -1 after a sentence about the first wrong sample; `what` names the result. */
int equalize_compare(const EqualizeCase *c, const char *what, const LumeqImage *got,
                     const LumeqImage *expected);

/* Measures copies of the picture to the GPU and back. Returns 0, or -1 after a sentence on stderr.
 */
int equalize_copies(const EqualizeCase *c, BenchValue *row);

#endif
