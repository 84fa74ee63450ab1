/* Generated pictures. */
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

/* Returns the content of this name as a constant, or NULL. */
const char *bench_content(const char *name);

/* Fills the picture with a content. */
void bench_fill(const BenchPicture *picture, const char *content, uint64_t seed);

#endif
