/* Generates pictures to measure with. */
#ifndef LUMEQ_BENCH_CONTENT_H
#define LUMEQ_BENCH_CONTENT_H

#include <stddef.h>
#include <stdint.h>

#define BENCH_CONTENTS "flat|two-level|ramp|natural|noise|dark|exposed"

typedef enum BenchContent {
    BENCH_FLAT,
    BENCH_TWO_LEVEL,
    BENCH_RAMP,
    BENCH_NATURAL,
    BENCH_NOISE,
    BENCH_DARK,
    BENCH_EXPOSED,
} BenchContent;

/* A luma plane without padding: bytes, or 16-bit words if depth > 8. */
typedef struct BenchPicture {
    void *luma;
    int width, height, depth;
} BenchPicture;

size_t bench_row_size(const BenchPicture *picture);

/* Fills the picture; the same seed gives the same samples. */
void bench_fill(const BenchPicture *picture, BenchContent content, uint64_t seed);

#endif
