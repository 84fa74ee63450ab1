/* lumeq-bench: what the parts of lumeq cost on this machine. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/bench.h"

double bench_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof(*values), compare_doubles);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* xorshift64, by George Marsaglia */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

/* Dull, as what lumeq is for: broad shapes over a third of the range, a horizon, some grain. */
static int natural(int x, int y, int height, uint64_t random)
{
    const double shapes = 22 * sin(x / 211.0) * cos(y / 157.0) + 9 * sin((x + 2 * y) / 31.0);
    const int grain = (int)(random & 7) + (int)(random >> 8 & 7) - 7;
    return (y < height / 3 ? 140 : 95) + (int)shapes + grain;
}

size_t bench_row_size(const BenchPicture *picture)
{
    return (size_t)picture->width * (picture->depth > 8 ? 2 : 1);
}

int bench_fill(const BenchPicture *p, const char *content)
{
    const int is_natural = !strcmp(content, "natural"), is_noise = !strcmp(content, "noise");
    if (!is_natural && !is_noise && strcmp(content, "flat") != 0)
        return -1;
    uint64_t state = 88172645463325252u;
    uint8_t *bytes = p->luma;
    uint16_t *words = p->luma;
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++) {
            const uint64_t random = next_random(&state) >> 16;
            const int code = is_natural ? natural(x, y, p->height, random)
                             : is_noise ? (int)(random & 255)
                                        : 100;
            /* Below the eight bits lies noise, but in what is flat. */
            const uint64_t below = strcmp(content, "flat") != 0 ? random >> 24 & 255 : 0;
            const size_t i = (size_t)y * (size_t)p->width + (size_t)x;
            if (p->depth == 8)
                bytes[i] = (uint8_t)code;
            else
                words[i] = (uint16_t)(((uint64_t)code << 8 | below) >> (16 - p->depth));
        }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "equalize"))
        return bench_equalize(argc - 1, argv + 1);
    fprintf(argc > 1 ? stderr : stdout,
            "usage: lumeq-bench equalize [--size WxH] [--depth 8|10|12|16]\n"
            "                            [--content natural|noise|flat] [--backend cpu|cuda]\n"
            "                            [--device N] [--threads N] [--seconds S] [--csv]\n");
    return argc > 1 ? 2 : 0;
}
