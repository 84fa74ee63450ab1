/* What pictures are made of. */
#ifndef LUMEQ_BENCH_CONTENT_H
#define LUMEQ_BENCH_CONTENT_H

#include <stddef.h>
#include <stdint.h>

#define BENCH_CONTENTS "flat, two-level, ramp, natural, noise, dark, exposed"

/* The names in that list, and NULL. */
extern const char *const bench_contents[];

typedef struct BenchContent {
    const char *name; /* one of bench_contents */
    int width, height;
    uint64_t state; /* of the random numbers: a seed, not 0, before the first row */
} BenchContent;

/* The next row, number y, as codes of 16 bits; of fewer bits they are what is above. Rows are asked
 * for in order. The same seed gives the same rows. */
void bench_content_row(BenchContent *content, int y, uint16_t *row);

/* Luma in a plane without gaps: bytes, or deeper codes in 16 bits. */
typedef struct BenchPicture {
    void *luma;
    int width, height, depth;
} BenchPicture;

size_t bench_row_size(const BenchPicture *picture);

/* Fills it with a content, or with the bytes of a file of that name, again and again; codes beyond
 * the depth are cut. 0, or -1 after a sentence on stderr. */
int bench_fill(const BenchPicture *picture, const char *content, uint64_t seed);

#endif
