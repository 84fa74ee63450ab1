/* Generated pictures. */
#ifndef LUMEQ_BENCH_CONTENT_H
#define LUMEQ_BENCH_CONTENT_H

#include <stddef.h>
#include <stdint.h>

#define BENCH_CONTENTS "flat, two-level, ramp, natural, noise, dark, exposed"

/* The names in that list, and NULL. */
extern const char *const bench_contents[];

/* Index of a name in bench_contents, or -1. */
int bench_content_index(const char *name);

typedef struct BenchContent {
    const char *name; /* one of bench_contents */
    int width, height;
    uint64_t state; /* of the random numbers; set to a seed, not 0, before the first row */
} BenchContent;

/* Makes row `y` as 16-bit codes; smaller depths use their upper bits. Call it for the rows in
 * order. The same seed makes the same rows. */
void bench_content_row(BenchContent *content, int y, uint16_t *row);

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
