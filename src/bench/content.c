#include "bench/content.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLAT, TWO_LEVEL, RAMP, NATURAL, NOISE, DARK, EXPOSED };

const char *const bench_contents[] = {"flat",  "two-level", "ramp",    "natural",
                                      "noise", "dark",      "exposed", NULL};

/* xorshift64, by George Marsaglia */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

/* A dull picture that lumeq improves: broad shapes over a third of the range, a horizon, some
 * grain. Returns 8 bits. */
static uint32_t natural(int x, int y, int height, uint64_t random)
{
    const double shapes = 22 * sin(x / 211.0) * cos(y / 157.0) + 9 * sin((x + 2 * y) / 31.0);
    const int grain = (int)(random & 7) + (int)(random >> 8 & 7) - 7;
    return (uint32_t)((y < height / 3 ? 140 : 95) + (int)shapes + grain);
}

/* A well-exposed picture, like most video, which lumeq leaves untouched: shapes over the whole
 * range and little grain. */
static uint32_t exposed(const BenchContent *c, int x, int y, uint64_t random)
{
    const double across = 9.1 * x / c->width, down = 6.9 * y / c->height;
    const double shapes = 76 * sin(across) * cos(down) + 22 * sin(9 * across + 13 * down);
    const int grain = (int)(random & 3) + (int)(random >> 8 & 3) - 3;
    return (uint32_t)(122 + (int)shapes + grain);
}

static uint32_t code_at(const BenchContent *c, int kind, int x, int y, uint64_t random)
{
    const uint32_t below = (uint32_t)(random >> 24 & 255); /* the lower 8 bits */
    switch (kind) {
    case FLAT: return 100 << 8;
    case TWO_LEVEL: return (random & 1 ? 60u : 180u) << 8;
    case RAMP: return (uint32_t)((uint64_t)x * 65536 / (uint64_t)c->width);
    case NATURAL: return natural(x, y, c->height, random) << 8 | below;
    case DARK: return (16 + natural(x, y, c->height, random) / 6) << 8 | below;
    case EXPOSED: return exposed(c, x, y, random) << 8 | below;
    default: return (uint32_t)(random & 255) << 8 | below;
    }
}

int bench_content_index(const char *name)
{
    int i = 0;
    while (bench_contents[i] && strcmp(bench_contents[i], name) != 0)
        i++;
    return bench_contents[i] ? i : -1;
}

void bench_content_row(BenchContent *c, int y, uint16_t *row)
{
    const int kind = bench_content_index(c->name);
    for (int x = 0; x < c->width; x++)
        row[x] = (uint16_t)code_at(c, kind, x, y, next_random(&c->state) >> 16);
}

size_t bench_row_size(const BenchPicture *picture)
{
    return (size_t)picture->width * (picture->depth > 8 ? 2 : 1);
}

static int generate(const BenchPicture *p, const char *name, uint64_t seed)
{
    BenchContent content = {name, p->width, p->height, seed};
    uint16_t *row = malloc((size_t)p->width * sizeof(*row));
    if (!row) {
        fprintf(stderr, "lumeq-bench: out of memory\n");
        return -1;
    }
    for (int y = 0; y < p->height; y++) {
        uint8_t *bytes = (uint8_t *)p->luma + (size_t)y * bench_row_size(p);
        bench_content_row(&content, y, row);
        for (int x = 0; x < p->width; x++) {
            const uint16_t code = (uint16_t)(row[x] >> (16 - p->depth));
            if (p->depth > 8)
                memcpy(bytes + 2 * (size_t)x, &code, sizeof(code));
            else
                bytes[x] = (uint8_t)code;
        }
    }
    free(row);
    return 0;
}

static int read_file(const BenchPicture *p, const char *name)
{
    uint8_t *const luma = p->luma;
    const size_t size = bench_row_size(p) * (size_t)p->height;
    FILE *file = fopen(name, "rb");
    errno = file ? 0 : errno;
    const size_t got = file ? fread(luma, 1, size, file) : 0;
    if (!got)
        fprintf(stderr, "lumeq-bench: %s is not one of %s, and cannot be read as a file: %s\n",
                name, BENCH_CONTENTS, errno ? strerror(errno) : "it is empty");
    if (file)
        fclose(file);
    for (size_t i = got; got && i < size; i++)
        luma[i] = luma[i - got];
    for (size_t i = 0; p->depth > 8 && i < size / 2; i++)
        ((uint16_t *)p->luma)[i] &= (uint16_t)((1u << p->depth) - 1);
    return got ? 0 : -1;
}

int bench_fill(const BenchPicture *p, const char *content, uint64_t seed)
{
    return bench_content_index(content) < 0 ? read_file(p, content) : generate(p, content, seed);
}
