/* Pictures: generated, or raw samples from a file. */
#ifndef LUMEQ_BENCH_CONTENT_H
#define LUMEQ_BENCH_CONTENT_H

#include <stddef.h>
#include <stdint.h>

#define BENCH_CONTENTS "flat, two-level, ramp, natural, noise, dark, exposed"

/* A luma plane without gaps: bytes, or codes in 16 bits if depth > 8. */
typedef struct BenchPicture {
    void *luma;
    int width, height, depth;
} BenchPicture;

size_t bench_row_size(const BenchPicture *picture);

/* Fills the picture with a content, or with the bytes of a file, repeated; bits above the depth are
 * cleared. Returns 0, or -1 after a sentence on stderr. */
int bench_fill(const BenchPicture *picture, const char *content, uint64_t seed);

#endif
