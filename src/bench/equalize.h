/* Shared by the parts of lumeq-bench equalize. */
#ifndef LUMEQ_BENCH_EQUALIZE_H
#define LUMEQ_BENCH_EQUALIZE_H

#include "bench/bench.h"
#include "bench/content.h"
#include "lumeq/lumeq.h"

typedef struct EqualizeMode {
    const char *name;
    LumeqMode mode;
    int reference;
} EqualizeMode;

/* A case is one row of the report. */
typedef struct EqualizeCase {
    const char *content;
    const EqualizeMode *mode;
    int on_gpu;
    int threads, device;
    int batch; /* most frames in a launch */
    double seconds;
    BenchPicture picture;
} EqualizeCase;

/* Columns of the report. */
enum {
    EQ_SIZE,
    EQ_CONTENT,
    EQ_BACKEND,
    EQ_MODE,
    EQ_DEPTH,
    EQ_THREADS,
    EQ_DEVICE,
    EQ_BATCH,
    EQ_CPU_TOTAL_US,
    EQ_CHROMA_US,
    EQ_GPU_TOTAL_US,
    EQ_GPU_SPREAD_US,
    EQ_LATENCY_US,
    EQ_COPY_US,
    EQ_MULTIPLE_OF_COPY,
    EQ_RESIDENT_US,
    EQ_HOST_TOTAL_US,
    EQ_FRAMES_PER_S,
    EQ_DUPLEX_FRAMES_PER_S,
    EQ_SHARE_OF_DUPLEX,
    EQUALIZE_COLUMNS
};

/* The following return 0, or -1 after a sentence on stderr. `row` has EQUALIZE_COLUMNS. */

/* Measures frames through the library: rates, and times from host memory to host memory. */
int equalize_library(const EqualizeCase *c, BenchValue *row);

/* Measures lumeq's kernels alone, in a mode that makes its curves on the GPU. */
int equalize_device(const EqualizeCase *c, BenchValue *row);

/* ---- images and their expected results ---- */

/* Parameters of a mode. */
LumeqParams equalize_params(const EqualizeMode *mode);

/* Bytes of a picture without gaps: luma and, with 3 planes, 4:2:0 chroma after it. */
size_t equalize_image_size(const BenchPicture *picture, int planes);

/* An image in memory of that size; planes are NULL if `memory` is. */
LumeqImage equalize_image(const BenchPicture *picture, void *memory, int planes);

/* Computes the luma of a first frame with plain C; bars are treated like the rest. plane[0] of
 * `out` is malloc()ed memory, also on failure, or NULL. */
int equalize_expected(LumeqImage *out, const EqualizeCase *c);

/* Refuses the first wrong sample; `what` names the result. */
int equalize_compare(const EqualizeCase *c, const char *what, const LumeqImage *got,
                     const LumeqImage *expected);

#endif
